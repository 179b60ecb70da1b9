"""Valid files of each format that is read, ways to damage them, and random tables."""

import gzip
import io
import json
import pathlib
import random
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from google.protobuf import text_format

from mate_tf import errors
from mate_tf.attention.masks import files as mask_files
from mate_tf.checkpoints import latest, safetensors, torch_file
from mate_tf.data import records, synthetic
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.converters.tokenizer import read_vocabulary
from mate_tf.data.datasets import hybridqa, sqa, squad, wikitq
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.data.pretraining import table_folders
from mate_tf.errors import InputError
from mate_tf.files.json_files import read_json_lines, read_json_object
from mate_tf.tables import html_tables
from mate_tf.tables.any_table import read_table
from mate_tf.tables.limits import Limits
from mate_tf.tables.table import Table
from mate_tf.training import experiments

from ..torch_files import Storage, fake_torch, save, tensor
from . import hostile_text

LENGTH = 64


class Format(NamedTuple):
    """A format: a valid content, its path, and how it is read. `pack` makes the file's bytes of
    those that are damaged, such as a zip archive of a member."""

    sample: bytes
    path: pathlib.Path
    read: Callable[[], object]
    pack: Callable[[bytes], bytes] = bytes

    def parse(self, content: bytes) -> bool:
        """Writes and reads a content; returns whether it was accepted. It may be refused by the
        errors that the command line prints as one line."""
        self.path.write_bytes(self.pack(content))
        try:
            self.read()
        except InputError:
            return False
        except tf.errors.OpError as error:
            if not errors.is_of_files(error):
                raise
            return False
        return True


CSV = b'name,"age, years",note\nAnn,30,"a ""b"""\nBob,1.5e3,\n,-7,"two\nlines"\n'
HTML = (
    b"<!DOCTYPE html><title>T</title><h2>Heading</h2><p>Text &amp; more<!-- no --><table>"
    b"<caption>C</caption><tr><th rowspan=2>a<th colspan='2'>b<tr><td>1</td><td>2</td></table>"
)
TABLE_JSON = b'{"columns": ["name", "age"], "rows": [["Ann", 30], ["Bob", null]], "title": "x"}'
YAML = b"""task:
  name: SYNTHETIC
  train_data: {global_batch_size: 4, buckets: [64, 128]}
  model: {encoder: {hidden_size: 16, attention: {name: mate_efficient, radius: 8}}}
trainer: {train_steps: 2, optimizer_config: {optimizer: {bert_adamw: {beta_1: 0.9}}}}
"""
ASKED = {"id": "q1", "question": "who is 30?", "answers": [{"text": "Ann", "answer_start": 0}]}
PARAGRAPH = {"context": "Ann is 30 and Bob is 41.", "qas": [ASKED]}
SQUAD = {"version": "1.1", "data": [{"title": "t", "paragraphs": [PARAGRAPH]}]}
LINKED_TABLE = {
    "title": "Peaks",
    "header": [["Name", []], ["Land", ["/wiki/Country"]]],
    "data": [[["Alpha", ["/wiki/Alpha"]], ["Norland", []]]],
}
SQA_QUESTIONS = (
    b"id\tannotator\tposition\tquestion\ttable_file\tanswer_coordinates\tanswer_text\n"
    b"nt-1\t0\t0\twho is 30?\ttable_csv/t.csv\t['(0, 0)']\t['Ann']\n"
    b"nt-1\t0\t1\tand 41?\ttable_csv/t.csv\t['(1, 0)', '(1, 1)']\t['Bob', '41']\n"
)
WIKITQ_QUESTIONS = (
    b"id\tutterance\tcontext\ttargetValue\n"
    b"nt-0\twho is 30?\tcsv/t.csv\tAnn\n"
    b"nt-1\tnames?\tcsv/t.csv\tAnn|Bob \\p Co\n"
)
PREDICTIONS = b'{"id": "q1", "cells": [[0, 1]], "score": 0.5}\n{"id": "q2", "cells": []}\n'


