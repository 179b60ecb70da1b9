"""--mode=predict, and what predict, eval and export need of a training."""

import json
import shutil

from mate_tf.evaluation import predictions
from mate_tf.training import trainer


def test_writes_every_split_but_train(command, trained_copy, created, monkeypatch):
    """With one model for all of them."""
    load, loaded = trainer.load_model, []
    monkeypatch.setattr(trainer, "load_model", lambda *args: loaded.append(args) or load(*args))
    output = command("--mode=predict", *trained_copy)
    for split in ("dev", "test"):
        assert f"/{split}.tsv, .json" in output
    assert len(loaded) == 1
    model_dir = trained_copy[-1].partition("=")[2]
    report = json.loads((created / "tf_examples" / "dev.report.json").read_text())
    for read in (predictions.read_tsv, predictions.read_json):
        ending = read.__name__.partition("_")[2]
        found = read(f"{model_dir}/dev.{ending}")
        assert len(found) == report["examples"]


def test_truncated_examples(refused, trained, created, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(created, copy)
    path = copy / "tf_examples" / "dev.tfrecord"
    path.write_bytes(path.read_bytes()[:-50])
    for mode in ("predict", "eval"):
        message = refused(f"--mode={mode}", *trained, f"--output_dir={copy}")
        assert message.startswith(f"{path}: damaged at record ")


def test_export_to_a_folder_of_something_else(refused, trained, tmp_path):
    (tmp_path / "precious").write_text("")
    message = refused("--mode=export", *trained, f"--export_dir={tmp_path}")
    assert message.startswith(f"{tmp_path}: exists and is no SavedModel")
    assert (tmp_path / "precious").exists()
