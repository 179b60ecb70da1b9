"""SQuAD's files: as they are, and what is wrong with edited ones."""

import json
import shutil

import pytest

from mate_tf.data.converters import windows
from mate_tf.data.datasets import squad
from mate_tf.errors import InputError
from mate_tf.protos import answer_spans_pb2

SPANS = answer_spans_pb2.AnswerSpans.answer_spans_ext
CONTEXT = "Bern is on the Aare. The Aare is a river."


def entry(name, *answers, **fields):
    found = [{"text": text, "answer_start": begin} for text, begin in answers]
    return {"id": name, "question": "Where is Bern?", "answers": found, **fields}


@pytest.fixture
def write(tmp_path):
    """write(*entries, name=…): their file; returns its folder."""

    def make(*entries, name="dev-v2.0.json"):
        paragraphs = [{"context": CONTEXT, "qas": list(entries)}]
        content = {"version": "v2.0", "data": [{"title": "Bern", "paragraphs": paragraphs}]}
        (tmp_path / name).write_text(json.dumps(content))
        return tmp_path

    return make


def questions(folder, split="dev", version=squad.V2):
    """(id, texts, places) of each question, and the defects."""
    source = squad.read(folder, split, version)
    found = [
        (
            question.id,
            list(question.answer.answer_texts),
            [(span.begin_index, span.end_index) for span in question.Extensions[SPANS].spans],
        )
        for interaction in source
        for question in interaction.questions
    ]
    return found, source.defects


def test_official_part(unpacked, tmp_path):
    """The part of SQuAD v1.1's dev set that is in XQuAD: every answer is at its place."""
    source = next(unpacked("glue-squad-vocab-lra").rglob("xquad.en.json"))
    shutil.copyfile(source, tmp_path / "dev-v1.1.json")
    paragraphs = squad.read(tmp_path, "dev", squad.V1)
    found = list(paragraphs)
    assert len(found) == 240
    asked = [(each, question) for each in found for question in each.questions]
    assert len(asked) == len({question.id for _, question in asked}) == 1190
    assert paragraphs.defects == {}
    for interaction, question in asked:
        (text,) = question.answer.answer_texts
        (span,) = question.Extensions[SPANS].spans
        assert windows.text_of(interaction)[span.begin_index : span.end_index] == text
    _, first = asked[0]
    assert first.id == "56beb4343aeaaa14008c925b-0_0"
    assert list(first.answer.answer_texts) == ["308"]


def test_answers(write):
    folder = write(
        entry("a", ("the Aare", 11), ("Aare", 15), ("the Aare", 11)),
        entry("b", is_impossible=True, plausible_answers=[{"text": "x", "answer_start": 0}]),
    )
    found, defects = questions(folder)
    assert found == [
        ("a-0_0", ["the Aare", "Aare", "the Aare"], [(11, 19), (15, 19)]),
        ("b-0_0", [], []),
    ]
    assert defects == {}
    (interaction,) = squad.read(folder, "dev", squad.V2)
    assert windows.text_of(interaction) == CONTEXT
    assert interaction.id == "Bern_0/0-0"


def test_answers_in_other_places_are_counted(write):
    entries = [
        entry("a", ("the Aare", 12), ("Aare", 15)),
        entry("b", ("river.", -6)),  # there, if counted from the end
        entry("c", ("", 3)),
    ]
    found, defects = questions(write(*entries))
    assert found == [
        ("a-0_0", ["the Aare", "Aare"], [(15, 19)]),
        ("b-0_0", ["river."], []),
        ("c-0_0", [""], []),
    ]
    assert {kind: len(messages) for kind, messages in defects.items()} == {squad.NOT_THERE: 3}
    assert defects[squad.NOT_THERE][0].endswith(
        "dev-v2.0.json: data[0].paragraphs[0].qas[0] (question a): 'the Aare' is not at 12"
    )
    found, defects = questions(write(*entries, name="train-v2.0.json"), "train")
    assert [name for name, _, _ in found] == ["a-0_0"]
    assert {kind: len(messages) for kind, messages in defects.items()} == {
        squad.NOT_THERE: 3,
        squad.NO_PLACE: 2,
    }


def test_version_1_has_no_questions_without_an_answer(write):
    folder = write(entry("a"), entry("b", ("Bern", 0)), name="dev-v1.1.json")
    found, defects = questions(folder, version=squad.V1)
    assert [name for name, _, _ in found] == ["b-0_0"]
    assert [*defects] == [squad.NO_ANSWER]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "not valid JSON"),
        ("[]", "expected an object with 'data', as in a file of SQuAD"),
        ('{"data": {}}', "'data' is not a list"),
        ('{"data": [1]}', r"data\[0\]: expected an object with 'title'"),
        ('{"data": [{"title": "t"}]}', r"data\[0\]: has no 'paragraphs'"),
        (
            '{"data": [{"paragraphs": [{"context": " "}]}]}',
            r"paragraphs\[0\]: the context is empty",
        ),
        (
            '{"data": [{"paragraphs": [{"context": "a", "qas": [{"id": "x", "question": "?", '
            '"answers": [{"text": "a", "answer_start": "0"}]}]}]}]}',
            r"qas\[0\] \(question x\): 'answer_start' is not a whole number",
        ),
    ],
)
def test_malformed_files(tmp_path, content, message):
    (tmp_path / "dev-v1.1.json").write_text(content)
    with pytest.raises(InputError, match=rf"dev-v1\.1\.json: .*{message}"):
        questions(tmp_path, version=squad.V1)


def test_what_is_not_there_or_there_twice(write, tmp_path):
    folder = write(entry("a"))
    message = r"dev-v1\.1\.json: no such file; the folder has that of task\.version=v2\.0"
    with pytest.raises(InputError, match=message):
        squad.read(folder, "dev", squad.V1)
    with pytest.raises(InputError, match=r"train-v2\.0\.json: no such file$"):
        squad.read(folder, "train", squad.V2)
    with pytest.raises(InputError, match=r"'v3' is not one of v1\.1, v2\.0"):
        squad.read(folder, "dev", "v3")
    with pytest.raises(InputError, match="SQuAD has no split 'test', only train, dev"):
        squad.read(folder, "test", squad.V2)
    with pytest.raises(InputError, match=r"qas\[1\] \(question a\): the id is a duplicate"):
        questions(write(entry("a"), entry("a")))
