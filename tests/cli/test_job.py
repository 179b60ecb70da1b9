"""From flags to an experiment and its folders."""

import json
import os

import pytest
from absl.testing import flagsaver

from mate_tf.cli import flags as flag_definitions
from mate_tf.cli import job, pretrained
from mate_tf.errors import InputError
from mate_tf.layers import precision
from mate_tf.training import experiments


def job_of(*arguments):
    with flagsaver.flagsaver():
        flag_definitions.FLAGS(["mate-tf", *map(str, arguments)])
        return job.Job.from_flags(flag_definitions.FLAGS)


def test_folders(config_file):
    default = job_of(f"--config_file={config_file}")
    assert default.output_dir == os.path.join("out", "tiny")
    assert default.model_dir == os.path.join("out", "tiny", "model")
    assert default.export_dir == os.path.join("out", "tiny", "model", "export")
    task = default.experiment.task
    assert task.train_data.input_path == os.path.join("out/tiny/tf_examples/train.tfrecord")
    assert task.validation_data.input_path == os.path.join("out/tiny/tf_examples/dev.tfrecord")
    assert task.conversion.bert_vocab_file == os.path.join("out", "tiny", "vocab.txt")
    given = job_of("--task=sqa", "--output_dir=o", "--model_dir=m", "--input_dir=i")
    assert (given.output_dir, given.model_dir, given.export_dir) == ("o", "m", "m/export")
    assert given.input_dir == "i"
    assert job_of("--task=sqa").output_dir == os.path.join("out", "sqa")


def test_vocabulary_beside_the_examples(tmp_path):
    """What create_data left there need not be given again."""
    arguments = ("--task=SQA", f"--output_dir={tmp_path}")
    with pytest.raises(InputError, match="task SQA needs --bert_vocab_file"):
        job_of(*arguments).vocab_file  # noqa: B018
    (tmp_path / "vocab.txt").write_text("[PAD]\n")
    assert job_of(*arguments).vocab_file == str(tmp_path / "vocab.txt")
    with pytest.raises(InputError, match="--bert_vocab_file=other: no such file"):
        job_of(*arguments, "--bert_vocab_file=other").vocab_file  # noqa: B018


VALUES = {
    "bert_vocab_file": "v",
    "max_seq_length": 99,
    "drop_rows_to_fit": True,
    "prune_columns": True,
    "prune_rows": True,
    "fill_cells": True,
    "use_document_title": True,
    "expand_entity_descriptions": True,
    "entity_descriptions_sentence_limit": 3,
    "use_entity_title": True,
    "update_answer_coordinates": True,
    "init_checkpoint": "c",
    "skip_mismatched": True,
    "reset_output_cls": True,
    "gradient_accumulation_steps": 2,
    "train_batch_size": 3,
    "test_batch_size": 4,
    "attention": "mate_exact",
    "global_length": 7,
    "radius": 8,
    "row_heads_ratio": 0.25,
    "reset_position_index_per_cell": True,
    "num_train_steps": 17,
    "learning_rate": 0.5,
    "tf_random_seed": 5,
    "mixed_precision": "bfloat16",
}


def test_each_flag_sets_its_key():
    of_tpus = {"tpu_name", "tpu_zone", "gcp_project"}  # test_tpu.py
    assert set(VALUES) | of_tpus == set(job.FLAG_OVERRIDES)
    experiment = job_of("--task=SQA", *(f"--{k}={v}" for k, v in VALUES.items())).experiment
    for flag in VALUES:
        key, value = job.FLAG_OVERRIDES[flag], experiment
        for part in key.split("."):
            value = getattr(value, part)
        assert value == VALUES[flag], flag


def test_automatic_precision(capsys):
    """It is chosen for the machine and said, on standard error, where no answers are."""
    chosen, reason = precision.choose()
    pretrained._chosen.cache_clear()
    for flag in ("precision", "mixed_precision"):
        runtime = job_of("--task=SQA", f"--{flag}=auto").experiment.runtime
        assert runtime.mixed_precision_dtype == chosen
    out, err = capsys.readouterr()
    assert err == f"precision | {chosen}: {reason}\n"
    assert "precision" not in out
    flags = ("--task=SQA", "--precision=auto", "--use_tpu", "--tpu_name=grpc://10.0.0.2:8470")
    of_tpu = job_of(*flags).experiment.runtime
    assert of_tpu.mixed_precision_dtype == "bfloat16"
    assert capsys.readouterr().err == "precision | bfloat16: all TPUs have matmuls in it\n"


def test_params_override_has_the_last_word(config_file):
    steps = job_of(
        f"--config_file={config_file}",
        "--num_train_steps=5",
        "--params_override=trainer.train_steps=6",
        "--params_override=task: {model: {temperature: 2.0}}",
    ).experiment
    assert (steps.trainer.train_steps, steps.task.model.temperature) == (6, 2.0)


@pytest.mark.parametrize("type_vocab_size", [2, [3, 64, 64, 2, 64, 64, 10], None])
def test_bert_config_file(tmp_path, type_vocab_size):
    """BERT's own says 2, TAPAS's lists seven tables; keys that are not the encoder's are left."""
    path = tmp_path / "bert_config.json"
    content = {"hidden_size": 64, "num_attention_heads": 4, "directionality": "bidi"}
    if type_vocab_size:
        content["type_vocab_size"] = type_vocab_size
    path.write_text(json.dumps(content))
    encoder = job_of("--task=SYNTHETIC", f"--bert_config_file={path}").experiment.task.model.encoder
    assert (encoder.hidden_size, encoder.num_attention_heads) == (64, 4)
    default = experiments.load(task="SYNTHETIC").task.model.encoder
    seven = type_vocab_size if isinstance(type_vocab_size, list) else default.type_vocab_sizes
    assert list(encoder.type_vocab_sizes) == list(seven)
    # What the file does not speak of stays as the task has it.
    assert encoder.key_initialization == default.key_initialization == "query"
    assert encoder.attention == default.attention


def test_wrong_bert_config_file(tmp_path):
    path = tmp_path / "bert_config.json"
    for content, message in (
        ("{", "not valid JSON"),
        ("[]", "expected a JSON object"),
        ('{"hidden_size": "wide"}', "hidden_size is 'wide', expected an integer"),
    ):
        path.write_text(content)
        with pytest.raises(InputError, match=message) as raised:
            job_of("--task=SQA", f"--bert_config_file={path}")
        assert str(path) in str(raised.value)
    with pytest.raises(InputError, match=r"absent\.json: cannot be read"):
        job_of("--task=SQA", "--bert_config_file=absent.json")
