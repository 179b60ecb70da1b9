"""`Tables`: ids are of the content; number and size have bounds, in memory and in a folder."""

import os
import time

import pytest

from mate_tf.service.table_store import Tables, estimated_bytes
from mate_tf.tables.table import Table


def table(text, rows=1):
    return Table.from_rows(["a", "b"], [[text, number] for number in range(rows)])


def test_the_same_content_has_the_same_id():
    tables = Tables()
    name, prepared = tables.add(table("x"))
    assert tables.add(table("x")) == (name, prepared)
    assert tables.get(name) is prepared
    assert tables.add(table("y"))[0] != name
    others = (Table.from_rows(["a", "b"], [["x", 0]], title="t"), Table(("a", "bx"), (("", "0"),)))
    assert name not in {tables.add(each)[0] for each in others}
    assert tables.get("nothing") is None


def test_the_one_used_least_recently_is_forgotten():
    tables = Tables(number=2)
    first, second = (tables.add(table(text))[0] for text in "xy")
    tables.get(first)
    third, _ = tables.add(table("z"))
    assert [tables.get(name) is None for name in (first, second, third)] == [False, True, False]
    assert len(tables) == 2


def test_the_size_is_bounded():
    one = estimated_bytes(table("x", 10))
    tables = Tables(number=100, size=3 * one)
    names = [tables.add(table(str(number), 10))[0] for number in range(5)]
    assert [tables.get(name) is not None for name in names] == [False, False, True, True, True]
    # One that is larger than all the room is answered about, but not kept, and drives out none.
    large, prepared = tables.add(table("x", 100))
    assert prepared.table.num_rows == 100
    assert tables.get(large) is None
    assert len(tables) == 3


def test_processes_share_a_folder(tmp_path):
    one, other = (Tables(folder=str(tmp_path)) for _ in range(2))
    given = Table.from_rows(["a"], [["é"]], title="t", unread="u", remarks=("r",))
    name, _ = one.add(given)
    found = other.get(name)
    assert found.table == given
    assert other.get(name) is found
    assert other.get("../" + name) is None


def test_the_folder_is_bounded(tmp_path):
    tables = Tables(number=2, folder=str(tmp_path))
    names = []
    for text in "xyz":
        name, _ = tables.add(table(text))
        names.append(name)
        os.utime(tmp_path / f"{name}.json", (time.time() - 10 + len(names),) * 2)
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(names[1:])
    assert [Tables(folder=str(tmp_path)).get(name) is None for name in names] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("name", ["", ".", "x/y", "a.json"])
def test_ids_lead_nowhere(tmp_path, name):
    (tmp_path / "a.json").write_text("{}")
    assert Tables(folder=str(tmp_path)).get(name) is None
