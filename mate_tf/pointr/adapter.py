"""POINTR's two models in the place of a `Predictor`, for the page and the service."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from mate_tf.pointr.predictor import PointrPredictor
from mate_tf.serving.answer import Answer
from mate_tf.serving.asking import WHOLE
from mate_tf.serving.prepared import PreparedTable


class TextsPredictor:
    """A `PointrPredictor` with methods of `Predictor`; it reads the texts of tables.

    Args:
        folder, reading: as for `PointrPredictor`.

    Attributes:
        class_names, model: as of a `Predictor` that selects cells and is not trained further.
        calibration: of the confidence of answers; None without.
        engine: as of a `PointrPredictor`.
    """

    class_names, model = (), None

    def __init__(self, folder: str | os.PathLike, reading: str | dict[str, bool] = WHOLE):
        self._models = PointrPredictor(folder, reading)
        self.calibration, self.engine = self._models.calibration, self._models.engine

    def ask(self, table: Any, question: str, previous: Answer | None = None) -> Answer:
        """Answers a question about a table and its texts; the answer before is not read."""
        del previous
        table = PreparedTable.of(table).table
        return self._models.ask(table, question).as_answer(table)

    def ask_batch(
        self,
        pairs: Iterable[tuple[Any, str]],
        batch_size: int = 1,
        previous: Sequence[Answer | None] | None = None,
    ) -> list[Answer]:
        """Answers questions about tables, one after the other."""
        del batch_size, previous
        return [self.ask(table, question) for table, question in pairs]
