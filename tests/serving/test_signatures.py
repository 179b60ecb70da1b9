"""The signature's outputs, and that it needs nothing but TensorFlow."""

from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import mate_forms
from mate_tf.data import interactions
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.serving.served_model import load_signature
from mate_tf.serving.signatures import ServingModule, parse_examples
from mate_tf.tables.table import Table

from .. import graphs
from ..tiny_model import LENGTH, MAX_COLUMNS, MAX_ROWS

QUESTIONS = ("who is 41?", "which city does Ann live in?")


@pytest.fixture
def examples(vocab_file, options, table):
    """Serialized examples of two questions about a table and one about a smaller one."""
    converter = ExampleConverter(vocab_file, **options)
    small = Table.from_rows(["name"], [["Ann"]])
    asked = [*((table, question) for question in QUESTIONS), (small, "who?")]
    found = []
    for one, question in asked:
        proto = interactions.interaction_from_table(
            one, "ask-0", [interactions.Question("ask-0_0", question)]
        )
        found.append(converter.convert(proto, 0).SerializeToString())
    return found


def test_shared_padding_is_cut(examples):
    parsed = parse_examples(tf.constant(examples))
    tokens = tf.reduce_sum(parsed["input_mask"], axis=1).numpy()
    assert tokens[2] < tokens.max() < LENGTH
    assert all(values.shape == (3, tokens.max()) for values in parsed.values())
    assert all(values.dtype == tf.int32 for values in parsed.values())


@pytest.mark.parametrize(
    "head",
    [{"cell_cross_entropy": True}, {"select_one_column": True}, {"average_logits_per_cell": True}],
    ids=lambda head: next(iter(head)),
)
def test_outputs(make_model, examples, head):
    """Cells as the model chooses them; the answer's probability as the head means it."""
    model = make_model(**head)
    module = ServingModule(model)
    with graphs.avoided():  # the same in exports, which other tests read
        outputs = module.serving_examples(tf.constant(examples))
    outputs = {name: value.numpy() for name, value in outputs.items()}
    direct = model(parse_examples(tf.constant(examples)), training=False)
    np.testing.assert_allclose(outputs["probabilities"], direct["probs"], atol=1e-6)
    chosen = direct["selected_tokens"].numpy() > 0
    assert outputs["selected"].shape == (3, MAX_ROWS - 1, MAX_COLUMNS - 1)
    for index in range(3):
        cells = set(
            zip(
                outputs["row_ids"][index][chosen[index]] - 1,
                outputs["column_ids"][index][chosen[index]] - 1,
                strict=True,
            )
        )
        assert {tuple(cell) for cell in np.argwhere(outputs["selected"][index])} == cells
        values = [outputs["cell_probabilities"][index][cell] for cell in cells]
        expected = sum(values)
        if "cell_cross_entropy" not in head:
            expected = np.mean(values) if values else 0.0
        assert outputs["probability"][index] == pytest.approx(expected, abs=1e-6)
    assert outputs["selected"].any()
    if "cell_cross_entropy" in head:
        np.testing.assert_allclose(outputs["cell_probabilities"].sum(axis=(1, 2)), 1, atol=1e-5)


def test_short_and_long_inputs_have_forms_of_their_own(make_model, examples):
    """One graph with masks for short inputs and windows for long ones, of `mate_efficient`."""
    model = make_model("mate_efficient", select_one_column=True)
    lengths = [parse_examples(tf.constant([each]))["input_ids"].shape[1] for each in examples]
    used = []

    def watched(short_inputs):
        used.append(short_inputs)
        return graph_for(short_inputs)

    graph_for = mate_forms.graph_for
    with mock.patch.multiple(mate_forms, graph_for=watched, SHORT_INPUT=max(lengths) - 1):
        module = ServingModule(model)
        for each in examples:
            outputs = module.serving_examples(tf.constant([each]))
            direct = model(parse_examples(tf.constant([each])), training=False)
            np.testing.assert_allclose(outputs["probabilities"], direct["probs"], atol=1e-6)
        nothing = module.serving_examples(tf.zeros([0], tf.string))
    assert nothing["cell_probabilities"].shape[0] == 0
    assert min(lengths) < max(lengths)
    assert used == [True, False]


def test_other_attention_has_one_form(make_model, examples):
    with mock.patch.object(mate_forms, "graph_for") as graph_for:
        ServingModule(make_model("full")).serving_examples(tf.constant(examples))
    assert not graph_for.called


def test_a_model_of_questions_and_statements_answers_with_cells(make_model, examples):
    classes = {"num_classification_labels": 2, "cells_or_class": True}
    module = ServingModule(make_model(**classes), class_names=("refuted", "entailed"))
    outputs = module.answers(parse_examples(tf.constant(examples)))
    assert "class_probabilities" not in outputs
    assert np.any(outputs["selected"])


def test_weights_that_are_not_finite(tmp_path):
    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable([1.0, float("nan")], name="scale")

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def scaled(self, values):
            return {"scaled": self.scale * values}

    module = Module()
    tf.saved_model.save(module, str(tmp_path), signatures={"scaled": module.scaled})
    with pytest.raises(InputError, match=f"{tmp_path}: the weights scale have NaN"):
        load_signature(str(tmp_path), "scaled")
