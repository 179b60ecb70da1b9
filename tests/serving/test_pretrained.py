"""Folders of trained models of every kind: the answers are those of the model in them."""

import dataclasses
import json
import pathlib
import shutil

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints
from mate_tf.attention import AttentionConfig
from mate_tf.data import synthetic
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.evaluation.calibration import Calibration
from mate_tf.layers.framework import keras
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig
from mate_tf.serving import configurations, model_folder, served_model, signatures
from mate_tf.serving.predictor import Predictor
from mate_tf.tables.conversion import ConversionConfig

from ..tf1_checkpoint import write_tf1

QUESTION = "who is 41?"
AGGREGATION = {"select_one_column": True, "num_aggregation_labels": 4}
CLASSES = {"num_classification_labels": 2, "disable_per_token_loss": True}
SIZES = {
    "vocab_size": len(synthetic.vocabulary()),
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 128,
}


def make(attention="full", reset=True, **heads):
    """A model with random weights, large enough for its answers to differ."""
    keras.utils.set_random_seed(1)
    encoder = EncoderConfig(
        **SIZES,
        initializer_range=0.5,
        reset_position_index_per_cell=reset,
        attention=AttentionConfig(name=attention),
    )
    return TableClassifier(ClassifierConfig(encoder=encoder, **heads))


def same_answers(predictor, model, table, length=512):
    """Whether all outputs are those of the model for the example that it should get."""
    config = ConversionConfig(max_seq_length=length).fitting(64, 32)
    vocab_file = predictor._model.converter.vocab_file
    assert predictor._model.converter.config == config
    example = predictor.example(table, QUESTION)
    assert example == Predictor.example(
        _over(served_model.LiveModel(model, ExampleConverter.from_config(vocab_file, config))),
        table,
        QUESTION,
    )
    features = signatures.parse_examples(tf.constant([example.SerializeToString()]))
    expected = signatures.ServingModule(model).answers(features)
    (outputs,) = predictor._model(example)
    assert outputs.keys() == expected.keys()
    # Whoever classifies does not choose cells: the weights for that are not saved.
    names = ["class_probabilities"] if model.config.num_classification_labels else outputs
    for name in names:
        value = outputs[name]
        np.testing.assert_allclose(value, expected[name][0], atol=1e-6, err_msg=name)
    return True


def _over(model):
    predictor = Predictor.__new__(Predictor)
    predictor._set(model, "")
    return predictor


@pytest.fixture(scope="module")
def model():
    return make(**AGGREGATION)


@pytest.fixture(scope="module")
def folder(model, vocab_file, tmp_path_factory):
    """As Hugging Face has it; not to be changed."""
    folder = tmp_path_factory.mktemp("huggingface")
    checkpoints.save_huggingface(model, folder, vocab_file)
    return folder


@pytest.fixture
def copy(folder, tmp_path):
    """copy(**changes of config.json): a folder of its own."""

    def change(**config):
        target = shutil.copytree(folder, tmp_path / "copy")
        content = json.loads((folder / "config.json").read_text())
        (target / "config.json").write_text(json.dumps(content | config))
        return target

    return change


def test_huggingface(folder, model, table):
    predictor = Predictor.from_pretrained(folder)
    assert same_answers(predictor, model, table)
    answer = predictor.ask(table, QUESTION)
    assert answer.aggregation in ("NONE", "SUM", "AVERAGE", "COUNT")
    assert repr(predictor) == (
        f"Predictor('{folder}', attention=full, layers=1, hidden_size=16, max_seq_length=512, "
        "engine=openvino, precision=float32)"
    )


def test_a_checkpoint_in_the_folder(folder, model, table):
    assert same_answers(Predictor.from_pretrained(folder / "model.safetensors"), model, table)


