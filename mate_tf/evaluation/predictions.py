"""Predictions made from a model's outputs, and their files.

The TSV has the columns and conventions of google-research/tapas, so that its scripts read it. The
JSON is for other programs. Both are written atomically.
"""

import csv
import dataclasses
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from mate_tf.answers.execution import AGGREGATIONS
from mate_tf.data.interactions import parse_question_id
from mate_tf.errors import InputError
from mate_tf.files import json_files, paths
from mate_tf.files.atomic import write_text
from mate_tf.protos.interaction_pb2 import Interaction, Question

LABEL_COLUMNS = ("gold_aggr", "pred_aggr", "gold_cls", "pred_cls", "logits_cls")
NUM_RANKED = 5

_COLUMNS = ("question_id", "id", "annotator", "position", "answer_coordinates", "answers")
_TOKEN_COLUMN = "token_probabilities"
_COORDINATE = re.compile(r"\((\d+), (\d+)\)")
_FIELD_LIMIT = 1 << 30  # token probabilities of long tables exceed csv's default of 128 KiB


@dataclasses.dataclass(frozen=True)
class Prediction:
    """Predicted answer to a question. Rows and columns count from 0; the header is not a row.

    Attributes:
        question_id: "<example>-<annotator>_<position>".
        coordinates: selected cells as (row, column), in table order.
        probabilities: probability of each selected cell, the mean over its tokens; empty if
            unknown.
        ranked: the most probable cells, best first, also cells that are not selected.
        spans: spans of tokens, as the reference writes them in the column "answers".
        empty_span_log_prob: log-probability that no span is the answer, for models with
            `allow_empty_span`.
        token_probabilities: (column, row, probability) of each token in a data cell.
        aggregation: operation over the selected cells, one of AGGREGATIONS.
        class_index: the predicted class, in classification tasks.
        class_probabilities: probability of each class; empty if unknown.
        value: the predicted number, in regression tasks.
        texts: the answer itself, from a system that selects no cells.
        score: score of the only one of `texts`, from a model that writes it; None if unknown.
        labels: texts of the TSV columns about aggregation and class, by the names in
            LABEL_COLUMNS. Gold labels are stored here only.
    """

    question_id: str
    coordinates: tuple[tuple[int, int], ...]
    probabilities: tuple[float, ...] = ()
    ranked: tuple[tuple[int, int], ...] = ()
    spans: tuple[dict, ...] = ()
    empty_span_log_prob: float | None = None
    token_probabilities: tuple[tuple[int, int, float], ...] = ()
    aggregation: str = AGGREGATIONS[0]
    class_index: int | None = None
    class_probabilities: tuple[float, ...] = ()
    value: float | None = None
    texts: tuple[str, ...] = ()
    score: float | None = None
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)


Interactions = Sequence[Interaction]
Judge = Callable[[Interaction, Question, Prediction], bool]
"""Whether a prediction answers a question about a table."""


