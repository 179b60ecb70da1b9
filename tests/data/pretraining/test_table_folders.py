"""Folders of tables with texts, in all formats, and their splits."""

import gzip

import pytest
from google.protobuf import text_format

from mate_tf.data import pretraining, records
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.data.pretraining import table_folders
from mate_tf.data.pretraining.table_folders import TableFolder
from mate_tf.errors import InputError
from mate_tf.tables.table import Table


def interaction(page, number=1, name=""):
    table = Table.from_rows(["a", "b"], [[f"{page}", "2"]], table_id=f"wiki/P{page}_{number}")
    return interaction_from_table(table, name, [Question("TITLE", f"Title {page}")])


def lines(found):
    return "".join(text_format.MessageToString(each, as_one_line=True) + "\n" for each in found)


def titles(folder, split="train", **options):
    found = TableFolder(str(folder), split, **options)
    return [question.original_text for each in found for question in each.questions]


def test_all_formats(tmp_path):
    (tmp_path / "b").mkdir()
    with gzip.open(tmp_path / "a.txtpb.gz", "wt") as file:
        file.write(lines([interaction(1)]))
    (tmp_path / "b" / "b.txtpb").write_text(lines([interaction(2)]))
    records.write_interactions([interaction(3)], tmp_path / "c.tfrecord")
    (tmp_path / "d.csv").write_text("x,y\n1,2\n")
    (tmp_path / "d.txt").write_text("First text.\n\n Second  text.\n")
    (tmp_path / "e.tsv").write_text("x\ty\n1\t2\n")
    (tmp_path / "f.html").write_text(
        "<h1>Page</h1><p>About it.</p><table><tr><td>a<td>b<tr><td>1<td>2</table><table></table>"
    )
    (tmp_path / ".hidden.csv").write_text("no table")
    (tmp_path / "notes.md").write_text("no table")
    (tmp_path / "tf_examples").mkdir()
    (tmp_path / "tf_examples" / "train.tfrecord").write_text("no interaction")
    share = {"dev_share": 1e-9}
    assert titles(tmp_path, **share) == [
        "Title 1",
        "Title 3",
        *("First text.", "Second text."),
        "About it.",
        "Title 2",
    ]
    folder = TableFolder(str(tmp_path), "train", **share)
    found = list(folder)
    assert [each.id for each in found] == [
        *("wiki/P1_1", "wiki/P3_1", "d.csv-0", "f.html_1-0", "wiki/P2_1")
    ]
    assert found[3].table.document_title == "Page"
    assert folder.defects == {
        table_folders.NO_TEXT: [str(tmp_path / "e.tsv")],
        table_folders.LEFT_OUT: [f"{tmp_path / 'f.html'}: 1"],
    }
    assert titles(tmp_path / "a.txtpb.gz", **share) == ["Title 1"]


def test_tables_of_a_page_are_in_one_split_in_every_format(tmp_path):
    pages = [interaction(page, number) for page in range(200) for number in (1, 2)]
    folders = {}
    for name in ("text", "records"):
        folders[name] = tmp_path / name
        folders[name].mkdir()
    (folders["text"] / "a.txtpb").write_text(lines(pages))
    records.write_interactions(pages, folders["records"] / "a.tfrecord")
    splits = {
        name: [titles(folder, split, dev_share=0.2) for split in table_folders.SPLITS]
        for name, folder in folders.items()
    }
    assert splits["text"] == splits["records"]
    train, dev = splits["text"]
    assert not {*train} & {*dev}
    assert sorted(train + dev) == sorted(f"Title {page}" for page in range(200) for _ in (1, 2))
    assert 20 < len({*dev}) < 60
    for split, page in (("train", 1), ("dev", 2)):
        (folders["text"] / split).mkdir()
        (folders["text"] / split / "a.txtpb").write_text(lines([interaction(page)]))
    assert titles(folders["text"], "dev") == ["Title 2"]


def test_ids_that_are_missing_and_tables_of_bad_shape(tmp_path):
    nameless, ragged, empty = (interaction(page) for page in range(3))
    nameless.table.table_id = ""
    ragged.table.rows[0].cells.add(text="more")
    del empty.table.rows[:]
    (tmp_path / "a.txtpb").write_text(lines([nameless, ragged, empty]))
    folder = TableFolder(str(tmp_path), "train", dev_share=1e-9)
    assert [each.id for each in folder] == ["a.txtpb-1"]
    assert folder.defects == {
        table_folders.BAD_SHAPE: [f"{tmp_path}/a.txtpb: wiki/P{page}_1" for page in (1, 2)]
    }


def test_nothing_to_read(tmp_path):
    with pytest.raises(InputError, match=r"has no table for dev with task\.dev_share=0\.05 in "):
        list(TableFolder(str(tmp_path), "dev"))
    with pytest.raises(InputError, match="has no table for train"):
        list(TableFolder(str(tmp_path / "absent"), "train"))
    with pytest.raises(InputError, match="no split 'test'"):
        TableFolder(str(tmp_path), "test")
    (tmp_path / "a.csv").write_text("x,y\n1\n")
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(InputError, match=r"a\.csv: row 1 \(line 2\) has 1 cell"):
        list(TableFolder(str(tmp_path), "train", dev_share=1e-9))


def test_what_create_data_has_written_comes_before_other_files(tmp_path):
    (tmp_path / "sqa" / "interactions").mkdir(parents=True)
    path = tmp_path / "sqa" / "interactions" / "train.tfrecord"
    records.write_interactions([interaction(1, name="n-0")], path)
    (tmp_path / "a.txtpb").write_text(lines([interaction(2)]))
    found = pretraining.read_dir(str(tmp_path), "train")
    assert [each.questions[0].original_text for each in found] == ["Title 1"]
