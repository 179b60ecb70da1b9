"""Questions, attention and timings of a tiny model, without a page."""

import dataclasses
import shutil

import numpy as np
import pytest
import yaml

from mate_tf import tasks
from mate_tf.demo import session, speed
from mate_tf.errors import InputError
from mate_tf.serving.answer import Answer
from mate_tf.tables.table import Table
from mate_tf.training import experiments

# Each question's graph is traced anew: few, shared by the tests.

pytestmark = pytest.mark.usefixtures("loaded_once")


@pytest.fixture(scope="module")
def demo(trained_model):
    return session.Demo.load(str(trained_model / "export"), str(trained_model))


@pytest.fixture(scope="module")
def table():
    return Table.from_rows(["name", "age"], [["Ann", "30"], ["Bob", "41"], ["Cy", "52"]])


@pytest.fixture(scope="module")
def asked(demo, table):
    return demo.ask(session.Conversation(table), "who is 41?")


def test_what_can_be_chosen(demo):
    assert demo.has_model
    assert (demo.task, demo.conversational) == ("SYNTHETIC", False)
    assert demo.description == f"{demo.name} (mate_efficient, 1 layer of width 16)"
    assert demo.attention == "mate_efficient"
    assert demo.layers == ["all layers", "1"]
    assert demo.head_types == ["all heads", "row heads", "column heads"]
    assert demo.variants == ["full", "same_row_or_column", "mate_exact", "mate_efficient"]


def test_a_model_alone_has_no_attention(trained_model):
    alone = session.Demo.load(str(trained_model / "export"))
    assert not alone.has_model
    assert alone.description == str(trained_model / "export")


def test_a_folder_that_was_moved(trained_model, tmp_path):
    """Its vocabulary was named by a path that is not there any more."""
    for path in trained_model.glob("ckpt-*"):
        (tmp_path / path.name).symlink_to(path)
    params = yaml.safe_load((trained_model / "params.yaml").read_text())
    shutil.copy(params["task"]["conversion"]["bert_vocab_file"], tmp_path / "vocab.txt")
    params["task"]["conversion"]["bert_vocab_file"] = "out/of/reach/vocab.txt"
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params))
    demo = session.Demo.load(str(trained_model / "export"), str(tmp_path))
    assert demo.has_model


def test_answers_are_the_predictors(demo, table, asked):
    (turn,) = asked.turns
    assert turn.answer == demo._predictor.ask(table, "who is 41?")
    assert turn.features["input_mask"].all()
    assert turn.flow is None


def test_follow_ups_hear_the_answer_before(demo, asked):
    for follow_up in (True, False):
        turn = demo.ask(asked, "how old?", follow_up).turns[-1]
        assert turn.features["prev_label_ids"].any() == follow_up


class Reader:
    """Stands in for POINTR: answers with the texts of the table."""

    def ask(self, table, question, previous=None):
        return Answer((), "NONE", None, 0.5, "; ".join(text for _, text in table.texts))


def test_texts_about_cells(table):
    reader = session.Demo(Reader(), None, "HYBRIDQA", "both stages", reads_texts=True)
    assert not reader.has_model
    talk = dataclasses.replace(session.Conversation(table), texts=(("Ann", "a nurse"),))
    (turn,) = reader.ask(talk, "what is Ann?").turns
    assert (turn.answer.text, turn.read) == ("a nurse", None)
    other = talk.about(Table.from_rows(["name"], [["Eve"]]))
    with pytest.raises(InputError, match="texts: none of the 1 texts is about a cell of the table"):
        reader.ask(other, "what is Eve?")


def test_rows_that_are_not_read(demo):
    """The row that is asked for is read, and the attention to it is shown in its row."""
    rows = [[f"x {row}", "y"] for row in range(300)]
    long = Table.from_rows(["name", "age"], rows)
    talk = demo.attend(demo.ask(session.Conversation(long), "what is 250?"))
    (turn,) = talk.turns
    assert 250 in turn.part.rows
    values = demo.attention_shading(turn).values
    assert values.shape == (301, 2)
    assert np.isfinite(values[251]).all()
    assert np.isnan(values[249]).all()
    share = np.nansum(values) + turn.flow[session.CHOSEN].question.mean()
    assert share == pytest.approx(1, abs=1e-4)
    chosen = {row for row, _ in turn.answer.coordinates}
    assert chosen <= set(turn.part.rows.tolist())


