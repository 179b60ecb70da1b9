"""Hundreds of bad inputs to the command line: one line and exit code 2, and no stack trace.

Each test prints how many it has tried. What is accepted although it looks bad is listed as such.
"""

import json
import pathlib
import shutil

import pytest
import yaml

from mate_tf.cli import flags as flag_definitions

from . import damage

QUESTION = "--question=who is 30?"


class Trials:
    """Runs the command line; keeps the number of runs, and descriptions of wrong ones."""

    def __init__(self, invoke, capsys):
        self.number, self.wrong = 0, []
        self._invoke, self._capsys = invoke, capsys

    def refused(self, name: str, *arguments, words=(), accepted: bool = False) -> None:
        """Runs a command that must end with exit code 2 and one line with all `words`. If
        `accepted`, it may also end with 0."""
        self.number += 1
        self._capsys.readouterr()
        try:
            code = self._invoke(*arguments)
        except BaseException as error:
            self.wrong.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
            return
        said = self._capsys.readouterr().err
        lines = [line for line in said.splitlines() if line.startswith("mate-tf: ")]
        if code == 0 and accepted:
            return
        if code != 2 or len(lines) != 1 or "Traceback" in said:
            self.wrong.append(f"{name}: exit code {code}: {said[-300:]!r}")
        elif missing := [word for word in words if word not in lines[0]]:
            self.wrong.append(f"{name}: {missing} not in {lines[0]!r}")

    def end(self) -> None:
        """Prints the number of runs; fails if any went wrong."""
        with self._capsys.disabled():
            print(f" {self.number} bad inputs", end="")
        assert not self.wrong, "\n".join(self.wrong)


@pytest.fixture
def trials(invoked, capsys):
    found = Trials(invoked, capsys)
    yield found
    found.end()


def values_of(flag):
    """Returns bad values of a flag."""
    kind = flag.flag_type()
    if kind in ("int", "float"):
        low = ["-1", "0"] if getattr(flag.parser, "lower_bound", None) else []
        return ["x", "", "1,2", "0x", "--1", *(["1.5"] if kind == "int" else []), *low[:1]]
    if kind == "bool":
        return ["maybe", "2", " "]
    return ["dance", "", "FULL "] if kind == "string enum" else []


def test_flags(trials):
    for flag in flag_definitions.FLAGS.get_flags_for_module(flag_definitions):
        for value in values_of(flag):
            arguments = [f"--{flag.name}={value}"]
            if flag.name != "mode":
                arguments.append("--mode=eval")
            trials.refused(" ".join(arguments), *arguments)


PATHS = ("absent", "absent/absent", "/dev/null", "/", "", "x" * 5000, "a\nb", "\udcff", "gs:/x")
PATHS += ("~x",)
OVERRIDES = ("a", "a=", "=1", "task", "task=1", "task.name=x", "{", "a: b: c", "x.yaml", "[1]")


