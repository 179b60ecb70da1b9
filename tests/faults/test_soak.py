"""One Predictor asked by 8 threads for a minute: no answer lost or mixed up, and no memory lost."""

import concurrent.futures
import pathlib
import re
import time

import pytest

from mate_tf.serving.predictor import Predictor
from mate_tf.tables.table import Table

THREADS, SECONDS, WARM_UP, TABLES = 8, 60, 15, 32


def resident() -> float:
    """Memory of this process, in MiB."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def table(number):
    """All cells of a table hold its own number, so an answer shows whose it is."""
    rows = 2 + number % 5
    return Table.from_rows(["a", "b"], [[str(1000 + number)] * 2] * rows, table_id=f"t{number}")


@pytest.mark.slow
def test_eight_threads_for_a_minute(trained_model, capsys):
    predictor = Predictor(str(trained_model / "export"))
    tables = [table(number) for number in range(TABLES)]
    first = [predictor.ask(each, f"which is {each.rows[0][0]}?") for each in tables]
    assert sum(bool(answer.cells) for answer in first) > TABLES / 4
    begin = time.monotonic()

    def ask(thread):
        answers = 0
        memory = None
        while time.monotonic() < begin + SECONDS:
            number = (7 * thread + answers) % TABLES
            own = tables[number].rows[0][0]
            found = predictor.ask(tables[number], f"which is {own}?")
            assert found.coordinates == first[number].coordinates
            assert {cell.text for cell in found.cells} <= {own}
            assert found.probability == pytest.approx(first[number].probability, abs=1e-4)
            answers += 1
            if memory is None and time.monotonic() > begin + WARM_UP:
                memory = resident()
        return answers, memory

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(ask, range(THREADS)))
    grown = resident() - max(memory for _, memory in results)
    with capsys.disabled():
        total = sum(answers for answers, _ in results)
        print(f" {total} answers, memory {grown:+.0f} MiB after the warm-up", end="")
    assert min(answers for answers, _ in results) > 10
    assert grown < 50
