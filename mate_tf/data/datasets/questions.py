"""Questions and statements for intermediate pre-training, made from tables of other data sets.

The questions are made by `mate_tf.data.generation.questions`. Before it is fine-tuned, a model
learns from them to select cells and an operation over them. Statements about the same tables
(`mate_tf.data.generation.statements`) can be mixed in; the model learns to classify them.
"""

import hashlib
import random
from collections.abc import Iterable, Iterator

from mate_tf.answers.execution import NONE, result
from mate_tf.data import pretraining
from mate_tf.data.features import QUESTION_ID_LENGTH
from mate_tf.data.generation.questions import questions
from mate_tf.data.generation.statements import Statement, counterfactual, synthetic
from mate_tf.data.interactions import (
    Question,
    create_interaction_id,
    create_question_id,
    interactions_of_single_questions,
    table_of,
)
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2
from mate_tf.tables.numbers import column_values
from mate_tf.tables.table import Table
from mate_tf.tables.text import normalize_for_match

SPLITS = ("train", "dev", "test")
HELD_OUT = 2
"""Percent of the tables in each of "dev" and "test"."""

REFUTED, ENTAILED = 0, 1
"""Values of `class_index` of statements, as in TabFact."""

SYNTHETIC, COUNTERFACTUAL = "synthetic statement", "counterfactual statement"
"""Kinds of statements, besides `generation.questions.KINDS`."""

_LONGEST_NAME = QUESTION_ID_LENGTH - len("/s99-0_0")
_FEWEST_ROWS, _MOST_ROWS = 3, 14
_FEWEST_COLUMNS, _MOST_COLUMNS = 3, 6


def read_dir(
    input_dir: str,
    split: str,
    *,
    seed: int = 0,
    per_table: int = 6,
    statements_per_table: int = 0,
    cut_share: float = 0.6,
) -> Iterator[interaction_pb2.Interaction]:
    """Makes questions about the training tables in interaction files of create_data; see `read`.

    All splits are parts of the training tables. Tables for evaluation of the other data sets are
    never read.

    Args:
        input_dir: an output folder of create_data, or a folder of such folders.
        split: one of `SPLITS`.
        seed, per_table, statements_per_table, cut_share: see `read`.

    Raises:
        InputError: if the split is unknown, there is no such file, or a file is damaged.
    """
    if split not in SPLITS:
        raise InputError(f"QUESTIONS has no split {split!r}, only {', '.join(SPLITS)}")
    interactions = pretraining.read_dir(input_dir, "train")
    of_split = (each for each in interactions if _split_of(each.table) == split)
    return read(
        of_split,
        seed=seed,
        per_table=per_table,
        statements_per_table=statements_per_table,
        cut_share=cut_share,
    )