def cell_probabilities(
    probs: np.ndarray, row_ids: np.ndarray, column_ids: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Computes the mean probability of the tokens of each data cell.

    Args:
        probs: <float>[seq], probabilities of the tokens.
        row_ids: <int>[seq], 0 for question, header and padding.
        column_ids: <int>[seq], 0 for question and padding.

    Returns:
        coordinates: <int>[cells, 2], rows and columns from 0, in table order.
        means: <float32>[cells].
    """
    row_ids, column_ids = np.asarray(row_ids, np.int64), np.asarray(column_ids, np.int64)
    in_table = (row_ids > 0) & (column_ids > 0)
    width = int(column_ids.max(initial=0)) + 1
    cells, tokens = np.unique(row_ids[in_table] * width + column_ids[in_table], return_inverse=True)
    sums = np.bincount(tokens, np.asarray(probs, np.float64)[in_table], minlength=len(cells))
    means = sums / np.maximum(np.bincount(tokens, minlength=len(cells)), 1)
    return np.stack([cells // width - 1, cells % width - 1], axis=-1), means.astype(np.float32)


def prediction(output: Mapping, threshold: float = 0.5) -> Prediction:
    """Makes a prediction of a model's output for one example.

    Args:
        output: dict with question_id, probs <float>[seq], row_ids and column_ids <int>[seq].
            Optional entries:
            selected_tokens <float>[seq]: 1 for the tokens of selected cells. Without it, cells
                with a mean probability above `threshold` are selected.
            input_ids <int>[seq]: if given, spans are returned. They come from the first of these
                that is there: the best of span_logits <float>[spans], with first and last tokens
                in span_indexes <int>[spans, 2]; pred_span <int>[2], first and last token, with
                its score span_log_prob <float>[]; runs of tokens with probabilities above
                `threshold`.
            empty_span_log_prob <float>[]: log-probability of no span.
            pred_aggr <int>[], pred_cls <int>[], logits_cls <float>[classes]: predicted operation
                and class.
            aggregation_function_id, classification_class_index <int>[]: gold operation and class.
        threshold: smallest probability, see above.
    """
    probs, rows, columns = (np.asarray(output[k]) for k in ("probs", "row_ids", "column_ids"))
    coordinates, means = cell_probabilities(probs, rows, columns)
    if "selected_tokens" in output:
        chosen = cell_probabilities(output["selected_tokens"], rows, columns)[1] > 0.5
    else:
        chosen = means > threshold
    ranking = np.argsort(-means, kind="stable")[:NUM_RANKED]
    in_table = (rows > 0) & (columns > 0)
    spans = ()
    if "input_ids" in output:
        if "span_logits" in output or "pred_span" in output:
            runs = _best_span(output, in_table)
        else:
            runs = _runs(in_table & (probs > threshold), probs)
        spans = tuple(_spans(runs, rows, columns, np.asarray(output["input_ids"])))
    labels = _labels(output)
    empty = output.get("empty_span_log_prob")
    return Prediction(
        question_id=output["question_id"],
        coordinates=_tuples(coordinates[chosen]),
        probabilities=tuple(means[chosen].tolist()),
        ranked=_tuples(coordinates[ranking]),
        spans=spans,
        empty_span_log_prob=None if empty is None else float(empty),
        token_probabilities=tuple(
            zip(
                (columns[in_table] - 1).tolist(),
                (rows[in_table] - 1).tolist(),
                probs[in_table].tolist(),
                strict=True,
            )
        ),
        labels=labels,
        **_typed(labels),
    )


def _runs(chosen, probs):
    """Yields (begin, end, geometric mean of the probabilities) of each run of selected tokens.

    As in the reference, a run may continue in the next cell; it belongs to its first cell.
    """
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False)).tolist()
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        yield begin, end, float(np.exp(np.mean(np.log(probs[begin:end]))))


def _best_span(output, in_table):
    """Yields (begin, end, logit or log-probability) of the best span, if it is in a data cell."""
    if "span_logits" in output:
        best = int(np.argmax(output["span_logits"]))
        span, score = output["span_indexes"][best], output["span_logits"][best]
    else:
        span, score = output["pred_span"], output["span_log_prob"]
    first, last = np.asarray(span).tolist()
    if in_table[first]:
        yield first, last + 1, float(score)


def _spans(spans, rows, columns, input_ids):
    """Yields spans in the reference's format: cell, positions in the cell, token ids, score."""
    cell = rows.astype(np.int64) << 32 | columns
    first_in_cell = np.flatnonzero(np.diff(cell, prepend=-1))
    for begin, end, score in spans:
        start = first_in_cell[np.searchsorted(first_in_cell, begin, side="right") - 1]
        yield {
            "column_index": int(columns[begin]) - 1,
            "row_index": int(rows[begin]) - 1,
            "begin_token_index": int(begin - start),
            "end_token_index": int(end - start),
            "token_ids": input_ids[begin:end].tolist(),
            "score": score,
        }


def _labels(output):
    """Returns the columns about aggregation and class in the reference's format."""
    names = {
        "gold_aggr": "aggregation_function_id",
        "pred_aggr": "pred_aggr",
        "gold_cls": "classification_class_index",
        "pred_cls": "pred_cls",
    }
    # A gold label is written only if the task predicts this kind of label.
    labels = {
        column: str(int(np.ravel(output[name])[0]))
        for column, name in names.items()
        if name in output and f"pred_{column.partition('_')[2]}" in output
    }
    if "logits_cls" in output:
        logits = np.ravel(output["logits_cls"])
        # For two classes the reference writes one number: the difference of the logits.
        if len(logits) == 2:
            logits = logits[1:] - logits[:1]
        texts = [str(logit) for logit in logits]
        labels["logits_cls"] = texts[0] if len(texts) == 1 else f"[{' '.join(texts)}]"
    return labels


def _typed(labels):
    """Returns the fields that follow from labels. Raises ValueError or IndexError."""
    fields = {}
    if labels.get("pred_aggr"):
        fields["aggregation"] = AGGREGATIONS[int(labels["pred_aggr"])]
    if labels.get("pred_cls"):
        fields["class_index"] = int(labels["pred_cls"])
    if labels.get("logits_cls"):
        logits = np.array(labels["logits_cls"].strip("[]").split(), np.float64)
        if not labels.get("pred_cls"):  # regression: the logit is the predicted number
            return {**fields, "value": float(logits[0])}
        logits = logits if len(logits) > 1 else np.append(0.0, logits)
        exponentials = np.exp(logits - logits.max())
        fields["class_probabilities"] = tuple((exponentials / exponentials.sum()).tolist())
    return fields


def write_tsv(
    predictions: Iterable[Prediction], path: str | os.PathLike, *, token_probabilities: bool = False
) -> None:
    """Writes predictions like the reference: cells sorted by column, lines ending with CR LF."""
    predictions = list(predictions)
    labels = [_label_columns(prediction) for prediction in predictions]
    present = [name for name in LABEL_COLUMNS if any(name in each for each in labels)]
    header = [*_COLUMNS, *([_TOKEN_COLUMN] if token_probabilities else []), *present]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, header, delimiter="\t", extrasaction="ignore", restval="")
    writer.writeheader()
    for prediction, columns in zip(predictions, labels, strict=True):
        by_column = sorted(prediction.coordinates, key=lambda cell: cell[::-1])
        writer.writerow(
            {
                "question_id": prediction.question_id,
                **_id_columns(prediction.question_id),
                "answer_coordinates": str([f"({row}, {column})" for row, column in by_column]),
                "answers": json.dumps(prediction.spans),
                _TOKEN_COLUMN: json.dumps(prediction.token_probabilities),
                **columns,
            }
        )
    write_text(path, text.getvalue())


