"""Questions about texts to examples: windows, labels, and texts found again from tokens."""

import functools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data import features, interactions
from mate_tf.data.converters import windows
from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.records.create_data import convert_split
from mate_tf.errors import InputError
from mate_tf.protos import answer_spans_pb2, interaction_pb2

from ..conftest import values

WORDS = ("who", "?", "a", "b", "c", "##s", "d", "-")
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[EMPTY]", *WORDS)
ID = {piece: index for index, piece in enumerate(PIECES)}

SPANS = answer_spans_pb2.AnswerSpans.answer_spans_ext


@pytest.fixture(scope="module")
def vocab_file(vocabulary_file):
    return vocabulary_file(PIECES)


@pytest.fixture(scope="module")
def tokenizer(vocab_file):
    return Tokenizer(vocab_file)


def paragraph(text, *answers, question="who?"):
    """One question about a text; answers are (text, begin)."""
    made = interaction_pb2.Interaction(id="p-0")
    made.table.table_id = "p"
    made.table.columns.add(text="")
    made.table.rows.add().cells.add(text=text)
    asked = made.questions.add(id="q-0_0", original_text=question)
    for answer, begin in answers:
        asked.answer.answer_texts.append(answer)
        if begin is not None:
            asked.Extensions[SPANS].spans.add(begin_index=begin, end_index=begin + len(answer))
    return made


def read(conversion):
    """(id, pieces, labelled places, row_ids, segment_ids) of each window, without padding."""
    found = []
    found = []
    for example in conversion.examples:
        assert set(example.features.feature) == set(features.names(features.ALL))
        tokens = sum(values(example, "input_mask"))
        ids = values(example, "input_ids")
        assert not any(ids[tokens:])
        (name,) = values(example, "question_id")
        labels = np.flatnonzero(values(example, "label_ids")).tolist()
        places = (values(example, name)[:tokens] for name in ("row_ids", "segment_ids"))
        found.append((name.decode(), [PIECES[index] for index in ids[:tokens]], labels, *places))
    return found


@pytest.fixture(scope="module")
def converter_of(vocab_file):
    """converter_of(length, stride): a converter for questions of 2 tokens, built once."""

    @functools.cache
    def build(length, stride):
        return windows.WindowConverter(vocab_file, length, doc_stride=stride, max_question_length=2)

    return build


@pytest.fixture(scope="module")
def converter(converter_of):
    return converter_of(9, 2)


def test_one_window(converter):
    (conversion,) = converter.convert_all(paragraph("A  bs", ("bs", 3)))
    ((name, pieces, labels, rows, segments),) = read(conversion)
    assert name == "q/0-0_0"
    assert pieces == ["[CLS]", "who", "?", "[SEP]", "a", "b", "##s", "[SEP]"]
    assert labels == [5, 6]
    assert rows == [0, 0, 0, 0, 1, 1, 1, 0]
    assert segments == [0, 0, 0, 0, 1, 1, 1, 1]
    assert conversion.cuts == ()


def test_several_windows(converter):
    """Of 4 tokens each, 2 behind the one before; [CLS] is labelled where not all is to be seen."""
    (conversion,) = converter.convert_all(paragraph("a b c d a b c", ("c d a", 4)))
    found = read(conversion)
    assert [(each[0], each[1][4:-1], each[2]) for each in found] == [
        ("q/0-0_0", ["a", "b", "c", "d"], [0]),
        ("q/2-0_0", ["c", "d", "a", "b"], [4, 5, 6]),
        ("q/4-0_0", ["a", "b", "c"], [0]),
    ]


def test_longer_questions_are_cut(converter):
    (conversion,) = converter.convert_all(paragraph("a", question="a b c d?"))
    ((_, pieces, _, _, _),) = read(conversion)
    assert pieces == ["[CLS]", "a", "b", "[SEP]", "a", "[SEP]"]
    assert [(cut.kind, cut.count) for cut in conversion.cuts] == [("question tokens", 3)]


