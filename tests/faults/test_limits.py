"""Large files and many requests: rows, memory, and whether an answer goes astray.

    pytest -s -m faults tests/faults/test_limits.py

Tables of 100 MB in each format, and archives that unpack to 600 MB, are read in a process each. The
page is served from another process to 8 clients, whose tables and questions name the client and the
request, so that an answer of another one shows. Memory is resident, in MB.
"""

import itertools
import json
import math
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile

import pytest

from ..page_client import Visitor

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEGABYTE = 1_000_000
REQUESTS, CLIENTS = 20_000, 8
ASKED = 10
"""Every so many-th event of a client is a question."""

HEADER = ["id", "name", "city", "amount", "date", "note"]
READ = """
import json, re, sys, time
from mate_tf.errors import InputError
from mate_tf.tables.any_table import read_table
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
before, start = peak(), time.perf_counter()
try:
    table = read_table(sys.argv[1])
    found = {"rows": table.num_rows, "said": table.unread}
except InputError as error:
    found = {"rows": 0, "said": str(error).partition(": ")[2]}
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "before_mb": before, "peak_mb": peak(), **found}))
"""


def rows(size: int):
    """Rows of a table of about `size` bytes."""
    number = 0
    while size > 0:
        row = [str(number), f"alpha {number % 977}", "Rome", f"{number / 7:.2f}"]
        row += [f"2019-03-{number % 28 + 1:02}", "red green blue delta gamma Oslo"]
        size -= sum(map(len, row)) + 6
        number += 1
        yield row


def files(folder: pathlib.Path, size: int):
    """Writes the files; yields their paths."""
    for name, delimiter in (("table.csv", ","), ("table.tsv", "\t")):
        with open(folder / name, "w") as file:
            for row in [HEADER, *rows(size)]:
                file.write(delimiter.join(row) + "\n")
        yield folder / name
    with open(folder / "table.json", "w") as file:
        file.write(f'{{"columns": {json.dumps(HEADER)}, "rows": [\n')
        for number, row in enumerate(rows(size)):
            file.write(",\n" * (number > 0) + json.dumps(row))
        file.write("]}")
    yield folder / "table.json"
    with open(folder / "one_line.csv", "w") as file:
        file.write("a,b\n1," + "x" * size)
    yield folder / "one_line.csv"
    yield from workbooks(folder)


def workbooks(folder: pathlib.Path):
    """Writes a large workbook and two bombs, one with sizes that are wrong; yields their paths."""
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in [HEADER, *rows(20_000_000)]:
        sheet.append(row)
    book.save(folder / "table.xlsx")
    yield folder / "table.xlsx"
    for name in ("bomb.xlsx", "lying_bomb.xlsx"):
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open("[Content_Types].xml", "w", force_zip64=True) as member:
                for _ in range(600):
                    member.write(bytes(2**20))
            if name.startswith("lying"):
                archive.getinfo("[Content_Types].xml").file_size = 1000
        yield folder / name


def read(path: pathlib.Path) -> dict:
    """Reads a table in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", READ, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return {"file": path.name, "file_mb": path.stat().st_size / 1e6, **json.loads(done.stdout)}


def resident(pid: int) -> float:
    """Resident memory of a process, in MB."""
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Client(threading.Thread):
    """Sends events, of two requests each; counts those answered, astray and failed."""

    def __init__(self, number: int, port: int, events: int):
        super().__init__()
        self._number, self._port, self._events = number, port, events
        self.answered = self.astray = 0
        self.failed: list[str] = []

    def run(self):
        """Sends the events, one after the other."""
        visitor = Visitor(self._port)
        for number in range(self._events):
            word = f"client{self._number}event{number}"
            pasted = f"name,age\n{word},30\nBob,{number}\n"
            try:
                if number % ASKED == 0:
                    values = {"pasted": pasted, "question": f"how old is {word}?"}
                    visitor.event("read", "click", values)
                    found = visitor.event("ask", "click", values)
                    mine = word in found["table"] and f"how old is {word}?" in found["answer"]
                else:
                    mine = word in visitor.event("read", "click", {"pasted": pasted})["table"]
            except (AssertionError, OSError, ValueError) as error:
                self.failed.append(f"{word}: {error!r}")
                visitor = Visitor(self._port)
            else:
                self.answered += 1
                self.astray += not mine


def serve(model_dir, folder) -> dict:
    """Serves the page of a model and sends it the requests."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, ROOT / "run_task_main.py", "--mode=demo", f"--port={port}"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "GRADIO_TEMP_DIR": str(folder)}
    process = subprocess.Popen(
        [*command, f"--model_dir={model_dir}"], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        next(line for line in process.stdout if line.startswith("demo | "))
        # A question is two events.
        events = math.ceil(REQUESTS / 2 / CLIENTS / (1 + 1 / ASKED))
        clients = [Client(number, port, events) for number in range(CLIENTS)]
        start, memory = time.perf_counter(), [resident(process.pid)]
        for client in clients:
            client.start()
        while any(client.is_alive() for client in clients):
            time.sleep(2)
            memory.append(resident(process.pid))
        seconds = time.perf_counter() - start
        failed = [each for client in clients for each in client.failed]
        answered = sum(client.answered for client in clients)
        tenths = [memory[round(part * (len(memory) - 1) / 10)] for part in range(11)]
        return {
            "requests": round(2 * answered * (1 + 1 / ASKED)),
            "events": answered,
            "astray": sum(client.astray for client in clients),
            "failed": failed,
            "seconds": seconds,
            "memory_mb_at_tenths": tenths,
        }
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@pytest.mark.slow
def test_small_files(tmp_path):
    for path in itertools.islice(files(tmp_path, 200_000), 4):  # before the workbooks
        found = read(path)
        assert (found["rows"] > 1000) == (path.stem == "table"), found
        assert found["peak_mb"] >= found["before_mb"] > 0


@pytest.mark.faults
def test_large_files(tmp_path):
    """Read up to the limits, or refused, within a minute and 1 GB."""
    for path in files(tmp_path, 100 * MEGABYTE):
        found = read(path)
        print(json.dumps(found))
        assert (found["rows"] > 0) == (path.stem == "table"), found
        assert found["said"]
        assert found["seconds"] < 60
        assert found["peak_mb"] - found["before_mb"] < 1000
        path.unlink()


@pytest.mark.faults
def test_many_requests(quickstart_model, tmp_path):
    found = serve(quickstart_model, tmp_path)
    print(json.dumps(found))
    assert (found["astray"], found["failed"]) == (0, [])
    assert found["requests"] >= REQUESTS
