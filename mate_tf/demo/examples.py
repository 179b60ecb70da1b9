"""Tables and questions to try a model with, by a click on the page."""

import csv
import dataclasses
import io
import pathlib

from mate_tf.data import synthetic

_FOLDER = pathlib.Path(__file__).parent
_NATURAL = (
    (
        "employees",
        synthetic.EXAMPLE_TABLE,
        (
            ("who has the highest salary?", "Julia Schmidt"),
            ("what is the average salary?", "47458.33"),
        ),
    ),
    (
        "orders",
        _FOLDER / "orders.csv",
        (
            ("how many orders are from Bern?", "3"),
            ("who ordered on 2024-04-22?", "Studio Nord"),
        ),
    ),
    (
        "expenses",
        _FOLDER / "expenses.csv",
        (
            ("what is the total amount for groceries?", "245"),
            ("what was the smallest amount?", "12.40"),
        ),
    ),
)
"""Names of tables, their files, and questions with the right answers, as the preset writes them."""


@dataclasses.dataclass(frozen=True)
class Example:
    """A table and a question about it.

    Attributes:
        name: what the table is about.
        text: the table as CSV.
        question: the question.
        answer: the text of the right answer.
    """

    name: str
    text: str
    question: str
    answer: str


def for_task(task: str) -> list[Example]:
    """Returns examples for a model that was trained on a task.

    A model of the task SYNTHETIC knows the words of generated tables only, and one of HYBRIDQA does
    not compute. Any other gets the examples that the preset answers right.

    Args:
        task: name of the task; "" if it is not known.
    """
    if task == "SYNTHETIC":
        return _generated()
    return [each for each in _natural() if task != "HYBRIDQA" or each.question.startswith("who o")]


def _natural() -> list[Example]:
    return [
        Example(name, path.read_text("utf-8"), question, answer)
        for name, path, questions in _NATURAL
        for question, answer in questions
    ]


def _generated() -> list[Example]:
    """Returns the quickstart's questions, and one about a generated table of each other domain."""
    text = synthetic.EXAMPLE_TABLE.read_text("utf-8")
    _, *rows = csv.reader(text.splitlines())
    examples = [
        Example("employees", text, question, _texts(rows, cells))
        for question, cells in synthetic.EXAMPLE_QUESTIONS
    ]
    others = {}
    for generated in synthetic.generate_tables(0, 40, split="test", rows=(6, 8), columns=(4, 5)):
        domain = generated.table.table_id.partition("-")[0]
        if domain != "people":
            others.setdefault(domain, generated)
    for domain, generated in sorted(others.items()):
        table, question = generated.table, generated.questions[0]
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
        answer = _texts(table.rows, question.coordinates)
        examples.append(Example(domain, text.getvalue(), question.text, answer))
    return examples


def _texts(rows, cells) -> str:
    """Returns the texts of cells (row, column), as an answer that selects them has them."""
    return ", ".join(rows[row][column] for row, column in cells)