@pytest.mark.parametrize(
    ("answers", "labels"),
    [
        ([], [0]),
        ([("x", None)], []),
        ([("x", None), ("b", 2)], [5]),
        ([("b", 2), ("a", 0)], [5]),
        ([(" ", 1), ("a", 0)], [4]),
        ([("s-", 3)], [6, 7]),  # of the word "bs" the second piece
    ],
    ids=["none", "lost", "the other one", "the first", "no token", "part of a word"],
)
def test_which_answer_is_labelled(converter, answers, labels):
    (conversion,) = converter.convert_all(paragraph("a bs-", *answers))
    assert read(conversion)[0][2] == labels


@given(
    text=st.text(alphabet="abcds -\u00e9.", min_size=1, max_size=30),
    length=st.integers(8, 14),
    stride=st.integers(1, 3),
    places=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_windows_cover_the_text(converter_of, tokenizer, text, length, stride, places):
    """Each token is in a window at its place, and labelled tokens are those of the answer."""
    made = converter_of(length, stride)
    begin, end = sorted(round(place * len(text)) for place in places)
    answer = (text[begin:end], begin)
    (conversion,) = made.convert_all(paragraph(text, *([answer] if begin < end else [])))
    ((ids, *_),) = [tokenizer.encode([text])]
    ranges = Offsets(tokenizer).ranges(text)
    inside = {i for i, (b, e) in enumerate(ranges.tolist()) if b < end and e > begin}
    seen = set()
    for name, pieces, labels, rows, _ in read(conversion):
        question_id, start = windows.parse_window_id(name)
        assert question_id == "q-0_0"
        own = np.flatnonzero(rows)
        np.testing.assert_array_equal([ID[pieces[i]] for i in own], ids[start : start + len(own)])
        seen.update(range(start, start + len(own)))
        labelled = {start + place - own[0] for place in labels if place}
        if begin < end and inside and inside <= set(range(start, start + len(own))):
            assert labelled == inside
        elif inside or begin == end:
            assert labels == [0]
    assert seen == set(range(len(ids)))


def test_ids_there_and_back():
    for question_id in ("4e5f-0_0", "a/1-x-0_0"):
        name = windows.window_id(question_id, 128)
        assert windows.parse_window_id(name) == (question_id, 128)
    assert windows.window_id("4e5f-0_0", 128) == "4e5f/128-0_0"
    with pytest.raises(InputError, match="question id '4e5f-0_0' is not <example>/<first token>-"):
        windows.parse_window_id("4e5f-0_0")


def test_all_windows_are_written(vocab_file, tmp_path):
    """Also by a converter that was sent to another process; batches are filled up."""
    made = windows.WindowConverter(vocab_file, 9, doc_stride=2, max_question_length=2)
    again = pickle.loads(pickle.dumps(made))
    long, short = paragraph("a b c d a b c"), paragraph("a")
    short.questions[0].id = "r-0_0"
    report = convert_split([long, short], again, tmp_path / "x.tfrecord", multiple_of=3)
    assert (report.questions, report.examples, report.padding_examples) == (2, 4, 2)
    assert str(report).startswith("4 examples of 2 questions (100.0%)")
    short.questions[0].id = "r" * 64 + "-0_0"
    report = convert_split([long, short], again, tmp_path / "x.tfrecord")
    assert str(report) == ("3 examples of 2 questions (50.0%); 1 dropped (Question id too long)")
    empty = made.empty_example().features.feature
    assert sum(empty["input_mask"].int64_list.value) == 1
    assert empty["question_id"].bytes_list.value[0].decode() == interactions.PADDING_QUESTION_ID


@pytest.mark.parametrize(("stride", "question"), [(0, 2), (5, 2), (1, 6), (1, 0)])
def test_windows_that_leave_tokens_out(vocab_file, stride, question):
    with pytest.raises(InputError, match=rf"doc_stride={stride} tokens between windows"):
        windows.WindowConverter(vocab_file, 9, doc_stride=stride, max_question_length=question)
