"""What a predictor writes is read again with the same answers, also from a hub."""

import pathlib
import shutil
import types

import huggingface_hub
import pytest
import yaml
from huggingface_hub.utils import filter_repo_objects
from safetensors import safe_open

from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.evaluation.calibration import Calibration
from mate_tf.models.classifier import TableClassifier
from mate_tf.serving import confidence, model_folder, pretrained, saving
from mate_tf.serving.answer import Answer, AnswerCell
from mate_tf.serving.engine import loading, served
from mate_tf.serving.engine.model import has_bfloat16
from mate_tf.serving.predictor import Predictor

QUESTION = "which city?"
FILES = {"config.yaml", "model.safetensors", "vocab.txt", "README.md"}


@pytest.fixture(scope="module")
def trained(trained_model):
    return Predictor.from_pretrained(trained_model)


def dtypes(folder):
    with safe_open(folder / "model.safetensors", "numpy") as file:
        return {file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118


def card(folder):
    """The fields of a model card, and its text."""
    _, fields, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(fields), text


def test_a_preset(trained, table, tmp_path):
    folder = tmp_path / "tiny"
    trained.save_preset(folder, license="apache-2.0")
    assert {path.name for path in folder.iterdir()} == FILES
    again = Predictor.from_pretrained(folder)
    assert again.ask(table, QUESTION) == trained.ask(table, QUESTION)
    assert again.calibration is None
    assert repr(again).replace(str(folder), trained._name) == repr(trained)
    found = model_folder.find(folder)
    assert loading.find(found) is not None  # it needs no TensorFlow
    config = yaml.safe_load((folder / "config.yaml").read_text())
    assert config["task"]["name"] == "SYNTHETIC"
    assert str(tmp_path) not in str(config)
    assert dtypes(folder) == {"F32"}  # whose values bfloat16 does not have
    fields, text = card(folder)
    assert fields == {
        "language": "en",
        "license": "apache-2.0",
        "library_name": "mate-tf",
        "pipeline_tag": "table-question-answering",
        "tags": ["mate-tf"],
    }
    assert text.lstrip().startswith("# tiny\n")
    assert f'from_pretrained("{folder}")' in text


def test_settings_are_those_it_was_loaded_with(trained_model, table, tmp_path):
    """Calibration, precision, attention and length."""
    options = {"precision": "bfloat16", "attention": "full", "max_seq_length": 64}
    predictor = Predictor.from_pretrained(trained_model, **options)
    fitted = Calibration(weights="ckpt-0", threshold=1.0)
    predictor.with_calibration(fitted).save_preset(tmp_path, dtype="bfloat16")
    assert dtypes(tmp_path) == {"BF16"}
    again = Predictor.from_pretrained(tmp_path)
    for fact in ("attention=full", "max_seq_length=64"):
        assert fact in repr(predictor)
        assert fact in repr(again)
    assert again.calibration == Calibration(threshold=1.0)
    assert again.ask(table, QUESTION).answerable is False
    assert model_folder.find(tmp_path).kind is model_folder.Kind.PRESET
    if has_bfloat16():
        assert again._model.precision == "bfloat16"
        assert Predictor.from_pretrained(tmp_path, precision="float32")._model.precision == (
            "float32"
        )
    live = Predictor.from_pretrained(trained_model, engine="tensorflow", precision="bfloat16")
    live.save_preset(tmp_path)
    assert loading.find(model_folder.find(tmp_path)).precision == "bfloat16"
    # Weights that bfloat16 has are stored in it, and an earlier calibration is gone.
    assert Predictor.from_pretrained(tmp_path).calibration is None


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_rounded_weights_stay_as_they_are(trained, tmp_path, dtype):
    trained.save_preset(tmp_path / "one", dtype=dtype)
    Predictor.from_pretrained(tmp_path / "one").save_preset(tmp_path / "two")
    one, two = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "two"))
    assert one == two


