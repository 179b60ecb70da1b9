"""2-D bootstrapping: the schedule of Algorithm 1, and stages that go on where they were killed."""

import json

import numpy as np
import pytest

from mate_tf.attention import AttentionConfig
from mate_tf.checkpoints import bundle
from mate_tf.errors import InputError
from mate_tf.training import bootstrap, experiments, layer_log, progress, trainer

from .. import graphs


def planned(layers, width, target, steps, **options):
    """[(last step, heights by layer)] of an experiment; 0: no tree there."""
    experiment = experiments.load(task="SYNTHETIC")
    experiment.task.model.encoder.num_hidden_layers = layers
    experiment.task.model.encoder.attention = target
    experiment.trainer.train_steps = steps
    experiment.bootstrap.override({"layer_width": width, **options})
    found = []
    for stage in bootstrap.stages(experiment):
        attention = stage.experiment.task.model.encoder.attention_per_layer()
        heights = [
            bootstrap.tree_height(each) if bootstrap.has_trees(each) else 0 for each in attention
        ]
        found.append((stage.last_step, heights))
    return found


def algorithm_1(layers, width, start, height, steps):
    """The paper's loops, with layers that keep their trees."""
    groups = -(-layers // width)
    per_stage = steps / (groups * (height - start))
    found, heights = [], [0] * layers
    for i in range(1, groups + 1):
        first = 1 + max(0, layers - width * i)
        for h in range(start + 1, height + 1):
            before = layers - width * (i - 1)
            heights = [
                h if first <= layer <= before else old for layer, old in enumerate(heights, start=1)
            ]
            found.append((len(found) + 1, heights))
    return [(int(number * per_stage), heights) for number, heights in found]


@pytest.mark.parametrize(
    ("layers", "width", "start", "height"),
    [(12, 3, 0, 2), (12, 3, 1, 7), (4, 4, 5, 6), (5, 2, 0, 3), (3, 5, 1, 2), (1, 1, 0, 1)],
)
def test_schedule_is_that_of_the_paper(layers, width, start, height):
    steps = 1_800_000
    target = {"name": "tree_fine", "tree_height": height}
    found = planned(layers, width, target, steps, start_height=start)
    assert found == algorithm_1(layers, width, start, height, steps)
    assert found[-1] == (steps, [height] * layers)


def test_finished_layers_that_begin_again():
    """The inner loop of Algorithm 1 by its letters: height h in all layers from idx on."""
    target = {"name": "tree_fine", "tree_height": 3}
    options = {"start_height": 1, "finished": "restart"}
    heights = [h for _, h in planned(5, 2, target, 60, **options)]
    groups = ([0, 0, 0, 2, 2], [0, 2, 2, 2, 2], [2, 2, 2, 2, 2])
    assert heights == [
        [height and height + more for height in group] for group in groups for more in (0, 1)
    ]
    ends = [step for step, _ in planned(5, 2, target, 60, **options)]
    assert ends == [step for step, _ in planned(5, 2, target, 60, start_height=1)]


def test_only_layers_that_have_trees_in_the_end():
    coarse = {"name": "tree_coarse", "tree_height": 2}
    target = [{"name": "full"}, coarse, {"name": "full"}, coarse | {"tree_height": 1}]
    found = planned(4, 2, target, 12, steps_before=3, steps_per_stage=2)
    assert found == [(3, [0, 0, 0, 0]), (5, [0, 1, 0, 1]), (12, [0, 2, 0, 1])]
    k_ary = {"name": "tree_fine", "branching": [10, 4]}
    assert planned(2, 1, k_ary, 8) == [(2, [0, 1]), (4, [0, 2]), (6, [1, 2]), (8, [2, 2])]
    beside_rows = [{"name": "mate_efficient"}, {"name": "tree_fine", "tree_height": 2}]
    assert planned(2, 1, beside_rows, 4) == [(2, [0, 1]), (4, [0, 2])]


def test_stages_of_tables_with_trees(project):
    """The configuration's schedule, which its comment tells."""
    found = bootstrap.stages(experiments.load(str(project / "configs" / "sqa_tree.yaml")))
    assert [stage.last_step for stage in found] == [1000, 1500, 2000, 2500, 3000, 3500, 4000]
    assert str(found[-1]).endswith("| tree_fine 2, tree_fine 2, tree_fine 2")
    layers = found[0].experiment.task.model.encoder.attention_per_layer()
    assert {layer.name for layer in layers} == {"full"}


def test_what_layers_have_before():
    experiment = experiments.load(
        task="SYNTHETIC",
        params_override=[
            "task: {model: {encoder: {num_hidden_layers: 2, attention: {name: tree_fine,"
            " tree_height: 3, balancing_loss: 0.1}}}}",
            "bootstrap: {layer_width: 1, start_height: 2, attention: {name: mate_exact}}",
            "trainer.summary_interval=10,trainer.steps_per_loop=10",
            "task: {reset_output_cls: true, init_exclude: pooler}",
        ],
    )
    first, last = bootstrap.stages(experiment)
    before, tree = first.experiment.task.model.encoder.attention
    assert before == AttentionConfig(name="mate_exact")
    assert tree == experiment.task.model.encoder.attention
    assert last.experiment.task.model.as_dict() == experiment.task.model.as_dict()
    assert (first.first_step, first.last_step, last.first_step) == (0, 400, 400)
    assert first.experiment.trainer.layer_log_interval == 10
    assert not first.experiment.trainer.continue_steps
    assert last.experiment.trainer.continue_steps
    # What is not taken from the checkpoint that training starts from is from the first stage on.
    assert (first.experiment.task.reset_output_cls, first.experiment.task.init_exclude) == (
        True,
        "pooler",
    )
    assert not last.experiment.task.reset_output_cls
    assert last.experiment.task.init_exclude == ""
    assert "steps 0 to 400 | mate_exact, tree_fine 3" in str(first)


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ({"name": "full"}, {}, "no layer of task.model.encoder.attention has trees"),
        ({"name": "tree_fine", "tree_height": 2}, {"start_height": 2}, "start_height=2: trees of"),
        ({"name": "tree_fine"}, {"width": -1}, "layer_width is -1, expected an integer"),
        ({"name": "tree_fine"}, {"finished": "drop"}, "bootstrap.finished is 'drop', expected one"),
        ({"name": "tree_fine"}, {"steps_before": 9}, "train_steps=9 are too few for"),
        ({"name": "tree_fine"}, {"steps_per_stage": 5}, "train_steps=9 are too few for 12 stages"),
    ],
)
def test_schedules_that_make_no_sense(target, options, message):
    with pytest.raises(InputError, match=message):
        planned(2, **{"width": 1, "target": target, "steps": 9} | options)


