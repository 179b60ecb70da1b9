"""--mode=train: what it refuses, and that it goes on where it was killed."""

import json
import shutil

import pytest

from mate_tf.training import trainer

from .. import graphs


def test_before_create_data(refused, config_file, trained, tmp_path, files):
    empty = (f"--config_file={config_file}", f"--output_dir={tmp_path}")
    for mode in ("train", "eval", "predict", "predict_and_evaluate"):
        flags = empty if mode == "train" else (*trained, *empty)  # the others need a checkpoint
        message = refused(f"--mode={mode}", *flags)
        assert message.startswith(f"{tmp_path}/tf_examples/")
        assert message.endswith(".tfrecord: no such file; run --mode=create_data first")
    assert files(tmp_path) == []


@pytest.mark.parametrize("mode", ["eval", "predict", "predict_and_evaluate", "export", "analyze"])
def test_before_train(refused, config_file, tmp_path, files, mode):
    message = refused(f"--mode={mode}", f"--config_file={config_file}", f"--output_dir={tmp_path}")
    assert message == f"{tmp_path}/model: no checkpoint here; train first"
    assert files(tmp_path) == []


def test_truncated_examples(refused, arguments, created, tmp_path, files):
    copy = tmp_path / "copy"
    shutil.copytree(created, copy)
    path = copy / "tf_examples" / "train.tfrecord"
    path.write_bytes(path.read_bytes()[:-50])
    message = refused(*arguments, f"--output_dir={copy}")
    assert message.startswith(f"{path}: damaged at record ")
    assert not (tmp_path / "model").exists()


def test_other_examples(refused, arguments, created, tmp_path):
    message = refused(*arguments, "--max_seq_length=64")
    assert message.startswith(f"{created}/tf_examples/train.tfrecord: its examples have 128 tokens")
    message = refused(*arguments, "--params_override=task.model.encoder.vocab_size=50")
    assert message.startswith(f"{created}/vocab.txt: has ")
    assert not (tmp_path / "model").exists()


def test_init_checkpoint(refused, arguments, trained, tmp_path):
    message = refused(*arguments, "--init_checkpoint=absent/model.ckpt")
    assert message.startswith("absent/model.ckpt: no such checkpoint")
    path = trainer.latest_checkpoint(trained[-1].partition("=")[2])
    wider = "--params_override=task.model.encoder.hidden_size=32"
    message = refused(*arguments, f"--init_checkpoint={path}", wider)
    assert message.startswith(f"{path}: ")
    assert "16]" in message
    assert "32]" in message
    assert not (tmp_path / "model" / "params.yaml").exists()


def best(metric="validation_loss", order="higher", folder="best"):
    values = {"export_subdir": folder, "eval_metric": metric, "metric_comp": order}
    given = {key: value for key, value in values.items() if value}
    settings = ",".join(f"trainer.best_checkpoint_{key}={value}" for key, value in given.items())
    return f"--params_override={settings},trainer.validation_interval=1"


def test_the_best_checkpoint_is_kept(arguments, command, tmp_path):
    """The loss falls, so that the first step is the best one where a higher loss is better."""
    folder = tmp_path / "model" / "best"
    with graphs.avoided():
        printed = command(*arguments, best(), "--num_train_steps=3", "--learning_rate=0.01")
        evaluated = [
            command("--mode=eval", *arguments[1:3], f"--model_dir={each}")
            for each in (folder.parent, folder)
        ]
    assert "best validation loss" in printed
    kept = json.loads((folder / "info.json").read_text())
    assert kept["best_ckpt_global_step"] == 1
    assert ["step 3" in evaluated[0], "step 1" in evaluated[1]] == [True, True]
    assert not (folder / "best").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "accuracy"}, "eval_metric is 'accuracy', expected one of validation_loss, ans"),
        ({"metric": ""}, "eval_metric is '', expected a name"),
        ({"folder": ""}, "export_subdir is '', expected a name"),
        ({"folder": "../best"}, "export_subdir is '../best', expected the name of a folder"),
        ({"order": "up"}, "metric_comp is 'up', expected higher or lower"),
    ],
)
def test_best_by_something_else(refused, arguments, tmp_path, settings, message):
    assert refused(*arguments, best(**settings)).startswith(f"trainer.best_checkpoint_{message}")
    assert not (tmp_path / "model").exists()


def test_bootstrapping_is_a_matter_of_the_configuration(
    command, refused, arguments, tmp_path, monkeypatch
):
    trees = (
        "--attention=tree_coarse",
        "--params_override=task.model.encoder.attention.tree_height=2",
    )
    trained = []

    def train(experiment, folder):
        (attention,) = experiment.task.model.encoder.attention_per_layer()
        trained.append((folder, attention.tree_height, experiment.trainer.train_steps))
        return {"global_step": experiment.trainer.train_steps}

    monkeypatch.setattr(trainer, "train", train)
    output = command(*arguments, *trees, "--params_override=bootstrap.layer_width=3")
    model_dir = str(tmp_path / "model")
    assert trained == [(f"{model_dir}/stage_1", 1, 1), (model_dir, 2, 2)]
    assert "trained | step 2\n" in output
    command(*arguments, *trees)
    assert trained[2:] == [(model_dir, 2, 2)]
    message = refused(*arguments, "--params_override=bootstrap.layer_with=3")
    assert "unknown key 'bootstrap.layer_with'; did you mean 'layer_width'?" in message
    message = refused(*arguments, "--params_override=bootstrap.layer_width=3")
    assert "no layer of task.model.encoder.attention has trees" in message