def formats(folder: pathlib.Path) -> dict[str, Format]:
    """Makes a valid file of each format in an empty folder; returns name -> format."""
    found = dict(_tables(folder))
    found |= _texts(folder)
    found |= _records(folder)
    found |= _weights(folder)
    found |= _data_sets(folder)
    return found


def _tables(folder):
    for name, content in (("csv", CSV), ("tsv", CSV.replace(b",", b"\t")), ("json", TABLE_JSON)):
        path = folder / f"table.{name}"
        yield f"table, {name}", Format(content, path, lambda path=path: read_table(path))
    try:
        import openpyxl
    except ImportError:
        return
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    for row in (["name", "age"], ["Ann", 30], ["Bob", None]):
        book.active.append(row)
    book.save(buffer)
    path = folder / "table.xlsx"
    read = lambda: read_table(path)  # noqa: E731
    yield "table, xlsx", Format(buffer.getvalue(), path, read)
    member = "xl/worksheets/sheet1.xml"
    content = zipfile.ZipFile(buffer).read(member)
    yield "table, sheet of an xlsx", Format(content, path, read, _repack(buffer, member))


def _repack(archive: io.BytesIO, member: str) -> Callable[[bytes], bytes]:
    """Returns a function that replaces a member of an archive."""
    with zipfile.ZipFile(archive) as opened:
        others = {name: opened.read(name) for name in opened.namelist() if name != member}

    def pack(content):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as packed:
            for name, value in {**others, member: content}.items():
                packed.writestr(name, value)
        return buffer.getvalue()

    return pack


def _texts(folder):
    vocabulary = "\n".join(["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b"])
    override = folder / "override"
    override.touch()
    state = folder / "state" / "checkpoint"
    state.parent.mkdir()
    return {
        "predictions": Format(
            PREDICTIONS,
            folder / "predictions.jsonl",
            lambda: list(read_json_lines(folder / "predictions.jsonl")),
        ),
        "JSON object": Format(
            b'{"vocab_size": 100, "layers": [1, 2.5, null, true], "name": "x\\u00e4"}',
            folder / "config.json",
            lambda: read_json_object(str(folder / "config.json")),
        ),
        "vocabulary": Format(
            vocabulary.encode(), folder / "vocab.txt", lambda: read_vocabulary(folder / "vocab.txt")
        ),
        "configuration": Format(
            YAML, folder / "config.yaml", lambda: experiments.load(str(folder / "config.yaml"))
        ),
        "override": Format(
            b"task: {train_data: {global_batch_size: 4}}",
            override,
            lambda: experiments.read_override(override.read_bytes().decode(errors="replace")),
        ),
        "state file": Format(
            b'model_checkpoint_path: "ckpt-2"\nall_model_checkpoint_paths: "ckpt-2"\n',
            state,
            lambda: latest.latest(str(state.parent)),
        ),
    }


def _records(folder):
    synthetic.make_vocabulary(folder / "pieces.txt")
    converter = ExampleConverter(folder / "pieces.txt", LENGTH)
    table = Table.from_rows(["name", "age"], [["Ann", "30"], ["Bob", "41"]], table_id="t")
    question = Question("t-0_0", "who is 30?", coordinates=[(0, 0)])
    interaction = interaction_from_table(table, "t-0", [question])
    [conversion] = converter.convert_all(interaction)
    path, examples = folder / "interactions.tfrecord", folder / "examples.tfrecord"
    records.write_interactions([interaction], path)
    records.write_examples([conversion.example], examples)

    def convert():
        for found in records.read_interactions(path):
            for _ in converter.convert_all(found):
                pass

    corpus = folder / "corpus.txtpb"
    line = text_format.MessageToString(interaction, as_one_line=True).encode() + b"\n"

    def convert_corpus():
        for found in table_folders.TableFolder(str(corpus), "train", dev_share=1e-9):
            for _ in converter.convert_all(found):
                pass

    page = folder / "page.html"

    def batches():
        for _ in records.dataset(examples, 1):
            pass

    return {
        "interactions": Format(path.read_bytes(), path, convert),
        "interactions, gzip": Format(gzip.compress(path.read_bytes()), path, convert),
        "interaction": Format(interaction.SerializeToString(), path, convert, _record),
        "text protos": Format(line * 2, corpus, convert_corpus),
        "text protos, gzip": Format(gzip.compress(line * 2), corpus, convert_corpus),
        "HTML": Format(HTML, page, lambda: html_tables.read_page(page)),
        "examples": Format(examples.read_bytes(), examples, batches),
        "example": Format(conversion.example.SerializeToString(), examples, batches, _record),
    }


