"""Tasks that write texts: their batches, ids of the vocabulary, start of the decoder, metrics."""

import numpy as np
import pytest

from mate_tf import tasks
from mate_tf.data import records
from mate_tf.data.converters import sequences
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.tasks import configs

PIECES = ["[PAD]", "[UNK]", "[SEP]", "[MASK]", "[CLS]", *(f"w{i}" for i in range(10))]
MODEL = {
    "num_decoder_layers": 1,
    "max_target_positions": 8,
    "encoder": {
        "vocab_size": len(PIECES),
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 8,
        "max_position_embeddings": 16,
        "attention": {"name": "full"},
    },
}


@pytest.fixture
def make(tmp_path):
    """make(task, **config): a tiny task."""
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES))

    def task(name="SUMMARIZE", **config):
        experiment = tasks.experiment(name)
        conversion = {
            "bert_vocab_file": str(tmp_path / "vocab.txt"),
            "max_seq_length": 16,
            "max_target_length": 6,
        }
        experiment.task.override({"conversion": conversion, "model": MODEL})
        experiment.task.override(config)
        return tasks.create(experiment.task)

    return task


@pytest.fixture
def batch(make, tmp_path):
    """A batch of two texts and a padding example."""
    task = make()
    found = [sequences.interaction(f"x{i}", [f"w{i} w2"]) for i in range(2)]
    for each, target in zip(found, ("w1 w1", "w3"), strict=True):
        each.questions[0].answer.answer_texts.append(target)
    converter = task.converter(tmp_path / "vocab.txt")
    examples = [each.example for each in converter.convert_all(*found)]
    path = tmp_path / "examples.tfrecord"
    records.write_examples([*examples, converter.empty_example()], path)
    params = configs.TableDataConfig(input_path=str(path), global_batch_size=3)
    (found,) = task.build_inputs(params).as_numpy_iterator()
    return found


def test_settings_of_the_paper():
    """Section B.3: inputs of 3,072 tokens, outputs of at most 512, trees in the encoder only."""
    for name in ("SUMMARIZE", "DENOISE"):
        config = tasks.experiment(name).task
        assert config.model.encoder.attention.name == "tree_fine"
        assert config.conversion.max_target_length <= 512 == config.model.max_target_positions
    assert tasks.experiment("SUMMARIZE").task.conversion.max_seq_length == 3072
    noise = tasks.experiment("DENOISE").task.noise
    assert (noise.masked_share, noise.span_length, noise.permute_sentences) == (0.3, 3.0, True)


def test_batches_and_metrics(make, batch):
    task = make()
    assert batch["target_ids"].tolist() == [[4, 6, 6, 2, 0, 0], [4, 8, 2, 0, 0, 0], [0] * 6]
    assert task.example_mask(batch).numpy().tolist() == [True, True, False]
    model = task.build_model()
    # Not the ids of BERT's vocabulary, which the configuration has.
    assert (model.config.start_id, model.config.end_id) == (4, 2)
    assert (task.task_config.model.start_id, task.task_config.model.end_id) == (101, 102)
    outputs = model(batch, training=True)
    metrics = task.build_metrics()
    task.process_metrics(metrics, batch, outputs)
    found = {metric.name: float(metric.result()) for metric in metrics}
    loss = task.build_losses(batch, outputs)
    assert found["target_loss"] == pytest.approx(float(loss), rel=1e-5)
    # Three of the five tokens are right; what is predicted for padding does not count.
    outputs["predictions"] = np.array([[6, 6, 0, 1, 1], [8, 1, 0, 0, 0], [0] * 5], np.int32)
    metrics = task.build_metrics()
    task.process_metrics(metrics, batch, outputs)
    assert float(metrics[0].result()) == pytest.approx(3 / 5)


def test_start_of_the_decoder(make, batch, tmp_path):
    """An encoder starts the decoder too, a checkpoint with a decoder does not need it to."""
    import tensorflow as tf

    keras.utils.set_random_seed(0)
    trained = make().build_model()
    of_encoder, whole = (str(tmp_path / name / "ckpt") for name in ("encoder", "whole"))
    tf.train.Checkpoint(model=trained.encoder).write(of_encoder)
    tf.train.Checkpoint(model=trained).write(whole)

    def query(checkpoint, start=True):
        model_config = {"start_decoder_from_encoder": start}
        task = make(init_checkpoint=checkpoint, model=model_config)
        model = task.build_model()
        task.initialize(model)
        named = model.checkpoint_variables()
        return named["decoder/layer_0/attention/self/query/kernel"].numpy()

    kernels = trained.checkpoint_variables()
    encoders = kernels["bert/encoder/layer_0/attention/self/query/kernel"].numpy()
    decoders = kernels["decoder/layer_0/attention/self/query/kernel"].numpy()
    np.testing.assert_array_equal(query(of_encoder), encoders)
    np.testing.assert_array_equal(query(whole), decoders)
    assert not np.array_equal(query(of_encoder, start=False), encoders)


def test_what_is_refused(make, tmp_path):
    make(conversion={"max_target_length": 9}).build_model()
    with pytest.raises(InputError, match=r"max_target_length=10 is more than 9, .*positions=8"):
        make(conversion={"max_target_length": 10}).build_model()
    with pytest.raises(InputError, match=r"decoding\.max_length=9 is more than 8"):
        make(decoding={"max_length": 9}).build_model()
    task = make("DENOISE", conversion={"tokens": "bytes"})
    with pytest.raises(InputError, match=r"conversion\.tokens=bytes: DENOISE masks words"):
        task.interactions(tmp_path, "train")


def test_passes_of_denoise(make, tmp_path):
    lines = ["w1 w2 w3", "w4 w5"]
    for split in ("train", "dev"):
        (tmp_path / "text" / split).mkdir(parents=True)
        (tmp_path / "text" / split / "a.txt").write_text("\n".join(lines))
    task = make("DENOISE", dupe_factor=2, conversion={"max_target_length": 16})
    found = {split: list(task.interactions(tmp_path / "text", split)) for split in ("train", "dev")}
    ids = [each.questions[0].id for each in found["train"]]
    assert ids == ["denoise_train_0-0_0", "denoise_train_1-0_0"]
    assert [each.questions[0].id for each in found["dev"]] == ["denoise_dev_0-0_0"]
    assert sequences.texts(found["train"][0].questions[0]) == lines
    converter = task.converter(tmp_path / "vocab.txt")
    made = [each.example.features.feature for each in converter.convert_all(*found["train"])]
    original = [4, *range(6, 11), 2, *[0] * 9]
    for example in made:
        assert list(example["target_ids"].int64_list.value) == original
    noisy = [list(example["input_ids"].int64_list.value) for example in made]
    assert original not in noisy
