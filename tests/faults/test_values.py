"""Hostile values of settings: refused in one line with key, value and what is allowed, or used.

Nothing is trained here. The experiments of all tasks are changed in one value at a time, and
checked as a command checks them before it begins.
"""

import functools
import math
import re

import pytest
import tensorflow as tf
from official.modeling.hyperparams import base_config

from mate_tf import attention, field_types, tasks
from mate_tf.attention import config as attention_config
from mate_tf.data import features as feature_names
from mate_tf.errors import InputError
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig, TableEncoder
from mate_tf.pointr.config import PointrExperiment
from mate_tf.training import experiments

HOSTILE = (0, -1, 10**9, 10**400, 1.5, math.nan, math.inf, -math.inf, None, True, "x", [], [-1], {})
"""Values for each numeric field. Some fields can use some of them."""

NEVER = (repr(10**400), "nan", "inf", "-inf", "True", "[-1]", "{}")
"""Those of them that no field can use."""

REFUSED = (
    ("task.model.encoder.num_attention_heads", 0, "an integer from 1 to 1024"),
    ("task.model.encoder.hidden_size", -32, "an integer from 1 to 65536"),
    ("task.model.encoder.hidden_size", 10**9, "an integer from 1 to 65536"),
    ("task.model.encoder.hidden_size", None, "an integer from 1 to 65536"),
    ("task.model.encoder.hidden_dropout_prob", 2, "a number of 0 or more and below 1"),
    ("task.model.encoder.hidden_dropout_prob", 1.0, "a number of 0 or more and below 1"),
    ("task.model.encoder.type_vocab_sizes", [3, 0], "a list of integers from 1 to 1000000"),
    ("task.model.encoder.attention.radius", 0, "an integer from 1 to 1000000"),
    ("task.model.answer_loss_cutoff", "x", "a number of 0 or more or null"),
    ("task.model", None, "keys and values"),
    ("task.conversion.max_seq_length", -5, "an integer from 8 to 1000000"),
    ("task.train_data.global_batch_size", -16, "an integer from 1 to 1000000"),
    ("task.validation_data.global_batch_size", 0, "an integer from 1 to 1000000"),
    ("task.train_data.buckets", None, "a list of integers from 1 to 1000000"),
    ("task.train_data.seed", -1, "an integer of 0 or more or null"),
    ("tf_random_seed", -1, "an integer of 0 or more or null"),
    ("tf_random_seed", 2**31, "an integer of 0 or more or null, at most 2147483647"),
    ("trainer.steps_per_loop", 0, "an integer of 1 or more"),
    ("trainer.summary_interval", 3, "a multiple of trainer.steps_per_loop="),
    ("trainer.checkpoint_interval", 0, "an integer of 1 or more"),
    ("trainer.validation_steps", 0, "an integer of 1 or more or -1"),
    ("trainer.train_steps", None, "an integer of 1 or more"),
    (
        "trainer.optimizer_config.optimizer.bert_adamw.beta_1",
        1,
        "a number of 0 or more and below 1",
    ),
    ("trainer.optimizer_config.optimizer.bert_adamw.epsilon", 0, "a number above 0"),
    ("trainer.optimizer_config.optimizer.type", None, "a name"),
    ("trainer.optimizer_config.learning_rate.bert.warmup_ratio", 1.5, "a number from 0 to 1"),
    ("trainer.optimizer_config.ema", 3, "keys and values or null"),
    ("trainer.optimizer_config.learning_rate.type", "polynomial", "a value, which"),
    ("runtime.num_gpus", -1, "an integer from 0 to 1024"),
    ("runtime.mixed_precision_dtype", "half", "one of float32, float16, bfloat16"),
    ("task.model.encoder.attention.row_heads_ratio", 1.5, "a number from 0 to 1"),
)
"""(key, value, what the message says is allowed)."""


def change(experiment, key, value):
    """Sets one value of an experiment, and checks the whole as a command does."""
    for part in reversed(key.split(".")):
        value = {part: value}
    experiments.override(experiment, value, "a.yaml")
    experiments.check(experiment)


def is_refused(experiment, key, value):
    """Returns whether a value is refused. Fails if the message lacks the key, value or range."""
    try:
        change(experiment, key, value)
    except InputError as error:
        message = str(error)
        assert re.search(r"^[\w.: \[\]]+ is .{1,120}, expected .{1,200}$", message), message
        assert key.rpartition(".")[2] in message, message
        return True
    return False


def fields(config, prefix=""):
    """Yields (key, annotation, value) of all fields of a config and of those in it."""
    if isinstance(config, attention.AttentionConfig):
        hints = field_types.annotations(attention_config.options(config.name))
    else:
        hints = field_types.annotations(type(config))
    for key, annotation in hints.items():
        value = getattr(config, key)
        if isinstance(value, base_config.Config):
            yield from fields(value, f"{prefix}{key}.")
        elif not isinstance(value, list) or not any(
            isinstance(e, base_config.Config) for e in value
        ):
            yield f"{prefix}{key}", annotation, value