def _record(content: bytes) -> bytes:
    """Returns a TFRecord file of one record."""
    with tempfile.NamedTemporaryFile() as file:
        with tf.io.TFRecordWriter(file.name) as writer:
            writer.write(content)
        return file.read()


def _weights(folder):
    path, pickled = folder / "model.safetensors", folder / "pytorch_model.bin"
    mask = folder / "mask.npz"
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    safetensors.write(str(path), {"a": weights, "b": weights[0]})
    with fake_torch() as torch:
        storage = Storage(torch.FloatStorage, "0", 6)
        content = {"a": tensor(torch, storage, 0, (2, 3), (3, 1))}
        save(pickled, content, {"0": weights})
    archive = io.BytesIO(pickled.read_bytes())
    member = "archive/data.pkl"
    inner = zipfile.ZipFile(archive).read(member)
    mask_files.save(mask, np.eye(8, dtype=bool)[None], {"window": 3})
    bits = io.BytesIO(mask.read_bytes())
    array = zipfile.ZipFile(bits).read("bits.npy")

    def read_all(read, name):
        for stored in read(str(name)).values():
            stored.read()

    return {
        "safetensors": Format(path.read_bytes(), path, lambda: read_all(safetensors.read, path)),
        "torch": Format(pickled.read_bytes(), pickled, lambda: read_all(torch_file.read, pickled)),
        "torch, pickle": Format(
            inner, pickled, lambda: read_all(torch_file.read, pickled), _repack(archive, member)
        ),
        "mask": Format(mask.read_bytes(), mask, lambda: mask_files.load(mask)),
        "mask, array": Format(
            array, mask, lambda: mask_files.load(mask), _repack(bits, "bits.npy")
        ),
    }


