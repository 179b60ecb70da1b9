"""HybridQA's official files as interactions: the reference's, real ones, and broken ones."""

import json
import zipfile

import pytest

from mate_tf.data import records
from mate_tf.data.converters import expansion
from mate_tf.data.datasets import hybridqa
from mate_tf.errors import InputError

TABLE = {
    "title": "Peaks",
    "url": "https://example.org/Peaks",
    "section_title": "List",
    "header": [["Name", []], ["Land", ["/wiki/Country"]]],
    "data": [
        [["Alpha", ["/wiki/Alpha"]], ["Norland", ["/wiki/%C3%96st"]]],
        [["Beta", ["/wiki/Beta", "/wiki/None"]], ["Sudland", []]],
    ],
}
PASSAGES = {
    "/wiki/Alpha": "Alpha is cold .",
    "/wiki/Öst": "The capital is Oslovia .",
    "/wiki/Beta": "Beta is near Oslovia .",
    "/wiki/Country": "A country .",
}
QUESTIONS = [
    {"question_id": "q0", "question": "Capital ?", "table_id": "Peaks_0", "answer-text": "Oslovia"},
    {"question_id": "q1", "question": "Which ?", "table_id": "Peaks_0", "answer-text": "alpha"},
]


@pytest.fixture(scope="module")
def hybridqa_dir(unpacked):
    """The official questions, and the tables of 120 dev ones."""
    return unpacked("hybridqa-questions", "hybridqa-tables-dev_mini") / "hybridqa"


def _write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


@pytest.fixture
def data(tmp_path):
    """The official layout with one table, two dev questions and a broken table."""
    _write(tmp_path / "released_data" / "dev.json", QUESTIONS)
    _write(tmp_path / "tables_tok" / "Peaks_0.json", TABLE)
    _write(tmp_path / "request_tok" / "Peaks_0.json", PASSAGES)
    return tmp_path


def _ask(data, **changed):
    """Adds a dev question like the first."""
    path = data / "released_data" / "dev.json"
    _write(path, [*json.loads(path.read_text()), {**QUESTIONS[0], "question_id": "q9", **changed}])


def _ids(questions):
    return [interaction.questions[0].id for interaction in questions]


def _cells(answer):
    return {(cell.row_index, cell.column_index) for cell in answer.answer_coordinates}


@pytest.mark.parametrize("split", hybridqa.SPLITS)
def test_interactions_are_the_references(split, recordings):
    questions = hybridqa.read(recordings / "raw", split)
    golden = records.read_interactions(recordings / "interactions" / f"{split}.tfrecord")
    for found, expected in zip(questions, golden, strict=True):
        for interaction in (found, expected):  # the reference's are a set
            for question in interaction.questions:
                for answer in (question.answer, *question.alternative_answers):
                    if answer.answer_coordinates:
                        answer.answer_coordinates.sort(
                            key=lambda cell: (cell.row_index, cell.column_index)
                        )
        if split == "test":
            assert not found.questions[0].HasField("answer")
            found.questions[0].ClearField("answer")
            expected.questions[0].ClearField("answer")
        assert found == expected
    assert questions.defects == {}


def test_real_files(hybridqa_dir):
    """What data/README.md of the shared data says about the covered questions."""
    questions = hybridqa.read(hybridqa_dir, "dev")
    found = list(questions)
    assert len(found) + len(questions.defects[hybridqa.NO_TABLE]) == 3466
    assert set(questions.defects) == {hybridqa.NO_TABLE}
    tables = {path.stem for path in (hybridqa_dir / "tables_tok").iterdir()}
    assert {interaction.table.table_id for interaction in found} <= tables
    answered = [each for each in found if each.questions[0].answer.answer_coordinates]
    assert len(answered) >= 0.98 * len(found) > 250
    for interaction in found:
        texts = expansion.passages(interaction)
        cells = (cell for row in interaction.table.rows for cell in row.cells)
        assert all(link in texts for cell in cells for link in expansion.links(cell))


