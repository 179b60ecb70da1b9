"""Texts with tables for pre-training, from the interactions of other data sets or of a corpus.

Each text about a table (a question, a title) becomes a separate interaction, with that table or
with a random one. The model learns to classify the two cases.
"""

import hashlib
import itertools
import os
import random
from collections.abc import Iterable, Iterator, Sequence

from mate_tf.data import records
from mate_tf.data.interactions import create_interaction_id, create_question_id
from mate_tf.data.pretraining.table_folders import TableFolder
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.protos import interaction_pb2

QUESTIONS = "questions"
TEXT_SOURCES = (QUESTIONS, "document_title", "caption", "context_heading")
"""Sources of texts: the questions, and fields of the table."""

REAL_TABLE, RANDOM_TABLE = 0, 1
"""Values of `class_index` of an answer."""

_READ_AHEAD = 1000
_DRAWS = 20


def read_dir(
    input_dir: str, split: str, dev_share: float = 0.05
) -> Iterable[interaction_pb2.Interaction]:
    """Reads interactions written by create_data, of one data set or of several, or a corpus.

    Args:
        input_dir: an output folder of create_data, or a folder of such folders; or else a folder
            with files of the formats of `table_folders`, such as TAPAS's corpus.
        split: prefix of the names of the files to read; "train" or "dev" of a corpus.
        dev_share: see `table_folders.TableFolder`.

    Raises:
        InputError: if there is no such file, or a file is damaged.
    """
    name = os.path.join("interactions", f"{split}*.tfrecord")
    patterns = [name, os.path.join("*", name)]
    files = list(filter(None, (paths.below(input_dir, pattern) for pattern in patterns)))
    if not files:
        return TableFolder(input_dir, split, dev_share=dev_share)
    return itertools.chain.from_iterable(map(records.read_interactions, files))


def texts_with_tables(
    interactions: Iterable[interaction_pb2.Interaction],
    *,
    text_sources: Sequence[str] = TEXT_SOURCES,
    random_table_prob: float = 0.5,
    seed: int = 0,
) -> Iterator[interaction_pb2.Interaction]:
    """Makes one interaction for each text, with its own or a random table.

    Random tables are drawn from a pool of at most 1,000 tables, which changes while the input is
    read, so that memory is limited. The same arguments give the same result.

    Args:
        interactions: tables with questions.
        text_sources: some of `TEXT_SOURCES`.
        random_table_prob: share of the texts with a random table.

    Returns:
        iterator over interactions with one question each. The answer has only `class_index`,
        `REAL_TABLE` or `RANDOM_TABLE`.

    Raises:
        InputError: if a text source is unknown.
    """
    unknown = sorted(set(text_sources) - set(TEXT_SOURCES))
    if unknown:
        raise InputError(f"text_sources: {unknown[0]!r} is not one of {', '.join(TEXT_SOURCES)}")
    return _texts_with_tables(interactions, text_sources, random_table_prob, seed)


def _texts_with_tables(interactions, text_sources, random_table_prob, seed):
    generator = random.Random(seed)
    interactions = iter(interactions)
    first = list(itertools.islice(interactions, _READ_AHEAD))
    tables = list({_key(interaction.table): interaction.table for interaction in first}.items())
    known = {key for key, _ in tables}
    with_titles = set()
    for interaction in itertools.chain(first, interactions):
        key = _key(interaction.table)
        # Several interactions may be about one table. Its titles are used once.
        titles = [] if key in with_titles else text_sources
        with_titles.add(key)
        if key not in known:
            known.add(key)
            tables[generator.randrange(len(tables))] = (key, interaction.table)
        for index, text in enumerate(_texts(interaction, QUESTIONS in text_sources, titles)):
            table, class_index = interaction.table, REAL_TABLE
            if generator.random() < random_table_prob:
                other = _another(tables, key, generator)
                if other is not None:
                    table, class_index = other, RANDOM_TABLE
            text.answer.class_index = class_index
            name = create_interaction_id(interaction.id, index)
            text.id = create_question_id(name, 0)
            yield interaction_pb2.Interaction(id=name, table=table, questions=[text])


def _texts(interaction, questions: bool, titles: Iterable[str]):
    """Yields the texts as questions with text and annotations only."""
    for question in interaction.questions if questions else ():
        text = interaction_pb2.Question(text=question.text, original_text=question.original_text)
        if question.HasField("annotations"):
            text.annotations.CopyFrom(question.annotations)
        yield text
    for source in titles:
        text = "" if source == QUESTIONS else getattr(interaction.table, source)
        if text:
            yield interaction_pb2.Question(original_text=text)


def _another(tables, key: bytes, generator):
    """Draws a table with another key; None if there seems to be none."""
    for _ in range(_DRAWS):
        other, table = generator.choice(tables)
        if other != key:
            return table
    return None


def _key(table) -> bytes:
    """Returns a hash of the texts of a table, without its id and titles."""
    cells = [cell.text for row in (table.columns, *(r.cells for r in table.rows)) for cell in row]
    return hashlib.sha256("\x1f".join(cells).encode()).digest()
