"""Generated tables and questions: a data set that needs no files, seeded, of any length.

for interaction in synthetic.generate(seed=1, num_tables=1000, rows=(5, 200)):
    ...

Questions are look-ups, superlatives and conditions about people, places, products, matches and
players. Answers are one or more cells. Splits have no names of rows in common, but their names
consist of the same words. So a model has to match known words in new combinations.
"""

import dataclasses
import functools
import os
import random
import re
import string
from collections.abc import Iterable, Iterator

from mate_tf.data.interactions import Question, create_question_id, interaction_from_table
from mate_tf.data.synthetic.domains import DOMAINS, GENERIC, TextColumn
from mate_tf.data.synthetic.questions import (
    EXAMPLE_QUESTIONS,
    EXAMPLE_TABLE,
    TYPES,
    SyntheticQuestion,
    make_question,
    make_unanswerable_question,
)
from mate_tf.data.synthetic.sheets import make_sheet, row_count
from mate_tf.errors import InputError
from mate_tf.lazy import on_first_use
from mate_tf.protos import interaction_pb2
from mate_tf.tables.table import Table

__all__ = [
    "EXAMPLE_QUESTIONS",
    "EXAMPLE_TABLE",
    "MIX",
    "SPLITS",
    "TYPES",
    "GeneratedTable",
    "SyntheticQuestion",
    "generate",
    "generate_tables",
    "make_vocabulary",
    "question_type",
    "vocabulary",
]

__getattr__, __dir__ = on_first_use(__name__)

SPLITS = ("train", "dev", "test")
MIX = {"lookup": 0.4, "superlative": 0.3, "comparison": 0.15, "filter": 0.15}
"""Shares of the question types."""

