"""Odd inputs: what is not a regular file, hostile YAML, headers, tables, values and names.

Each is a `Case`: what prepares it in an empty folder, and what is then run. It must be refused as
bad input is, or accepted.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import socket
import stat
import struct
from collections.abc import Callable, Iterator

from . import odd_tables

QUESTION = "who is 30?"


@dataclasses.dataclass(frozen=True)
class Models:
    """What the cases are about; not to be changed.

    Attributes:
        config_file: a configuration.
        created: the data of it.
        export: an --export_dir.
        huggingface: a folder of Hugging Face's.
    """

    config_file: pathlib.Path
    created: pathlib.Path
    export: pathlib.Path
    huggingface: pathlib.Path


@dataclasses.dataclass(frozen=True)
class Case:
    """An input.

    Attributes:
        name: says what is odd.
        arguments: makes the files in a folder, and returns the command line's arguments.
    """

    name: str
    arguments: Callable[[pathlib.Path, Models], list]


def all_cases() -> Iterator[Case]:
    """Yields every case, grouped by kind."""
    yield from not_regular()
    yield from hostile_yaml()
    yield from headers()
    yield from tables()
    yield from flags()


def _link_to(target: str):
    return lambda path: path.symlink_to(target)


def _socket(path: pathlib.Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(path.parent)  # the path of a socket may have 107 bytes
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def _link_to_pipe(path: pathlib.Path) -> None:
    target = path.with_name("a pipe")
    os.mkfifo(target)
    path.symlink_to(target.name)


NOT_REGULAR = {
    "a pipe": os.mkfifo,
    "a link to a pipe": _link_to_pipe,
    "a socket": _socket,
    "a folder": pathlib.Path.mkdir,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": _link_to("nothing"),
    "endless zeros": _link_to("/dev/zero"),
    "a terminal": _link_to("/dev/ptmx"),
    "a character device": lambda path: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 8)),
}
"""What stands in place of a file -> makes it."""


def _asked(path, models, **flags) -> list:
    found = {"export_dir": models.export} | flags
    return ["ask", path, QUESTION, *(f"--{name}={value}" for name, value in found.items())]


def _good_table(folder) -> pathlib.Path:
    path = folder / "good.csv"
    path.write_text("name,age\nann,30\n")
    return path


def _table(suffix):
    def use(folder, models, make):
        path = folder / f"table{suffix}"
        make(path)
        return _asked(path, models)

    return use


def _of_huggingface(name):
    def use(folder, models, make):
        shutil.copytree(models.huggingface, folder / "model")
        path = folder / "model" / name
        path.unlink(missing_ok=True)
        make(path)
        table = _good_table(folder)
        return ["ask", table, QUESTION, f"--init_checkpoint={folder / 'model'}"]

    return use


def _of_export(name):
    def use(folder, models, make):
        shutil.copytree(models.export, folder / "export")
        path = folder / "export" / name
        path.unlink()
        make(path)
        return _asked(_good_table(folder), models, export_dir=folder / "export")

    return use


def _records(split, mode):
    def use(folder, models, make):
        shutil.copytree(models.created, folder / "data")
        path = folder / "data" / "tf_examples" / f"{split}.tfrecord"
        path.unlink()
        make(path)
        flags = (f"--config_file={models.config_file}", f"--output_dir={folder / 'data'}")
        return [f"--mode={mode}", *flags]

    return use


def _flag(name, mode, *others, file="given"):
    """A flag of a file; {config} and {folder} in other flags are replaced."""

    def use(folder, models, make):
        path = folder / file
        make(path)
        names = {"config": models.config_file, "folder": folder}
        rest = [each.format(**names) for each in others]
        return [f"--mode={mode}", f"--{name}={path}", *rest]

    return use


def _base(folder, models, make):
    make(folder / "base.yaml")
    (folder / "c.yaml").write_text("base: base.yaml\n")
    return ["--mode=eval", f"--config_file={folder / 'c.yaml'}"]


def _data_set(task, name):
    def use(folder, models, make):
        path = folder / "data" / name
        path.parent.mkdir(parents=True)
        make(path)
        shutil.copy(models.huggingface / "vocab.txt", folder / "vocab.txt")
        flags = {"input_dir": folder / "data", "output_dir": folder / "out"}
        flags |= {"bert_vocab_file": folder / "vocab.txt", "num_processes": 1}
        of_flags = [f"--{name}={value}" for name, value in flags.items()]
        return ["--mode=create_data", f"--task={task}", *of_flags]

    return use


PLACES = {
    "a configuration": _flag("config_file", "eval"),
    "an override": _flag("params_override", "eval", "--config_file={config}", file="given.yaml"),
    "a base": _base,
    "a flagfile": _flag("flagfile", "ask"),
    "a vocabulary": _flag(
        "bert_vocab_file",
        "create_data",
        *("--config_file={config}", "--output_dir={folder}/out", "--task=SQA"),
        "--input_dir={folder}",
    ),
    "a BERT configuration": _flag("bert_config_file", "train", "--config_file={config}"),
    "a checkpoint": _flag(
        "init_checkpoint", "train", "--config_file={config}", file="model.safetensors"
    ),
    "passages": _flag("passages", "ask", "--table={folder}/t.csv", "--question=who?"),
    **{f"a table {end}": _table(end) for end in (".csv", ".json", ".jsonl", ".xlsx", ".html")},
    **{f"a table {end}": _table(end) for end in (".parquet", ".sqlite", ".zip", ".csv.gz", "")},
    **{
        f"{name} of Hugging Face's": _of_huggingface(name)
        for name in ("model.safetensors", "config.json", "vocab.txt")
    },
    "settings of an export": _of_export("assets.extra/mate_tf.json"),
    "records of train": _records("train", "train"),
    "records of dev": _records("dev", "train"),
    "own data": _data_set("CUSTOM", "train.jsonl"),
    "questions of SQA": _data_set("SQA", "random-split-1-train.tsv"),
    "a table of TabFact": _data_set("TABFACT", "tokenized_data/test_examples.json"),
}
"""Where a file belongs -> makes it there by a function of the path, and returns arguments."""


def not_regular() -> Iterator[Case]:
    """Yields what is not a regular file in each place of one."""
    for place, use in PLACES.items():
        for kind, make in NOT_REGULAR.items():
            yield Case(
                f"{kind} as {place}",
                lambda folder, models, use=use, make=make: use(folder, models, make),
            )


VALUES = {
    "5,000 digits": "9" * 5000,
    "5,000 digits below zero": "-" + "9" * 5000,
    "5,000 digits in base 16": "0x" + "f" * 5000,
    "a fraction of 5,000 digits": "0." + "3" * 5000,
    "a large exponent": "1.0e+999999999",
    "base 60": "190:20:30",
    "a list of a word": "[full]",
    "a list of itself": "&a [*a]",
    "an object of itself": "&a {b: *a}",
    "a key of itself": "&a {? *a : 1}",
    "a set": "!!set {a, b}",
    "pairs": "!!pairs [a: 1, a: 2]",
    "bytes": "!!binary aGFsbG8=",
    "broken bytes": "!!binary a",
    "a day": "2001-02-30",
    "a moment": "2001-12-14t21:59:43.10-05:00",
    "an unknown tag": "!vendor/thing 1",
    "a lone surrogate": '"\\ud800"',
    "an escape of nothing": '"\\xZZ"',
    "a NUL": '"a\\0b"',
    "a line break": '"a\\nb"',
    "a merge of a number": "{<<: 1}",
    "a merge of itself": "&a {<<: *a}",
    "an empty alias": "*",
    "a long word": "x" * 100_000,
    "an object for a key": "{{a: 1}: 2}",
}
KEYS = (
    *("task.name", "task.model.encoder.attention", "task.model.encoder.attention.name"),
    *("task.model.encoder.hidden_size", "task.train_data.input_path", "trainer.train_steps"),
    *("trainer.optimizer_config.optimizer.type", "task.conversion.bert_vocab_file", "base"),
)


def hostile_yaml() -> Iterator[Case]:
    """Yields hostile values of keys that are read in different ways."""
    for key in KEYS:
        *sections, last = key.split(".")
        begin = "".join(f"{'  ' * level}{name}:\n" for level, name in enumerate(sections))
        for kind, value in VALUES.items():
            text = f"{begin}{'  ' * len(sections)}{last}: {value}\n"

            def arguments(folder, models, text=text):
                (folder / "c.yaml").write_text(text)
                given = [] if text.startswith("task:\n  name") else ["--task=SYNTHETIC"]
                where = f"--output_dir={folder / 'out'}"
                return ["--mode=eval", f"--config_file={folder / 'c.yaml'}", where, *given]

            yield Case(f"{kind} as {key}", arguments)


def _entry(dtype="F32", shape=(1,), offsets=(0, 4), **others):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets} | others


def _nested(depth):
    return '{"a":' * depth + "1" + "}" * depth


HEADERS = {
    "no dtype": {"a": {"shape": [1], "data_offsets": [0, 4]}},
    "no offsets": {"a": {"shape": [1], "dtype": "F32"}},
    "an unknown dtype": {"a": _entry("F7")},
    "a dtype of four bits": {"a": _entry("F4", [8])},
    "a dtype that is a list": {"a": _entry(["F32"])},
    "a dtype that is null": {"a": _entry(None)},
    "a shape of text": {"a": _entry(shape="1")},
    "a shape of fractions": {"a": _entry(shape=[1.5])},
    "a negative shape": {"a": _entry(shape=[-1])},
    "a shape of null": {"a": _entry(shape=[None])},
    "a shape of truth": {"a": _entry(shape=[True])},
    "a shape beyond 64 bits": {"a": _entry(shape=[2**64])},
    "a shape whose product overflows": {"a": _entry(shape=[2**33, 2**33])},
    "a shape of 10,000 axes": {"a": _entry(shape=[1] * 10_000)},
    "a deep shape": {"a": _entry(shape=[[[1]]])},
    "offsets in reverse": {"a": _entry(offsets=[4, 0])},
    "offsets behind the end": {"a": _entry(offsets=[0, 4000])},
    "offsets beyond 64 bits": {"a": _entry(offsets=[2**64, 2**64 + 4])},
    "negative offsets": {"a": _entry(offsets=[-4, 0])},
    "three offsets": {"a": _entry(offsets=[0, 2, 4])},
    "offsets of text": {"a": _entry(offsets=["0", "4"])},
    "overlapping offsets": {"a": _entry(), "b": _entry()},
    "a hole between offsets": {"a": _entry(offsets=[0, 4]), "b": _entry(offsets=[8, 12])},
    "an entry that is a list": {"a": [1]},
    "an entry that is a number": {"a": 1},
    "metadata of numbers": {"__metadata__": {"a": 1}, "a": _entry()},
    "metadata that is a list": {"__metadata__": [], "a": _entry()},
    "an empty name": {"": _entry()},
    "a name of surrogates": {"\ud800": _entry()},
    "a key more": {"a": _entry(other=1)},
    "nothing": {},
    "a list": [1],
    "null": None,
}
RAW_HEADERS = {
    "a name twice": f'{{"a":{json.dumps(_entry())},"a":{json.dumps(_entry())}}}',
    "a hundred levels": _nested(100),
    "100,000 levels": _nested(100_000),
    "a number of 5,000 digits": json.dumps({"a": _entry(shape=["?"])}).replace('"?"', "9" * 5000),
    "NaN": json.dumps({"a": _entry(shape=[float("nan")])}),
    "no JSON": "{",
    "spaces": " " * 5000,
}


def _file(header: bytes, length: int | None = None, data: bytes = bytes(4)) -> bytes:
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def headers() -> Iterator[Case]:
    """Yields damaged headers of safetensors."""
    files = {name: _file(json.dumps(header).encode()) for name, header in HEADERS.items()}
    files |= {name: _file(text.encode()) for name, text in RAW_HEADERS.items()}
    good = json.dumps({"a": _entry()}).encode()
    lengths = {"0": 0, "short": 7, "long": 10**6, "2^63": 2**63, "2^64-1": 2**64 - 1}
    files |= {f"a length of {name}": _file(good, length) for name, length in lengths.items()}
    files |= {"trailing bytes": _file(good, data=bytes(40)), "no data": _file(good, data=b"")}
    files |= {"not UTF-8": _file(b'{"\xff": 1}'), "only a length": struct.pack("<Q", 8)}
    use = _of_huggingface("model.safetensors")
    for name, content in files.items():
        yield Case(
            f"safetensors with {name}",
            lambda folder, models, content=content: use(
                folder, models, lambda path: path.write_bytes(content)
            ),
        )


def tables() -> Iterator[Case]:
    """Yields odd tables, each as a file that is asked about."""
    for name, (file, content, others) in odd_tables.FILES.items():

        def arguments(folder, models, file=file, content=content, others=others):
            content = content() if callable(content) else content
            (folder / file).write_bytes(content)
            return [*_asked(folder / file, models), *others]

        yield Case(f"a table with {name}", arguments)


UNUSED = {
    "ask": ("--port=80", "--host=::1", "--root_path=/x", "--allowed_hosts=a", "--workers=2"),
    "train": ("--question=who?", "--table=t.csv", "--format=json", "--passages=p.json"),
    "export": ("--sheet=a", "--query=select 1", "--lengths=128", "--max_upload_mb=3"),
    "eval": ("--delimiter=;", "--header_row=1", "--encoding=cp1252", "--workers=3"),
    "create_data": ("--format=table", "--max_table_cells=10", "--folder=/", "--port=8080"),
    "analyze": ("--question=who?", "--host=localhost", "--timeout=3", "--passages=p.json"),
}
ROOTS = ("tables", "//a", "/a/../b", "/a?b", "/a#b", "/a b", "http://", "ftp://a/b", "http://[")
ROOTS += ("https://a:99999/b", "/\x00", "/\ud800", "javascript:alert(1)", "https://u:p@a/b", "\\a")
HOSTS = ("256.1.1.1", "a b", "[::1", "http://127.0.0.1", "no.such.host.invalid", "1.2.3", "\x00")


def flags() -> Iterator[Case]:
    """Yields flags that a mode does not read, and addresses that are none."""
    for mode, given in UNUSED.items():
        for flag in given:

            def unused(folder, models, mode=mode, flag=flag):
                own = {
                    "ask": [f"--table={_good_table(folder)}", f"--question={QUESTION}"],
                    "train": [f"--model_dir={folder / 'm'}"],
                }.get(mode, [])
                where = f"--config_file={models.config_file}"
                of_model = [f"--export_dir={models.export}"] if mode == "ask" else [where]
                return [f"--mode={mode}", *of_model, *own, f"--output_dir={folder / 'out'}", flag]

            yield Case(f"{flag} of {mode}", unused)
    for flag, values in {"root_path": ROOTS, "host": HOSTS}.items():
        for value in values:

            def address(folder, models, flag=flag, value=value):
                return ["--mode=demo", f"--export_dir={models.export}", f"--{flag}={value}"]

            yield Case(f"--{flag}={value!r}", address)
