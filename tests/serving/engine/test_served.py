"""Presets and other models by OpenVINO: the same answers, and what TensorFlow is needed for."""

import dataclasses
import shutil

import numpy as np
import pytest
import yaml
from safetensors.numpy import load_file, save_file

from mate_tf import checkpoints
from mate_tf.errors import InputError
from mate_tf.serving import export_files, model_folder, presets
from mate_tf.serving.engine import bundle, loading, served
from mate_tf.serving.engine.model import has_bfloat16
from mate_tf.serving.predictor import Predictor

QUESTIONS = ("Who earns the most?", "How many people are there?", "What is the team of Ann?")


@pytest.fixture(scope="module")
def staff(project):
    return project / "tests" / "handmade" / "tables" / "staff.csv"


@pytest.fixture(scope="module")
def mini():
    return presets.find("mini")


@pytest.fixture
def copy(mini, tmp_path):
    """copy(change): a copy of the preset, whose config.yaml is changed in place."""

    def make(change=lambda config: None):
        folder = tmp_path / "copy"
        shutil.copytree(mini, folder)
        path = folder / "config.yaml"
        config = yaml.safe_load(path.read_text())
        change(config)
        path.write_text(yaml.safe_dump(config))
        return folder

    return make


def test_the_answers_are_those_of_tensorflow(staff):
    predictors = [Predictor.from_preset(engine=each) for each in served.ENGINES]
    assert [each.engine for each in predictors] == list(served.ENGINES)
    first, second = (
        [predictor.ask(staff, question) for question in QUESTIONS] for predictor in predictors
    )
    for own, other in zip(first, second, strict=True):
        assert own.coordinates == other.coordinates
        assert own.aggregation == other.aggregation
        assert own.confidence == pytest.approx(other.confidence, abs=1e-4)
    exact = predictors[1].with_calibration(None, reading={}).ask(staff, QUESTIONS[0])
    found = predictors[0].with_calibration(None, reading={}).ask(staff, QUESTIONS[0])
    assert found.probability == pytest.approx(exact.probability, abs=1e-4)


def test_repr_names_what_computes(mini):
    assert repr(Predictor.from_preset()) == (
        f"Predictor({mini!r}, attention=mate_efficient, layers=4, hidden_size=384, "
        "max_seq_length=1024, engine=openvino, precision=float32)"
    )
    assert "engine=tensorflow, precision=float32)" in repr(
        Predictor.from_preset(engine="tensorflow")
    )


def test_auto_is_bfloat16_where_the_processor_has_it():
    model = Predictor.from_preset(precision="auto")._model
    assert model.precision == ("bfloat16" if has_bfloat16() else "float32")


def test_bfloat16_without_such_products_is_float32(monkeypatch):
    monkeypatch.setattr(served, "has_bfloat16", lambda: False)
    for precision in ("auto", "bfloat16"):
        assert Predictor.from_preset(precision=precision)._model.precision == "float32"


def test_the_keras_model_is_loaded_when_it_is_used(mini):
    """With the same weights, and the length that was asked for."""
    predictor = Predictor.from_preset(max_seq_length=99)
    variables = checkpoints.checkpoint_variables(predictor.model)
    weights = loading.find(model_folder.find(mini)).weights()
    assert variables.keys() == weights.keys()
    for name, each in variables.items():
        np.testing.assert_array_equal(each.numpy(), weights[name], err_msg=name)
    assert predictor.model is predictor.model


def test_lengths(copy):
    predictor = Predictor.from_preset(max_seq_length=512)
    assert predictor._model.converter.max_seq_length == 512
    assert predictor._model.config["max_num_rows"] == 256
    assert Predictor.from_preset(max_seq_length=4096)._model.engine == "openvino"

    def without_reset(config):
        config["task"]["model"]["encoder"]["reset_position_index_per_cell"] = False

    folder = copy(without_reset)
    with pytest.raises(InputError, match=r"max_seq_length=513, but its model has 512 positions"):
        Predictor.from_pretrained(folder, max_seq_length=513)


@pytest.mark.parametrize("engine", ["onnx", ""])
def test_unknown_engines(engine):
    with pytest.raises(InputError, match="is neither 'openvino' nor 'tensorflow'"):
        Predictor.from_preset(engine=engine)


def test_models_of_other_variants():
    assert Predictor.from_preset(attention="bigbird")._model.engine == "tensorflow"
    with pytest.raises(InputError, match="does not compute attention 'bigbird'"):
        Predictor.from_preset(attention="bigbird", engine="openvino")
    with pytest.raises(InputError, match="precision 'int8' cannot be had with attention"):
        Predictor.from_preset(attention="bigbird", precision="int8")
    with pytest.raises(InputError, match="only with the engine openvino"):
        Predictor.from_preset(precision="int8", engine="tensorflow")
    assert Predictor.from_preset(attention="mate_efficient")._model.engine == "openvino"
    assert Predictor.from_preset(precision="float16")._model.engine == "tensorflow"


def test_a_configuration_that_lacks_values_is_read_by_tensorflow(copy):
    folder = copy(lambda config: config["task"]["model"].pop("num_classification_labels"))
    assert loading.find(model_folder.find(folder)) is None
    assert Predictor.from_pretrained(folder)._model.engine == "openvino"


@pytest.mark.parametrize("content", [b"", b"\x08\0\0\0\0\0\0\0{nothing", b"x" * 100])
def test_damaged_weights(copy, content):
    folder = copy()
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(InputError, match=r"model.safetensors: cannot be read: "):
        Predictor.from_pretrained(folder)


def test_weights_of_integers(copy):
    folder = copy()
    save_file({"bert/x": np.zeros(3, np.int32)}, folder / "model.safetensors")
    with pytest.raises(InputError, match=r"bert/x: dtype I32 is not of floats"):
        Predictor.from_pretrained(folder)


def test_missing_weights(copy):
    folder = copy()
    weights = loading.find(model_folder.find(folder)).weights()
    del weights["bert/embeddings/word_embeddings"]
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(InputError, match=r"bert/embeddings/word_embeddings"):
        Predictor.from_pretrained(folder)


def test_weights_that_are_not_finite(copy, trained_model, monkeypatch):
    """Of a preset, and of an export; a confidence of NaN would be no JSON."""
    folder = copy()
    path = folder / "model.safetensors"
    weights = load_file(path)
    weights["output_weights"][:] = np.nan
    save_file(weights, path)
    for engine in served.ENGINES:
        with pytest.raises(InputError, match=f"{path}: the weights output_weights have NaN"):
            Predictor.from_pretrained(str(folder), engine=engine)

    read = bundle.read

    def damaged(prefix):
        found = read(prefix)
        return found | {name: np.full_like(values, np.inf) for name, values in found.items()}

    monkeypatch.setattr(bundle, "read", damaged)
    export = str(trained_model / "export")
    with pytest.raises(InputError, match=f"{export}: the weights .* have infinity; they are of"):
        served.load_export(export, engine=served.OPENVINO)


def test_an_export_whose_spans_have_no_names_is_computed_by_tensorflow(trained_model, monkeypatch):
    """As those were written whose readers' weights had no names in checkpoints."""
    folder = str(trained_model / "export")
    assert served.load_export(folder).engine == "openvino"
    found = export_files.read(folder)
    config = found.model["config"] | {"span_prediction": "mlp"}
    older = dataclasses.replace(found, model=found.model | {"config": config})
    monkeypatch.setattr(export_files, "read", lambda folder: older)
    assert served.load_export(folder) is None
    with pytest.raises(InputError, match="does not compute an export whose weights of spans have"):
        served.load_export(folder, engine="openvino")
