"""Reads statements for intermediate pre-training, made from tables and texts of other data sets.

From Eisenschlos et al. (2020, "Understanding tables with intermediate pre-training"). The
statements are made by `mate_tf.tables.statement_generation`. Before it is fine-tuned, a model
learns to classify statements as entailed or refuted, as in TabFact.
"""

import random
from collections.abc import Iterable, Iterator

from mate_tf.data import pretraining
from mate_tf.data.interactions import create_interaction_id, create_question_id, table_of
from mate_tf.protos import interaction_pb2
from mate_tf.tables.statement_generation import Statement, counterfactual, synthetic
from mate_tf.tables.text import normalize_for_match

REFUTED, ENTAILED = 0, 1
"""Values of `class_index`, as in TabFact."""


def read_dir(
    input_dir: str,
    split: str,
    *,
    seed: int = 0,
    num_synthetic: int = 2,
    num_counterfactual: int = 2,
) -> Iterator[interaction_pb2.Interaction]:
    """Makes statements from interaction files of create_data; see `read`.

    Args:
        input_dir: an output folder of create_data, or a folder of such folders.
        split: prefix of the names of the files to read.
        seed, num_synthetic, num_counterfactual: see `read`.

    Raises:
        InputError: if there is no such file, or a file is damaged.
    """
    found = pretraining.read_dir(input_dir, split)
    return read(
        found, seed=seed, num_synthetic=num_synthetic, num_counterfactual=num_counterfactual
    )


def read(
    interactions: Iterable[interaction_pb2.Interaction],
    *,
    seed: int = 0,
    num_synthetic: int = 2,
    num_counterfactual: int = 2,
) -> Iterator[interaction_pb2.Interaction]:
    """Makes statements about the tables of interactions. Each is an interaction of its own.

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
    table, texts = table_of(interaction), _texts(interaction)
    rng.shuffle(texts)
    made = []
    for text in texts:
        if len(made) < 2 * num_pairs:
            changed = counterfactual(table, text, rng)
            if changed is not None:
                made += [Statement(text, True), Statement(changed, False)]
    return made


def _texts(interaction) -> list[str]:
    """Returns the distinct texts about the table: questions, true statements and titles."""
    questions = [
        question.original_text or question.text
        for question in interaction.questions
        if not question.answer.HasField("class_index") or question.answer.class_index == ENTAILED
    ]
    table = interaction.table
    titles = [table.document_title, table.caption, table.context_heading]
    return [text for text in dict.fromkeys(questions + titles) if text]