@pytest.mark.parametrize("mode", ["train", "eval", "predict", "export", "ask", "analyze"])
def test_paths(trials, mode, config_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("config_file", "init_checkpoint", "bert_config_file", "params_override", "table"):
        for path in PATHS:
            others = [f"--config_file={config_file}"] if name != "config_file" else []
            if mode == "ask":
                others += [QUESTION]
            value = f"--{name}={path}"
            trials.refused(f"{mode} {value[:60]!r}", f"--mode={mode}", value, *others)
    assert not list(tmp_path.iterdir())


def test_configurations(trials, tmp_path, config_file, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "wrong.yaml"
    content = yaml.safe_load(config_file.read_text())
    texts = {
        **damage.damaged(config_file.read_bytes()),
        **{f"JSON: {name}": text for name, text in damage.JSON.items()},
        "tab": b"task:\n\tname: SQA",
        "alias": b"task: *nothing",
        "bomb": b"a: &a [1,1,1,1,1,1,1,1,1]\n"
        + b"".join(
            b"%c: &%c [%b]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 9)) for n in range(98, 106)
        ),
        "python object": b"task: !!python/object/apply:os.system [exit]",
        "number as key": b"1: 2",
        "list as key": b"[1]: 2",
    }

    def cases(section, keys):
        for key, value in section.items():
            here = [*keys, key]
            if isinstance(value, dict):
                yield here[:-1], key, [], "a list for an object"
                yield here[:-1], key, "x", "text for an object"
                yield here, "no_such_key", 1, "an unknown key"
                yield from cases(value, here)
            elif not isinstance(value, str):
                yield here[:-1], key, {}, "an object for a value"
                yield here[:-1], key, "x", "text for a number"

    for keys, key, value, kind in cases(content, []):
        changed = json.loads(json.dumps(content))
        target = changed
        for each in keys:
            target = target[each]
        target[key] = value
        texts[f"{kind}: {'.'.join([*keys, key])}"] = json.dumps(changed).encode()
    for name, text in texts.items():
        path.write_bytes(text)
        # Some damage leaves a valid configuration: then there is no checkpoint.
        trials.refused(name, "--mode=eval", f"--config_file={path}")
    for override in OVERRIDES:
        trials.refused(
            override, "--mode=eval", f"--config_file={config_file}", f"--params_override={override}"
        )


TABLES = {
    "header only": b"name,age\n",
    "long row": b"name,age\nann,30,1\n",
    "short row": b"name,age\nann\n",
    "open quotation mark": b'name,age\n"ann,30\n',
    "UTF-16": "name,age\nann,30\n".encode("utf-16"),
    "UTF-16 without a mark": "name,age\nann,30\n".encode("utf-16-le"),
    "Latin-1": "name,age\nännä,30\n".encode("latin-1"),
    "blank": b" \n\t\n",
    "mark only": b"\xef\xbb\xbf",
    "xlsx in name only": b"PK\x03\x04",
}
READ_ALL_THE_SAME = ("open quotation mark", "UTF-16", "UTF-16 without a mark", "Latin-1", "JSON")
"""Tables that are read by what they look like: a mark at the edge of a cell, other encodings."""
JSON_TABLES = {
    "no rows": b'{"columns": ["a"], "rows": []}',
    "no columns": b'{"rows": [["a"]]}',
    "short row": b'{"columns": ["a", "b"], "rows": [["a"]]}',
    "object in a cell": b'{"columns": ["a"], "rows": [[{"b": 1}]]}',
    "rows of text": b'{"columns": ["a"], "rows": ["ab"]}',
    "columns of text": b'{"columns": "ab", "rows": [["a", "b"]]}',
    "list of lists": b"[[1, 2]]",
    "empty list": b"[]",
    **damage.JSON,
}


def test_tables(trials, trained_model, tmp_path):
    export = f"--export_dir={trained_model / 'export'}"
    files = {f"{name}.csv": content for name, content in TABLES.items()}
    for name, content in TABLES.items():
        files[f"{name}.tsv"] = content.replace(b",", b"\t")
    files |= {f"{name}.json": content for name, content in JSON_TABLES.items()}
    for name, content in damage.damaged(b"PK\x03\x04" + bytes(range(256)) * 9).items():
        files[f"{name}.xlsx"] = content
    for name, content in files.items():
        path = tmp_path / name
        path.write_bytes(content)
        accepted = path.stem in READ_ALL_THE_SAME
        trials.refused(name, "ask", path, "who?", export, words=[name], accepted=accepted)
    path = tmp_path / "good.csv"
    path.write_text("name,age\nann,30\n")
    for question in ("", " ", "\n", "\t "):
        name, asked = f"question {question!r}", f"--question={question}"
        trials.refused(name, "ask", f"--table={path}", asked, export, words=["question"])


def test_vocabularies(trials, config_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pieces = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[EMPTY]\nname\n"
    contents = damage.damaged(pieces) | {
        "twice": pieces + b"name\n",
        "empty line": pieces.replace(b"name", b""),
        "long piece": pieces + b"x" * 2_000_000,
        "no special pieces": b"a\nb\n",
        "Latin-1": pieces + b"\xe4\n",
    }
    for name, content in contents.items():
        path = tmp_path / "vocab.txt"
        path.write_bytes(content)
        trials.refused(
            name,
            "--mode=create_data",
            "--task=SQA",
            f"--input_dir={tmp_path}",
            f"--bert_vocab_file={path}",
            "--num_processes=1",
        )


SETTINGS = {
    "no converter": {"class_names": []},
    "converter is a list": {"converter": []},
    "converter is null": {"converter": None},
    "of a newer version": {"converter": {"max_seq_length": 128, "invented_later": True}},
    "text for a number": {"converter": {"max_seq_length": "128"}},
    "null for a number": {"converter": {"max_seq_length": None}},
    "negative": {"converter": {"max_seq_length": -1}},
    "classes are a number": {"converter": {}, "class_names": 3},
    "classes are numbers": {"converter": {}, "class_names": [1, 2]},
    "of another vocabulary": {"converter": {}, "vocabulary": "0" * 64},
}


@pytest.fixture
def replaced(trials, tmp_path):
    """replaced(file, contents, *arguments): asks with each content in place of the file's own. None
    removes the file. `harmless` are the names of contents that may also be accepted."""
    table = tmp_path / "table.csv"
    table.write_text("name,age\nann,30\nbob,25\n")

    def ask(file: pathlib.Path, contents: dict[str, bytes | None], flag: str, harmless=()):
        before = file.read_bytes()
        for name, content in contents.items():
            if content is None:
                file.unlink()
            else:
                file.write_bytes(content)
            case = f"{file.relative_to(tmp_path)}: {name}"
            trials.refused(case, "ask", table, "who is 30?", flag, accepted=name in harmless)
            file.write_bytes(before)

    return ask


@pytest.mark.usefixtures("loaded_once")
def test_settings_of_exports(replaced, trained_model, tmp_path):
    export = tmp_path / "export"
    shutil.copytree(trained_model / "export", export)
    contents = {name: json.dumps(content).encode() for name, content in SETTINGS.items()}
    replaced(
        export / "assets.extra" / "mate_tf.json", contents | damage.JSON, f"--export_dir={export}"
    )


@pytest.mark.slow
def test_damaged_exports(replaced, trained_model, tmp_path):
    export = tmp_path / "export"
    shutil.copytree(trained_model / "export", export)
    files = sorted(path for path in export.rglob("*") if path.is_file())
    assert len(files) >= 5
    for path in files:
        contents = {"missing": None} | damage.damaged(path.read_bytes())
        # A flipped bit may be in a weight, in a name, or in what nobody reads. JSON needs no line
        # end.
        harmless = ["bits flipped", *(["without its end"] if path.suffix == ".json" else [])]
        # The graph and the objects behind the variables are TensorFlow's, which does not answer.
        if path.name == "saved_model.pb":
            harmless = contents.keys() - {"missing"}
        elif path.suffix == ".data-00000-of-00001":
            harmless.append("without its end")
        harmless = contents if path.name == "fingerprint.pb" else harmless
        replaced(path, contents, f"--export_dir={export}", harmless)


@pytest.mark.slow
def test_damaged_checkpoints(replaced, trained_model, tmp_path):
    """The state file is not needed: the newest checkpoint is found without it."""
    model_dir = tmp_path / "model"
    shutil.copytree(trained_model, model_dir, ignore=shutil.ignore_patterns("export"))
    files = sorted(path for path in model_dir.iterdir() if path.is_file())
    assert len(files) >= 4
    for path in files:
        contents = {"missing": None} | damage.damaged(path.read_bytes())
        harmless = contents if path.name == "checkpoint" else ["bits flipped", "without its end"]
        if path.name == "vocab.txt":  # params.yaml names another; a shorter one may be meant
            harmless += ["missing", "half"]
        replaced(path, contents, f"--init_checkpoint={model_dir}", harmless)


def test_damaged_records(trials, config_file, created, tmp_path):
    """Before a model is built, and before anything is written."""
    shutil.copytree(created, tmp_path / "data")
    path = tmp_path / "data" / "tf_examples" / "train.tfrecord"
    contents = damage.damaged(path.read_bytes()) | {
        "of interactions": (created / "interactions" / "train.tfrecord").read_bytes()
    }
    for name, content in contents.items():
        path.write_bytes(content)
        arguments = (f"--config_file={config_file}", f"--output_dir={tmp_path / 'data'}")
        trials.refused(name, "--mode=train", *arguments, words=["train.tfrecord"])
    assert not list((tmp_path / "data").rglob("*.index"))