def is_numeric(annotation, value):
    if isinstance(value, bool) or annotation is bool:
        return False
    kinds = str(annotation)
    return isinstance(value, int | float) or "int" in kinds or "float" in kinds


@pytest.fixture(scope="module")
def found():
    """The experiments of all tasks. Files in configs/ have no other fields than their tasks."""
    return [tasks.experiment(name) for name in tasks.names()]


@pytest.fixture
def experiment(project):
    return experiments.load(str(project / "configs" / "quickstart.yaml"))


def test_experiments_of_all_tasks_pass(found):
    for each in found:
        experiments.check(each)
    PointrExperiment().check("defaults")


def test_every_number_has_a_range(found):
    keys = {
        key: annotation
        for each in found
        for key, annotation, value in fields(each)
        if is_numeric(annotation, value)
    }
    assert len(keys) > 200
    assert not [
        key
        for key, kind in keys.items()
        if not field_types.is_bounded(kind) and field_types.range_of(key) is None
    ]


def test_hostile_values_of_every_number(found):
    """Each distinct field of all experiments gets each value; a message or a number it can use."""
    tried, accepted = set(), set()
    for each in found:
        for key, annotation, value in list(fields(each)):
            kind = key, str(annotation), type(value)
            if not is_numeric(annotation, value) or kind in tried:
                continue
            tried.add(kind)
            *path, name = key.split(".")
            parent = functools.reduce(getattr, path, each)
            for hostile in HOSTILE:
                if not is_refused(each, key, hostile):
                    accepted.add((key, repr(hostile)))
                parent.__dict__[name] = value
    assert len(tried) > 200
    assert not [pair for pair in accepted if pair[1] in NEVER]
    assert {pair[1] for pair in accepted} >= {"0", "-1", "1000000000", "1.5", "None", "[]"}


@pytest.mark.parametrize(("key", "value", "allowed"), REFUSED)
def test_refused(experiment, key, value, allowed):
    with pytest.raises(InputError) as error:
        change(experiment, key, value)
    assert f", expected {allowed}" in str(error.value)
    assert repr(value)[1:-1] in str(error.value)


def test_layers_of_attention_are_named(experiment):
    key = "task.model.encoder.attention"
    with pytest.raises(
        InputError, match=r"a.yaml: task.model.encoder.attention\[1\].radius is 0, "
    ):
        change(experiment, key, [{"name": "full"}, {"name": "mate_exact", "radius": 0}])


def test_values_within_what_is_null_by_default(experiment):
    """A moving average of the weights has settings, and there is none by default."""
    with pytest.raises(InputError, match=r"ema.average_decay is 2, expected a number from 0 to 1"):
        change(experiment, "trainer.optimizer_config.ema", {"average_decay": 2})
    change(experiment, "trainer.optimizer_config.ema", {"average_decay": 0.5})


def test_stepwise_rates_need_one_more_value_than_boundaries(experiment):
    rate = {"type": "stepwise", "stepwise": {"boundaries": [10], "values": [0.1, 0.2, 0.3]}}
    with pytest.raises(InputError, match=r"values is .*, expected 2 values"):
        change(experiment, "trainer.optimizer_config.learning_rate", rate)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden_size", -32),
        ("num_attention_heads", 0),
        ("hidden_dropout_prob", math.nan),
        ("max_position_embeddings", None),
        ("vocab_size", "x"),
    ],
)
def test_models_refuse_configs_made_in_python(key, value):
    config = EncoderConfig(**{key: value})
    with pytest.raises(InputError, match=f"^encoder.{key} is {value!r}, expected "):
        TableClassifier(ClassifierConfig(encoder=config))
    with pytest.raises(InputError, match=f"^{key} is {value!r}, expected "):
        TableEncoder(config)


def test_least_values_build_a_model():
    """The ends of the ranges are not promises: the smallest model can be built and called."""
    encoder = EncoderConfig(
        **dict.fromkeys(["vocab_size", "hidden_size", "num_hidden_layers"], 1),
        **dict.fromkeys(["num_attention_heads", "intermediate_size"], 1),
        **dict.fromkeys(["initializer_range", "word_embedding_scale", "hidden_dropout_prob"], 0.0),
        max_position_embeddings=8,
        type_vocab_sizes=[1] * 7,
        attention={"name": "mate_efficient", "global_length": 1, "radius": 1},
    )
    config = ClassifierConfig(encoder=encoder, max_num_rows=1, max_num_columns=1)
    model = TableClassifier(config)
    names = feature_names.names(feature_names.MODEL_INPUTS)
    inputs = {name: tf.zeros([1, 8], tf.int32) for name in names}
    inputs["label_ids"] = tf.zeros([1, 8], tf.int32)
    assert math.isfinite(model(inputs)["total_loss"])
