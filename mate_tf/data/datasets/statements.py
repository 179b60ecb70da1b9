"""Intermediate pre-training: statements made from the tables and texts of other data sets.

Eisenschlos et al. (2020, "Understanding tables with intermediate pre-training"); how statements
are made is in `mate_tf.tables.statements`. A model learns to tell entailed from refuted ones, as in
TabFact, before it is fine-tuned.
"""

import random
from collections.abc import Iterable, Iterator

from mate_tf.data import pretraining
from mate_tf.data.interactions import create_interaction_id, create_question_id, table_of
from mate_tf.protos import interaction_pb2
from mate_tf.tables import statements
from mate_tf.tables.text import normalize_for_match

REFUTED, ENTAILED = 0, 1
"""What `class_index` is, as in TabFact."""


def read_dir(
    input_dir: str,
    split: str,
    *,
    seed: int = 0,
    num_synthetic: int = 2,
    num_counterfactual: int = 2,
) -> Iterator[interaction_pb2.Interaction]:
    """Statements made from interactions as create_data writes them; see `read`.

    Args:
        input_dir: an output folder of create_data, or a folder of such folders.
        split: files whose names begin so are read.
        seed, num_synthetic, num_counterfactual: see `read`.

    Raises:
        InputError: there is no such file, or it is damaged.
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
    """Statements about the tables of interactions, one in each new interaction.

    Half of them are `ENTAILED`. What is made of an interaction depends on the seed and on itself
    only. Where a table or its texts do not give as many statements, there are fewer. Numbers in the
    statements are not annotated: the converter looks for them.

    Args:
        interactions: tables with questions or statements; refuted ones are not used.
        seed: of all choices.
        num_synthetic: statements worked out from the table of each interaction.
        num_counterfactual: statements from the texts of each interaction, half of them the texts
            themselves, which are taken for true, half with another cell in place of one mentioned.
    """
    for interaction in interactions:
        # Seeding by text is the same in every process, unlike by hash.
        rng = random.Random(f"{seed} {interaction.id}")
        table = table_of(interaction)
        made = list(statements.synthetic(table, rng, num_synthetic))
        made += _counterfactual(interaction, table, rng, num_counterfactual // 2)
        for index, (text, is_true) in enumerate(made):
            name = create_interaction_id(interaction.id, index)
            statement = interaction_pb2.Interaction(id=name, table=interaction.table)
            question = statement.questions.add(
                id=create_question_id(name, 0), original_text=text, text=normalize_for_match(text)
            )
            question.answer.class_index = ENTAILED if is_true else REFUTED
            yield statement


def _counterfactual(interaction, table, rng, num_pairs: int) -> list[statements.Statement]:
    """Pairs of a text and what it was changed to."""
    texts = _texts(interaction)
    rng.shuffle(texts)
    made = []
    for text in texts:
        if len(made) < 2 * num_pairs:
            changed = statements.counterfactual(table, text, rng)
            if changed is not None:
                made += [statements.Statement(text, True), statements.Statement(changed, False)]
    return made


def _texts(interaction) -> list[str]:
    """What is said about the table, each text once."""
    questions = [
        question.original_text or question.text
        for question in interaction.questions
        if not question.answer.HasField("class_index") or question.answer.class_index == ENTAILED
    ]
    table = interaction.table
    titles = [table.document_title, table.caption, table.context_heading]
    return [text for text in dict.fromkeys(questions + titles) if text]
