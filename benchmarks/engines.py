"""The same TAPAS encoder in every stack: time by length, ratios to the best peer.

    python benchmarks/engines.py --peers_python peers/bin/python
    python benchmarks/engines.py --peers_python peers/bin/python --lengths 128 --layers 12

An encoder of BERT-base's width with random weights is computed by mate-tf (OpenVINO and TensorFlow,
`full` and `mate_efficient`), by PyTorch with Hugging Face's code, plain and compiled, and by
OpenVINO and ONNX Runtime with Hugging Face's model. Each side has a process of its own; they take
turns, and the medians are compared. Prints a table and writes JSON.
"""

import argparse
import json
import statistics
import sys
import time

import common

from mate_tf.analysis.cost import hardware
from mate_tf.analysis.cost.measuring_process import MeasurementFailed, Worker

OURS = [
    f"mate-tf openvino {attention} {precision}"
    for attention in ("full", "mate_efficient")
    for precision in ("float32", "bfloat16", "int8")
]
OURS += [
    *("mate-tf tensorflow full float32", "mate-tf tensorflow full bfloat16"),
    "mate-tf tensorflow mate_efficient bfloat16",
]
PEERS = [
    *("hugging-face torch float32", "hugging-face torch bfloat16"),
    "hugging-face compile bfloat16",
    *("hugging-face openvino float32", "hugging-face openvino bfloat16"),
    *("hugging-face onnxruntime float32", "hugging-face onnxruntime int8"),
]

PAUSE = 0.3
"""Seconds before a side's turn, in which the threads of the one before stop waiting for work."""


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--peers_python", required=True, help="with the packages of the peers")
    parser.add_argument("--lengths", type=int, nargs="+", default=[128, 512, 2048])
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--sides", nargs="+", default=[*OURS, *PEERS], help="some of the sides")
    return parser.parse_args()


def start(side: str, options) -> Worker:
    """Starts the process of a side."""
    python = sys.executable if side in OURS else options.peers_python
    settings = {"side": side, "layers": options.layers, "threads": options.threads}
    script = common.ROOT / "benchmarks" / "peers" / "encoders.py"
    quiet = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    return Worker([python, str(script), json.dumps(settings)], quiet)


def measure(workers: dict[str, Worker], length: int, repeats: int) -> dict[str, float]:
    """Returns the median seconds of each side; what fails is printed and left out."""
    times = {side: [] for side in workers}
    for turn in range(repeats + 1):
        for side, worker in workers.items():
            if side not in times:
                continue
            time.sleep(PAUSE)
            try:
                found = worker.ask("encode", length=length)
            except MeasurementFailed as error:
                print(f"{side} | {length} tokens | {error}", flush=True)
                del times[side]
                continue
            assert found["finite"], side
            if turn:  # the first one compiles
                times[side].append(found["seconds"])
    return {side: statistics.median(each) for side, each in times.items()}


def print_table(found: dict[int, dict[str, float]]) -> None:
    """Prints milliseconds, and for our sides the ratio of the best peer's time to theirs."""
    lengths = list(found)
    best = {
        length: min((each for side, each in times.items() if side in PEERS), default=None)
        for length, times in found.items()
    }
    print("| side |", " | ".join(f"{length:,} tokens, ms" for length in lengths), "|")
    print("|---|" + "---|" * len(lengths))
    for side in dict.fromkeys(side for times in found.values() for side in times):
        cells = []
        for length in lengths:
            seconds = found[length].get(side)
            cell = "" if seconds is None else f"{1000 * seconds:.1f}"
            if seconds and side in OURS and best[length]:
                cell += f" ({best[length] / seconds:.2f})"
            elif seconds and seconds == best[length]:
                cell = f"**{cell}**"
            cells.append(cell)
        print(f"| {side} | {' | '.join(cells)} |")


def main() -> None:
    options = arguments()
    print(hardware.describe())
    workers = {side: start(side, options) for side in options.sides}
    found = {}
    for length in options.lengths:
        found[length] = measure(workers, length, options.repeats)
        print(f"{length} tokens measured", flush=True)
    for worker in workers.values():
        worker.close()
    print_table(found)
    common.write(options, "engines", {"found": found})


if __name__ == "__main__":
    main()
