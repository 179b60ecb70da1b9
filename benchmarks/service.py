"""The service under load: requests lost or mixed up, latency, memory, malformed requests.

    python benchmarks/service.py

`mate-tf serve` runs in a process of its own. Each client asks about a table of its own, in turn its
questions, and compares the answer with that of `Predictor.ask` in this process. One-at-a-time is
the same by one client, and by `Predictor.ask` without HTTP. Memory is that of the service
(resident), after a tenth of the time and at the end.
"""

import argparse
import collections
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import common
import httpx
import numpy as np
import psutil

from mate_tf.data import synthetic
from mate_tf.serving.predictor import Predictor

SEED = 5


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--preset", default="mini")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--malformed", type=int, default=200)
    parser.add_argument("--max_batch", type=int, default=16)
    parser.add_argument("--workers", type=int, default=1)
    return parser.parse_args()


class Asked(NamedTuple):
    """A question: the body of its request, and what `Predictor.ask` answers."""

    body: dict
    expected: dict


def questions(predictor, clients: int) -> tuple[list[list[Asked]], float]:
    """For each client the questions about its table; answers a second of the predictor."""
    tables = synthetic.generate_tables(SEED, clients, split="test", rows=(6, 20), columns=(4, 6))
    asked = []
    for generated in tables:
        rows = [generated.table.columns, *generated.table.rows]
        bodies = [{"table": rows, "question": each.text} for each in generated.questions]
        asked.append((predictor.prepare(generated.table), bodies))
    for table, bodies in asked:  # the graph is traced
        predictor.ask(table, [body["question"] for body in bodies])
    begin = time.monotonic()
    found = [
        [(body, predictor.ask(table, body["question"]).to_json()) for body in bodies]
        for table, bodies in asked
    ]
    rate = sum(map(len, found)) / (time.monotonic() - begin)
    as_sent = [[Asked(body, json.loads(json.dumps(each))) for body, each in own] for own in found]
    return as_sent, rate


def differs(answer: dict, expected: dict) -> bool:
    """Whether an answer is another one; a batch changes the last digits of probabilities."""

    def chosen(given):
        return given["text"], [(cell["row"], cell["column"]) for cell in given["cells"]]

    same = ("aggregation", "answerable", "notes", "cuts")
    near = abs(answer["probability"] - expected["probability"]) < 1e-3
    return (
        chosen(answer) != chosen(expected)
        or not near
        or any(answer[name] != expected[name] for name in same)
    )


class Load:
    """What clients count in one run.

    Attributes:
        counts: "answered", "mixed up", "lost", "refused" -> number.
        seconds: of each request that was answered.
    """

    def __init__(self, url: str):
        self.counts: collections.Counter = collections.Counter()
        self.seconds: list[float] = []
        self._url, self._lock = url, threading.Lock()

    def client(self, own: list[Asked], end: float) -> None:
        """Asks one question after the other until the time is up."""
        with httpx.Client(base_url=self._url, timeout=120) as client:
            number = 0
            while time.monotonic() < end:
                asked = own[number % len(own)]
                number += 1
                begin = time.monotonic()
                try:
                    response = client.post("/v1/ask", json=asked.body)
                    kind = self._kind(response, asked.expected)
                except httpx.HTTPError:
                    kind = "lost"
                with self._lock:
                    self.counts[kind] += 1
                    self.seconds.append(time.monotonic() - begin)

    @staticmethod
    def _kind(response, expected: dict) -> str:
        if response.status_code == 429:
            return "refused"
        if response.status_code != 200:
            return "lost"
        return "mixed up" if differs(response.json(), expected) else "answered"

    def run(self, own: list[list[Asked]], seconds: float, watch=lambda share: None) -> float:
        """Runs a thread per client; returns answers a second. `watch` is told the share of time."""
        begin = time.monotonic()
        end = begin + seconds
        threads = [threading.Thread(target=self.client, args=(each, end)) for each in own]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            watch((time.monotonic() - begin) / seconds)
            time.sleep(0.05)
        return self.counts["answered"] / (time.monotonic() - begin)


class Service:
    """`mate-tf serve` in a process of its own, which ends with the block."""

    def __init__(self, options):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, str(common.ROOT / "run_task_main.py"), "serve"]
        command += [f"--init_checkpoint={options.preset}", f"--port={port}"]
        command += [f"--max_batch={options.max_batch}", f"--workers={options.workers}"]
        environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
        self._process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(options.workers):
            while line := self._process.stdout.readline():
                if line.startswith("serve | "):
                    break
            else:
                sys.exit("the service has not started")

    def memory(self) -> float:
        """Resident memory, in MiB."""
        own = psutil.Process(self._process.pid)
        return sum(each.memory_info().rss for each in [own, *own.children(True)]) / 2**20

    def together(self) -> np.ndarray:
        """Questions that were computed, and batches of them, so far."""
        text = httpx.get(f"{self.url}/metrics").text
        names = ("mate_tf_batch_questions_sum", "mate_tf_batch_questions_count")
        return np.array([float(re.search(rf"^{name} (.*)$", text, re.M)[1]) for name in names])

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self._process.terminate()
        self._process.wait(60)


