"""SWAG's files: choices, labels, and what is wrong with edited ones."""

import pytest

from mate_tf.data.converters import sequences
from mate_tf.data.datasets import swag
from mate_tf.errors import InputError

# As the official files have it: a column without a name, quotation marks around commas.
HEADER = ",video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,ending2,ending3"
ROW = '0,anet_1,7,"She waves, then. He","She waves, then.",He,gold,sits.,"runs, fast.",flies.,eats.'


def test_choices_and_labels(tmp_path):
    (tmp_path / "val.csv").write_text(f"{HEADER},label\n{ROW},2\n{ROW},0\n")
    (tmp_path / "test.csv").write_text(f"{HEADER}\n{ROW}\n")
    first, second = swag.read(tmp_path, "dev")
    (question,) = first.questions
    assert question.id == "swag_dev_0-0_0"
    assert sequences.texts(question) == [
        "She waves, then.",
        "He sits.",
        "He runs, fast.",
        "He flies.",
        "He eats.",
    ]
    assert [each.questions[0].answer.class_index for each in (first, second)] == [2, 0]
    (unlabelled,) = swag.read(tmp_path, "test")
    assert not unlabelled.questions[0].answer.HasField("class_index")
    assert sequences.texts(unlabelled.questions[0]) == sequences.texts(question)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{HEADER}\n{ROW}\n", r"the header lacks the column\(s\) label"),
        (f"{HEADER},label\n{ROW},4\n", "row 1: label is '4', expected a number from 0 to 3"),
        (f"{HEADER},label\n{ROW},1\n{ROW},\n", "row 2: label is ''"),
        (f"{HEADER},label\n{ROW.replace('sits.', '')},1\n", "row 1: ending0 is empty"),
        (f"{HEADER},label\n{ROW}\n", r"row 1 \(line 2\) has 11 cells, but the header has 12"),
    ],
)
def test_malformed_files(tmp_path, content, message):
    (tmp_path / "train.csv").write_text(content)
    with pytest.raises(InputError, match=rf"train\.csv: {message}"):
        list(swag.read(tmp_path, "train"))


def test_files_and_splits_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match=r"val\.csv: no such file"):
        list(swag.read(tmp_path, "dev"))
    with pytest.raises(InputError, match="SWAG has no split 'val', only train, dev, test"):
        list(swag.read(tmp_path, "val"))
