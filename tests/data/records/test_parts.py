"""A conversion that was killed goes on with the parts that are not finished."""

import pytest

from mate_tf.data import records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.data.records import create_data
from mate_tf.data.records.parts import CHUNK, PART, Parts, convert
from mate_tf.tables.table import Table

from ..conftest import VOCABULARY


class Killed(BaseException):
    """What nothing catches."""


class Counting(ExampleConverter):
    """Counts what it converts, and is killed behind as many as it may."""

    may, converted = None, 0

    def convert_all(self, *found):
        if self.may is not None and self.converted + len(found) > self.may:
            raise Killed
        self.converted += len(found)
        return super().convert_all(*found)


@pytest.fixture
def converter(vocabulary):
    return Counting(vocabulary, 16, drop_rows_to_fit=True)


def interaction(number, rows=2):
    table = Table.from_rows(["red"], [["blue red"]] * rows, table_id=f"table{number}")
    name = f"n{number}-0"
    return interaction_from_table(
        table, name, [Question(f"{name}_0", "who", coordinates=[(rows - 1, 0)])]
    )


@pytest.fixture(scope="module")
def splits():
    """Of "train" three parts, with a question without example in each; a small "dev"."""
    return {
        "train": [interaction(number, 2 if number % 100 else 30) for number in range(2 * PART + 9)],
        "dev": [interaction(1)],
    }


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


def test_goes_on(splits, converter, tmp_path):
    all_of_them = sum(map(len, splits.values()))
    create_data.create_data(splits, tmp_path / "whole", converter)
    assert converter.converted == all_of_them
    folder = tmp_path / "killed"
    examples = folder / "tf_examples"
    # In the middle of the second part of train, then within dev.
    for may, finished, train_is_there in ((PART + CHUNK, 1, False), (PART + 9, 3, True)):
        converter.converted, converter.may = 0, may
        with pytest.raises(Killed):
            create_data.create_data(splits, folder, converter)
        assert converter.converted == may
        assert len(list((examples / ".parts").iterdir())) == finished
        assert (examples / "train.tfrecord").exists() == train_is_there
    converter.converted, converter.may = 0, None
    create_data.create_data(splits, folder, converter)
    assert converter.converted == len(splits["dev"])
    assert contents(folder) == contents(tmp_path / "whole")


def test_parts_of_something_else(splits, converter, vocabulary, vocabulary_file, tmp_path):
    part = [each.SerializeToString(deterministic=True) for each in splits["train"][:3]]
    found = Parts.create(converter, tmp_path).convert(converter, part)
    assert found == convert(converter, part)
    assert [bool(each.error) for each in found] == [True, False, False]
    assert converter.converted == 6

    def converts(other, interactions):
        converted = Parts.create(other, tmp_path).convert(other, interactions)
        assert converted == convert(other, interactions)
        return other.converted // len(interactions) == 2

    again = Counting(vocabulary, 16, drop_rows_to_fit=True)
    assert not converts(again, part)
    assert converts(Counting(vocabulary, 16, drop_rows_to_fit=True), part[::-1])
    assert converts(Counting(vocabulary, 18, drop_rows_to_fit=True), part)
    # Another vocabulary under the same name.
    path = vocabulary_file(VOCABULARY)
    assert converts(Counting(path, 16, drop_rows_to_fit=True), part)
    path.write_text("\n".join([*VOCABULARY, "green"]), encoding="utf-8")
    assert converts(Counting(path, 16, drop_rows_to_fit=True), part)


def test_a_part_is_whole_or_not_there(splits, converter, tmp_path, monkeypatch):
    part = [each.SerializeToString(deterministic=True) for each in splits["dev"]]
    parts = Parts.create(converter, tmp_path / "parts")

    def killed(*_):
        raise Killed

    monkeypatch.setattr("mate_tf.files.atomic._to_disk", killed)
    with pytest.raises(Killed):
        parts.convert(converter, part)
    assert list((tmp_path / "parts").iterdir()) == []
    monkeypatch.undo()
    assert parts.convert(converter, part) == convert(converter, part)
    parts.remove()
    assert list(tmp_path.iterdir()) == []


def test_one_file_at_a_time(splits, converter, tmp_path):
    """What predictions are made of is resumed too."""
    path = tmp_path / "dev.selected.tfrecord"
    converter.may = PART
    with pytest.raises(Killed):
        create_data.convert_split(splits["train"], converter, path)
    converter.may = None
    create_data.convert_split(splits["train"], converter, path)
    assert converter.converted == len(splits["train"])
    assert records.count_records(path) == len(splits["train"]) - 3
    assert list(tmp_path.glob(".*")) == []