@pytest.mark.parametrize("question", ["", "  \n", None])
def test_no_question(demo, table, question):
    with pytest.raises(InputError, match="type a question"):
        demo.ask(session.Conversation(table), question)


def test_no_table_no_question_no_variants(demo, asked):
    with pytest.raises(InputError, match="paste a table"):
        demo.ask(session.Conversation(), "who?")
    with pytest.raises(InputError, match="ask a question first"):
        demo.attend(session.Conversation())
    with pytest.raises(InputError, match="ask a question first"):
        next(demo.compare(session.Conversation(), ["full"]))
    with pytest.raises(InputError, match="choose the variants"):
        next(demo.compare(asked, []))


@pytest.fixture
def deeper(demo, trained_model):
    """The page with the same answers and the attention of a model with two layers."""
    experiment = experiments.load(str(trained_model / "params.yaml"))
    experiment.task.model.encoder.num_hidden_layers = 2
    return session.Demo(demo._predictor, tasks.create(experiment.task).build_model())


def test_attention(deeper, asked):
    demo = deeper
    assert demo.layers == ["all layers", "1", "2"]
    talk = demo.attend(asked)
    assert demo.attend(talk) is talk
    turn = talk.turns[-1]
    everything = demo.attention_shading(turn)
    assert everything.values.shape == (4, 2)
    assert everything.largest == everything.values.max()
    assert "all layers, all heads: " in everything.note
    share = turn.flow[session.CHOSEN].question.mean()
    assert everything.values.sum() + share == pytest.approx(1, abs=1e-4)
    values = demo.attention_shading(turn, heads="row heads", layer="2").values
    rows = {row + 1 for row, _ in turn.answer.coordinates}
    assert set(np.flatnonzero(values.any(1))) == rows
    layers = [demo.attention_shading(turn, layer=layer).values for layer in ("1", "2")]
    np.testing.assert_allclose(np.mean(layers, 0), everything.values, atol=1e-6)
    asked_from = demo.attention_shading(turn, session.QUESTION)
    assert "from the question" in asked_from.label
    assert np.abs(asked_from.values - everything.values).max() > 1e-3


def test_too_many_tokens_for_attention(demo, asked, monkeypatch):
    monkeypatch.setattr(session, "LONGEST", 5)
    with pytest.raises(InputError, match=r"\d+ tokens: attention is shown up to 5"):
        demo.attend(asked)


def test_variants_with_the_same_weights(demo, asked):
    """What is timed computes the same where masks hide nothing, and has the length asked for."""
    encoder, features = demo._model.encoder, asked.turns[-1].features
    own = encoder(features, training=False)["sequence_output"]
    exact = speed.with_attention(encoder, "mate_exact")
    assert exact.config.attention.global_length == 16
    np.testing.assert_allclose(exact(features)["sequence_output"], own, atol=1e-4)
    padded = speed.padded(features, 40)
    assert {value.shape for value in padded.values()} == {(1, 40)}
    np.testing.assert_array_equal(speed.padded(features, 3)["input_ids"], features["input_ids"])


def test_timings(demo, asked):
    states = list(demo.compare(asked, ["full", "mate_exact"], 64))
    assert [running for _, _, running in states] == ["full", "mate_exact", ""]
    assert [len(timings) for timings, _, _ in states] == [0, 1, 2]
    for timing in states[-1][0]:
        assert timing.seconds > 0
        assert 1 <= timing.runs <= 7
    assert "one example of 64 tokens" in states[-1][1]


def test_variants_with_other_weights(demo, asked):
    with pytest.raises(InputError, match="'tree_fine' has weights that this model lacks"):
        list(demo.compare(asked, ["tree_fine"]))
