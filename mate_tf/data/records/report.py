"""What became of the questions of a split: counts, and why some gave no example."""

import dataclasses
import json
import os
from collections.abc import Iterable
from typing import NamedTuple

from mate_tf.files.atomic import write_text
from mate_tf.tables.linearize import Cut


class Converted(NamedTuple):
    """What became of one question.

    Attributes:
        examples: serialized and compressed; many are in memory while a split is shuffled.
        error: reason and message if there is no example.
    """

    question_id: str
    examples: tuple[bytes, ...]
    cuts: tuple[Cut, ...] = ()
    error: tuple[str, str] | None = None


@dataclasses.dataclass
class Report:
    """What became of the questions of a split.

    Attributes:
        interactions, questions: how many there are.
        examples: how many there are; a question may have several.
        padding_examples: examples that only fill the last batch.
        dropped: reason -> ids and messages of the questions that gave no example.
        cuts: kind -> in how many examples something was cut, and how much in all.
        defects: what is wrong with the official files, kind -> messages; questions that are left
            out for that are not among `questions`.
    """

    interactions: int = 0
    questions: int = 0
    examples: int = 0
    padding_examples: int = 0
    dropped: dict[str, list[dict[str, str]]] = dataclasses.field(default_factory=dict)
    cuts: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)
    defects: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    @classmethod
    def merged(cls, reports: Iterable["Report"]) -> "Report":
        """One of several about different questions."""
        result = cls()
        for report in reports:
            result.interactions += report.interactions
            result.questions += report.questions
            result.examples += report.examples
            result.padding_examples += report.padding_examples
            for reason, found in report.dropped.items():
                result.dropped.setdefault(reason, []).extend(found)
            for kind, cut in report.cuts.items():
                result._count_cut(kind, **cut)
            for kind, messages in report.defects.items():
                result.defects.setdefault(kind, []).extend(messages)
        return result

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """What `to_json` was called on, with questions that gave no example in order of ids."""
        content = json.loads(text)
        content["dropped"] = content.pop("dropped_questions")
        content["defects"] = content.pop("defect_messages")
        return cls(**content)

    def add(self, converted: Converted) -> None:
        """Counts one question."""
        self.questions += 1
        if converted.error is not None:
            reason, message = converted.error
            entry = {"question_id": converted.question_id, "message": message}
            self.dropped.setdefault(reason, []).append(entry)
            return
        self.examples += len(converted.examples)
        for kind, count in converted.cuts:
            self._count_cut(kind, 1, count)

    def _count_cut(self, kind: str, examples: int, total: int) -> None:
        cut = self.cuts.setdefault(kind, {"examples": 0, "total": 0})
        cut["examples"] += examples
        cut["total"] += total

    def to_json(self) -> str:
        """All of it, the reasons with their counts first; equal whatever the order of questions."""
        content = dataclasses.asdict(self)
        content["dropped"] = {reason: len(found) for reason, found in self.dropped.items()}
        content["dropped_questions"] = {
            reason: sorted(found, key=lambda entry: (entry["question_id"], entry["message"]))
            for reason, found in self.dropped.items()
        }
        content["defects"] = {kind: len(messages) for kind, messages in self.defects.items()}
        content["defect_messages"] = self.defects
        return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True)

    def write(self, path: str | os.PathLike) -> None:
        """Writes all of it as JSON."""
        write_text(path, self.to_json())

    def __str__(self):
        kept = self.questions - sum(map(len, self.dropped.values()))
        share = f" ({kept / self.questions:.1%})" if self.questions else ""
        parts = [f"{self.examples} examples of {self.questions} questions{share}"]
        parts += [f"{len(found)} dropped ({reason})" for reason, found in self.dropped.items()]
        parts += [f"{len(messages)} {kind}" for kind, messages in self.defects.items()]
        parts += [
            f"{Cut(kind, cut['total'])} in {cut['examples']} examples"
            for kind, cut in self.cuts.items()
        ]
        return "; ".join(parts)
