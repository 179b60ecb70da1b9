"""--mode=create_data: what it leaves behind, and what it needs."""

import collections
import sys

import psutil
import pytest

import mate_tf.data
from mate_tf import tasks
from mate_tf.data import records

SPECIAL = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n"


def test_what_it_leaves_behind(created, files):
    assert files(created) == sorted(
        [f"interactions/{split}.tfrecord" for split in ("train", "dev", "test")]
        + [f"tf_examples/{split}.tfrecord" for split in ("train", "dev", "test")]
        + [f"tf_examples/{split}.report.json" for split in ("train", "dev", "test")]
        + ["vocab.txt"]
    )


def create_data(config_file, folder):
    return (
        "--mode=create_data",
        f"--config_file={config_file}",
        f"--output_dir={folder}",
        "--num_processes=1",
    )


@pytest.fixture
def sqa(tmp_path):
    """Flags of a create_data with SQA's files, and a vocabulary in vocab.txt."""
    (tmp_path / "official").mkdir()
    (tmp_path / "vocab.txt").write_text(f"{SPECIAL}a\nb\n")
    return (
        "--mode=create_data",
        "--task=SQA",
        f"--output_dir={tmp_path / 'out'}",
        f"--bert_vocab_file={tmp_path / 'vocab.txt'}",
        f"--input_dir={tmp_path / 'official'}",
        "--num_processes=1",
    )


def test_official_files(refused, sqa, tmp_path):
    without = [flag for flag in sqa if "input_dir" not in flag]
    assert refused(*without) == "task SQA needs --input_dir=FOLDER of its files"
    assert refused(*without, "--input_dir=absent") == "--input_dir=absent: no such folder"
    path = tmp_path / "official" / "random-split-1-train.tsv"
    assert refused(*sqa) == f"{path}: No such file or directory"
    path.write_text("id\tannotator\n")
    assert refused(*sqa).startswith(f"{path} line 1: missing column(s) position")


def test_vocabulary(refused, sqa, tmp_path):
    path = tmp_path / "vocab.txt"
    without = [flag for flag in sqa if "bert_vocab_file" not in flag]
    assert refused(*without) == "task SQA needs --bert_vocab_file=FILE"
    larger = refused(*sqa, "--params_override=task.model.encoder.vocab_size=5")
    assert larger == f"{path}: has 6 pieces, more than task.model.encoder.vocab_size=5"
    path.write_text("[PAD]\n[UNK]\n[SEP]\n")
    assert refused(*sqa) == f"{path}: the vocabulary lacks [CLS]"
    path.write_bytes(b"\xff\xfe\x00")
    assert refused(*sqa).startswith(f"{path}: not a vocabulary")
    path.unlink()
    assert refused(*sqa) == f"--bert_vocab_file={path}: no such file"
    assert not (tmp_path / "out").exists()


def test_vocabulary_that_is_not_there(refused, config_file, tmp_path):
    """A task that makes its own does not make one where the user named another."""
    path = tmp_path / "misspelt.txt"
    flags = create_data(config_file, tmp_path / "out")
    assert refused(*flags, f"--bert_vocab_file={path}") == f"--bert_vocab_file={path}: no such file"
    assert list(tmp_path.iterdir()) == []


def test_output_dir_is_a_file(refused, config_file, tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    message = refused("--mode=create_data", f"--config_file={config_file}", f"--output_dir={path}")
    assert str(path) in message


def test_beam(created, config_file, command, files, tmp_path):
    """The same files, with the same examples in another order."""
    pytest.importorskip("apache_beam", reason="needs the extra beam")
    printed = command(*create_data(config_file, tmp_path), "--runner_type=DIRECT")
    assert "created | train: " in printed
    assert files(tmp_path) == files(created)
    for name in files(created):
        ours, beams = (folder / name for folder in (created, tmp_path))
        if "tf_examples" in name and name.endswith(".tfrecord"):
            ours, beams = (
                collections.Counter(
                    example.SerializeToString(deterministic=True)
                    for example in records.read_examples(path)
                )
                for path in (ours, beams)
            )
            assert beams == ours
        else:
            assert beams.read_bytes() == ours.read_bytes()


def test_without_beam(refused, config_file, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "apache_beam", None)
    monkeypatch.delitem(sys.modules, "mate_tf.data.beam", raising=False)
    monkeypatch.delitem(vars(mate_tf.data), "beam", raising=False)  # not imported on the way
    message = refused(*create_data(config_file, tmp_path / "out"), "--runner_type=DIRECT")
    assert message.startswith("Beam cannot be imported (")
    assert message.endswith("pip install 'mate-tf[beam]'")
    assert not (tmp_path / "out").exists()


def test_beam_options(refused, config_file, tmp_path):
    flags = create_data(config_file, tmp_path / "out")
    assert "DIRECT|DATAFLOW" in refused(*flags, "--runner_type=SPORK")
    message = refused(*flags, "--beam_options=--region=x")
    assert message == "--beam_options=--region=x: needs --runner_type"
    message = refused(*flags, "--runner_type=FLINK", "--beam_options=--name='x")
    assert message == "--beam_options=--name='x: No closing quotation"
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_killed(command, config_file, started, tmp_path):
    """SIGKILL while it writes: only whole files under their names, and no process that waits."""
    flags = create_data(config_file, tmp_path)
    large = ("--params_override=task.generation.num_train_tables=2000", "--num_processes=2")
    with started(*flags, *large) as process:
        # Two that convert, and Python's own that looks after what they share.
        process.wait_until(
            lambda: list(tmp_path.glob("tf_examples/.*")) and len(process.children()) == 3
        )
        workers = process.children()
    assert psutil.wait_procs(workers, timeout=600)[1] == []
    assert [path.name for path in tmp_path.rglob("*.tfrecord")] == ["train.tfrecord"]
    assert len(list(records.read_interactions(tmp_path / "interactions/train.tfrecord"))) == 2000
    command(*flags)
    assert list(tmp_path.rglob(".*")) == []


def test_subsets_have_interactions_of_their_own(command, config_file, tmp_path, monkeypatch):
    """They are evaluated with the predictions of the split that they are part of."""
    task = type(tasks.create(tasks.experiment("SYNTHETIC").task))
    read = task.interactions

    def interactions(self, source, split):
        return (
            list(read(self, source, "test"))[:1] if split == "small" else read(self, source, split)
        )

    monkeypatch.setattr(task, "subsets", {"small": "test"})
    monkeypatch.setattr(task, "interactions", interactions)
    command(*create_data(config_file, tmp_path))
    folder = tmp_path / "interactions"
    (small,) = records.read_interactions(folder / "small.tfrecord")
    assert small == next(records.read_interactions(folder / "test.tfrecord"))
    assert not (tmp_path / "tf_examples" / "small.tfrecord").exists()
