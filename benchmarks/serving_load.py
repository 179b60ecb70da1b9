"""A served model under load: requests a second, the slowest hundredth, nothing lost or mixed up.

    python benchmarks/serving_load.py --bert_vocab_file vocab.txt

One process loads a SavedModel; threads ask it batches of strings. Each table has a word of its own
in every cell and the model, with random weights, chooses some of them: an answer with a word of
another table is one that went astray. Memory is that of the process (resident), before and after.
"""

import argparse
import concurrent.futures
import os
import pathlib
import tempfile
import time

import common
import numpy as np
import tensorflow as tf

from mate_tf.attention import AttentionConfig
from mate_tf.data.converters.tokenizer import read_vocabulary
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig
from mate_tf.serving import export

NUM_TABLES = 64
NUM_COLUMNS = 8


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--bert_vocab_file", required=True)
    parser.add_argument("--attention", nargs="+", default=("full", "mate_efficient"))
    parser.add_argument("--lengths", type=int, nargs="+", default=(512, 2048))
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--hidden_size", type=int, default=128)
    parser.add_argument("--num_hidden_layers", type=int, default=2)
    return parser.parse_args()


def exported(options, name: str, length: int, folder: str) -> str:
    """A SavedModel with random weights, large enough for one table to differ from another."""
    encoder = EncoderConfig(
        vocab_size=len(read_vocabulary(options.bert_vocab_file)),
        hidden_size=options.hidden_size,
        num_hidden_layers=options.num_hidden_layers,
        num_attention_heads=max(options.hidden_size // 64, 2),
        intermediate_size=4 * options.hidden_size,
        reset_position_index_per_cell=True,
        initializer_range=0.5,
        attention=AttentionConfig(name=name),
    )
    config = ClassifierConfig(
        encoder=encoder, cell_cross_entropy=True, max_num_rows=512, max_num_columns=32
    )
    return export.export(
        TableClassifier(config),
        os.path.join(folder, f"{name}_{length}"),
        options.bert_vocab_file,
        {"max_seq_length": length},
    )


def requests(length: int, batch_size: int) -> list[dict]:
    """Batches of tables that fill the sequence; every cell of table i is "i"."""
    num_rows = length // NUM_COLUMNS
    header = [f"c{column}" for column in range(NUM_COLUMNS)]
    found = []
    for first in range(NUM_TABLES):
        own = [str(1 + (first * batch_size + place) % NUM_TABLES) for place in range(batch_size)]
        cells = np.broadcast_to(
            np.array(own, object)[:, None, None], (batch_size, num_rows, NUM_COLUMNS)
        )
        found.append(
            {"question": [f"which is {text}?" for text in own], "header": [header] * batch_size}
            | {"cells": cells, "own": own}
        )
    return found


def resident() -> float:
    """Megabytes of this process that are in memory."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure(path: str, asked: list[dict], num_requests: int, num_threads: int) -> dict:
    """Asks a SavedModel from several threads at once.

    Returns:
        requests_per_second, of batches; milliseconds of the median and the 99th percentile;
        lost: without an answer; astray: with a cell that is not of its table; changed: with other
        probabilities than at the first time; megabytes after a tenth of the requests and at the
        end.
    """
    model = tf.saved_model.load(path)
    signature = model.signatures["serving_default"]

    def ask(request):
        given = {name: tf.constant(request[name]) for name in ("question", "header", "cells")}
        return {name: values.numpy() for name, values in signature(**given).items()}

    expected = [ask(request)["probabilities"] for request in asked]

    def one(number):
        index = number % len(asked)
        start = time.perf_counter()
        found = ask(asked[index])
        seconds = time.perf_counter() - start
        words = [set(text.decode().split(", ")) for text in found["text"]]
        own = all(chosen == {text} for chosen, text in zip(words, asked[index]["own"], strict=True))
        same = np.allclose(found["probabilities"], expected[index], atol=1e-5)
        return seconds, own, same

    with concurrent.futures.ThreadPoolExecutor(num_threads) as pool:
        warm_up = max(num_requests // 10, 1)
        list(pool.map(one, range(warm_up)))
        before = resident()
        start = time.perf_counter()
        results = list(pool.map(one, range(num_requests)))
        seconds = time.perf_counter() - start
    latencies = [1000 * result[0] for result in results]
    return {
        "requests": num_requests,
        "requests_per_second": num_requests / seconds,
        "median_ms": float(np.median(latencies)),
        "percentile_99_ms": float(np.percentile(latencies, 99)),
        "lost": num_requests - len(results),
        "astray": sum(not own for _, own, _ in results),
        "changed": sum(not same for _, _, same in results),
        "megabytes_before": before,
        "megabytes_after": resident(),
    }


def main() -> None:
    options = arguments()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for length in options.lengths:
            asked = requests(length, options.batch_size)
            for name in options.attention:
                path = exported(options, name, length, folder)
                found = measure(path, asked, options.requests, options.threads)
                results.append({"attention": name, "length": length, **found})
                print(
                    " | ".join(f"{key} {value}" for key, value in results[-1].items()), flush=True
                )
    common.write(options, "serving_load", results)


if __name__ == "__main__":
    main()
