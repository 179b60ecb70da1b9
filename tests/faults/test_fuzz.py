"""Damaged bytes and hostile tables: read, or refused as the command line refuses them.

`benchmarks/fuzz.py` tries 100,000. The corpus has what once ended in another way; the name of a
file begins with that of its format.
"""

import pathlib
import random

import pytest

from mate_tf.errors import InputError

from . import fuzz

CORPUS = sorted((pathlib.Path(__file__).parent / "corpus").iterdir())
STRINGS = 25
TABLES = 60


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    return fuzz.formats(tmp_path_factory.mktemp("fuzz"))


def test_valid_files_are_accepted(forms):
    refused = [name for name, form in forms.items() if not form.parse(form.sample)]
    assert not refused
    assert len(forms) >= 24


def test_corpus(forms):
    assert len(CORPUS) >= 12
    by_length = sorted(forms, key=len, reverse=True)
    for path in CORPUS:
        name = next(name for name in by_length if path.name.startswith(f"{name} "))
        accepted = forms[name].parse(path.read_bytes())
        # The tables of HybridQA that cannot be read are counted, and the rest goes on.
        assert not accepted or name.startswith("HybridQA"), path.name
        forms[name].path.write_bytes(forms[name].pack(forms[name].sample))


def test_damaged_bytes(forms):
    draw = random.Random(0)
    accepted = 0
    for form in forms.values():
        for _ in range(STRINGS):
            accepted += form.parse(fuzz.mutated(form.sample, draw))
        form.path.write_bytes(form.pack(form.sample))
    assert 0 < accepted < 0.5 * STRINGS * len(forms)  # the damage is neither nothing nor all


def test_hostile_tables(tmp_path):
    reader = fuzz.TableReader(tmp_path)
    read = 0
    for table, question in fuzz.tables(TABLES, seed=0):
        try:
            reader.read(table, question)
        except InputError:
            continue
        read += 1
    assert read > TABLES / 2