def test_weights_in_eight_bits(trained, table, tmp_path):
    """A quarter of the size; read alike with and without TensorFlow."""
    trained.save_preset(tmp_path / "wide", dtype="float32")
    trained.save_preset(tmp_path / "narrow", dtype="int8")
    assert dtypes(tmp_path / "narrow") == {"I8", "F32"}
    wide, narrow = ((tmp_path / name / "model.safetensors") for name in ("wide", "narrow"))
    assert narrow.stat().st_size < 0.4 * wide.stat().st_size  # its channels are short
    engines = [
        Predictor.from_pretrained(tmp_path / "narrow", engine=engine) for engine in served.ENGINES
    ]
    assert [each._model.engine for each in engines] == list(served.ENGINES)
    answers = [each.ask(table, QUESTION) for each in [*engines, trained]]
    assert answers[0].probability == pytest.approx(answers[1].probability, abs=1e-5)
    assert answers[0].probability == pytest.approx(answers[2].probability, abs=0.02)


def test_calibration_of_other_weights_is_left_out(trained_model, tmp_path):
    model_dir = tmp_path / "model"
    shutil.copytree(trained_model, model_dir, ignore=shutil.ignore_patterns("export"))
    for weights, expected in (
        (confidence.latest_weights(model_dir), Calibration(threshold=0.5)),
        ("ckpt-older", None),
    ):
        confidence.write(model_dir, Calibration(weights=weights, threshold=0.5))
        Predictor.from_pretrained(model_dir).save_preset(tmp_path / "saved")
        assert Predictor.from_pretrained(tmp_path / "saved").calibration == expected


def test_a_model_of_this_process_with_classes(make_model, vocab_file, options, table, tmp_path):
    """As after Keras's `fit`; its classes keep their names."""
    model = make_model("full", num_classification_labels=3)
    converter = ExampleConverter(vocab_file, **options)
    own = pretrained.serve(model, converter, ("no", "maybe", "yes"))
    predictor = Predictor.of_model(own, "mine")
    predictor.save_preset(tmp_path)
    again = Predictor.from_pretrained(tmp_path)
    assert again.class_names == ["no", "maybe", "yes"]
    assert loading.find(model_folder.find(tmp_path)) is not None  # it needs no TensorFlow
    found, expected = again.ask(table, QUESTION), predictor.ask(table, QUESTION)
    assert found.text == expected.text
    assert found.probability == pytest.approx(expected.probability, abs=1e-5)
    assert isinstance(again.model, TableClassifier)
    assert card(tmp_path)[0]["pipeline_tag"] == "text-classification"


def test_weights_that_are_not_finite(make_model, vocab_file, options, tmp_path):
    """8 bits have no NaN: it would become 0 without a word."""
    model = make_model("full")
    model.trainable_variables[0].assign(model.trainable_variables[0] * float("nan"))
    own = pretrained.serve(model, ExampleConverter(vocab_file, **options))
    with pytest.raises(InputError, match=r"mine: the weights .* have NaN"):
        Predictor.of_model(own, "mine").save_preset(tmp_path / "new", dtype="int8")
    assert not list(tmp_path.iterdir())


