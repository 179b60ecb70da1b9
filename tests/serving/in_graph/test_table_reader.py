"""Strings read in the graph as the converter reads them."""

import contextlib
import random

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data import features as feature_names
from mate_tf.data import interactions
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.converters.tokenizer_graph import TokenizerGraph
from mate_tf.serving.in_graph import numeric, table_reader
from mate_tf.serving.in_graph.word_pieces import WordPieces
from mate_tf.tables import numbers
from mate_tf.tables.conversion import ConversionConfig
from mate_tf.tables.table import Table
from mate_tf.tables.text import normalize_for_match

from ... import graphs

FIT = {"drop_rows_to_fit": True, "drop_columns_to_fit": True, "trim_question_to_fit": True}
PRUNE = {"prune_rows": True, "prune_columns": True, "renumber_to_fit": True, "fill_cells": True}
PRUNED_AND_TRIMMED = {"max_seq_length": 64, "cell_trim_length": 2} | PRUNE


@pytest.fixture(scope="module")
def tokenizer(vocab_file):
    return Tokenizer(vocab_file)


@pytest.fixture(scope="module")
def graph(tokenizer):
    return TokenizerGraph(tokenizer)


@pytest.fixture(scope="module")
def word_pieces(tokenizer):
    return tf.function(
        WordPieces(tokenizer, max_words=1000),
        input_signature=[tf.TensorSpec([None], tf.string)],
        autograph=False,
    )


def same_pieces(word_pieces, graph, texts):
    texts = tf.constant([text.encode("utf-8", "ignore") for text in texts], tf.string)
    found, expected = word_pieces(texts), graph.to_ids(texts)
    np.testing.assert_array_equal(found.row_splits, expected.row_splits)
    np.testing.assert_array_equal(found.flat_values, expected.flat_values)


def test_letters_of_all_scripts(word_pieces, graph):
    """Every 29th character there is, alone and within a word."""
    characters = [chr(code) for code in range(1, 0x30000, 29) if not 0xD800 <= code <= 0xDFFF]
    same_pieces(word_pieces, graph, [*characters, *(f"a{char}1 b" for char in characters)])


def test_odd_texts(word_pieces, graph):
    texts = ["", " ", "?", "N/A", "x" * 400, "x" * 401, "a" * 399 + "é", "[UNK] [CLS]", "##a"]
    texts += [
        "Ünïcödé 漢字かな",
        "e\u0301\u0327",
        "한국어",
        "ﬁ ½ ² ß İ Σ",
        "tab\tnew\nline\x00nul",
        "\ufffd",
    ]
    same_pieces(word_pieces, graph, texts)
    same_pieces(word_pieces, graph, [])
    invalid = tf.constant([b"caf\xc3", b"\xff\xfe", b"a\xed\xa0\x80b"])
    expected = graph.to_ids(invalid)
    np.testing.assert_array_equal(word_pieces(invalid).flat_values, expected.flat_values)


@pytest.mark.thorough
@given(st.lists(st.text(max_size=20), max_size=10))
def test_any_texts(word_pieces, graph, texts):
    same_pieces(word_pieces, graph, texts)


def test_words_beyond_the_limit_are_not_read(tokenizer, graph):
    found = WordPieces(tokenizer, max_words=2)(tf.constant(["1 2 3", "4"]))
    expected = graph.to_ids(tf.constant(["1 2", "4"]))
    np.testing.assert_array_equal(found.flat_values, expected.flat_values)


COLUMNS = [
    ["1", "2", "2", "10"],
    ["1,000", "-5", "+5", "3.5"],
    ["1st", "2nd", "third", "twelfth"],
    ["May 5, 2005", "6 May 2005", "june 2005", "2004"],
    ["2001-05-03", "1999-12-31", "2001-05", "2016-01-01"],
    ["31.12.1999", "1.2.2003", "01.01.1700", "5.6.2000"],
    ["12-25-2005", "01-02-2003", "1-1-1999", "10-10-2010"],
    ["monday, may 5", "tuesday, june 7", "Sunday, January 1", "may 5"],
    ["1990s", "1980s", "2000s", "1970s"],
    ["1999", "2000", "in 1999.", "1,999"],
    ["1699", "2017", "2018", "-1999"],
    ["29 february 2000", "29 february 2004", "30 april 1999", "1 march 2001"],
    ["february 29, 2000", "02-29-2004", "1996-02-29", "29.2.1992"],
    ["5 km", "about 7", "n/a", "12 of 13"],
    ["a", "b", "5", "c"],
    ["", "", "", ""],
    ["1e5", "2e3", "7", "1_000"],
    ["9" * 50, "1" + "0" * 38, "1e39", "-" + "9" * 60],
    [".5", "5.", "0.5", "$5"],
    ["may", "june", "sept", "dec"],
    ["7-3", "6-2", "- 4", "+"],
    ["12 may 2005 14:30", "2005 12 may", "born 1950 in may", "may 1 2005"],
    ["one", "Two", "three hundred", "fith"],
    ["inf", "nan", "infinity", "1"],
]


