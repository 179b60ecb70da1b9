"""The reader's MLP over spans against a plain evaluation, span by span."""

import math

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.heads import reader

HIDDEN, WIDTH = 6, 5


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


def gelu_tanh(x):
    return x * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS = {"gelu_exact": gelu, "relu": lambda x: np.maximum(x, 0), "tanh": np.tanh}


def batch(seed=0, seq=18):
    """A question of 3 tokens, a header of 2, cells of row 1 in runs, two tokens of padding."""
    rng = np.random.default_rng(seed)
    columns = np.zeros((3, seq), np.int32)
    rows = np.zeros((3, seq), np.int32)
    for example in range(3):
        border = rng.integers(7, seq - 4)
        columns[example, 3:5] = 1, 2
        columns[example, 5:border] = 1
        columns[example, border : seq - 2] = 2
        rows[example, 5 : seq - 2] = 1
    labels = np.zeros((3, seq), np.int32)
    labels[0, 6:8] = 1
    labels[0, 11] = 1  # a second appearance
    x = rng.standard_normal((3, seq, HIDDEN)).astype(np.float32)
    return x, {"row_ids": rows, "column_ids": columns, "label_ids": labels}


def make(x, **options):
    head = reader.span_head(
        ClassifierConfig(span_prediction="mlp", span_hidden_size=WIDTH, **options)
    )
    head.build(x.shape)
    rng = np.random.default_rng(1)
    for variable in head.trainable_variables:
        variable.assign(rng.standard_normal(variable.shape))
    return head


def run(head, x, features):
    outputs = head(tf.constant(x), cells=None, features=features)
    per_example, parts = head.loss(outputs, cells=None, features=features)
    return outputs, per_example.numpy(), parts


def plain_log_probs(head, x, features, max_length, activation):
    """For each example {(first, last): log probability} of the valid spans only."""
    kernel, bias = head.span_hidden_kernel.numpy(), head.span_hidden_bias.numpy()
    weights, offset = head.span_output_weights.numpy(), head.span_output_bias.numpy()
    for tokens, rows, columns in zip(
        x.astype(np.float64), features["row_ids"], features["column_ids"], strict=True
    ):
        scores = {}
        for first in range(len(tokens)):
            for last in range(first, min(first + max_length, len(tokens))):
                same = rows[first] == rows[last] and columns[first] == columns[last]
                if same and rows[first] and columns[first]:
                    pair = np.concatenate([tokens[first], tokens[last]])
                    scores[first, last] = weights @ activation(pair @ kernel + bias) + offset
        total = np.log(np.sum(np.exp(list(scores.values()))))
        yield {span: score - total for span, score in scores.items()}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("max_length", [10, 3])
def test_equals_a_plain_evaluation(activation, max_length):
    x, features = batch()
    head = make(x, span_activation=activation, max_span_length=max_length)
    outputs, _, parts = run(head, x, features)
    indexes = [tuple(span) for span in outputs["span_indexes"].numpy().tolist()]
    log_probs = tf.nn.log_softmax(outputs["span_logits"]).numpy()
    plain = plain_log_probs(head, x, features, max_length, ACTIVATIONS[activation])
    for example, want in enumerate(plain):
        got = dict(zip(indexes, log_probs[example], strict=True))
        for span, log_prob in got.items():
            if span in want:
                assert log_prob == pytest.approx(want[span], rel=1e-4, abs=1e-4)
            else:
                assert np.exp(log_prob) == 0, span
        best = max(want, key=want.get)
        assert tuple(outputs["pred_span"].numpy()[example]) == best
        assert float(outputs["span_log_prob"][example]) == pytest.approx(
            want[best], rel=1e-4, abs=1e-4
        )
        assert float(parts["span_loss_per_example"][example]) == pytest.approx(
            -want[6, 7] if example == 0 else 0, rel=1e-4
        )