_SPECIAL = ("[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WORD = re.compile(r"[a-z]+")


@dataclasses.dataclass(frozen=True)
class GeneratedTable:
    """A table with its questions.

    Attributes:
        table: the table; its id is "<domain>-<split><seed>.<number>".
        questions: independent of each other (unlike those of SQA).
    """

    table: Table
    questions: tuple[SyntheticQuestion, ...]

    @property
    def interaction_id(self) -> str:
        """Id with one letter per question, its type: "people-train1.7-lscf"."""
        return f"{self.table.table_id}-{''.join(q.type[0] for q in self.questions)}"


def question_type(question_id: str) -> str:
    """Returns the type of a generated question, from its id.

    Raises:
        InputError: if the id is not that of a generated question.
    """
    interaction_id, _, position = question_id.rpartition("_")
    letters = interaction_id.rpartition("-")[2]
    by_letter = {name[0]: name for name in TYPES}
    if not position.isdigit() or int(position) >= len(letters) or set(letters) - set(by_letter):
        raise InputError(f"question id {question_id!r} is not the id of a generated question")
    return by_letter[letters[int(position)]]


def generate(seed: int, num_tables: int, **options) -> Iterator[interaction_pb2.Interaction]:
    """Generates interactions, one per table; arguments as for `generate_tables`.

    Question ids are "<interaction id>_<position>"; `question_type` returns the type of an id. The
    questions of a table do not refer to each other, so train with `prev_label_ids` disabled.
    """
    for generated in generate_tables(seed, num_tables, **options):
        identifier = generated.interaction_id
        questions = [
            Question(create_question_id(identifier, position), question.text, question.coordinates)
            for position, question in enumerate(generated.questions)
        ]
        yield interaction_from_table(generated.table, identifier, questions)


def generate_tables(
    seed: int,
    num_tables: int,
    *,
    split: str = "train",
    rows: tuple[int, int] = (5, 200),
    columns: tuple[int, int] = (3, 6),
    questions_per_table: int = 6,
    unanswerable: float = 0.0,
) -> Iterator[GeneratedTable]:
    """Generates tables with questions.

    Args:
        seed: seed; the same seed gives the same tables. Table n does not depend on `num_tables`.
        num_tables: number of tables.
        split: "train", "dev" or "test". No name of a row occurs in two splits.
        rows: least and largest number of rows.
        columns: least and largest number of columns, between 3 and 7.
        questions_per_table: questions about each table, up to 32.
        unanswerable: share of questions that the table does not answer, without coordinates.

    Raises:
        InputError: if an argument is out of range; the message names it.
    """
    _check(split, rows, columns, questions_per_table, unanswerable)
    for number in range(num_tables):
        # A text as seed gives the same numbers in every process; a hash would not.
        rng = random.Random(f"{seed} {split} {number}")
        sheet = make_sheet(rng, row_count(rng, rows), columns, split)
        types = rng.choices(list(MIX), list(MIX.values()), k=questions_per_table)
        questions = []
        for wanted in types:
            made = None
            if unanswerable and rng.random() < unanswerable:  # else the same draws as without
                draw_other = functools.partial(make_sheet, rng, rows[0], columns, split)
                made = make_unanswerable_question(rng, sheet, wanted, draw_other)
            questions.append(made or _new_question(rng, sheet, wanted, questions))
        table_id = f"{sheet.domain.name}-{split}{seed}.{number}"
        yield GeneratedTable(
            Table.from_rows(sheet.header, sheet.rows, table_id=table_id),
            tuple(questions),
        )


def _new_question(rng, sheet, wanted, previous):
    """Makes a question that is not in `previous`; a small table may have no other one."""
    for _ in range(5):
        question = make_question(rng, sheet, wanted)
        if question not in previous:
            break
    return question


def _check(split, rows, columns, questions_per_table, unanswerable):
    if split not in SPLITS:
        raise InputError(f"synthetic split {split!r}: choose one of {', '.join(SPLITS)}")
    if not 2 <= rows[0] <= rows[1]:
        raise InputError(f"synthetic rows {rows}: needs 2 <= least <= largest")
    if not 3 <= columns[0] <= columns[1] <= 7:
        raise InputError(f"synthetic columns {columns}: needs 3 <= least <= largest <= 7")
    if not 1 <= questions_per_table <= 32:
        raise InputError(f"synthetic questions_per_table {questions_per_table}: must be 1 to 32")
    if not 0 <= unanswerable <= 1:
        raise InputError(f"synthetic unanswerable {unanswerable}: must be a share from 0 to 1")


def make_vocabulary(path: str | os.PathLike, extra_texts: Iterable[str] = ()) -> int:
    """Writes the vocabulary, one piece per line, and returns the number of pieces.

    A number of up to five digits is at most two pieces: 0 to 999 are pieces, and there are
    continuations `##` of one and two digits. A word of the generator is one piece. Other words in
    Latin letters are split into letters, so that no ASCII text contains [UNK].

    Args:
        path: the file; it is written atomically.
        extra_texts: further texts, with words that become whole pieces.
    """
    from mate_tf.files.atomic import write_text  # imports TensorFlow, which tables do not need

    pieces = vocabulary(extra_texts)
    write_text(path, "".join(f"{piece}\n" for piece in pieces))
    return len(pieces)


def vocabulary(extra_texts: Iterable[str] = ()) -> list[str]:
    """Returns the pieces, special ones first: [PAD] is 0 and [EMPTY] is 1, as in the reference."""
    letters = string.ascii_lowercase
    pieces = [
        *_SPECIAL,
        *string.punctuation,
        *(str(number) for number in range(1000)),
        *(f"##{digit}" for digit in string.digits),
        *(f"##{number:02}" for number in range(100)),
        *letters,
        *(f"##{letter}" for letter in letters),
        *sorted({word for text in (*_texts(), *extra_texts) for word in _words(text)}),
    ]
    return list(dict.fromkeys(pieces))


def _words(text):
    """Returns the lower-cased words of a text, without {placeholders} of templates."""
    return _WORD.findall(re.sub(r"\{\w+\}", " ", text).lower())


def _texts():
    """Yields all texts that generated tables and questions are made of."""
    yield from _template_texts(GENERIC)
    for domain in DOMAINS:
        yield from (*domain.headers, *domain.starts, *domain.ends, *domain.one, *domain.all)
        for column in domain.columns:
            yield from (column.header, column.noun)
            if isinstance(column, TextColumn):
                yield from column.values
            yield from _template_texts(column.templates)
    yield from (question for question, _ in EXAMPLE_QUESTIONS)
    yield from ("a", "an")


def _template_texts(templates):
    for texts in vars(templates).values():
        yield from texts