def read_tsv(path: str | os.PathLike) -> list[Prediction]:
    """Reads predictions from a file of `write_tsv` or of the reference.

    Predictions have probabilities of cells only if the file has those of tokens.

    Raises:
        InputError: if the file cannot be read; the message names the line.
    """
    csv.field_size_limit(_FIELD_LIMIT)
    try:
        with io.TextIOWrapper(paths.open_regular(path), "utf-8", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t")
            return [_from_row(row, f"{path} line {reader.line_num}") for row in reader]
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a UTF-8 tab-separated file ({error})") from error


def _from_row(row, where):
    """Makes a prediction of a row of the TSV; `where` names it in errors."""
    try:
        matches = _COORDINATE.findall(row["answer_coordinates"])
        coordinates = sorted((int(r), int(c)) for r, c in matches)
        tokens = np.array(json.loads(row.get(_TOKEN_COLUMN) or "[]"), np.float64).reshape(-1, 3)
        probabilities, ranked = (), ()
        if len(tokens):
            cells, means = cell_probabilities(tokens[:, 2], tokens[:, 1] + 1, tokens[:, 0] + 1)
            by_cell = dict(zip(_tuples(cells), means.tolist(), strict=True))
            probabilities = tuple(by_cell[cell] for cell in coordinates)
            ranked = _tuples(cells[np.argsort(-means, kind="stable")[:NUM_RANKED]])
        labels = {name: row[name] for name in LABEL_COLUMNS if row.get(name) is not None}
        return Prediction(
            question_id=row["question_id"],
            coordinates=tuple(coordinates),
            probabilities=probabilities,
            ranked=ranked,
            spans=tuple(json.loads(row["answers"])),
            token_probabilities=tuple((int(c), int(r), p) for c, r, p in tokens.tolist()),
            labels=labels,
            **_typed(labels),
        )
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"{where}: not a line of predictions ({error!r})") from error


def write_json(predictions: Iterable[Prediction], path: str | os.PathLike) -> None:
    """Writes a list of objects: question_id, cells [[row, column]] and further fields by name."""
    records = [
        {
            "question_id": prediction.question_id,
            "cells": prediction.coordinates,
            "probabilities": prediction.probabilities,
            "ranked": prediction.ranked,
            "aggregation": prediction.aggregation,
            "class_index": prediction.class_index,
            "class_probabilities": prediction.class_probabilities,
            **({} if prediction.value is None else {"value": prediction.value}),
            **prediction.labels,
        }
        for prediction in predictions
    ]
    write_text(path, "[\n" + ",\n".join(json.dumps(record) for record in records) + "\n]\n")


def read_json(path: str | os.PathLike) -> list[Prediction]:
    """Reads predictions from a file of `write_json`.

    Raises:
        InputError: if the file cannot be read or has another form.
    """
    try:
        return [
            Prediction(
                question_id=record["question_id"],
                coordinates=_tuples(record["cells"]),
                probabilities=tuple(record["probabilities"]),
                ranked=_tuples(record["ranked"]),
                aggregation=record["aggregation"],
                class_index=record["class_index"],
                class_probabilities=tuple(record["class_probabilities"]),
                value=record.get("value"),
                labels={name: record[name] for name in LABEL_COLUMNS if name in record},
            )
            for record in json_files.read_json(path)
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not a JSON file of predictions ({error!r})") from error


def _label_columns(prediction):
    """Returns the label columns of a prediction, with aggregation and class from its fields."""
    columns = {}
    if prediction.aggregation != AGGREGATIONS[0]:
        columns["pred_aggr"] = str(AGGREGATIONS.index(prediction.aggregation))
    if prediction.class_index is not None:
        columns["pred_cls"] = str(prediction.class_index)
    return columns | dict(prediction.labels)


def _id_columns(question_id):
    """Returns the columns id, annotator and position; "_" if the question id has other parts."""
    try:
        values = parse_question_id(question_id)
    except InputError:
        values = ("_", "_", "_")
    return dict(zip(("id", "annotator", "position"), values, strict=True))


def _tuples(coordinates: np.ndarray | Sequence) -> tuple[tuple[int, int], ...]:
    """Converts coordinates <int>[cells, 2] to tuples of int."""
    return tuple((int(row), int(column)) for row, column in coordinates)
