"""How fast official files become examples: WikiTableQuestions' training questions.

    python benchmarks/conversion.py --input_dir data/wikitq --bert_vocab_file vocab.txt

Counts all from the first file read to the last record on the disk: numbers and dates in tables
and questions, answers looked up in the cells, tokens, both record files, and the start of the
processes, each of which imports TensorFlow.
"""

import argparse
import tempfile
import time

import common

from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.datasets import wikitq
from mate_tf.data.records import create_data


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--input_dir", required=True)
    parser.add_argument("--bert_vocab_file", required=True)
    parser.add_argument("--max_seq_length", type=int, default=512)
    parser.add_argument("--processes", type=int, nargs="+", default=(2,))
    return parser.parse_args()


def main() -> None:
    options = arguments()
    results = []
    for processes in options.processes:
        converter = ExampleConverter(
            options.bert_vocab_file, options.max_seq_length, drop_rows_to_fit=True
        )
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            questions = {"train": wikitq.read(options.input_dir, "training")}
            reports = create_data.create_data(questions, folder, converter, processes=processes)
            seconds = time.perf_counter() - start
        report = reports["train"]
        rate = report.questions / seconds
        results.append({"processes": processes, "seconds": seconds, "questions_per_second": rate})
        print(f"{processes} processes | {seconds:.0f} s | {rate:.0f} questions/s | {report}")
    common.write(options, "conversion", results)


if __name__ == "__main__":
    main()