def test_candidates_links_and_passages(data):
    first, second = hybridqa.read(data, "dev")
    question = first.questions[0]
    assert (first.id, question.id, question.original_text) == ("q0-0", "q0-0_0", "Capital ?")
    assert _cells(question.answer) == {(0, 1), (1, 0)}
    assert _cells(question.alternative_answers[0]) == set()
    assert _cells(second.questions[0].alternative_answers[0]) == {(0, 0)}
    assert (first.table.document_title, first.table.context_heading) == ("Peaks", "List")
    assert expansion.links(first.table.rows[0].cells[1]) == ["/wiki/Öst"]
    assert list(expansion.passages(first)) == [
        "/wiki/Country",
        "/wiki/Alpha",
        "/wiki/Öst",
        "/wiki/Beta",
    ]


def test_missing_passages_are_counted_once(data):
    questions = hybridqa.read(data, "dev")
    for _ in range(2):
        assert len(list(questions)) == 2
        (message,) = questions.defects[hybridqa.NO_PASSAGE]
        assert message.endswith("Peaks_0.json: no passage '/wiki/None'")
    (data / "request_tok" / "Peaks_0.json").unlink()
    questions = hybridqa.read(data, "dev")
    first, _ = questions
    assert not first.questions[0].answer.answer_coordinates
    assert len(questions.defects[hybridqa.NO_PASSAGE]) == 5


def test_a_missing_table_is_counted_and_the_rest_goes_on(data):
    _ask(data, table_id="Lakes_0")
    questions = hybridqa.read(data, "dev")
    assert _ids(questions) == ["q0-0_0", "q1-0_0"]
    (message,) = questions.defects[hybridqa.NO_TABLE]
    assert "question q9" in message
    assert "Lakes_0.json: no such file" in message


@pytest.mark.parametrize(
    ("kind", "content", "problem"),
    [
        ("tables_tok", "{", "not valid JSON"),
        ("tables_tok", "", "empty"),
        ("tables_tok", "[]", "expected an object"),
        ("tables_tok", "[" * 100_000, "not valid JSON"),
        ("tables_tok", {"header": [["A", []]]}, "'data' is not a list of rows"),
        ("tables_tok", {"data": []}, "header: expected a list of cells"),
        ("tables_tok", {"header": [["A", []]], "data": [[]]}, "row 0 has 0 cells, the header 1"),
        (
            "tables_tok",
            {"header": [["A", []]], "data": [[["x", [1]]]]},
            r"row 0, cell 0: expected \[text, \[link, ...\]\]",
        ),
        ("request_tok", '{"a": ', "not valid JSON"),
        ("request_tok", {"/wiki/A": 1}, "the passage of '/wiki/A' is not a text"),
    ],
)
def test_a_broken_file_is_counted_and_the_rest_goes_on(kind, content, problem, data):
    _write(data / "tables_tok" / "Broken_0.json", TABLE)
    _write(data / kind / "Broken_0.json", content)
    _ask(data, table_id="Broken_0")
    questions = hybridqa.read(data, "dev")
    assert _ids(questions) == ["q0-0_0", "q1-0_0"]
    (message,) = questions.defects[hybridqa.BROKEN_TABLE]
    assert f"{kind}/Broken_0.json" in message
    with pytest.raises(InputError, match=problem):
        raise InputError(message)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"question": None}, "'question' is not a text"),
        ({"question_id": ""}, "'question_id' is not a text"),
        ({"table_id": "../../secret"}, "is not the name of a file"),
        ({"table_id": "..\\secret"}, "is not the name of a file"),
        ({"answer-text": 3}, "'answer-text' is not a text"),
    ],
)
def test_a_broken_question_is_counted_and_the_rest_goes_on(changed, problem, data):
    _ask(data, **changed)
    questions = hybridqa.read(data, "dev")
    assert len(_ids(questions)) == 2
    (message,) = questions.defects[hybridqa.BROKEN_QUESTION]
    assert "dev.json entry 2: " in message
    assert problem in message


