"""A trained model's evaluation data and learned patterns, without a training."""

import types

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints
from mate_tf.analysis.attention.trained import TrainedModel
from mate_tf.attention import AttentionConfig
from mate_tf.attention.learned_mask import LearnedMaskPattern
from mate_tf.errors import InputError
from mate_tf.models.encoder import EncoderConfig

LEARNED = AttentionConfig(name="learned_mask", length=4)


def batch_of(examples, length):
    """Each example: number of question tokens, then number of table tokens."""
    names = ("input_ids", "input_mask", "segment_ids", "row_ids", "column_ids")
    batch = {name: np.zeros([len(examples), length], np.int32) for name in names}
    for row, (question, table) in enumerate(examples):
        batch["input_ids"][row, : question + table] = row + 1
        batch["input_mask"][row, : question + table] = 1
        for name in ("segment_ids", "row_ids", "column_ids"):
            batch[name][row, question : question + table] = 1
    return batch


@pytest.fixture
def trained(tmp_path):
    """trained(batches, attention): of a model whose evaluation data are these batches."""

    def make(batches=(), attention=LEARNED):
        encoder = EncoderConfig(num_hidden_layers=3)
        encoder.attention = attention
        data = tmp_path / "dev.tfrecord"
        data.touch()
        task = types.SimpleNamespace(
            model=types.SimpleNamespace(encoder=encoder),
            conversion=types.SimpleNamespace(max_seq_length=8),
            validation_data=types.SimpleNamespace(input_path=str(data)),
            init_checkpoint="",
        )

        inputs = types.SimpleNamespace(as_numpy_iterator=lambda: iter(batches))
        job = types.SimpleNamespace(
            experiment=types.SimpleNamespace(task=task),
            model_dir=str(tmp_path / "model"),
            task=types.SimpleNamespace(build_inputs=lambda data: inputs),
        )
        return TrainedModel(job)

    return make


def test_examples_with_tables_come_one_by_one_without_padding(trained):
    batches = [batch_of([(2, 3), (4, 0)], 8), batch_of([(0, 0)], 4), batch_of([(1, 3)], 4)]
    first, second = trained(batches).examples_with_tables()
    assert first["input_ids"].tolist() == [[1] * 5]
    assert second["column_ids"].tolist() == [[0, 1, 1, 1]]


def test_sequences_without_columns_have_no_tables(trained):
    batch = batch_of([(4, 0)], 8)
    del batch["column_ids"]
    assert not list(trained([batch]).examples_with_tables())
    assert trained([batch]).context(5) is None


@pytest.mark.parametrize(("most", "taken"), [(1, 1), (2, 2), (3, 3), (9, 4)])
def test_context_of_so_many_examples_in_one_length(trained, most, taken):
    batches = [batch_of([(2, 2), (1, 1), (3, 0)], 6)] * 2
    context = trained(batches).context(most)
    assert context.row_ids.shape == (taken, 8)
    assert context.input_mask.sum(1).tolist() == [4, 2, 4, 2][:taken]


def test_data_that_is_not_there(trained):
    found = trained()
    found.job.experiment.task.validation_data.input_path += ".gone"
    assert not found.has_examples
    with pytest.raises(InputError, match=r"dev\.tfrecord\.gone: no such file; run --mode=create"):
        found.examples()


def test_learned_patterns_have_the_numbers_of_the_encoders(trained, monkeypatch):
    other = LEARNED.replace(structured=True)
    found = trained(attention=[AttentionConfig(name="full"), LEARNED, other])
    monkeypatch.setattr(TrainedModel, "checkpoint", "ckpt-1")
    stored = {}
    for number, config in ((1, LEARNED), (2, other)):
        pattern = LearnedMaskPattern(config, num_heads=2)
        pattern.build()
        alpha = np.arange(float(tf.size(pattern.alpha))).reshape(pattern.alpha.shape)
        stored[number] = {"alpha": alpha}
    monkeypatch.setattr(checkpoints, "pattern_variables", lambda path: stored)
    patterns = found.learned(LearnedMaskPattern)
    assert list(patterns) == ["patterns_1", "patterns_2"]
    for number, pattern in enumerate(patterns.values(), 1):
        np.testing.assert_array_equal(pattern.alpha, stored[number]["alpha"])
        assert pattern.config == found.configs[number]
    del stored[2]
    message = "ckpt-1: was saved from a model without attention 'learned_mask'"
    with pytest.raises(InputError, match=message):
        found.learned(LearnedMaskPattern)


def test_figures_are_written_whole(trained, capsys, tmp_path):
    class Figure:
        def savefig(self, path, **options):
            with open(path, "w") as file:
                file.write("plot")

    path = trained().save_plot(Figure(), "x.png")
    assert path == str(tmp_path / "model" / "analysis" / "x.png")
    assert (tmp_path / "model" / "analysis" / "x.png").read_text() == "plot"
    assert capsys.readouterr().out == f"plotted | {path}\n"
