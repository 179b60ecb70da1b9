"""Questions with their tables for `end_to_end.py`, as JSON values: columns, rows and question."""

import csv
import json
import pathlib


def of_hybridqa(input_dir: str, sentences: int) -> list[dict]:
    """Returns the dev questions of HybridQA whose tables are there.

    Args:
        input_dir: the folder that --input_dir names for HYBRIDQA.
        sentences: k, sentences of linked passages that are appended to the cells of each table.
    """
    from mate_tf.data import interactions
    from mate_tf.data.converters.expansion import Shown
    from mate_tf.data.datasets import hybridqa
    from mate_tf.tables.conversion import ConversionConfig

    shown = Shown(
        ConversionConfig(
            expand_entity_descriptions=True, entity_descriptions_sentence_limit=sentences
        )
    )
    found = []
    for interaction in hybridqa.read(input_dir, "dev"):
        table = interactions.table_of(interaction)
        width, texts = len(table.columns), shown.texts(interaction, 0)
        rows = [texts[begin : begin + width] for begin in range(width, len(texts), width)]
        question = interaction.questions[0].original_text
        found.append({"columns": table.columns, "rows": rows, "question": question})
    return found


def chosen(asked: list[dict], count: int, min_words: int) -> list[dict]:
    """Returns `count` questions at equal distances among those with large enough tables."""
    large = [each for each in asked if _words(each) >= min_words]
    return large[:: max(1, len(large) // count)][:count]


def _words(asked: dict) -> int:
    """Returns the number of words in the table of a question."""
    return sum(len(cell.split()) for row in asked["rows"] for cell in row)


def write(asked: list[dict], folder: pathlib.Path) -> None:
    """Writes a data set of the task CUSTOM with the questions as its test split.

    The other splits, which the task needs, are the first question with some answer.
    """
    (folder / "tables").mkdir(parents=True)
    lines = []
    for number, each in enumerate(asked):
        name = f"tables/{number}.csv"
        with open(folder / name, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([each["columns"], *each["rows"]])
        lines.append({"id": str(number), "table": name, "question": each["question"]})
    answered = [lines[0] | {"cells": [[0, 0]]}]
    for split, given in (("train", answered), ("dev", answered), ("test", lines)):
        text = "".join(f"{json.dumps(each)}\n" for each in given)
        (folder / f"{split}.jsonl").write_text(text, encoding="utf-8")
