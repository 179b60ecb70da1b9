"""The model's own answers are fed back, batch by batch of equal positions."""

import numpy as np

from mate_tf.evaluation.sequential import chosen_cells, predict_in_sequence

ROW_IDS = np.array([0, 0, 1, 1, 1, 2, 2])
COLUMN_IDS = np.array([0, 1, 1, 1, 2, 1, 2])


def _example(question_id):
    return {
        "question_id": question_id,
        "row_ids": ROW_IDS,
        "column_ids": COLUMN_IDS,
        "prev_label_ids": np.full(7, 9),
    }


class _FakeModel:
    """Chooses cells by question id; remembers what it was asked."""

    def __init__(self, probs):
        self.probs = probs
        self.batches = []

    def __call__(self, examples):
        self.batches.append({e["question_id"]: e["prev_label_ids"].tolist() for e in examples})
        for example in reversed(examples):
            yield {**example, "probs": np.array(self.probs[example["question_id"]])}


def test_own_answers_are_fed_back_position_by_position():
    model = _FakeModel(
        {
            "a-0_0": [0.9, 0.9, 0.9, 0.2, 0.1, 0.1, 0.9],  # cells (1, 1): mean .55, and (2, 2)
            "a-0_1": [0.9, 0.9, 0.9, 0.0, 0.1, 0.6, 0.1],  # cell (2, 1); (1, 1) has a mean of .45
            "a-0_2": [0.0] * 7,
            "b-0_0": [0.0] * 7,
            "b-0_1": [0.0] * 7,
            "a-1_0": [0.0, 0.0, 0.0, 0.0, 0.8, 0.0, 0.0],
            "a-1_2": [0.0] * 7,
        }
    )
    examples = [_example(name) for name in ("a-0_2", "a-0_1", "b-0_1", "b-0_0", "a-0_0")]
    examples += [_example("a-1_0"), _example("a-1_2")]
    outputs = list(predict_in_sequence(examples, model))
    nothing = [0] * 7
    assert model.batches == [
        {"b-0_0": nothing, "a-0_0": nothing, "a-1_0": nothing},
        {"a-0_1": [0, 0, 1, 1, 0, 0, 1], "b-0_1": nothing},
        {"a-0_2": [0, 0, 0, 0, 0, 1, 0], "a-1_2": [0, 0, 0, 0, 1, 0, 0]},  # 1-1_1 has no example
    ]
    assert sorted(output["question_id"] for output in outputs) == sorted(model.probs)
    assert all((example["prev_label_ids"] == 9).all() for example in examples)


def test_marks_of_shared_words_are_kept():
    """The model's own answer replaces the gold one, as 2 beside the 1 of shared words."""
    marks = np.array([0, 1, 2, 3, 0, 1, 0])  # the gold answer is cell (1, 1)
    model = _FakeModel({"a-0_0": [0.0] * 4 + [1.0, 1.0, 0.0], "a-0_1": [0.0] * 7})
    examples = [_example(name) | {"prev_label_ids": marks} for name in ("a-0_0", "a-0_1")]
    list(predict_in_sequence(examples, model, marked=True))
    assert model.batches == [{"a-0_0": [0, 1, 0, 1, 0, 1, 0]}, {"a-0_1": [0, 1, 0, 1, 2, 3, 0]}]


def test_tables_may_be_cut_differently():
    """Cells are found again by row and column, wherever their tokens are."""

    def predict(examples):
        for example in examples:
            seen.append(example["prev_label_ids"].tolist())
            yield {**example, "probs": (example["row_ids"] == 2).astype(float)}

    seen = []
    shorter = {"question_id": "a-0_1", "row_ids": np.array([0, 2, 1]), "column_ids": [0, 2, 2]}
    list(predict_in_sequence([_example("a-0_0"), shorter], predict))
    assert seen == [[0] * 7, [0, 1, 0]]


def test_selected_tokens_come_before_probabilities():
    output = {
        **_example("a-0_0"),
        "probs": np.full(7, 0.9),
        "selected_tokens": np.array([1, 1, 0, 0, 1, 0, 0]),
    }
    assert chosen_cells(output).tolist() == [1 << 32 | 2]
