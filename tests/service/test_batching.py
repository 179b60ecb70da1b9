"""`Batcher`: which questions are computed together; errors, and questions that are cancelled."""

import threading

import pytest

from mate_tf.service.batching import Batcher, Full, Question


class Held:
    """Answers with the questions' texts in upper case; each batch waits until it may begin."""

    def __init__(self):
        self.may, self.begun, self.batches = threading.Semaphore(0), threading.Semaphore(0), []

    def __call__(self, questions):
        self.begun.release()
        assert self.may.acquire(timeout=10)
        self.batches.append([each.text for each in questions])
        if any("wrong" in each.text for each in questions):
            raise ValueError("wrong")
        return [each.text.upper() for each in questions]


@pytest.fixture
def held():
    return Held()


@pytest.fixture
def batcher(held):
    """With a question, "first", that is computed until `held.may` says so."""
    made = Batcher(held, most=3, waiting=6)
    made.first = submit(made, "first")
    assert held.begun.acquire(timeout=10)
    yield made
    for _ in range(20):
        held.may.release()
    made.close()


def submit(batcher, text, size=10):
    (future,) = batcher.submit([Question(None, text, None, size)])
    return future


def let(held, number=20):
    for _ in range(number):
        held.may.release()


def test_those_that_wait_are_computed_together_in_order(batcher, held):
    futures = [submit(batcher, text) for text in "abcde"]
    assert len(batcher) == 5
    let(held)
    assert [future.result(10) for future in futures] == list("ABCDE")
    assert held.batches == [["first"], ["a", "b", "c"], ["d", "e"]]


def test_sizes_are_similar(batcher, held):
    sizes = {"a": 1000, "b": 100_000, "c": 1900, "d": 5, "e": 60}
    futures = [submit(batcher, text, size) for text, size in sizes.items()]
    let(held)
    assert [future.result(10) for future in futures] == list("ABCDE")
    assert held.batches == [["first"], ["a", "c"], ["b"], ["d", "e"]]


def test_large_tables_are_alone(batcher, held):
    futures = [submit(batcher, text, 30_000) for text in "ab"]
    let(held)
    assert [future.result(10) for future in futures] == list("AB")
    assert held.batches == [["first"], ["a"], ["b"]]


def test_the_queue_is_bounded(batcher, held):
    questions = [Question(None, text, None, 1) for text in "abcd"]
    batcher.submit(questions)
    with pytest.raises(Full):
        batcher.submit(questions[:3])
    assert len(batcher) == 4  # all or none
    batcher.submit(questions[:2])


def test_cancelled_questions_are_dropped_and_take_no_room(batcher, held):
    futures = [submit(batcher, text) for text in "abcdef"]
    with pytest.raises(Full):
        submit(batcher, "g")
    for future in futures[1:]:
        assert future.cancel()
    last = submit(batcher, "g")
    let(held)
    assert futures[0].result(10) == "A"
    assert last.result(10) == "G"
    assert held.batches == [["first"], ["a", "g"]]


def test_questions_cancelled_later_are_dropped_too(batcher, held):
    futures = [submit(batcher, text) for text in "abc"]
    assert futures[1].cancel()
    let(held)
    assert [futures[0].result(10), futures[2].result(10)] == ["A", "C"]
    assert held.batches == [["first"], ["a", "c"]]


def test_an_error_is_that_of_its_question_only(batcher, held):
    futures = [submit(batcher, text) for text in ("a", "wrong", "b")]
    let(held)
    assert futures[0].result(10) == "A"
    assert futures[2].result(10) == "B"
    with pytest.raises(ValueError, match="wrong"):
        futures[1].result(10)
    assert batcher.is_alive


def test_close(batcher, held):
    waiting = submit(batcher, "a")
    closing = threading.Thread(target=batcher.close)
    closing.start()
    let(held)
    closing.join(10)
    assert not closing.is_alive()
    assert batcher.first.result(10) == "FIRST"
    assert waiting.cancelled()
    assert not batcher.is_alive


def test_batches_are_observed(held):
    seen = []
    batcher = Batcher(held, observe=seen.append)
    let(held)
    assert submit(batcher, "a").result(10) == "A"
    batcher.close()
    assert seen == [1]
