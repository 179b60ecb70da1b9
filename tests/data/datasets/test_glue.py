"""GLUE's official files, small ones in their format, and what goes wrong with edited ones."""

import collections

import pytest

from mate_tf.data.converters import sequences
from mate_tf.data.datasets import glue
from mate_tf.errors import InputError

from ... import glue_files

FORMS = {
    "CoLA": glue.COLA,
    "SST-2": glue.SST_2,
    "MRPC": glue.MRPC,
    "STS-B": glue.STS_B,
    "QQP": glue.QQP,
    "MNLI": glue.MNLI,
    "QNLI": glue.QNLI,
    "RTE": glue.RTE,
    "WNLI": glue.WNLI,
}


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


@pytest.mark.parametrize("task", FORMS)
def test_all_columns(tmp_path, task):
    """Each task of files with all official columns: number of examples, ids and labels."""
    form = FORMS[task]
    glue_files.write(tmp_path, task, number=6)
    for split in form.files:
        found = read(tmp_path, split, form)
        assert len(found) == 6
        labels = [label for _, label, _ in found]
        if split.startswith("test"):
            assert labels == [None] * 6
            assert [name for *_, name in found] == [f"{task}_{split}_{i}-0_0" for i in range(6)]
        else:
            assert len(set(labels)) == (len(form.labels) or 6)
        assert {len(texts) for texts, _, _ in found} == {len(form.texts)}


def test_labels_by_name(tmp_path):
    glue_files.write(tmp_path, "MNLI", number=3)
    # neutral, entailment, contradiction; BERT's order of the classes is that of the alphabet.
    assert [label for _, label, _ in read(tmp_path, "dev", glue.MNLI)] == [2, 1, 0]
    names = {"dev": "dev_matched", "test": "test_matched"}
    for split in glue.MNLI.files:
        texts = read(tmp_path, split, glue.MNLI)[1][0]
        assert texts == [f'{names.get(split, split)} 1 He said "so', "n/a"]
    glue_files.write(tmp_path, "QNLI", number=2)
    assert [label for _, label, _ in read(tmp_path, "train", glue.QNLI)] == [0, 1]


def test_quotes_and_a_quoted_tab(tmp_path):
    glue_files.write(tmp_path, "QNLI", number=2)
    texts = [texts[1] for texts, *_ in read(tmp_path, "dev", glue.QNLI)]
    assert texts == ['He said "so 0', 'and " that 1']
    glue_files.write(tmp_path, "QQP", number=2)
    assert read(tmp_path, "dev", glue.QQP)[1][0] == ["a tab\there", "How?"]


def test_broken_lines_of_qqp(tmp_path):
    """Both halves of a row with a line end are left out, and a row with an empty question."""
    glue_files.write(tmp_path, "QQP", number=4)
    examples = glue.read(tmp_path, "train", glue.QQP)
    assert [each.id for each in examples][1] == "QQP_train_2-0"
    (messages,) = examples.defects.values()
    assert [message.partition(": ")[2][:12] for message in messages] == [
        *("has 4 cells ", "has 3 cells ", "has 5 cells ", "has 2 cells ", "has an empty")
    ]
    assert messages[0].startswith(f"{tmp_path / 'QQP' / 'train.tsv'} line 3: ")
    list(examples)
    assert len(examples.defects[glue.BROKEN]) == 5  # not counted twice
    # An empty question of the test set keeps its index for the submission.
    test = read(tmp_path, "test", glue.QQP)
    assert test[1] == (["Why 1?", ""], None, "QQP_test_1-0_0")


def test_too_many_broken_lines(tmp_path):
    path = glue_files.write(tmp_path, "QNLI") / "train.tsv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, *(line.replace("\t", " ") for line in lines[1:] * 20)]))
    expected = r"train\.tsv line 8: has 1 cells .*\); more than 100 lines are broken"
    with pytest.raises(InputError, match=expected):
        read(tmp_path, "train", glue.QNLI)


def test_a_broken_line_where_none_is_known(tmp_path):
    path = glue_files.write(tmp_path, "WNLI") / "train.tsv"
    path.write_text(path.read_text() + "9\tcut off\n")
    with pytest.raises(InputError, match=r"train\.tsv line 8: has 2 cells"):
        read(tmp_path, "train", glue.WNLI)
    path = glue_files.write(tmp_path, "QQP") / "test.tsv"
    path.write_text(path.read_text() + "9\tcut off\n")
    with pytest.raises(InputError, match=r"test\.tsv line 8: has 2 cells"):
        read(tmp_path, "test", glue.QQP)


@pytest.mark.parametrize("index", ["2", "1", "x", "", "-1", "²", "9" * 5000])
def test_indices_that_do_not_rise(tmp_path, index):
    text = f"index\tsentence1\tsentence2\n2\ta\tb\n{index}\ta\tb\n"
    (tmp_path / "test.tsv").write_text(text)
    expected = r"test\.tsv line 3: index is '.*', expected a number above 2"
    with pytest.raises(InputError, match=expected):
        read(tmp_path, "test", glue.RTE)


def test_indices_of_a_part_of_the_test_set(tmp_path):
    (tmp_path / "test.tsv").write_text("id\tquestion1\tquestion2\n2\ta\tb\n7\ta\tb\n")
    found = [name for *_, name in read(tmp_path, "test", glue.QQP)]
    assert found == ["QQP_test_2-0_0", "QQP_test_7-0_0"]


def test_diagnostics(tmp_path):
    """GLUE's diagnostics lie beside MNLI's folder."""
    folder = glue_files.write(tmp_path, "MNLI")
    assert glue.find_diagnostics(folder) is None
    with pytest.raises(InputError, match=r"has no diagnostic/diagnostic\.tsv"):
        glue.read(folder, glue.AX, glue.MNLI)
    path = glue_files.write_diagnostics(tmp_path, number=3)
    assert glue.find_diagnostics(folder) == glue.find_diagnostics(tmp_path / "MNLI") == path
    found = read(folder, glue.AX, glue.MNLI)
    assert found[2] == (["The cat sat 2.", "The cat did not."], None, "MNLI_ax_2-0_0")
    with pytest.raises(InputError, match="RTE has no split 'ax', only train, dev, test"):
        read(tmp_path, glue.AX, glue.RTE)
