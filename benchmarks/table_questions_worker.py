"""A process that answers table questions with mate-tf on request (`measuring_process.serve`).

    python benchmarks/table_questions_worker.py '{"threads": 2}'

Requests: `load` a folder with an attention variant and a precision, `ask` a list of questions with
columns, rows and question.
"""

import json
import resource
import sys
import time

import common  # noqa: F401 - finds mate_tf, which is before TensorFlow


class Questions:
    """Handlers of the requests, one method each."""

    def __init__(self):
        from mate_tf.serving.engine.served import EngineServed
        from mate_tf.serving.served_model import ServedModel

        self._predictor = None
        self._model_seconds = 0.0
        for kind in (EngineServed, ServedModel):
            kind.compute = self._timed(kind.compute)

    def load(self, folder: str, attention: str, precision: str, max_seq_length: int) -> dict:
        """Loads a model; returns the seconds."""
        from mate_tf import Predictor

        start = time.perf_counter()
        self._predictor = Predictor.from_pretrained(
            folder, attention, precision, max_seq_length, reading={}
        )
        return {"seconds": time.perf_counter() - start}

    def ask(self, asked: list[dict], batch_size: int) -> dict:
        """Answers questions.

        Returns:
            seconds: of all; answers: [cells, operation] each; peak: memory of the process, bytes;
            parts: seconds of reading the tables, of converting them to features, which is done
            once more for that, of the model, and of decoding, which is the rest.
        """
        from mate_tf import Table

        self._model_seconds = 0.0
        start = time.perf_counter()
        pairs = [
            (
                self._predictor.prepare(Table.from_rows(each["columns"], each["rows"])),
                each["question"],
            )
            for each in asked
        ]
        reading = time.perf_counter() - start
        if batch_size == 1:
            answers = [self._predictor.ask(*pair) for pair in pairs]
        else:
            answers = self._predictor.ask_batch(pairs, batch_size)
        seconds, model = time.perf_counter() - start, self._model_seconds
        start = time.perf_counter()
        for pair in pairs:
            self._predictor.read(*pair)
        converting = time.perf_counter() - start
        return {
            "seconds": seconds,
            "answers": [
                [sorted(map(list, each.coordinates)), each.aggregation] for each in answers
            ],
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "parts": {
                "reading": reading,
                "converting": converting,
                "model": model,
                "decoding": seconds - reading - converting - model,
            },
        }

    def _timed(self, function):
        """Returns the function, with its seconds added to those of the model."""

        def timed(*args):
            start = time.perf_counter()
            try:
                return function(*args)
            finally:
                self._model_seconds += time.perf_counter() - start

        return timed


def main() -> None:
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(json.loads(sys.argv[1])["threads"])
    from mate_tf.analysis.cost import measuring_process

    questions = Questions()
    measuring_process.serve({"load": questions.load, "ask": questions.ask})


if __name__ == "__main__":
    main()
