"""Killed modes: the same command then writes the same files, and earlier ones are whole.

pytest -m faults tests/faults/test_kill_points.py
"""

import pytest

from . import killing

NOTHING_WRONG = {"refused": [], "different": [], "spoilt": []}


def check(mode, least, **options):
    found = killing.in_a_process("kills", mode, **options)
    print(f"{mode}: {found['kills']} kills")
    assert found.pop("kills") >= least
    assert found == NOTHING_WRONG | {"mode": mode}


@pytest.mark.slow
@pytest.mark.parametrize(("options", "least"), [({"every": 6}, 3), ({"number": 2}, 2)])
def test_create_data(options, least):
    check("create_data", least, **options)


@pytest.mark.faults
@pytest.mark.parametrize("mode", killing.MODES)
def test_at_each_change(mode):
    check(mode, 5)


@pytest.mark.faults
@pytest.mark.parametrize("mode", killing.MODES)
def test_at_random_times(mode):
    check(mode, 20, number=20)