@pytest.fixture
def tiny(toy_experiment):
    """Three stages of two steps: trees in the last layer, which grow, and then in the first."""
    with graphs.avoided():  # those of the layer log
        yield lambda *overrides: toy_experiment(
            "task: {train_data: {buckets: [], seed: 1}, model: {encoder: {num_hidden_layers: 2,"
            " hidden_size: 16, attention: [{name: tree_fine, tree_height: 1},"
            " {name: tree_coarse, tree_height: 2}]}}}",
            "trainer: {train_steps: 6, steps_per_loop: 1, train_tf_function: false,"
            " train_tf_while_loop: false, summary_interval: 1, checkpoint_interval: 1,"
            " optimizer_config: {warmup: {type: null}, learning_rate: {type: bert,"
            " bert: {initial_learning_rate: 0.006, warmup_steps: 0}}}}",
            "bootstrap.layer_width=1",
            *overrides,
        )


class Killed(BaseException):
    """Not an error that anyone would catch."""


def test_killed_within_and_between_stages(tiny, tmp_path, monkeypatch, capsys):
    model_dir = str(tmp_path)
    shown = progress.Progress.__call__

    def killed_at_4(self, output):
        shown(self, output)
        if int(self._step.numpy()) == 4:
            raise Killed

    # in the second stage, after the checkpoint of step 3 and before that of step 4
    monkeypatch.setattr(progress.Progress, "__call__", killed_at_4)
    with pytest.raises(Killed):
        bootstrap.train(tiny(), model_dir)
    assert [trainer.global_step(str(tmp_path / f"stage_{n}")) for n in (1, 2)] == [2, 3]
    assert trainer.global_step(model_dir) == 0
    with open(tmp_path / "stage_2" / layer_log.FILE, "a") as file:
        file.write('{"step": 4, "training": {}}\n{"ste')  # not in the checkpoint
    monkeypatch.setattr(progress.Progress, "__call__", shown)
    capsys.readouterr()

    # the same stage with the same height; then killed before the third one begins
    train = trainer.train

    def killed_in_model_dir(experiment, folder):
        if folder == model_dir:
            raise Killed
        return train(experiment, folder)

    monkeypatch.setattr(trainer, "train", killed_in_model_dir)
    with pytest.raises(Killed):
        bootstrap.train(tiny(), model_dir)
    monkeypatch.setattr(trainer, "train", train)
    output = capsys.readouterr().out
    assert "stage | 2 of 3 | steps 2 to 4 | full, tree_coarse 2" in output
    assert "stage | 1 of 3" not in output
    assert "step 4/4  loss " in output
    assert "step 3/4  loss " not in output

    metrics = bootstrap.train(tiny(), model_dir)
    assert metrics["global_step"] == trainer.global_step(model_dir) == 6
    output = capsys.readouterr().out
    assert "stage | 2 of 3" not in output
    assert "stage | 3 of 3 | steps 4 to 6 | tree_fine 1, tree_coarse 2" in output
    assert "initialized | " in output
    trainer.load_model(tiny(), model_dir)  # an ordinary training of the target
    assert experiments.load(str(tmp_path / "params.yaml")).task.model == tiny().task.model

    lines = [line for line in bootstrap.read_log(model_dir) if "layers" in line]
    assert [(line["stage"], line["step"]) for line in lines] == [
        *((1, 0), (1, 1), (1, 2)),
        *((2, 2), (2, 3), (2, 4)),
        *((3, 4), (3, 5), (3, 6)),
    ]
    heights = [[layer.get("tree_height") for layer in line["layers"]] for line in lines]
    assert heights == 3 * [[None, 1]] + 3 * [[None, 2]] + 3 * [[1, 2]]
    for line in lines:
        # one schedule of the learning rate over all stages
        rate = line.get("training", {}).get("learning_rate")
        assert rate is None or rate == pytest.approx(0.006 * (1 - line["step"] / 6), abs=1e-6)
        for layer in line["layers"]:
            assert layer["gradient_norm"] > 0
            shares = layer.get("leaf_shares", [1])
            assert len(shares) == 2 ** layer.get("tree_height", 0)
            assert sum(shares) == pytest.approx(1, abs=1e-3)
            assert shares == sorted(shares, reverse=True)
    # the first stage's trees and moments went on into the second
    tensors, _ = bundle.read(trainer.latest_checkpoint(model_dir))
    assert tensors["optimizer/iter"].read() == 6

    # again, with nothing left to do and even with the stages gone
    monkeypatch.setattr(progress, "Progress", None)
    assert bootstrap.train(tiny(), model_dir)["global_step"] == 6
    with pytest.raises(InputError, match=r"attention.*give another --model_dir"):
        bootstrap.train(tiny("bootstrap.attention.name=mate_exact"), model_dir)
    with pytest.raises(InputError, match=r"stage_1: was trained for 2 steps, .* ends after 1"):
        bootstrap.train(tiny("bootstrap.steps_per_stage=1"), model_dir)


