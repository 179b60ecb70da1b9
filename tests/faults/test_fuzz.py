"""Damaged bytes and hostile tables: read, or refused as the command line refuses them.

    pytest -s -m faults tests/faults/test_fuzz.py       # more than 100,000 of them

The corpus has what once ended in another way; the name of a file begins with that of its format.
"""

import hashlib
import pathlib
import random
import time

import pytest

from mate_tf.errors import InputError

from . import fuzz

CORPUS = sorted((pathlib.Path(__file__).parent / "corpus").iterdir())
STRINGS, MANY_STRINGS = 25, 3847
TABLES, MANY_TABLES = 60, 10_000


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


def damage(form, number: int, seed) -> tuple[int, float]:
    """Reads damaged contents of a format; returns how many were accepted, and the most seconds.
    Other errors than those of bad input go through, with the content in a note."""
    draw = random.Random(seed)
    accepted, slowest = 0, 0.0
    for _ in range(number):
        content = fuzz.mutated(form.sample, draw)
        start = time.perf_counter()
        try:
            accepted += form.parse(content)
        except Exception as error:
            path = form.path.with_name(f"unexpected {hashlib.sha256(content).hexdigest()[:8]}")
            path.write_bytes(content)
            error.add_note(f"kept: {path}")
            raise
        slowest = max(slowest, time.perf_counter() - start)
    form.path.write_bytes(form.pack(form.sample))
    return accepted, slowest


def read_hostile(folder, number: int) -> int:
    """Reads, prunes and converts hostile tables; returns how many were not refused."""
    reader, read = fuzz.TableReader(folder), 0
    for table, question in fuzz.tables(number, seed=0):
        try:
            reader.read(table, question)
        except InputError:
            continue
        read += 1
    return read


def test_damaged_bytes(forms):
    accepted = sum(damage(form, STRINGS, 0)[0] for form in forms.values())
    assert 0 < accepted < 0.5 * STRINGS * len(forms)  # the damage is neither nothing nor all


def test_what_is_unexpected_is_kept(tmp_path):
    def read():
        if b"a" not in (tmp_path / "text").read_bytes():
            raise KeyError("a")

    with pytest.raises(KeyError) as failure:
        damage(fuzz.Format(b"abcdefgh", tmp_path / "text", read), 60, 0)
    (kept,) = tmp_path.glob("unexpected *")
    assert failure.value.__notes__ == [f"kept: {kept}"]
    assert b"a" not in kept.read_bytes()


def test_hostile_tables(tmp_path):
    assert read_hostile(tmp_path, TABLES) > TABLES / 2


@pytest.mark.faults
def test_many_damaged_bytes(forms):
    for name, form in forms.items():
        accepted, slowest = damage(form, MANY_STRINGS, f"0 {name}")
        print(
            f"{name:26} {MANY_STRINGS:,} contents, {accepted:,} accepted, {slowest:.2f} s at most"
        )


@pytest.mark.faults
def test_many_hostile_tables(tmp_path):
    print(f"{MANY_TABLES:,} tables, {read_hostile(tmp_path, MANY_TABLES):,} read")