def test_fast_tokenizer(folder, model, table, tmp_path):
    """A tokenizer.json in place of vocab.txt."""
    for name in ("config.json", "model.safetensors"):
        shutil.copy(folder / name, tmp_path)
    pieces = (folder / "vocab.txt").read_text().splitlines()
    content = {"type": "WordPiece", "vocab": {piece: i for i, piece in enumerate(pieces)}}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"model": content}))
    predictor = Predictor.from_pretrained(tmp_path)
    assert same_answers(predictor, model, table)
    predictor.save_pretrained(tmp_path / "saved")
    assert (tmp_path / "saved" / "vocab.txt").read_text() == "".join(f"{p}\n" for p in pieces)
    for wrong in (
        {"model": {"type": "BPE", "vocab": {"a": 0}}},
        {},
        {"model": content | {"vocab": {"a": 1}}},
    ):
        path.write_text(json.dumps(wrong))
        with pytest.raises(InputError, match=r"tokenizer.json: .*vocabulary"):
            Predictor.from_pretrained(tmp_path)


def test_classes(vocab_file, table, tmp_path):
    model = make(**CLASSES)
    checkpoints.save_huggingface(model, tmp_path / "plain", vocab_file)
    predictor = Predictor.from_pretrained(tmp_path / "plain")
    assert same_answers(predictor, model, table)
    answer = predictor.ask(table, QUESTION)
    assert answer.text in ("LABEL_0", "LABEL_1")
    assert 0.5 <= answer.probability <= 1
    shutil.copytree(tmp_path / "plain", tmp_path / "tapas-finetuned-tabfact")
    named = Predictor.from_pretrained(tmp_path / "tapas-finetuned-tabfact")
    index = int(answer.text[-1])
    assert named.ask(table, QUESTION).text == ("refuted", "entailed")[index]
    assert Predictor.from_pretrained(tmp_path / "plain", task="tabfact").ask(
        table, QUESTION
    ) == named.ask(table, QUESTION)
    named.calibration = Calibration(temperature=2.0, bias=0.1, weights="ckpt-7")
    named.save_pretrained(tmp_path / "again")
    # It then counts for whatever weights are beside it.
    again = Predictor.from_pretrained(tmp_path / "again")
    assert again.calibration == dataclasses.replace(named.calibration, weights="")
    assert again.ask(table, QUESTION) == named.ask(table, QUESTION)


@pytest.fixture
def tapas(vocab_file, tmp_path):
    """tapas(name, model): a folder as TAPAS releases them."""

    def write(name, model):
        folder = tmp_path / name
        folder.mkdir()
        values = {
            key: variable.numpy()
            for key, variable in checkpoints.checkpoint_variables(model).items()
        }
        write_tf1(values, folder / "model.ckpt", global_step=np.int64(7))
        config = SIZES | {"type_vocab_size": model.config.encoder.type_vocab_sizes}
        (folder / "bert_config.json").write_text(json.dumps(config))
        shutil.copy(vocab_file, folder / "vocab.txt")
        return folder

    return write


def test_tapas_by_its_name(tapas, table):
    """Task and positions are in the name, the task's temperature is not in the checkpoint."""
    model = make(temperature=0.0352513, **AGGREGATION)
    folder = tapas("tapas_wtq_wikisql_sqa_inter_masklm_tiny_reset", model)
    predictor = Predictor.from_pretrained(folder)
    assert same_answers(predictor, model, table)
    assert same_answers(Predictor.from_pretrained(folder / "model.ckpt"), model, table)
    config = predictor._model.keras_model.config
    assert (config.temperature, config.encoder.attention.name) == (0.0352513, "full")
    assert predictor._model.converter.config.max_seq_length == 512


def test_tapas_by_the_task(tapas, table):
    """Without a word on positions in the name they do not restart, and so the length is theirs."""
    model = make(reset=False, select_one_column=True)
    folder = tapas("mine", model)
    with pytest.raises(InputError, match=r"its name says no task: give task= \(--task\), one of"):
        Predictor.from_pretrained(folder)
    predictor = Predictor.from_pretrained(folder, task="SQA")
    assert same_answers(predictor, model, table, length=128)
    with pytest.raises(InputError, match="max_seq_length=129, but its model has 128 positions"):
        Predictor.from_pretrained(folder, task="SQA", max_seq_length=129)
    with pytest.raises(InputError, match=r"not trained to answer questions: it has no output_bias"):
        Predictor.from_pretrained(folder, task="WTQ")
    with pytest.raises(InputError, match="unknown task 'WHAT'; "):
        Predictor.from_pretrained(folder, task="WHAT")