def malformed(number: int):
    """Yields (path, arguments of `httpx.post`) of requests that are each wrong in some way."""
    source = random.Random(SEED)
    table = [["a", "b"], [1, 2], [3, 4]]
    good = json.dumps({"table": table, "question": "what is b?"})
    values = [None, 0, -1.5, True, "", "x", [], {}, [[]], [[], []], {"columns": 1}, [1], [None]]
    values += [{"columns": ["a"], "rows": [[1, 2]]}, [["a"], [[1]]], "../../etc/passwd", "\0"]
    kind = {"content-type": "application/json"}
    for turn in range(number):
        path = source.choice(["/v1/ask", "/v1/ask", "/v1/tables", "/v1/ask_batch"])
        form = turn % 6
        if form == 0:  # cut off
            content = good[: source.randrange(len(good))].encode()
            yield path, {"content": content, "headers": kind}
        elif form == 1:  # a value of another kind
            key = source.choice(["table", "question", "table_id", "previous"])
            wrong = [each for each in values if each is not None and not _fits(key, each)]
            body = {"table": table, "question": "q", key: source.choice(wrong)}
            yield "/v1/ask", {"json": body}
        elif form == 2:  # unknown keys
            key = "".join(source.choices("abcdefgh_", k=5))
            yield "/v1/ask", {"json": {"table": table, "question": "q", key: 1}}
        elif form == 3:  # bytes
            yield path, {"content": source.randbytes(source.randrange(1, 500)), "headers": kind}
        elif form == 4:  # files that are not tables
            content = source.choice(
                [b"", b"%PDF-1.7", b"\x89PNG\r\n", b"PK\x03\x04", b"\x1f\x8b\x08"]
            )
            files = {source.choice(["file", "fil", "table"]): ("t.csv", content)}
            yield "/v1/ask", {"data": {"question": "q"}, "files": files}
        else:  # other types and paths
            wrong = {"content-type": source.choice(["text/csv", "", "multipart/form-data", "x"])}
            yield (
                source.choice([path, "/v1/x", "/healthz", "/v1/models"]),
                {
                    "content": good.encode(),
                    "headers": wrong,
                },
            )


def _fits(key: str, value) -> bool:
    """Whether a request with this value is right."""
    is_question = key == "question" and isinstance(value, str) and value.strip()
    return bool(is_question) or (key == "previous" and value == [])


def refusals(url: str, number: int) -> tuple[int, list[str]]:
    """Sends malformed requests; returns how many were refused in one line, and the others."""
    good, wrong = 0, []
    with httpx.Client(base_url=url, timeout=60) as client:
        for path, given in malformed(number):
            response = client.post(path, **given)
            lines = response.text.splitlines()
            if 400 <= response.status_code < 500 and len(lines) == 1 and "error" in response.json():
                good += 1
            else:
                wrong.append(f"{path} {given} -> {response.status_code} {response.text[:200]}")
    return good, wrong


def main() -> None:
    options = arguments()
    own, alone = questions(Predictor.from_preset(options.preset), options.clients)
    with Service(options) as service:
        Load(service.url).run(own, min(5.0, options.seconds / 2))  # graphs of all sizes
        one = Load(service.url)
        single = one.run([[asked for each in own for asked in each]], options.seconds / 4)
        memory = {}

        def watch(share):
            if share > 0.1:
                memory.setdefault("begin", service.memory())

        many, before = Load(service.url), service.together()
        rate = many.run(own, options.seconds, watch)
        memory["end"] = service.memory()
        together = service.together() - before
        refused, wrong = refusals(service.url, options.malformed)
        usual = Load(service.url)
        usual.run(own[:1], min(1.0, options.seconds))
    counts = many.counts
    results = {
        "requests": sum(counts.values()),
        "lost": counts["lost"],
        "mixed up": counts["mixed up"] + one.counts["mixed up"],
        "told to wait": counts["refused"],
        "answers a second": {"all clients": rate, "one client": single, "Predictor.ask": alone},
        "ratio to one client": rate / single,
        "questions in a batch": together[0] / together[1],
        "MiB": memory,
        "malformed requests": options.malformed,
        "refused by 4xx in one line": refused,
    }
    for name, load in (("all clients", many), ("one client", one)):
        cuts = statistics.quantiles(load.seconds, n=100)
        results[f"ms, {name}"] = {"p50": 1000 * cuts[49], "p99": 1000 * cuts[98]}
    for name, value in results.items():
        values = value if isinstance(value, dict) else {"": value}
        shown = (f"{key} {number:.1f}".strip().removesuffix(".0") for key, number in values.items())
        print(f"{name:28} {', '.join(shown)}")
    common.write(options, "service", results)
    print(*wrong, sep="\n")
    failed = results["lost"] or results["mixed up"] or wrong
    if failed or not usual.counts["answered"]:
        sys.exit("the service has failed")


if __name__ == "__main__":
    main()
