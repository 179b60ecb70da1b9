"""PubMed and arXiv in their official format, JSON lines like them, and broken lines."""

import json

import pytest

from mate_tf.data.converters import sequences
from mate_tf.data.datasets import summaries
from mate_tf.errors import InputError

ARTICLE = {
    "article_id": "PMC12",
    "article_text": ["mice were fed .", "they slept .  "],
    "abstract_text": ["<S> mice sleep . </S>", "<S> we saw it . </S>"],
    "labels": None,
    "section_names": ["methods", "results"],
    "sections": [["mice were fed ."], ["they slept ."]],
}
PLAIN = {"document": "Mice were fed. They slept.", "summary": "Mice sleep."}


@pytest.fixture
def write(tmp_path):
    """write(name, *lines): a file of JSON lines; returns the folder."""

    def write(name, *lines):
        texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
        (tmp_path / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
        return tmp_path

    return write


def content(found):
    question = found.questions[0]
    return question.id, sequences.texts(question), list(question.answer.answer_texts)


@pytest.mark.parametrize(("split", "name"), [("train", "train"), ("dev", "val"), ("test", "test")])
def test_official_files(write, split, name):
    found = summaries.read(write(f"{name}.txt", ARTICLE), split)
    assert [content(each) for each in found] == [
        ("PMC12-0_0", ["mice were fed .\nthey slept ."], ["mice sleep .\nwe saw it ."])
    ]
    assert not found.defects


def test_names_of_sections(write):
    (found,) = summaries.read(write("train.txt", ARTICLE), "train", section_names=True)
    assert content(found)[1] == ["methods\nmice were fed .\nresults\nthey slept ."]
    folder = write("train.txt", ARTICLE | {"sections": [["mice were fed ."]]})
    with pytest.raises(InputError, match="line 1: sections is not a list as long as section_names"):
        list(summaries.read(folder, "train", section_names=True))
    folder = write("train.txt", ARTICLE | {"sections": [["mice"], "they"]})
    with pytest.raises(InputError, match=r"line 1: sections\[1\] is not a list of texts"):
        list(summaries.read(folder, "train", section_names=True))


def test_defects_of_official_files(write):
    lines = [ARTICLE, ARTICLE | {"article_text": []}, ARTICLE, ARTICLE | {"abstract_text": [" "]}]
    found = summaries.read(write("train.txt", *lines), "train")
    assert [content(each)[0] for each in found] == ["PMC12-0_0", "PMC12_3-0_0"]
    path = write("train.txt", *lines) / "train.txt"
    assert found.defects == {
        summaries.NO_TEXT: [f"{path} line 2", f"{path} line 4"],
        summaries.TWICE: [f"{path} line 3: PMC12"],
    }


def test_json_lines(write):
    folder = write("dev.jsonl", PLAIN, PLAIN | {"id": "n7"})
    first, second = summaries.read(folder, "dev")
    assert content(first) == ("dev_1-0_0", [PLAIN["document"]], [PLAIN["summary"]])
    assert content(second)[0] == "n7-0_0"


def test_only_a_test_split_may_lack_summaries(write):
    line = {"document": PLAIN["document"]}
    (found,) = summaries.read(write("test.jsonl", line), "test")
    assert content(found)[2] == []
    with pytest.raises(InputError, match=r"dev\.jsonl line 1: has no 'summary'"):
        list(summaries.read(write("dev.jsonl", line), "dev"))


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("train.txt", "{", "train.txt line 2: not valid JSON"),
        ("train.txt", PLAIN, "train.txt line 2: has no 'article_id'"),
        ("train.txt", ARTICLE | {"article_id": 3}, "train.txt line 2: article_id is not a text"),
        (
            "train.txt",
            ARTICLE | {"article_text": "x"},
            "line 2: article_text is not a list of texts",
        ),
        ("train.txt", ARTICLE | {"abstract_text": [3]}, "line 2: abstract_text is not a list"),
        ("train.jsonl", PLAIN | {"document": ["x"]}, "line 2: document is not a text"),
        ("train.jsonl", PLAIN | {"summary": " "}, "line 2: summary is empty"),
        ("train.jsonl", ARTICLE, "line 2: has no 'document'"),
    ],
)
def test_broken_lines(write, name, line, message):
    good = ARTICLE if name.endswith(".txt") else PLAIN
    with pytest.raises(InputError, match=message):
        list(summaries.read(write(name, good, line), "train"))


def test_files(write, tmp_path):
    with pytest.raises(InputError, match=r"has neither val\.txt, as in PubMed.*, nor dev\.jsonl"):
        summaries.read(tmp_path, "dev")
    with pytest.raises(InputError, match="no split 'val', only train, dev, test"):
        summaries.read(tmp_path, "val")
    with pytest.raises(InputError, match="has no documents"):
        list(summaries.read(write("dev.jsonl"), "dev"))
    with pytest.raises(InputError, match="has no sections; leave out task"):
        summaries.read(tmp_path, "dev", section_names=True)