def read(
    interactions: Iterable[interaction_pb2.Interaction],
    *,
    seed: int = 0,
    per_table: int = 6,
    statements_per_table: int = 0,
    cut_share: float = 0.6,
) -> Iterator[interaction_pb2.Interaction]:
    """Makes questions about the distinct tables of interactions. Each is a separate interaction.

    The questions about a table depend only on the seed and the table. How an answer was given is
    the kind of its question (`generation.questions.KINDS`, `interactions.given`). A statement has a
    class, `REFUTED` or `ENTAILED`, and no cells.

    Args:
        interactions: tables; their own questions are used for counterfactual statements only.
        seed: seed of all random choices.
        per_table: number of questions about each table; small tables may give fewer.
        statements_per_table: number of statements about each table, about half of them synthetic
            and half counterfactual. A table may give fewer.
        cut_share: share of the tables of which only some neighbouring rows and some columns are
            used. A model learns sooner from short tables. Counterfactual statements are about
            whole tables, since their texts are.
    """
    seen = set()
    for interaction in interactions:
        key = _key(interaction.table)
        if key in seen:
            continue
        seen.add(key)
        whole = table = table_of(interaction)
        # A text as seed gives the same numbers in every process; a hash would not.
        rng = random.Random(f"{seed} {key}")
        name = table.table_id if 0 < len(table.table_id) <= _LONGEST_NAME else key
        if rng.random() < cut_share:
            table = _cut(table, rng)
        yield from interactions_of_single_questions(table, _questions(table, rng, per_table, name))
        made = synthetic(table, rng, (statements_per_table + 1) // 2)
        yield from _statements(table, made, SYNTHETIC, f"{name}/s")
        made = counterfactual_pairs(interaction, rng, statements_per_table // 4)
        yield from _statements(whole, made, COUNTERFACTUAL, f"{name}/c")


def read_statements(
    interactions: Iterable[interaction_pb2.Interaction],
    *,
    seed: int = 0,
    num_synthetic: int = 2,
    num_counterfactual: int = 2,
) -> Iterator[interaction_pb2.Interaction]:
    """Makes statements about the tables of interactions. Each is a separate interaction.

    From Eisenschlos et al. (2020, "Understanding tables with intermediate pre-training"). Before it
    is fine-tuned, a model learns to classify statements as entailed or refuted, as in TabFact.

    Half of them are `ENTAILED`. The statements of an interaction depend only on the seed and the
    interaction. A small table, or one with few texts, gives fewer statements. Numbers in the
    statements are not annotated; the converter finds them.

    Args:
        interactions: tables with questions or statements; refuted statements are not used.
        seed: seed of all random choices.
        num_synthetic: number of statements computed from the table of each interaction.
        num_counterfactual: number of statements from the texts of each interaction. Half of them
            are the texts themselves, which count as true. In the other half a mentioned cell is
            replaced by another one.
    """
    for interaction in interactions:
        # A text as seed gives the same numbers in every process; a hash would not.
        rng = random.Random(f"{seed} {interaction.id}")
        table = table_of(interaction)
        made = list(synthetic(table, rng, num_synthetic))
        made += counterfactual_pairs(interaction, rng, num_counterfactual // 2)
        for index, (text, is_true) in enumerate(made):
            name = create_interaction_id(interaction.id, index)
            statement = interaction_pb2.Interaction(id=name, table=interaction.table)
            question = statement.questions.add(
                id=create_question_id(name, 0), original_text=text, text=normalize_for_match(text)
            )
            question.answer.class_index = ENTAILED if is_true else REFUTED
            yield statement


def counterfactual_pairs(
    interaction: interaction_pb2.Interaction, rng: random.Random, num_pairs: int
) -> list[Statement]:
    """Makes pairs of a text, as true statement, and the changed text, as false statement.

    Args:
        interaction: a table with its texts: questions, true statements and titles.
        rng: source of all random choices.
        num_pairs: largest number of pairs.
    """
    table, texts = table_of(interaction), _texts_about(interaction)
    rng.shuffle(texts)
    made = []
    for text in texts:
        if len(made) < 2 * num_pairs:
            changed = counterfactual(table, text, rng)
            if changed is not None:
                made += [Statement(text, True), Statement(changed, False)]
    return made


def _texts_about(interaction) -> list[str]:
    """Returns the distinct texts about the table: questions, true statements and titles."""
    questions = [
        question.original_text or question.text
        for question in interaction.questions
        if not question.answer.HasField("class_index") or question.answer.class_index == ENTAILED
    ]
    table = interaction.table
    titles = [table.document_title, table.caption, table.context_heading]
    return [text for text in dict.fromkeys(questions + titles) if text]


def _questions(table: Table, rng: random.Random, count: int, name: str) -> Iterator[Question]:
    """Makes questions with all parts of their answers."""
    for index, made in enumerate(questions(table, rng, count)):
        texts = [table.rows[row][column] for row, column in made.coordinates]
        number = None
        if made.aggregation != NONE:
            number = result(made.aggregation, texts, _numbers(table, made.coordinates)).value
            texts = [f"{number:.15g}"]
        yield Question(
            create_question_id(create_interaction_id(name, index), 0),
            made.text,
            made.coordinates,
            texts,
            made.aggregation,
            number,
            given=made.kind,
        )


def _statements(
    table: Table, made: Iterable[Statement], kind: str, name: str
) -> Iterator[interaction_pb2.Interaction]:
    return interactions_of_single_questions(
        table,
        (
            Question(
                create_question_id(create_interaction_id(f"{name}{index}"), 0),
                statement.text,
                class_index=ENTAILED if statement.is_true else REFUTED,
                given=kind,
            )
            for index, statement in enumerate(made)
        ),
    )


def _numbers(table: Table, coordinates) -> list[float | None]:
    """Returns the number in each of some cells of one column."""
    column = coordinates[0][1]
    values = column_values([row[column] for row in table.rows])
    numbers = (values[row] for row, _ in coordinates)
    return [value if isinstance(value, float) else None for value in numbers]


def _cut(table: Table, rng: random.Random) -> Table:
    """Draws neighbouring rows and some columns; the first column is often kept."""
    num_rows = min(table.num_rows, rng.randint(_FEWEST_ROWS, _MOST_ROWS))
    begin = rng.randint(0, table.num_rows - num_rows)
    number = min(table.num_columns, rng.randint(_FEWEST_COLUMNS, _MOST_COLUMNS))
    columns = sorted(rng.sample(range(table.num_columns), number))
    if columns and rng.random() < 0.8:
        columns[0] = 0
    return Table.from_rows(
        [table.columns[column] for column in columns],
        [[row[column] for column in columns] for row in table.rows[begin : begin + num_rows]],
        table_id=table.table_id,
        title=table.title,
    )


def _key(table: interaction_pb2.Table) -> str:
    """Returns a name of the contents of a table."""
    texts = [cell.text for cell in table.columns]
    texts += [cell.text for row in table.rows for cell in row.cells]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _split_of(table: interaction_pb2.Table) -> str:
    """Returns the split of a table, which follows from its texts."""
    number = int(_key(table), 16) % 100
    return "test" if number < HELD_OUT else "dev" if number < 2 * HELD_OUT else "train"