def test_tapas_with_its_settings(tapas, table):
    model = make(temperature=0.5, **AGGREGATION)
    folder = tapas("mine", model)
    settings = {"temperature": 0.5, "reset_position_index_per_cell": True, "learning_rate": 1e-5}
    (folder / "tapas_config.json").write_text(json.dumps(settings | AGGREGATION))
    assert same_answers(Predictor.from_pretrained(folder), model, table)


def test_own_training_and_export(trained_model, predictor, table, monkeypatch):
    monkeypatch.setattr(
        served_model, "ExportedModel", {str(trained_model / "export"): predictor._model}.get
    )
    of_export = Predictor.from_pretrained(trained_model / "export")
    of_training = Predictor.from_pretrained(trained_model)
    expected = of_export.ask(table, QUESTION)
    answer = of_training.ask(table, QUESTION)
    assert answer.coordinates == expected.coordinates
    assert answer.probability == pytest.approx(expected.probability, abs=1e-5)
    assert "attention=mate_efficient" in repr(of_training)
    fixed = {"attention": "full", "precision": "float32", "max_seq_length": 64}
    for name, value in (fixed | {"float32_margin": 0.1}).items():
        with pytest.raises(InputError, match=f"{name} cannot be changed in an export"):
            Predictor.from_pretrained(trained_model / "export", **{name: value})
    with pytest.raises(InputError, match="is an export, which is not saved again"):
        of_export.save_pretrained("absent")
    with pytest.raises(InputError, match="cell_cross_entropy has no counterpart"):
        of_training.save_pretrained("absent")


def test_other_attention(folder, table):
    """Same weights, other outputs: those of a model that was made with this attention."""
    full = Predictor.from_pretrained(folder).ask(table, QUESTION)
    for attention in ("mate_exact", {"name": "mate_efficient", "global_length": 20, "radius": 8}):
        name = attention if isinstance(attention, str) else attention["name"]
        model = make(name, **AGGREGATION)
        model.set_weights(make(**AGGREGATION).get_weights())
        predictor = Predictor.from_pretrained(folder, attention=attention)
        assert same_answers(predictor, model, table)
        assert predictor.ask(table, QUESTION) != full
    assert predictor._model.keras_model.config.encoder.attention.radius == 8
    with pytest.raises(InputError, match="attention tree_fine has weights that are not here"):
        Predictor.from_pretrained(folder, attention="tree_fine")
    with pytest.raises(InputError, match="unknown attention 'mate'"):
        Predictor.from_pretrained(folder, attention="mate")


def test_precision(folder, table):
    before = keras.mixed_precision.global_policy().name
    whole = Predictor.from_pretrained(folder)._model(
        Predictor.from_pretrained(folder).example(table, QUESTION)
    )[0]
    predictor = Predictor.from_pretrained(folder, precision="bfloat16")
    assert keras.mixed_precision.global_policy().name == before
    (outputs,) = predictor._model(predictor.example(table, QUESTION))
    difference = np.abs(outputs["cell_probabilities"] - whole["cell_probabilities"]).max()
    assert 1e-7 < difference < 0.05
    with pytest.raises(InputError, match="'half' is not one of float32, bfloat16, float16, int8"):
        Predictor.from_pretrained(folder, precision="half")


def test_length(folder):
    rows = [["a", "b"], *(["Ann Bob Rome", str(number)] for number in range(60))]
    assert Predictor.from_pretrained(folder).ask(rows, QUESTION).cuts == ()
    part = Predictor.from_pretrained(folder, max_seq_length=150, reading={})
    assert any(cut.endswith("cells shortened") for cut in part.ask(rows, QUESTION).cuts)
    assert Predictor.from_pretrained(folder, max_seq_length=150).ask(rows, QUESTION).cuts == ()


def test_saved(folder, table, tmp_path):
    predictor = Predictor.from_pretrained(folder, attention="mate_exact")
    predictor.save_pretrained(tmp_path / "saved")
    again = Predictor.from_pretrained(tmp_path / "saved")
    assert "attention=mate_exact" in repr(again)
    assert again.ask(table, QUESTION) == predictor.ask(table, QUESTION)