def column_values(columns):
    cells = tf.transpose(tf.constant([columns]), [0, 2, 1])
    return numeric.ColumnValues(cells, tf.ones_like(cells, tf.bool))


def test_ranks():
    ranks, inverse_ranks = (values.numpy()[0].T for values in column_values(COLUMNS).ranks())
    for column, *found in zip(COLUMNS, ranks.tolist(), inverse_ranks.tolist(), strict=True):
        assert tuple(found) == numbers.column_ranks(numbers.column_values(column)), column


@pytest.mark.parametrize(
    "question",
    ["more than 5?", "in 1999", "before may 5, 2000 and after 1980", "1 2 3 4 5", "in may", "who?"],
)
def test_relations(question):
    question = normalize_for_match(question)
    asked = [v for span in numbers.numeric_spans(question) for v in span.values]
    found = column_values(COLUMNS).relations(numeric.find_all(tf.constant([question])))
    for column, relations in zip(COLUMNS, found.numpy()[0].T.tolist(), strict=True):
        assert relations == numbers.relations(asked, numbers.column_values(column)), column


WORDS = (
    "a",
    "b1",
    "city",
    "cities",
    "pad",
    "4 5",
    "",
    "x-y-z",
    "12 may 2001",
    "Ann's house",
    "0.5",
    "1999",
)


def random_table(draw):
    num_rows, num_columns = draw.randint(0, 12), draw.randint(1, 9)

    def text():
        return " ".join(draw.choices(WORDS, k=draw.choice((1, 1, 1, 2, 9))))

    rows = [[text() for _ in range(num_columns)] for _ in range(num_rows)]
    return Table.from_rows([text() for _ in range(num_columns)], rows)


@pytest.mark.parametrize(
    "options",
    [
        {"max_seq_length": 40, "max_row_id": 9, "max_column_id": 7},
        {"max_seq_length": 96, "cell_trim_length": 2, "strip_column_names": True},
        {"max_seq_length": 40, "max_row_id": 9, "max_column_id": 7} | PRUNE,
        PRUNED_AND_TRIMMED,
        {"max_seq_length": 80, "mark_matches": True} | PRUNE,
    ],
    ids=["short", "trimmed", "pruned", "pruned and trimmed", "marked"],
)
def test_features(vocab_file, options):
    """Tables of many sizes, alone and as one padded batch."""
    draw = random.Random(7)
    converter = ExampleConverter(vocab_file, **FIT, **options)
    reader = table_reader.TableReader(vocab_file, ConversionConfig(**FIT | options))
    read = tf.function(
        lambda *texts: reader(*texts)[0],
        input_signature=[tf.TensorSpec([None] * rank, tf.string) for rank in (1, 2, 3)],
        autograph=False,
    )
    tables = [random_table(draw) for _ in range(24)]
    questions = [" ".join(draw.choices(WORDS, k=draw.choice((0, 3, 8, 40)))) for _ in tables]
    num_rows, num_columns = (max(sizes) for sizes in zip(*map(size, tables), strict=True))
    header, cells = np.full((24, num_columns), b"[PAD]"), []
    cells = np.full((24, num_rows, num_columns), b"[PAD]", object)
    for index, table in enumerate(tables):
        header = header.astype(object)
        header[index, : table.num_columns] = table.columns
        if table.num_rows:
            cells[index, : table.num_rows, : table.num_columns] = table.rows
    # One graph with all options; without them as Python code.
    with graphs.avoided() if options != PRUNED_AND_TRIMMED else contextlib.nullcontext():
        together = read(tf.constant(questions), tf.constant(header), tf.constant(cells))
    for index, (table, question) in enumerate(zip(tables, questions, strict=True)):
        asked = [interactions.Question("ask-0_0", question)]
        proto = interactions.interaction_from_table(table, "ask-0", asked)
        expected = converter.convert(proto, 0).features.feature
        names = set(feature_names.names(feature_names.MODEL_INPUTS))
        if len(numbers.numeric_spans(normalize_for_match(question))) > numeric.MAX_QUESTION_VALUES:
            names.remove("numeric_relations")
        for name in names:
            values = together[name][index].numpy()
            wanted = np.array(expected[name].int64_list.value)
            np.testing.assert_array_equal(values, wanted[: len(values)], f"{name} {index}")
            assert not wanted[len(values) :].any()


def size(table):
    return table.num_rows, table.num_columns


def test_settings_that_a_graph_does_not_have():
    assert table_reader.not_in_graph(ConversionConfig(**FIT)) == []
    assert table_reader.not_in_graph(ConversionConfig(hide_cell_texts=True, mark_matches=True)) == [
        "hide_cell_texts"
    ]
