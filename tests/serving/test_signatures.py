"""The signature's outputs, and that it needs nothing but TensorFlow."""

import json
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.data import interactions
from mate_tf.data.examples import ExampleConverter
from mate_tf.serving.signatures import ServingModule, parse_examples
from mate_tf.tables.table import Table

from .conftest import LENGTH, MAX_COLUMNS, MAX_ROWS

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


ALONE = """
import json, sys
import tensorflow as tf
serve = tf.saved_model.load(sys.argv[1]).signatures["serving_examples"]
(_, inputs) = serve.structured_input_signature
with open(sys.argv[2]) as file:
    examples = [bytes.fromhex(line) for line in json.load(file)]
outputs = serve(**{next(iter(inputs)): tf.constant(examples)})
assert not {"mate_tf", "tensorflow_text", "tf_keras", "official"} & set(sys.modules)
print(json.dumps({name: value.numpy().tolist() for name, value in outputs.items()}))
"""


def test_loads_with_tensorflow_alone(saved_model, predictor, table, examples, tmp_path):
    path = tmp_path / "examples.json"
    path.write_text(json.dumps([example.hex() for example in examples[:2]]))
    result = subprocess.run(
        [sys.executable, "-c", ALONE, saved_model, str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    outputs = json.loads(result.stdout.splitlines()[-1])
    for index, question in enumerate(QUESTIONS):
        answer = predictor.ask(table, question)
        selected = np.argwhere(outputs["selected"][index])
        assert [tuple(cell) for cell in selected.tolist()] == answer.coordinates
        assert outputs["probability"][index] == pytest.approx(answer.probability, abs=1e-5)