def test_exported(folder, table, tmp_path):
    predictor = Predictor.from_pretrained(folder)
    expected = predictor.ask(table, QUESTION)
    assert predictor.export(tmp_path / "export") == str(tmp_path / "export")
    exported = Predictor(str(tmp_path / "export"))
    answer = exported.ask(table, QUESTION)
    assert (answer.coordinates, answer.text) == (expected.coordinates, expected.text)
    assert answer.probability == pytest.approx(expected.probability, abs=1e-5)


def test_graph_after_some_questions(folder, model, table, monkeypatch):
    monkeypatch.setattr(served_model, "EAGER_CALLS", 0)
    assert same_answers(Predictor.from_pretrained(folder), model, table)


def test_models_that_answer_nothing(folder, copy):
    with pytest.raises(InputError, match="is a TapasForMaskedLM, which does not answer questions"):
        Predictor.from_pretrained(copy(architectures=["TapasForMaskedLM"]))
    del folder


def test_missing_weights(copy):
    with pytest.raises(InputError, match="it has no output_bias_cls, output_weights_cls"):
        Predictor.from_pretrained(
            copy(architectures=["TapasForSequenceClassification"], num_aggregation_labels=0)
        )


def test_broken_folders(copy):
    target = copy()
    (target / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    with pytest.raises(InputError, match="do_lower_case is false"):
        Predictor.from_pretrained(target)
    (target / "tokenizer_config.json").write_text("{}")
    with (target / "vocab.txt").open("a") as file:
        file.write("onemore\n")
    with pytest.raises(InputError, match=r"vocab.txt: has \d+ pieces, but the model has \d+"):
        Predictor.from_pretrained(target)
    (target / "config.json").write_text("[]")
    with pytest.raises(InputError, match=r"config.json: expected a JSON object"):
        Predictor.from_pretrained(target)
    (target / "config.json").write_text("{")
    with pytest.raises(InputError, match=r"config.json: not valid JSON"):
        Predictor.from_pretrained(target)


def test_half_a_vocabulary(copy, caplog):
    """It has the form of a whole one, so it is used, but not silently."""
    target = copy()
    Predictor.from_pretrained(target)
    assert "is the file whole?" not in caplog.text
    pieces = (target / "vocab.txt").read_text().splitlines(keepends=True)
    (target / "vocab.txt").write_text("".join(pieces[:-5]))
    Predictor.from_pretrained(target)
    counts = f"has {len(pieces) - 5} pieces, but the model has {len(pieces)}; is the file whole?"
    assert f"vocab.txt: {counts}" in caplog.text


def test_vocabulary_of_a_training(trained_model, table, tmp_path):
    """The copy beside the checkpoints counts, then where it was."""
    moved = shutil.copytree(trained_model, tmp_path / "moved")
    shutil.rmtree(moved / "export")
    (moved / "vocab.txt").unlink()
    params = moved / "params.yaml"
    text = params.read_text()
    named = next(line for line in text.splitlines() if "bert_vocab_file" in line)
    params.write_text(text.replace(named, named.partition(":")[0] + ": absent/vocab.txt"))
    with pytest.raises(InputError, match=r"its vocabulary 'absent/vocab.txt' is not there"):
        Predictor.from_pretrained(moved)
    shutil.copy(pathlib.Path(trained_model).with_name("vocab.txt"), moved)
    expected = Predictor.from_pretrained(trained_model).ask(table, QUESTION)
    assert Predictor.from_pretrained(moved).ask(table, QUESTION) == expected


def test_classes_are_those_of_the_configuration(vocab_file, tmp_path):
    """A task's settings decide whether it has any."""
    shutil.copy(vocab_file, tmp_path / "vocab.txt")
    (tmp_path / "model.safetensors").touch()
    for task, names in (
        ("{name: CUSTOM, labels: [nay, yea]}", ("nay", "yea")),
        ("{name: QUESTIONS}", ()),
        ("{name: QUESTIONS, statements_per_table: 2}", ("refuted", "entailed")),
    ):
        (tmp_path / "config.yaml").write_text(f"task: {task}\n")
        assert configurations.read(model_folder.find(tmp_path)).class_names == names
