"""Two commands at a time on the same folders: nothing is lost or mixed.

pytest -s -m faults tests/faults/test_pairs.py
"""

import pytest

from . import killing, pairs


def check(mode, other, number):
    found = pairs.in_a_process(mode, other, number)
    print(f"{mode} and {other}: {found['pairs']} pairs, {found['refused']} commands refused")
    assert found["pairs"] == number
    assert found["untidy"] == []
    assert found["different"] == []


@pytest.mark.slow
def test_some_pairs():
    check("create_data", "create_data", 2)


@pytest.mark.faults
@pytest.mark.parametrize("mode", killing.MODES)
def test_each_mode_with_itself(mode):
    check(mode, mode, 25)


@pytest.mark.faults
@pytest.mark.parametrize("mode", killing.MODES)
def test_each_mode_with_training(mode):
    check(mode, "train", 25)


@pytest.mark.faults
def test_training_and_the_making_of_its_data():
    check("train", "create_data", 25)