def _data_sets(folder):
    hybrid, flat = folder / "hybridqa", folder / "flat"
    for path, content in (
        (hybrid / "released_data" / "dev.json", _one_question()),
        (flat / "table_csv" / "t.csv", CSV),
        (flat / "csv" / "t.csv", CSV),
        (flat / "tables" / "t.csv", CSV),
        (flat / "train.tsv", b"question\ttable\tanswer\nwho is 30?\ttables/t.csv\tAnn\n"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (flat / "data").mkdir()
    root = "WikiTables-WithLinks/"
    linked, passages = f"{root}tables_tok/Peaks_0.json", f"{root}request_tok/Peaks_0.json"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(linked, json.dumps(LINKED_TABLE))
        archive.writestr(passages, json.dumps({"/wiki/Alpha": "Alpha is cold ."}))
    zipped = hybrid / "WikiTables-WithLinks.zip"
    read_hybridqa = lambda: list(hybridqa.read(hybrid, "dev"))  # noqa: E731
    return {
        "HybridQA, archive": Format(buffer.getvalue(), zipped, read_hybridqa),
        "HybridQA, table": Format(
            json.dumps(LINKED_TABLE).encode(), zipped, read_hybridqa, _repack(buffer, linked)
        ),
        "SQuAD": Format(
            json.dumps(SQUAD).encode(),
            folder / "dev-v1.1.json",
            lambda: list(squad.read(folder, "dev", "v1.1")),
        ),
        "SQA": Format(SQA_QUESTIONS, flat / "test.tsv", lambda: list(sqa.read(flat, "test"))),
        "WikiTableQuestions": Format(
            WIKITQ_QUESTIONS,
            flat / "data" / "pristine-unseen-tables.tsv",
            lambda: list(wikitq.read(flat, "test")),
        ),
    }


def _one_question() -> bytes:
    question = {"question_id": "q0", "question": "Which ?", "table_id": "Peaks_0"}
    return json.dumps([question | {"answer-text": "Alpha"}]).encode()


_NUMBERS = [2**bits + near for bits in (0, 7, 8, 15, 16, 31, 32, 62) for near in (-1, 0, 1)]
_WORDS = (
    *(struct.pack("<Q", number) for number in _NUMBERS),
    *(struct.pack("<I", number) for number in _NUMBERS if number < 2**32),
    *(str(number).encode() for number in (*_NUMBERS, -1, 1e309, 10**400)),
    *(text.encode("utf-8", "surrogatepass") for text in hostile_text.TEXTS[:40]),
    *b"\0 \n \r \t \" ' , ; : [ ] { } ( ) \\ / & * ! | > # - . ~ \xff \x80".split(b" "),
    *b"null NaN Infinity true [[[[[[[[ {{{{{{{{ ../../../etc/passwd <!ENTITY !!python/object".split(
        b" "
    ),
)
"""What is inserted."""


def mutated(content: bytes, draw: random.Random) -> bytes:
    """Damages a content in 1 to 4 ways: bits, bytes, and parts that are cut, repeated or moved."""
    found = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        at, size = draw.randrange(len(found) + 1), draw.choice((1, 2, 4, 8, 64))
        kind = draw.randrange(7)
        if kind == 0 and at < len(found):
            found[at] ^= 1 << draw.randrange(8)
        elif kind == 1 and at < len(found):
            found[at] = draw.randrange(256)
        elif kind == 2:
            del found[at : at + size]
        elif kind == 3:
            found[at:at] = found[at : at + size] * draw.choice((1, 2, 100))
        elif kind == 4:
            found[at:at] = draw.choice(_WORDS)
        elif kind == 5:
            word = draw.choice(_WORDS)
            found[at : at + len(word)] = word
        elif draw.random() < 0.3:
            del found[at:]
        else:
            other = draw.randrange(len(found) + 1)
            found[at:at] = found[other : other + size]
    return bytes(found)


def tables(number: int, seed: int) -> Iterator[tuple[Table, str]]:
    """Generates tables of hostile cells, each with a hostile question."""
    draw = random.Random(seed)

    def text():
        parts = draw.choices(hostile_text.CELLS, k=draw.choice((0, 1, 1, 1, 2, 5)))
        joined = draw.choice(("", " ", "\n", "\0")).join(parts)
        return joined.encode("utf-8", "ignore").decode()

    for index in range(number):
        num_columns, num_rows = draw.randint(1, 6), draw.choice((0, 1, 2, 5, 12))
        header = [text() for _ in range(num_columns)]
        rows = [[text() for _ in header] for _ in range(num_rows)]
        yield Table.from_rows(header, rows, table_id=f"t{index}", title=text()), text()


class TableReader:
    """Takes tables through all that reads them: files, conversion, and cutting to a length."""

    def __init__(self, folder: pathlib.Path):
        synthetic.make_vocabulary(folder / "words.txt")
        self._path = folder / "read.json"
        options = {"drop_rows_to_fit": True, "trim_question_to_fit": True}
        self._converters = [
            ExampleConverter(folder / "words.txt", LENGTH, **options),
            ExampleConverter(
                folder / "words.txt", LENGTH, drop_columns_to_fit=True, prune_rows=True, **options
            ),
        ]

    def read(self, table: Table, question: str) -> None:
        """Reads one; an InputError refuses what is not to be read, such as an empty question."""
        content = {"columns": list(table.columns), "rows": [list(row) for row in table.rows]}
        self._path.write_text(json.dumps(content), encoding="utf-8")
        again = read_table(self._path, Limits())
        if [list(row) for row in again.rows] != content["rows"]:
            raise AssertionError(f"{again.rows} is not {content['rows']}")
        given = Question(f"{table.table_id}-0_0", question)
        for converter in self._converters:
            interaction = interaction_from_table(table, f"{table.table_id}-0", [given])
            for _ in converter.convert_all(interaction):
                pass
