"""A toy task that a tiny model can learn: the question is one word, find the cell that has it."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.training import experiments

CLS, SEP, FIRST_WORD, NUM_WORDS = 2, 3, 10, 40
COLUMNS = 3
LENGTH = 32


def toy_example(rng, question_id):
    """A table of 1 to 4 rows of different words, one of which is asked for."""
    rows = rng.integers(2, 6)  # with the header
    words = FIRST_WORD + rng.permutation(NUM_WORDS)[: rows * COLUMNS]
    answer = rng.integers(COLUMNS, rows * COLUMNS)
    question = [CLS, words[answer], SEP]
    tokens = len(question) + len(words)
    ints = {name: np.zeros(LENGTH, np.int64) for name in TOKEN_INTS}
    ints["input_ids"][:tokens] = [*question, *words]
    ints["input_mask"][:tokens] = 1
    ints["segment_ids"][len(question) : tokens] = 1
    ints["row_ids"][len(question) : tokens] = np.repeat(np.arange(rows), COLUMNS)
    ints["column_ids"][len(question) : tokens] = np.tile(np.arange(COLUMNS) + 1, rows)
    ints["label_ids"][len(question) + answer] = 1
    ids = np.zeros(feature_names.QUESTION_ID_LENGTH, np.int64)
    ids[: len(question_id)] = [ord(letter) + 1 for letter in question_id]
    ints.update(
        question_id_ints=ids,
        aggregation_function_id=[0],
        classification_class_index=[0],
        table_id_hash=[0],
    )
    floats = {
        "numeric_values": np.full(LENGTH, np.nan),
        "numeric_values_scale": np.ones(LENGTH),
        "answer": [np.nan],
    }
    texts = {"question_id": question_id.encode(), "table_id": b"toy"}
    feature = {
        name: tf.train.Feature(int64_list=tf.train.Int64List(value=value))
        for name, value in ints.items()
    }
    for name, value in floats.items():
        feature[name] = tf.train.Feature(float_list=tf.train.FloatList(value=value))
    for name, value in texts.items():
        feature[name] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    return tf.train.Example(features=tf.train.Features(feature=feature))


def padding_example(rng):
    """Fills up a batch: neither predictions nor metrics know it."""
    example = toy_example(rng, "EMPTY-0_0")
    for name in ("row_ids", "column_ids", "label_ids"):
        example.features.feature[name].int64_list.value[:] = [0] * LENGTH
    return example


TOKEN_INTS = [*feature_names.names(feature_names.MODEL_INPUTS), "label_ids"]


@pytest.fixture(scope="session")
def toy_records(tmp_path_factory):
    """Paths of 256 training and 32 validation examples; two questions an interaction."""
    folder = tmp_path_factory.mktemp("toy")
    paths = {}
    for seed, (split, count) in enumerate((("train", 256), ("dev", 32))):
        rng = np.random.default_rng(seed)
        paths[split] = str(folder / f"{split}.tfrecord")
        with tf.io.TFRecordWriter(paths[split], options="GZIP") as writer:
            for index in range(count):
                example = toy_example(rng, f"{split}-{index // 2}-0_{index % 2}")
                writer.write(example.SerializeToString())
            if split == "dev":
                writer.write(padding_example(rng).SerializeToString())
    return paths


@pytest.fixture
def toy_experiment(toy_records):
    """toy_experiment(*overrides): a tiny model on those examples, 8 steps unless overridden.
    Without evaluation, which takes as long to compile as training; see `with_evaluation`. All
    batches have the same length: a step for any length takes four times as long to trace; see
    `mixed_lengths`."""

    def make(*overrides):
        experiment = experiments.load(task="SYNTHETIC")
        given = {
            "task": {
                "train_data": {"input_path": toy_records["train"], "buckets": []},
                "validation_data": {"buckets": []},
                "conversion": {"max_seq_length": LENGTH},
                "model": {
                    "max_num_rows": 8,
                    "max_num_columns": 8,
                    "sequence_dropout_prob": 0.0,
                    "encoder": {
                        "vocab_size": FIRST_WORD + NUM_WORDS,
                        "hidden_size": 32,
                        "num_hidden_layers": 1,
                        "num_attention_heads": 2,
                        "intermediate_size": 32,
                        "max_position_embeddings": LENGTH,
                        "hidden_dropout_prob": 0.0,
                        "attention_probs_dropout_prob": 0.0,
                        "attention": {"global_length": 4, "radius": 8},
                    },
                },
            },
            "trainer": {
                "train_steps": 8,
                "steps_per_loop": 4,
                "summary_interval": 4,
                "checkpoint_interval": 4,
                "validation_interval": 8,
                "optimizer_config": {"learning_rate": {"bert": {"warmup_steps": 100}}},
            },
            "tf_random_seed": 1,
        }
        experiments.override(experiment, given, "toy")
        for text in overrides:
            experiments.override(experiment, *experiments.read_override(text))
        return experiment

    return make


@pytest.fixture
def with_evaluation(toy_records):
    """Override that makes a toy experiment evaluate."""
    return f"task.validation_data.input_path='{toy_records['dev']}'"


@pytest.fixture
def mixed_lengths():
    """Override that gives a toy experiment training batches of 16 and of 32 tokens."""
    return f"task.train_data.buckets=[16,{LENGTH}]"


@pytest.fixture
def large_steps():
    """Override of the learning rate: two steps already change the weights a lot."""
    return (
        "trainer: {optimizer_config: {warmup: {type: null}, learning_rate: {type: bert,"
        " bert: {initial_learning_rate: 0.006, warmup_steps: 0}}}}"
    )
