"""Modes on a full disk: one line, and the same command completes when there is room.

pytest -m faults tests/faults/test_disk_full.py        # needs the right to mount
"""

import pytest

from . import killing


def check(mode, **options):
    """Returns what `killing.full` found, but for what must be empty."""
    found = killing.in_a_process("full", mode, **options)
    print(f"{mode}: {found['runs']} runs, {found['completed']} with room enough")
    wrong = {name: found.pop(name) for name in ("untidy", "refused", "different", "spoilt")}
    assert wrong == {name: [] for name in wrong}
    assert len(found["messages"]) + found["completed"] == found["runs"]
    return found


@pytest.mark.slow
def test_create_data():
    found = check("create_data", limit="file", parts=3)
    assert found["runs"] == 3
    assert found["messages"]
    assert all("too large" in line for line in found["messages"]), found["messages"]


@pytest.mark.faults
@pytest.mark.parametrize("limit", killing.LIMITS)
@pytest.mark.parametrize("mode", killing.MODES)
def test_every_mode(mode, limit):
    check(mode, limit=limit)
