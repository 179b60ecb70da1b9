"""Documents out of text files, SQuAD's and HybridQA's JSON and interactions; their splits."""

import json

import pytest

from mate_tf.data import records
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.data.pretraining import documents
from mate_tf.errors import InputError
from mate_tf.protos import annotated_text_pb2
from mate_tf.tables.table import Table


def read(folder, split="train", **options):
    return list(documents.Documents(folder, split, **options))


def sentences(folder, **options):
    """Of all documents of both splits, in no order."""
    return {
        document.sentences
        for split in documents.SPLITS
        for document in documents.Documents(folder, split, **{"dev_share": 0.5} | options)
    }


@pytest.fixture
def text(tmp_path):
    """text(name, content): writes a file below the folder `text`, which is returned."""

    def write(name, content):
        path = tmp_path / "text" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return tmp_path / "text"

    return write


MANY = "\n\n".join(f"Document number {i}." for i in range(400))


def test_text_files(text):
    folder = text(
        "train/b/one.txt", "A first sentence. And a second one.\nA third line\n \n\nNext."
    )
    text("train/b/.hidden.txt", "Not this.")
    text("train/b/notes.md", "Nor this.")
    text("train/a.txt", "\r\n\r\nOf a file\r\nwith other lines.\r\n\r\n")
    text("dev/a.txt", "For evaluation.")
    assert [document.sentences for document in read(folder)] == [
        ("Of a file", "with other lines."),
        ("A first sentence.", "And a second one.", "A third line"),
        ("Next.",),
    ]
    assert read(folder)[0].source == str(folder / "train" / "a.txt")
    assert [document.sentences for document in read(folder, "dev")] == [("For evaluation.",)]


def test_folders_are_followed_once(text):
    folder = text("a/x.txt", MANY)
    (folder / "a" / "again").symlink_to(folder, target_is_directory=True)
    assert len(sentences(folder)) == 400


def test_json(text):
    squad = {"data": [{"paragraphs": [{"context": "One first. Two."}, {"context": "Three."}]}]}
    folder = text("squad.json", json.dumps(squad))
    text("passages.json", json.dumps({"/wiki/A": "Of A .", "/wiki/B": "Of B . It  ends ."}))
    text("table.json", json.dumps({"header": [], "data": [["a"]]}))
    text("list.json", "[1]")
    text("many.txt", MANY)
    found = sentences(folder)
    assert {s for s in found if not s[0].startswith("Document")} == {
        ("One first.", "Two.", "Three."),
        ("Of A .",),
        ("Of B .", "It ends ."),
    }
    reader = documents.Documents(folder, "train")
    list(reader)
    named = [str(folder / name) for name in ("list.json", "table.json")]
    assert reader.defects == {documents.OTHER_JSON: named}


def test_interactions(tmp_path):
    table = Table.from_rows(["City", "People"], [["Rome", "3"], ["Bari", ""]], title="Cities")
    found = interaction_from_table(table, "a-0", [Question("a-0_0", "how many?")])
    passages = found.Extensions[
        annotated_text_pb2.AnnotationDescription.annotation_descriptions_ext
    ].descriptions
    passages.update({"/wiki/Rome": "A city . It is old .", "/wiki/Bari": "A port ."})
    folder = tmp_path / "out" / "hybridqa" / "interactions"
    records.write_interactions([found, found], folder / "train.tfrecord")
    passages.update({"/wiki/X": "Never seen ."})
    records.write_interactions([found], folder / "dev.tfrecord")
    of_table = ("Cities", "City , People", "Rome , 3", "Bari")
    of_passages = {("A city .", "It is old ."), ("A port .",)}
    # Of three documents all may be in one split, which has an error of its own.
    share = {"dev_share": 0.0001}
    found = [document.sentences for document in read(tmp_path / "out", **share)]
    assert len(found) == 3
    assert set(found) == of_passages | {of_table}
    found = read(tmp_path / "out", tables=False, **share)
    assert {document.sentences for document in found} == of_passages


def test_splits_go_by_the_text_alone(text):
    folder = text("a.txt", MANY)
    train, dev = read(folder, dev_share=0.2), read(folder, "dev", dev_share=0.2)
    of_train = {document.sentences for document in train}
    of_dev = {document.sentences for document in dev}
    assert len(train) == len(of_train)
    assert not of_train & of_dev
    assert len(of_train | of_dev) == 400
    assert 50 < len(of_dev) < 110  # 80 are expected
    # Elsewhere, in another order, beside others and once again.
    (folder / "a.txt").unlink()
    text("b.txt", "\n\n".join([f"Another {i}." for i in range(50)] + MANY.split("\n\n")[::-1]))
    text("c.txt", MANY)
    again = [document.sentences for document in read(folder, "dev", dev_share=0.2)]
    assert of_dev == {s for s in again if s[0].startswith("Document")}
    assert len(again) == len(set(again))


def test_what_is_refused(text, tmp_path):
    folder = text("broken.json", "{")
    with pytest.raises(InputError, match=r"broken\.json: not valid JSON"):
        read(folder)
    (folder / "broken.json").unlink()
    with pytest.raises(InputError, match=r"text: has no document for train among the 0"):
        read(folder)
    text("one.txt", "A single document.")
    with pytest.raises(InputError, match=r"has no document for dev among the 1"):
        read(folder, "dev", dev_share=0.0001)
    with pytest.raises(InputError, match="text has no split 'test', only train, dev"):
        documents.Documents(folder, "test")
    with pytest.raises(InputError, match=r"dev_share=1\.0"):
        documents.Documents(folder, "train", dev_share=1.0)