def test_what_cannot_go_on(data, tmp_path_factory):
    with pytest.raises(InputError, match="no split 'val', only train, dev, test"):
        hybridqa.read(data, "val")
    with pytest.raises(InputError, match=r"has none of train.traced.json, train.json, train_pa"):
        hybridqa.read(data, "train")
    _write(data / "released_data" / "test.json", "[{")
    with pytest.raises(InputError, match=r"test\.json: not valid JSON"):
        hybridqa.read(data, "test")
    _write(data / "released_data" / "test.json", "{}")
    with pytest.raises(InputError, match=r"test\.json: expected a list"):
        hybridqa.read(data, "test")
    bare = tmp_path_factory.mktemp("bare")
    _write(bare / "released_data" / "dev.json", QUESTIONS)
    with pytest.raises(
        InputError, match=r"neither WikiTables-WithLinks\.zip nor a folder tables_tok"
    ):
        hybridqa.read(bare, "dev")


def test_traced_questions_come_first(data):
    _write(data / "released_data" / "dev.traced.json", QUESTIONS[1:])
    assert _ids(hybridqa.read(data, "dev")) == ["q1-0_0"]
    _write(data / "released_data" / "train_partial.json", QUESTIONS)
    assert hybridqa.splits(data) == ["train", "dev"]


def _zipped(data, extra=None):
    with zipfile.ZipFile(data / "WikiTables-WithLinks.zip", "w") as archive:
        for kind in ("tables_tok", "request_tok"):
            for path in (data / kind).iterdir():
                archive.write(path, f"WikiTables-WithLinks/{kind}/{path.name}")
        if extra:
            archive.writestr(extra, "{}")


def test_archive_and_folders_are_read_alike(data):
    plain = list(hybridqa.read(data, "dev"))
    _zipped(data)
    for kind in ("tables_tok", "request_tok"):
        (data / kind / "Peaks_0.json").unlink()
    questions = hybridqa.read(data, "dev")
    assert list(questions) == plain
    (message,) = questions.defects[hybridqa.NO_PASSAGE]
    assert message.startswith(f"{data}/WikiTables-WithLinks.zip: request_tok/Peaks_0.json")
    (data / "tables_tok").rename(data / "gone")
    inside = data / "WikiTables-WithLinks"
    with zipfile.ZipFile(data / "WikiTables-WithLinks.zip") as archive:
        archive.extractall(data)
    (data / "WikiTables-WithLinks.zip").unlink()
    assert inside.is_dir()
    assert list(hybridqa.read(data, "dev")) == plain


@pytest.mark.parametrize(
    "name", ["../escape.json", "a/../../b.json", "/etc/passwd", "C:/x.json", "..\\x.json"]
)
def test_archives_that_lead_out_are_refused(name, data):
    _zipped(data, name)
    before = sorted(path.name for path in data.parent.iterdir())
    with pytest.raises(InputError, match=r"member '.*' leads out of the archive"):
        hybridqa.read(data, "dev")
    assert sorted(path.name for path in data.parent.iterdir()) == before


def test_broken_archives(data):
    _write(data / "WikiTables-WithLinks.zip", "no zip")
    with pytest.raises(InputError, match="not a readable zip archive"):
        hybridqa.read(data, "dev")
    _zipped(data)
    path = data / "WikiTables-WithLinks.zip"
    path.write_bytes(path.read_bytes().replace(b"Norland", b"Nowhere"))
    questions = hybridqa.read(data, "dev")
    assert _ids(questions) == []
    assert len(questions.defects[hybridqa.BROKEN_TABLE]) == 2
    assert (
        "tables_tok/Peaks_0.json: cannot be unpacked" in questions.defects[hybridqa.BROKEN_TABLE][0]
    )
