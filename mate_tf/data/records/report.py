"""Report about the conversion of a split: counts, and reasons for dropped questions."""

import dataclasses
import json
import os
from collections.abc import Iterable
from typing import NamedTuple

from mate_tf.files.atomic import write_text
from mate_tf.tables.linearize import Cut


class Converted(NamedTuple):
    """Result of the conversion of one question.

    Attributes:
        question_id: id of the question.
        examples: serialized examples. They are compressed, since all examples of a split are in
            memory while it is shuffled.
        cuts: descriptions of the parts that the examples lack.
        error: reason and message, if there is no example.
    """

    question_id: str
    examples: tuple[bytes, ...]
    cuts: tuple[Cut, ...] = ()
    error: tuple[str, str] | None = None


@dataclasses.dataclass
class Report:
    """Report about the conversion of the questions of a split.

    Attributes:
        interactions, questions: numbers of interactions and questions.
        examples: number of examples; a question may have several.
        padding_examples: number of examples that only fill the last batch.
        dropped: reason -> ids and messages of the questions without an example.
        cuts: kind -> number of examples in which something was cut, and total count.
        defects: defects of the official files, kind -> messages. Questions left out because of a
            defect are not counted in `questions`.
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
        """Merges reports about different questions."""
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
        """Reads the result of `to_json`; dropped questions are then sorted by id."""
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
        """Adds to the counts of a kind of cut."""
        cut = self.cuts.setdefault(kind, {"examples": 0, "total": 0})
        cut["examples"] += examples
        cut["total"] += total

    def to_json(self) -> str:
        """Returns the report as JSON, which does not depend on the order of the questions."""
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
        """Writes the report as JSON."""
        write_text(path, self.to_json())

    def __str__(self):
        """Returns a summary in one line."""
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