def test_examples_without_a_gold_span_do_not_count():
    """The loss of a batch is that of its examples with one."""
    x, features = batch()
    head = make(x)
    _, per_example, parts = run(head, x, features)
    alone = {name: values[:1] for name, values in features.items()}
    _, want, _ = run(head, x[:1], alone)
    np.testing.assert_allclose(np.mean(per_example), want[0], rtol=1e-6)
    np.testing.assert_array_equal(per_example[1:], 0)
    np.testing.assert_allclose(parts["span_loss"], want[0] / 3, rtol=1e-6)
    features["label_ids"][:] = 0
    assert run(head, x, features)[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "labelled",
    [slice(1, 3), slice(3, 4), slice(16, 18), slice(5, 16)],
    ids=["question", "header", "padding", "longer than a span, over two cells"],
)
def test_what_is_no_span_is_no_gold_span(labelled):
    x, features = batch()
    features["label_ids"][:] = 0
    features["label_ids"][1, labelled] = 1
    assert run(make(x), x, features)[1].tolist() == [0, 0, 0]


def test_the_empty_span():
    """[CLS] is one more span, and the answer where it is labelled."""
    x, features = batch()
    features["label_ids"][1, 0] = 1
    head = make(x, allow_empty_span=True)
    outputs, per_example, _ = run(head, x, features)
    others = plain_log_probs(head, x, features, 10, gelu_tanh)
    kernel, bias = head.span_hidden_kernel.numpy(), head.span_hidden_bias.numpy()
    for example, spans_only in enumerate(others):
        of_cls = np.concatenate([x[example, 0], x[example, 0]]).astype(np.float64)
        score = head.span_output_weights.numpy() @ gelu_tanh(of_cls @ kernel + bias)
        # What is left to the spans in cells, they share as before.
        logits = outputs["span_logits"][example].numpy()
        assert logits[0] == pytest.approx(score + float(head.span_output_bias), abs=1e-4)
        empty = np.exp(outputs["empty_span_log_prob"][example])
        best = max(spans_only.values()) + np.log1p(-empty)
        assert float(outputs["span_log_prob"][example]) == pytest.approx(best, abs=1e-3)
    # Two of three examples have a gold span.
    want = -3 / 2 * float(outputs["empty_span_log_prob"][1])
    assert per_example[1] == pytest.approx(want, rel=1e-4)
    assert per_example[2] == 0


def test_no_cell_no_span():
    x, features = batch()
    for name in ("row_ids", "column_ids"):
        features[name][2] = 0
    outputs, per_example, _ = run(make(x), x, features)
    assert float(outputs["span_log_prob"][2]) == -10_000
    assert np.all(np.isfinite(per_example))


def test_gradients_are_the_slopes():
    x, features = batch()
    head = make(x, span_activation="tanh")

    def loss():
        outputs = head(tf.constant(x), cells=None, features=features)
        return tf.reduce_sum(head.loss(outputs, cells=None, features=features)[0])

    with tf.GradientTape() as tape:
        value = loss()
    variables = head.trainable_variables
    for variable, gradient in zip(variables, tape.gradient(value, variables), strict=True):
        direction = np.random.default_rng(2).standard_normal(variable.shape).astype(np.float32)
        start, step = variable.numpy(), 3e-3
        values = []
        for sign in (1, -1):
            variable.assign(start + sign * step * direction)
            values.append(float(loss()))
        variable.assign(start)
        slope = (values[0] - values[1]) / (2 * step)
        assert slope == pytest.approx(
            float(tf.reduce_sum(gradient * direction)), rel=2e-2, abs=2e-3
        )


def test_first_labelled():
    labels = tf.constant([[0, 1, 1, 0, 1], [0, 0, 0, 0, 0], [1, 0, 0, 0, 1], [0, 0, 0, 0, 1]])
    want = [[1, 2], [-1, -1], [0, 0], [4, 4]]
    np.testing.assert_array_equal(reader.first_labelled(labels), want)


def test_memory_is_that_of_the_activations(monkeypatch):
    """No tensor as large as all pairs' inputs [start; end] is made."""
    sizes = []
    matvec = tf.linalg.matvec

    def spy(a, *args, **kwargs):
        sizes.append(tuple(a.shape))
        return matvec(a, *args, **kwargs)

    x, features = batch()
    head = make(x, max_span_length=4)
    monkeypatch.setattr(tf.linalg, "matvec", spy)
    head(tf.constant(x), cells=None, features=features)
    assert sizes == [(3, 18 - lost, WIDTH) for lost in range(4)]
