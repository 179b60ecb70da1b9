"""Questions about passages: their spans, what is held out, and that SQuAD's reader takes them."""

import json
import random

import pytest

from mate_tf.data.datasets import squad

PASSAGE = (
    "Chi Cheng ( born March 15 , 1944 in Hsinchu ) is a Taiwanese athlete . She won 3 bronze medals"
    " in 1968 and was with the Associated Press . Short one ."
)


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("reader_examples")


def test_questions(benchmark):
    """Of each sentence that is long enough every kind of span is asked for, at its place."""
    asked = {}
    for seed in range(60):
        made = benchmark.questions(random.Random(seed), PASSAGE, 2)
        assert len(made) == 2
        for each in made:
            (answer,) = each["answers"]
            start, text = answer["answer_start"], answer["text"]
            assert PASSAGE[start : start + len(text)] == text
            asked.setdefault(text, each["question"])
    assert asked.keys() >= {"March 15 , 1944", "Hsinchu", "3", "1968", "Associated Press"}
    assert not asked.keys() & {"Chi Cheng", "Short", "15", "1944", "She"}
    assert asked["March 15 , 1944"].startswith("when ")
    assert asked["1968"].startswith("what year ")
    assert asked["3"].startswith("how many ")
    question = asked["Associated Press"].split()
    assert (question[0], question[-1]) == ("what", "?")
    assert {"Associated", "Press"}.isdisjoint(question)
    words = ["She", "won", "3", "bronze", "medals", "in", "1968", "and", "was", "with", "the"]
    assert sorted(question[1:-1]) == sorted(each for each in words if each in question)
    assert benchmark.questions(random.Random(0), "Nothing is asked about this one .", 2) == []


def test_files(benchmark, tmp_path, monkeypatch):
    """Passages of dev tables are left out, also where a training table links to them."""
    release = tmp_path / "hybridqa"
    for name in ("released_data", "request_tok"):
        (release / name).mkdir(parents=True)
    (release / "released_data" / "dev.json").write_text('[{"table_id": "Held_0"}]')
    (release / "request_tok" / "Held_0.json").write_text(json.dumps({"/wiki/Dev": PASSAGE}))
    others = {"/wiki/Dev": PASSAGE, "/wiki/Train": PASSAGE, "/wiki/Empty": ""}
    (release / "request_tok" / "Open_0.json").write_text(json.dumps(others))
    answer = {"text": "Chi", "answer_start": 0}
    people = [{"id": str(number), "question": "who?", "answers": [answer]} for number in range(10)]
    articles = [
        {"title": "A", "paragraphs": [{"context": PASSAGE, "qas": [each]}]} for each in people
    ]
    xquad = tmp_path / "xquad.en.json"
    xquad.write_text(json.dumps({"data": articles}))
    output = tmp_path / "out"
    monkeypatch.setattr(
        "sys.argv",
        ["reader_examples", f"--hybridqa={release}", f"--xquad={xquad}", f"--output={output}"],
    )
    benchmark.main()
    train = json.loads((output / "train-v1.1.json").read_text())["data"]
    assert [each["title"] for each in train] == ["/wiki/Train", "A", "A"]
    read = list(squad.read(output, "train", squad.V1))
    assert [len(each.questions) for each in read] == [2, 1, 1]
    assert read[0].questions[0].id == "cloze0.0-0_0"
    assert len(list(squad.read(output, "dev", squad.V1))) == benchmark.NUM_DEV_ARTICLES