@pytest.mark.slow
def test_trees_that_begin_again_are_new_and_all_else_goes_on(tiny, tmp_path, capsys):
    """At first in layer 2, heights 1 and 2; then in both, from height 1 on."""
    both = "task: {model: {encoder: {attention: {name: tree_fine, tree_height: 2}}}}"
    experiment = tiny(both, "bootstrap.finished=restart", "trainer.train_steps=4")
    bootstrap.train(experiment, str(tmp_path))
    output = capsys.readouterr().out
    assert "stage | 3 of 4 | steps 2 to 3 | tree_fine 1, tree_fine 1" in output
    reports = [line for line in output.splitlines() if line.startswith("initialized | ")]
    assert len(reports) == 3
    assert "mismatched" not in reports[0] + reports[2]
    skipped = reports[1].partition("mismatched: ")[2].partition(";")[0].split(", ")
    assert [name.rsplit("/", 2)[1:] for name in skipped] == [["tree", "bias"], ["tree", "kernel"]]
    assert trainer.global_step(str(tmp_path)) == 4


def test_without_bootstrapping_it_is_the_trainers(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer, "train", lambda *arguments: arguments)
    experiment = tiny("bootstrap.layer_width=0")
    assert bootstrap.train(experiment, "folder") == (experiment, "folder")


def test_steps_to_go_on_from_must_be_somewhere(tiny, tmp_path):
    experiment = tiny("bootstrap.layer_width=0,trainer.continue_steps=true")
    with pytest.raises(InputError, match=r"task\.init_checkpoint is empty"):
        trainer.train(experiment, str(tmp_path))


def test_numbers_that_json_has_not(tmp_path):
    assert layer_log._rounded([np.float32(1 / 3), float("nan"), 2]) == [0.33333, None, 2]
    assert json.loads(json.dumps(layer_log._floats({"loss": np.float32("inf")}))) == {"loss": None}
