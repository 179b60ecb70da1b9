"""Sentences, TF-IDF and answers in linked passages: the reference's, and by hand."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.tables.passages import (
    AnswerFinder,
    Passages,
    TextIndex,
    entity_name,
    expand,
    normalize_for_search,
    split_sentences,
)

SPLITS = ("train", "dev", "test")


@pytest.fixture(scope="module")
def recorded(goldens):
    path = goldens / "metrics" / "open" / "hybridqa" / "cell_selection.json"
    golden = json.loads(path.read_text())
    return [example for split in SPLITS for example in golden[split]]


@pytest.fixture(scope="module")
def answers(goldens):
    path = goldens / "metrics" / "open" / "hybridqa" / "answer_finding.json"
    return json.loads(path.read_text())


def test_sentences_are_the_references(recorded):
    for example in recorded:
        passages = Passages(example["descriptions"])
        found = [each for sentences in passages.sentences.values() for each in sentences]
        assert sorted(found) == sorted(example["tfidf_documents_in_order"])


def test_best_sentences_are_the_references(recorded):
    """Sentences whose scores are equal may come in any order, and any of them may be last."""
    for example in recorded:
        top = Passages(example["descriptions"]).top(example["tfidf_query"], 5)
        expected = example["tfidf_top5"]
        np.testing.assert_allclose(
            [score for _, score in top], [score for _, score in expected], atol=1e-11
        )
        last = top[-1][1]
        assert {text for text, score in top if score > last + 1e-9} == {
            text for text, score in expected if score > last + 1e-9
        }


def test_answers_are_the_references(recorded, answers):
    tables = {example["table"]["table_id"]: example for example in recorded}
    assert answers["find_answer_coordinates"]
    for expected in answers["find_answer_coordinates"]:
        found = _finder(tables[expected["table"]]).find(expected["answer"])
        assert [list(cell) for cell in found.cells] == expected["all"]
        assert [list(cell) for cell in found.in_table] == expected["table_only"]
        assert found.passages == expected["identifiers"]
    for text, normal in answers["normalize"]:
        assert normalize_for_search(text) == normal


def test_candidate_cells_are_the_references(recorded):
    for example in recorded:
        question = example["question"]
        for answer in question["answer_texts"]:
            found = _finder(example).find(answer)
            assert [list(cell) for cell in found.cells] == question["answer_coordinates_sorted"]
            assert [[list(cell) for cell in found.in_table]] == question["alternative_answers"]


def _finder(example):
    rows = [
        [(cell["text"], cell["identifiers"]) for cell in row] for row in example["table"]["rows"]
    ]
    return AnswerFinder(rows, example["descriptions"])


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It is cold . It snows .", ["It is cold .", "It snows ."]),
        ("Is it ? Yes ! Good .", ["Is it ?", "Yes !", "Good ."]),
        ("He met Michael J . Fox . He left .", ["He met Michael J . Fox .", "He left ."]),
        ("After World War I . The town grew .", ["After World War I .", "The town grew ."]),
        ("She met Dr . Who in St . Ives .", ["She met Dr . Who in St . Ives ."]),
        ("It is No . 1 . In 2001 it was No . 5 .", ["It is No . 1 .", "In 2001 it was No . 5 ."]),
        ("It cost 3 . 50 dollars .", ["It cost 3 . 50 dollars ."]),
        ("Born c . 1900 .", ["Born c . 1900 ."]),
        ("The U.S. Senate . The U.S. .", ["The U.S. Senate .", "The U.S. ."]),
        ("He said '' go . '' She went .", ["He said '' go . ''", "She went ."]),
        ("The party . [ a ] [ b ] It won .", ["The party . [ a ] [ b ]", "It won ."]),
        ("A fact . [ citation needed ] More .", ["A fact . [ citation needed ]", "More ."]),
        ("Not split. The next of 2008. Third.", ["Not split.", "The next of 2008.", "Third."]),
        ("no end", ["no end"]),
        ("", []),
        (" . ", ["."]),
    ],
)
def test_sentences(text, sentences):
    assert split_sentences(text) == sentences


@given(st.text(alphabet="aB1 .!?'[])\n\u201d", max_size=80))
def test_sentences_keep_all_of_the_text(text):
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(each == each.strip() != "" for each in sentences)


def test_scores_are_cosines():
    """By hand: three texts, of which one shares one of its two words and no pair."""
    index = TextIndex(["red apple", "green pear", "blue plum"])
    scores = index.scores("apple")
    # The vector of "red apple" has three equal terms: red, apple, "red apple".
    np.testing.assert_allclose(scores, [1 / np.sqrt(3), 0, 0], atol=1e-9)
    assert index.top("apple", 5) == [("red apple", pytest.approx(1 / np.sqrt(3)))]
    assert index.top("kiwi", 5) == []
    assert index.top("apple", 0) == []


def test_terms_of_nearly_all_texts_do_not_count():
    index = TextIndex([f"the club {number}{number}" for number in range(11, 31)])
    assert index.top("the club", 5) == []


@pytest.mark.parametrize("texts", [[], ["a b ."], ["one sentence here"], ["same"] * 3, ["", " . "]])
def test_few_texts_do_no_harm(texts):
    """The reference fails on tables with one sentence."""
    index = TextIndex(texts)
    assert index.scores("one sentence").shape == (len(texts),)
    assert (index.scores("one sentence") >= 0).all()


def test_the_only_sentence_is_found():
    passages = Passages({"/wiki/A": "Ann climbs mountains ."})
    assert passages.relevant("Who climbs ?") == {"/wiki/A": ["Ann climbs mountains ."]}
    assert Passages({}).relevant("Who climbs ?") == {}


def test_relevant_sentences_keep_their_order():
    passages = Passages(
        {"x": "Rome is old . Bo rows . Rome is big and Rome is old .", "y": "Ann swims ."}
    )
    assert passages.relevant("Is Rome old ?") == {
        "x": ["Rome is old .", "Rome is big and Rome is old ."]
    }
    assert passages.relevant("Is Rome old ?", 1) == {"x": ["Rome is old ."]}


def test_expanded_cells():
    sentences = {"/wiki/Alpha_Peak": ["It is high .", "It is cold ."], "/wiki/B": ["So ."]}
    links = ["/wiki/Alpha_Peak", "/wiki/C", "/wiki/B"]
    assert expand("Alpha", links, sentences) == "Alpha ( It is high . It is cold . ) ( So . )"
    assert expand("Alpha", links[1:], sentences, True) == "Alpha ( B : So . )"
    assert expand("", links[:1], sentences, True) == ("( Alpha Peak : It is high . It is cold . )")
    assert expand("Alpha", [], sentences) == "Alpha"
    assert entity_name("/wiki/A_(song)") == "A (song)"


def test_answers_are_whole_words():
    finder = AnswerFinder(
        [[("Ann Lee", ["a"]), ("The 12", [])], [("Bo", ["b", "b"]), ("112", ["a", "c"])]],
        {"a": "She won 12 medals , 12 of gold .", "b": "Cannot ."},
    )
    assert finder.find("12") == ([(0, 0), (0, 1), (1, 1)], [(0, 1)], {"a": 2})
    assert finder.find("ann").cells == [(0, 0)]
    assert finder.find("medals, 12") == ([(0, 0), (1, 1)], [], {"a": 2})
    assert finder.find("not").cells == []
    assert finder.find("the").cells == finder.find(" - ").cells == []
