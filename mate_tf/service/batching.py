"""Answers waiting questions in batches of similar size, in one thread."""

import collections
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

SIMILAR = 2.0
"""Questions are computed together if their sizes differ by at most this factor."""

_LEAST = 64  # cells below which sizes do not matter
_MOST = 50_000  # cells in a batch of several tables: large ones take seconds each


class Full(Exception):
    """There are as many questions waiting as may wait."""


class Question(NamedTuple):
    """A question that waits.

    Attributes:
        table: a `PreparedTable`.
        text: the question.
        previous: the `Answer` to the question before, or None.
        size: number of cells of the table.
    """

    table: Any
    text: str
    previous: Any
    size: int


class Batcher:
    """A thread that answers questions, and the queue of those that wait.

    Args:
        answer: function from a list of questions to the list of their answers.
        most: questions that are answered together.
        waiting: questions that may wait.
        observe: is called with the number of questions of each batch.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Question]], Sequence[Any]],
        most: int = 16,
        waiting: int = 64,
        observe: Callable[[int], None] = lambda number: None,
    ):
        self._answer, self._most, self._limit, self._observe = answer, most, waiting, observe
        self._queue: collections.deque[tuple[Question, Future]] = collections.deque()
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="answers", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        """Number of questions that wait."""
        return len(self._queue)

    @property
    def is_alive(self) -> bool:
        """True while questions are answered."""
        return self._thread.is_alive() and not self._ended

    def submit(self, questions: Sequence[Question]) -> list[Future]:
        """Adds questions, all or none; returns a future of each answer.

        A future that is cancelled before its question has begun is dropped.

        Raises:
            Full: they are more than there is room for.
        """
        with self._changed:
            # Those whose clients have gone take no room.
            if len(self._queue) + len(questions) > self._limit:
                self._queue = collections.deque(
                    each for each in self._queue if not each[1].cancelled()
                )
            if len(self._queue) + len(questions) > self._limit:
                raise Full
            added = [(question, Future()) for question in questions]
            self._queue.extend(added)
            self._changed.notify()
        return [future for _, future in added]

    def close(self) -> None:
        """Ends the thread after the batch that it computes; cancels those that wait."""
        with self._changed:
            self._ended = True
            for _, future in self._queue:
                future.cancel()
            self._queue.clear()
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._queue and not self._ended:
                    self._changed.wait()
                if self._ended:
                    return
                batch = self._take()
            if batch:
                self._observe(len(batch))
                self._compute(batch)

    def _take(self) -> list[tuple[Question, Future]]:
        """Takes the question that has waited longest, and others of a similar size."""
        batch, left, cells = [], collections.deque(), 0
        for question, future in self._queue:
            fits = len(batch) < self._most and cells + question.size <= _MOST
            if batch and not (fits and _similar(batch[0][0], question)):
                left.append((question, future))
            elif future.set_running_or_notify_cancel():
                batch.append((question, future))
                cells += question.size
        self._queue = left
        return batch

    def _compute(self, batch: Sequence[tuple[Question, Future]]) -> None:
        """Sets answers or errors. After an error in a batch each question is alone."""
        try:
            answers = self._answer([question for question, _ in batch])
        except Exception as error:
            if len(batch) == 1:
                batch[0][1].set_exception(error)
                return
            for each in batch:
                self._compute([each])
            return
        for (_, future), answer in zip(batch, answers, strict=True):
            future.set_result(answer)


def _similar(one: Question, other: Question) -> bool:
    small, large = sorted(max(each.size, _LEAST) for each in (one, other))
    return large <= SIMILAR * small
