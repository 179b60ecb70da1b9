"""The vocabulary is the user's, the checkpoint's, or one from the data, and the user is told."""

import json
import pathlib
import types

import pytest

from mate_tf import tasks
from mate_tf.cli import job_vocabulary
from mate_tf.data import synthetic
from mate_tf.errors import InputError

PIECES = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n"


def task_of(name, checkpoint=""):
    config = tasks.experiment(name).task
    config.init_checkpoint = str(checkpoint)
    return tasks.create(config)


@pytest.fixture
def folder(tmp_path):
    """A data set of the user's, and a checkpoint with a vocabulary."""
    for name in ("data", "out", "weights"):
        (tmp_path / name).mkdir()
    (tmp_path / "data" / "cities.csv").write_text("city,people\nrome,28\nbern,1\n")
    line = {"table": "cities.csv", "question": "which city is rome?", "cells": [[0, 0]]}
    for split in ("train", "dev"):
        (tmp_path / "data" / f"{split}.jsonl").write_text(json.dumps(line))
    (tmp_path / "weights" / "vocab.txt").write_text(PIECES)
    return tmp_path


def job_of(folder, task, mode="create_data"):
    config = task.task_config
    own = str(folder / "out")
    config.conversion.bert_vocab_file = job_vocabulary.find(task, mode, own)
    return types.SimpleNamespace(
        task=task,
        experiment=types.SimpleNamespace(task=config),
        output_dir=own,
        input_dir=str(folder / "data"),
        vocab_file=config.conversion.bert_vocab_file,
    )


def test_from_the_folder_of_the_checkpoint(folder, capsys):
    weights = folder / "weights"
    for checkpoint in (weights, weights / "model.ckpt"):
        job = job_of(folder, task_of("SQA", checkpoint))
        job_vocabulary.make(job)
        job_vocabulary.keep(job)
        assert (folder / "out" / "vocab.txt").read_text() == PIECES
        assert capsys.readouterr().out == f"vocabulary | {weights / 'vocab.txt'}: 5 pieces\n"
    # Examples that are there were made with the vocabulary beside them.
    job = job_of(folder, task_of("SQA", weights), mode="train")
    assert job.vocab_file == str(folder / "out" / "vocab.txt")


def test_of_a_training_of_our_own(folder):
    """Its vocabulary is beside the examples, one folder further up than its checkpoints."""
    (folder / "weights" / "model").mkdir()
    assert job_vocabulary.beside(str(folder / "weights" / "model")) is None
    (folder / "weights" / "model" / "params.yaml").write_text("")
    found = job_vocabulary.beside(str(folder / "weights" / "model" / "ckpt-10"))
    assert pathlib.Path(found).read_text() == PIECES


def test_of_a_fast_tokenizer(folder):
    (folder / "weights" / "vocab.txt").unlink()
    model = {"type": "WordPiece", "vocab": {p: i for i, p in enumerate(PIECES.split())}}
    (folder / "weights" / "tokenizer.json").write_text(json.dumps({"model": model}))
    found = job_vocabulary.beside(str(folder / "weights"))
    assert pathlib.Path(found).read_text() == PIECES


def test_from_the_data(folder, capsys):
    job = job_of(folder, task_of("CUSTOM"))
    own = folder / "out" / "vocab.txt"
    job_vocabulary.make(job)
    pieces = own.read_text().splitlines()
    assert {"rome", "city"} <= set(pieces)
    said = f"vocabulary | {own}: {len(pieces)} pieces, built from the training data\n"
    assert capsys.readouterr().out == said
    # A model that was trained with it would not understand another one.
    own.write_text(PIECES)
    job_vocabulary.make(job)
    job_vocabulary.keep(job)
    assert own.read_text() == PIECES
    assert capsys.readouterr().out == f"vocabulary | {own}: 5 pieces\n"


def test_weights_without_their_vocabulary(folder):
    """One from the data would have other ids than the weights."""
    (folder / "weights" / "vocab.txt").unlink()
    job = job_of(folder, task_of("CUSTOM", folder / "weights"))
    with pytest.raises(InputError, match=r"weights: has no vocab\.txt next to it"):
        job_vocabulary.make(job)


def test_one_of_the_task(folder):
    """Its words are known, so a checkpoint's vocabulary is of no use."""
    job = job_of(folder, task_of("SYNTHETIC", folder / "weights"))
    job_vocabulary.make(job)
    pieces = (folder / "out" / "vocab.txt").read_text().splitlines()
    assert pieces == synthetic.vocabulary()


def test_none(folder):
    assert job_of(folder, task_of("SQA")).vocab_file == ""
