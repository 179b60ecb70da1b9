"""TEXT_PRETRAIN: BERT's settings, interactions and batches out of text, with and without pairs."""

import numpy as np
import pytest

from mate_tf import tasks
from mate_tf.data import features as feature_names
from mate_tf.data import records
from mate_tf.data.converters import sequences
from mate_tf.data.pretraining.sentence_pairs import RANDOM
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.tasks import configs

from .conftest import small_task

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(60))]
PAD, _, CLS, SEP, MASK = range(5)
LENGTH = 16


@pytest.fixture
def make(tmp_path):
    """make(**config): a tiny task over 60 documents of six sentences of three words each."""
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES))
    (tmp_path / "text").mkdir()
    documents = ("\n".join(f"w{i} w{(i + j) % 60} w{j}" for j in range(6)) for i in range(60))
    (tmp_path / "text" / "all.txt").write_text("\n\n".join(documents))

    def task(**config):
        own = {
            "conversion": {
                "bert_vocab_file": str(tmp_path / "vocab.txt"),
                "max_seq_length": LENGTH,
            },
            "model": {"encoder": {"vocab_size": len(PIECES)}},
            "short_seq_prob": 0.0,
            "dev_share": 0.2,
        }
        return small_task("TEXT_PRETRAIN", own, config)

    return task


@pytest.fixture
def batches(tmp_path):
    """batches(task, **params): of its training split, as numpy."""

    def read(task, **params):
        found = task.interactions(tmp_path / "text", "train")
        converter = task.converter(tmp_path / "vocab.txt")
        examples = [each.example for each in converter.convert_all(*found)]
        path = tmp_path / "examples.tfrecord"
        records.write_examples([*examples, converter.empty_example()], path)
        params = {"input_path": str(path), "global_batch_size": len(examples) + 1} | params
        return list(task.build_inputs(configs.TableDataConfig(**params)).as_numpy_iterator())

    return read


def test_interactions(make, tmp_path):
    task = make(dupe_factor=3)
    found = {split: list(task.interactions(tmp_path / "text", split)) for split in ("train", "dev")}
    ids = [each.questions[0].id for each in found["train"]]
    assert ids[0] == "text_train_0-0_0"
    assert len(set(ids)) == len(ids)
    seen = {}
    for split, interactions in found.items():
        words = " ".join(
            text for each in interactions for text in sequences.texts(each.questions[0])
        )
        seen[split] = words.split()
    # 48 and 12 documents are expected; each pass has the text once as A or the next one.
    assert len(seen["train"]) > 3 * len(seen["dev"])
    alone = list(make().interactions(tmp_path / "text", "train"))
    assert found["train"][: len(alone)] == alone
    with pytest.raises(InputError, match="dupe_factor=0"):
        make(dupe_factor=0).interactions(tmp_path / "text", "train")


def test_batches_of_pairs(make, batches):
    task = make()
    (batch,) = batches(task)
    inputs = feature_names.names(feature_names.MODEL_INPUTS)
    assert set(batch) > {*inputs, "masked_lm_positions", "next_sentence_labels"}
    labels = batch["next_sentence_labels"][:-1, 0]
    assert 0.3 < np.mean(labels == RANDOM) < 0.7
    for row in range(len(labels)):
        ids, weights = batch["input_ids"][row].copy(), batch["masked_lm_weights"][row]
        positions = batch["masked_lm_positions"][row][weights > 0]
        tokens = int(batch["input_mask"][row].sum())
        assert len(positions) == max(1, round(0.15 * tokens))
        ids[positions] = batch["masked_lm_ids"][row][weights > 0]
        ends = np.flatnonzero(ids == SEP)
        assert ids[0] == CLS
        assert len(ends) == 2
        assert ends[1] == tokens - 1
        assert MASK not in ids
        np.testing.assert_array_equal(
            np.flatnonzero(batch["segment_ids"][row]), np.arange(ends[0] + 1, tokens)
        )
    # The last one only fills up.
    assert task.example_mask(batch).numpy().tolist() == [True] * len(labels) + [False]
    assert not batch["masked_lm_weights"][-1].any()


def test_without_next_sentences(make, batches):
    task = make(model={"next_sentence": False})
    (batch,) = batches(task)
    assert not batch["segment_ids"].any()
    assert ((batch["input_ids"] == SEP).sum(axis=1)[:-1] == 1).all()
    model = task.build_model()
    assert not any("seq_relationship" in variable.name for variable in model.variables)
    outputs = model(batch, training=True)
    assert not any(name.startswith("next_sentence") for name in outputs)
    assert float(outputs["total_loss"]) == float(outputs["masked_lm_loss"])
    metrics = task.build_metrics()
    task.process_metrics(metrics, batch, outputs)
    found = {metric.name: float(metric.result()) for metric in metrics}
    assert found["masked_lm_loss"] == pytest.approx(float(outputs["masked_lm_loss"]), rel=1e-4)
    assert set(found) == {"masked_lm_accuracy", "masked_lm_loss"}


def test_price_and_metrics_of_a_learned_mask(make, batches):
    """What a layer adds to the loss is added, and its metrics are left to it."""
    attention = {"name": "learned_mask", "objective": "dam", "length": LENGTH}
    attention |= {"sparsity_weight": 0.5, "initial_alpha": 2.0, "temperature_steps": 0}
    attention |= {"temperature": 0.01, "final_temperature": 0.01}
    task = make(model={"encoder": {"attention": attention}})
    (batch,) = batches(task)
    keras.utils.set_random_seed(0)  # of the 512 draws below
    model = task.build_model()
    outputs = model(batch, training=True)
    loss = task.build_losses(batch, outputs, aux_losses=model.losses)
    (price,) = model.losses
    # Each of 256 pairs of both heads is in the mask with the probability sigmoid(2).
    assert float(price) / (0.5 * 2 * 256) == pytest.approx(1 / (1 + np.exp(-2)), abs=0.05)
    assert float(loss) == pytest.approx(float(outputs["total_loss"] + price), rel=1e-5)
    metrics = task.build_metrics() + model.metrics
    assert {metric.name for metric in metrics} > {"sparsity", "temperature", "masked_lm_loss"}
    task.process_metrics(metrics, batch, outputs)
    alpha = model.encoder.patterns[0].alpha
    alpha.assign(alpha * [[-1.0], [1.0]])
    found = {metric.name: float(metric.result()) for metric in metrics}
    assert found["sparsity"] == 0.5  # the first head's
    assert found["temperature"] == pytest.approx(0.01)


def test_a_learned_mask_in_a_task_of_glue(make):
    experiment = tasks.experiment("RTE")
    encoder = make().task_config.model.encoder.as_dict()
    encoder["attention"] = {"name": "learned_mask", "objective": "dam", "length": LENGTH}
    experiment.task.override(
        {"model": {"encoder": encoder}, "conversion": {"max_seq_length": LENGTH}}
    )
    task = tasks.create(experiment.task)
    model = task.build_model()
    metrics = task.build_metrics() + model.metrics
    labels = {
        "input_mask": np.ones([4, LENGTH], np.int32),
        "classification_class_index": np.array([[0], [1], [1], [0]]),
    }
    task.process_metrics(metrics, labels, {"pred_cls": np.array([0, 1, 0, 0])})
    found = {metric.name: float(metric.result()) for metric in metrics}
    assert found == {"class_accuracy": 0.75, "sparsity": 0.0, "temperature": 1.0}
