"""GLUE's official files, and what goes wrong with edited ones."""

import collections

import pytest

from mate_tf.data.converters import sequences
from mate_tf.data.datasets import glue
from mate_tf.errors import InputError


def read(folder, split, form):
    """(texts, class or number, id) of each example."""
    found = []
    for interaction in glue.read(folder, split, form):
        (question,) = interaction.questions
        answer = question.answer
        gold = answer.class_index if answer.HasField("class_index") else None
        gold = answer.float_value if answer.HasField("float_value") else gold
        found.append((sequences.texts(question), gold, question.id))
    return found


@pytest.fixture(scope="session")
def glue_dir(unpacked):
    return next(unpacked("glue-squad-vocab-lra").rglob("glue-small"))


COUNTS = {
    # task: examples of train, dev and test, examples of train by class
    "COLA": (8551, 1043, 1063, {0: 2528, 1: 6023}),
    "SST_2": (67349, 872, 1821, {0: 29780, 1: 37569}),
    "MRPC": (3668, 408, 1725, {0: 1194, 1: 2474}),
    "STS_B": (5749, 1500, 1379, None),
    "RTE": (2490, 277, 3000, {0: 1249, 1: 1241}),
}


@pytest.mark.parametrize("name", COUNTS)
def test_official_files(glue_dir, name):
    *sizes, by_class = COUNTS[name]
    form = getattr(glue, name)
    found = {split: read(glue_dir, split, form) for split in glue.SPLITS}
    assert [len(each) for each in found.values()] == sizes
    gold = collections.Counter(label for _, label, _ in found["train"])
    if by_class:
        assert gold == by_class
    else:
        assert (min(gold), max(gold)) == (0.0, 5.0)
    assert {label for _, label, _ in found["test"]} == {None}
    assert {len(texts) for texts, _, _ in found["dev"]} == {len(form.texts)}


def test_official_examples(glue_dir):
    first = read(glue_dir, "dev", glue.COLA)[0]
    assert first == (["The sailors rode the breeze clear of the rocks."], 1, "CoLA_dev_0-0_0")
    texts, label, _ = read(glue_dir / "RTE", "dev", glue.RTE)[0]
    assert texts[1] == "Christopher Reeve had an accident."
    assert label == 1  # not_entailment
    texts, label, _ = read(glue_dir, "train", glue.MRPC)[0]
    assert texts[0].startswith('Amrozi accused his brother , whom he called " the witness " ,')
    assert label == 1
    texts, score, _ = read(glue_dir, "train", glue.STS_B)[1]
    assert texts == ["A man is playing a large flute.", "A man is playing a flute."]
    assert score == pytest.approx(3.8)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("index\tsentence1\tsentence2\tlabel\n0\ta\tb\tyes\n", "line 2: label is 'yes', expected"),
        ("index\tsentence1\tsentence2\n0\ta\tb\n", r"line 1: the header lacks the column\(s\) lab"),
        ("index\tsentence1\tsentence2\tlabel\n0\ta\t \tentailment\n", "line 2: has an empty sent"),
        ("index\tsentence1\tsentence2\tlabel\n0\ta\tentailment\n", "line 2: has 3 cells"),
    ],
)
def test_malformed_files(tmp_path, content, message):
    (tmp_path / "dev.tsv").write_text(content)
    with pytest.raises(InputError, match=rf"dev\.tsv {message}"):
        read(tmp_path, "dev", glue.RTE)


@pytest.mark.parametrize("score", ["5.5", "-1", "nan", "much", ""])
def test_scores_out_of_range(tmp_path, score):
    (tmp_path / "dev.tsv").write_text(f"sentence1\tsentence2\tscore\na\tb\t5\na\tb\t{score}\n")
    with pytest.raises(InputError, match=r"dev\.tsv line 3: score is .* a number from 0 to 5"):
        read(tmp_path, "dev", glue.STS_B)


def test_files_and_splits_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match=r"train\.tsv: no such file"):
        read(tmp_path, "train", glue.SST_2)
    with pytest.raises(InputError, match="SST-2 has no split 'val', only train, dev, test"):
        read(tmp_path, "val", glue.SST_2)
