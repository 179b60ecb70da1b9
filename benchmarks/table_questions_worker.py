"""A process that answers table questions with mate-tf on request (`measuring_process.serve`).

    python benchmarks/table_questions_worker.py '{"threads": 2}'

Requests: `load` a folder with an attention variant and a precision, `ask` a list of questions with
columns, rows and question.
"""

import json
import pathlib
import resource
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import mate_tf  # noqa: F401 - before TensorFlow, whose environment it sets


class Questions:
    """Handlers of the requests, one method each."""

    def __init__(self):
        self._predictor = None

    def load(self, folder: str, attention: str, precision: str, max_seq_length: int) -> dict:
        """Loads a model; returns the seconds."""
        from mate_tf import Predictor

        start = time.perf_counter()
        self._predictor = Predictor.from_pretrained(
            folder, attention=attention, precision=precision, max_seq_length=max_seq_length
        )
        return {"seconds": time.perf_counter() - start}

    def ask(self, asked: list[dict], batch_size: int) -> dict:
        """Answers questions.

        Returns:
            seconds: of all; answers: [cells, operation] each; peak: memory of the process, bytes;
            converting: seconds of it to make the examples.
        """
        from mate_tf import Table

        start = time.perf_counter()
        pairs = [
            (Table.from_rows(each["columns"], each["rows"]), each["question"]) for each in asked
        ]
        if batch_size == 1:
            answers = [self._predictor.ask(*pair) for pair in pairs]
        else:
            answers = self._predictor.ask_batch(pairs, batch_size)
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        for pair in pairs:
            self._predictor.read(*pair)
        return {
            "seconds": seconds,
            "answers": [
                [sorted(map(list, each.coordinates)), each.aggregation] for each in answers
            ],
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "converting": time.perf_counter() - start,
        }


def main() -> None:
    import tensorflow as tf

    threads = json.loads(sys.argv[1])["threads"]
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    from mate_tf.analysis.cost import measuring_process

    questions = Questions()
    measuring_process.serve({"load": questions.load, "ask": questions.ask})


if __name__ == "__main__":
    main()