def test_what_is_refused(trained, predictor, tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match="exists and is not a preset; give another folder"):
        trained.save_preset(tmp_path)
    with pytest.raises(InputError, match=r"notes\.txt: exists and is not a preset"):
        trained.save_preset(tmp_path / "notes.txt")
    with pytest.raises(InputError, match="dtype='int4' is not one of 'float32', 'bfloat16', "):
        trained.save_preset(tmp_path / "new", dtype="int4")
    with pytest.raises(InputError, match="gs://here/it: presets are written to local folders"):
        trained.save_preset("gs://here/it")
    for write in (predictor.save_preset, predictor.push_to_hub):
        with pytest.raises(InputError, match="is an export, which is not saved again; give the"):
            write(str(tmp_path / "new"))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_an_edited_card_stays(trained, tmp_path):
    trained.save_preset(tmp_path)
    (tmp_path / "README.md").write_text("mine")
    trained.save_preset(tmp_path)
    assert (tmp_path / "README.md").read_text() == "mine"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A folder in place of the hub, with a folder for each model."""
    root = tmp_path / "hub"

    def create_repo(name, *, private, token, exist_ok):
        assert exist_ok
        (root / name).mkdir(parents=True, exist_ok=True)
        return types.SimpleNamespace(repo_id=name)

    def file_exists(name, file, *, token):
        return (root / name / file).exists()

    def chosen(folder, **patterns):
        names = [path.name for path in folder.iterdir()]
        return list(filter_repo_objects(names, **patterns))

    def upload_folder(
        *, repo_id, folder_path, commit_message, ignore_patterns, delete_patterns, token
    ):
        target = root / repo_id
        for name in chosen(target, allow_patterns=delete_patterns):
            (target / name).unlink()
        for name in chosen(pathlib.Path(folder_path), ignore_patterns=ignore_patterns):
            shutil.copy(f"{folder_path}/{name}", target)

    def snapshot_download(name, *, allow_patterns, **_):
        cache = tmp_path / "cache" / name
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(parents=True)
        for file in chosen(root / name, allow_patterns=allow_patterns):
            shutil.copy(root / name / file, cache)
        return str(cache)

    for function in (create_repo, file_exists, upload_folder, snapshot_download):
        monkeypatch.setattr(huggingface_hub, function.__name__, function)
    return root


def test_to_a_hub_and_back(trained, table, hub):
    name = "somebody/tiny"
    fitted = trained.with_calibration(Calibration(threshold=0.0))
    assert fitted.push_to_hub(name, license="mit") == name
    assert {path.name for path in (hub / name).iterdir()} == FILES | {"calibration.json"}
    fields, text = card(hub / name)
    assert fields["license"] == "mit"
    assert f'mate_tf.Predictor.from_pretrained("{name}")' in text
    again = Predictor.from_pretrained(name)
    assert again.ask(table, QUESTION) == fitted.ask(table, QUESTION)
    assert again.calibration == fitted.calibration
    # A second time: the card may have been edited on the hub, and there is no calibration.
    (hub / name / "README.md").write_text("mine")
    trained.push_to_hub(name)
    assert {path.name for path in (hub / name).iterdir()} == FILES
    assert (hub / name / "README.md").read_text() == "mine"


def test_what_the_hub_refuses(trained, monkeypatch):
    def fail(*_, **__):
        raise ValueError("403 Forbidden:\n\nno right")

    monkeypatch.setattr(huggingface_hub, "create_repo", fail)
    with pytest.raises(InputError) as raised:
        trained.push_to_hub("somebody/tiny")
    assert str(raised.value) == (
        "somebody/tiny: not pushed to the Hugging Face hub: ValueError: 403 Forbidden: no right"
    )
    monkeypatch.setattr(saving.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"tiny: to push it .*: pip install 'mate-tf\[hub\]'"):
        trained.push_to_hub("somebody/tiny")


def test_the_dict_of_transformers():
    cells = (AnswerCell(0, 2, "30", 0.9), AnswerCell(1, 2, "41", 0.8))
    found = Answer(cells, "SUM", 71.0, 0.8, "71").to_huggingface()
    assert found == {
        "answer": "SUM > 30, 41",
        "coordinates": [(0, 2), (1, 2)],
        "cells": ["30", "41"],
        "aggregator": "SUM",
    }
    assert Answer(cells, "NONE", None, 0.8, "30, 41").to_huggingface()["answer"] == "30, 41"
    derived = Answer(cells, "NONE", 11.0, 0.9, "11").to_huggingface()
    assert (derived["answer"], derived["cells"]) == ("11", ["30", "41"])
    of_class = Answer((), "NONE", None, 0.8, "refuted").to_huggingface()
    assert (of_class["answer"], of_class["cells"]) == ("refuted", [])
