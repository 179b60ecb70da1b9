"""Every flag of google-research/tapas is taken over or answered, before TensorFlow is imported."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from mate_tf import tasks
from mate_tf.cli import flags, main, tapas_flags
from mate_tf.training import experiments

from ..tf1_checkpoint import write_tf1

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "migration.md").read_text(encoding="utf-8")
NAMES = sorted({*re.findall(r"`--(\w+)", PAGE)} - {f"no{name}" for name in tapas_flags.BOOLEAN})
"""The page lists all flags of google-research/tapas, and those of this program to use instead."""


@pytest.mark.parametrize("name", NAMES)
def test_each_flag_is_taken_over_or_answered(refused, monkeypatch, name):
    """In one line, with exit code 2, and without a mode that would import TensorFlow."""
    monkeypatch.setattr(main, "_mode", lambda given: lambda _: None)
    if name in flags.FLAGS:
        assert name not in tapas_flags.NAMES
        return
    accepted = name in tapas_flags.KEYS or name in tapas_flags.WITHOUT_EFFECT
    if accepted or name in tapas_flags.RENAMED or name == "restrict_attention_mode":
        return
    message = refused(f"--{name}=1")
    assert message.startswith(f"--{name} is a flag of google-research/tapas; here: ")
    with_names = set(re.findall(r"--(\w+)", re.sub("'.*'", "", message))) - {name}
    assert all(other in flags.FLAGS for other in with_names)


def test_nothing_else_is_read():
    assert {"mode", "task"}.isdisjoint(tapas_flags.NAMES)
    assert set(tapas_flags.NAMES) <= set(NAMES)


def test_the_page_has_all_keys():
    by_name = {f"task.model.{name}" for name in NAMES}
    assert [
        key for key in tapas_flags.KEYS.values() if key not in by_name | {*PAGE.split("`")}
    ] == []


def test_keys_are_those_of_the_configuration(tmp_path):
    """Values of a real command line reach the configuration, with their types."""
    values = {
        "disabled_features": "column_ranks,inv_column_ranks",
        "span_prediction": "span",
        "average_approximation_function": "first_order",
        "classification_label_weight": "0:1.0,1:2.0",
        "cell_classification_threshold": 0.25,
        "cell_select_pref": 0.25,
        "bert_config_attention_probs_dropout_prob": 0.25,
        "bert_config_hidden_dropout_prob": 0.25,
        "warmup_ratio": 0.25,
    }
    for name, key in tapas_flags.KEYS.items():
        argument = f"--{name}" if name in tapas_flags.BOOLEAN else f"--{name}={values.get(name, 3)}"
        (override,) = tapas_flags.translate([argument])
        experiment = tasks.experiment("WTQ")
        if name == "attention_bias_disabled":
            experiment.task.model.encoder.attention.name = "table_bias"
        read, source = experiments.read_override(override.removeprefix("--params_override="))
        experiments.override(experiment, read, source)
        found = experiment
        for part in key.split("."):
            found = getattr(found, part)
        expected = True if name in tapas_flags.BOOLEAN else values.get(name, 3)
        if name == "disabled_features":
            assert found == expected.split(",")
        else:
            assert found == expected, name


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("--restrict_attention_mode=full", "--attention=full"),
        ("--restrict_attention_mode full --question a", "--question a --attention=full"),
        ("--restrict_attention_mode=same_colum_or_row", "--attention=same_row_or_column"),
        ("--restrict_attention_mode=headwise_same_colum_or_row", "--attention=mate_exact"),
        ("--restrict_attention_mode=table_attention", "--attention=table_bias"),
        (
            "--restrict_attention_mode=headwise_efficient --restrict_attention_bucket_size=42 "
            "--restrict_attention_header_size=116 --restrict_attention_row_heads_ratio=0.25",
            "--attention=mate_efficient --row_heads_ratio=0.25 --radius=42 --global_length=116",
        ),
        (
            "--restrict_attention_bucket_size=8 --restrict_attention_mode=headwise_efficient",
            "--attention=mate_efficient --radius=8 --global_length=8",
        ),
        (
            "--restrict_attention_mode=full --restrict_attention_bucket_size=8 "
            "--restrict_attention_row_heads_ratio=0.25",
            "--attention=full",
        ),
        ("--restrict_attention_bucket_size=0", ""),
        ("--restrict_attention_header_size=9", "--global_length=9"),
        ("--noloop_predict --tapas_verbosity=INFO --compression_type=GZIP", ""),
        ("--loop_predict=False --data_format=tfrecord --proj_value_length=-1", ""),
        ("--notest_mode --nodo_train --do_eval=0", ""),
        ("--mode=CREATE_DATA --task=SQA", "--mode=create_data --task=SQA"),
        ("--predict_batch_size=4 --vocab_file=v", "--test_batch_size=4 --bert_vocab_file=v"),
        ("--nomemory --noprune_columns", "--nomemory --noprune_columns"),
        ("-- --do_train", "-- --do_train"),
        ("ask t.csv --port 3", "ask t.csv --port 3"),
    ],
)
def test_translation(given, expected):
    assert tapas_flags.translate(given.split()) == expected.split()


def test_windows_by_a_mask():
    """In this mode TAPAS restricts attention to neighbouring buckets too."""
    *sizes, override = tapas_flags.translate(
        [
            "--restrict_attention_mode=headwise_same_colum_or_row",
            "--restrict_attention_bucket_size=7",
        ]
    )
    assert sizes == ["--attention=mate_exact", "--radius=7", "--global_length=7"]
    values = json.loads(override.removeprefix("--params_override="))
    assert values == {"task": {"model": {"encoder": {"attention": {"windowed": True}}}}}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--loop_predict", "--loop_predict is a flag of google-research/tapas; here: --mode="),
        ("--compression_type=ZLIB", "examples are written with GZIP"),
        ("--do_train", "here: --mode=train"),
        ("--test_mode", "here: --num_train_steps=10"),
        ("--table_pruning_config_file=a.txt", "pruning models are not supported"),
        ("--attention_bias_use_relative_scalar_only=false", "has scalar biases only"),
        ("--mode=EVALUATE", "--mode=evaluate is a flag of google-research/tapas; here: --mode="),
        ("--task=HYBRIDQA_E2E", "here: --task=POINTR"),
        ("--restrict_attention_mode=headwise", "choose one of full, same_colum_or_row, "),
        ("--restrict_attention_mode=headwise_efficient", "needs a bucket size"),
        ("--restrict_attention_bucket_size=many", "'many', not a number"),
        ("--restrict_attention_mode", "--restrict_attention_mode needs a value"),
    ],
)
def test_answers(refused, words, message):
    assert message in refused(*words.split())


def test_a_command_of_theirs(monkeypatch, tmp_path):
    """As their README trains, with the flags of MATE: what is read is what they mean."""
    seen = []
    monkeypatch.setattr(main, "_mode", lambda _: seen.append)
    main.run(
        [
            "run_task_main.py",
            "--task=SQA",
            f"--output_dir={tmp_path}",
            "--bert_vocab_file=vocab.txt",
            "--mode=TRAIN",
            "--noloop_predict",
            "--tapas_verbosity=INFO",
            "--restrict_attention_mode=headwise_efficient",
            "--restrict_attention_bucket_size=42",
            "--restrict_attention_header_size=116",
            "--select_one_column=false",
        ]
    )
    (given,) = seen
    assert (given.mode, given.attention, given.radius, given.global_length) == (
        *("train", "mate_efficient"),
        *(42, 116),
    )
    assert json.loads(given.params_override[0]) == {"task": {"model": {"select_one_column": False}}}


def test_without_tensorflow(project):
    code = (
        "import sys; sys.argv = ['mate-tf', '--do_train']; from mate_tf.cli import main\n"
        "try: main.run()\nexcept SystemExit as stop: assert stop.code == 2\n"
        "assert 'tensorflow' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("mode", ["train", "predict", "export", "ask", "demo"])
def test_a_tf1_checkpoint_as_model_dir(refused, monkeypatch, tmp_path, mode):
    monkeypatch.setattr(main, "_mode", lambda _: pytest.fail("the mode would have been run"))
    write_tf1({"bert/pooler/dense/bias": [0.0]}, tmp_path / "model.ckpt")
    message = refused(f"--mode={mode}", "--task=SQA", f"--model_dir={tmp_path}")
    assert message.startswith(f"{tmp_path}: has a TF1 checkpoint (model.ckpt.index), as BERT and")
    assert f"give this one as --init_checkpoint={tmp_path}" in message


def test_checkpoints_of_mate_tf_are_no_tf1_checkpoints(monkeypatch, trained, tmp_path):
    """With params.yaml and, where only the checkpoint was copied, without."""
    seen = []
    monkeypatch.setattr(main, "_mode", lambda _: seen.append)
    *others, model_dir = trained
    main.run(["mate-tf", "--mode=predict", *others, model_dir])
    for path in pathlib.Path(model_dir.partition("=")[2]).glob("ckpt-*"):
        shutil.copy(path, tmp_path)
    main.run(["mate-tf", "--mode=predict", *others, f"--model_dir={tmp_path}"])
    assert len(seen) == 2
