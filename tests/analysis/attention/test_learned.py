"""Reports of learned importance; numbers and plots, without a model."""

import types

import numpy as np
import pytest

from mate_tf.analysis.attention import report
from mate_tf.attention import AttentionConfig
from mate_tf.attention.learned_mask import LearnedMaskPattern


@pytest.fixture
def trained():
    """trained(**patterns): has learned these; keeps the names of its plots."""

    def make(context=None, **patterns):
        plots = []
        return types.SimpleNamespace(
            learned=lambda kind: {n: p for n, p in patterns.items() if type(p) is kind},
            save_plot=lambda figure, name: plots.append(name),
            context=lambda most: context,
            plots=plots,
            job=types.SimpleNamespace(
                experiment=types.SimpleNamespace(
                    task=types.SimpleNamespace(
                        validation_data=types.SimpleNamespace(input_path="dev.tfrecord")
                    )
                )
            ),
        )

    return make


def pattern_of(kind, alpha_of, **options):
    pattern = kind(AttentionConfig(name="learned_mask", **options), num_heads=2)
    pattern.build()
    pattern.alpha.assign(alpha_of(pattern.alpha.shape))
    return pattern


def test_importance_of_positions(trained, capsys):
    """The first head finds all pairs as important but the diagonal; the second finds all equal."""
    n = 4
    i, j = np.tril_indices(n)

    def alpha_of(shape):
        return np.stack([np.where(i == j, -3.0, 3.0), np.zeros(len(i))])

    job = trained(patterns_0=pattern_of(LearnedMaskPattern, alpha_of, length=n))
    found = report.learned_masks(job)["patterns_0"]
    first, second = found["importance of each head"]
    assert first["diagonal"] == 0
    assert first["neighbours"] == pytest.approx(1)
    assert set(second.values()) == {0}
    assert found["importance"]["neighbours"] == pytest.approx(0.5)
    assert "sparsity of each head" not in found  # no mask is learned
    assert job.plots == ["patterns_0.importance.png", "patterns_0.importance_by_head.png"]
    line = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("neighbours"))
    assert line.split()[1::2] == ["50.0", "0.0", "100.0"]  # mean, lowest and highest head


def test_masks_of_positions(trained):
    pattern = pattern_of(
        LearnedMaskPattern,
        lambda shape: np.stack([np.full(shape[1], 2.0), np.full(shape[1], -2.0)]),
        length=3,
        objective="dam",
    )
    job = trained(patterns_2=pattern)
    found = report.learned_masks(job)["patterns_2"]
    assert found["sparsity of each head"] == [0, 1]
    assert job.plots[-1] == "patterns_2.masks.png"


def test_a_model_that_learned_nothing(trained):
    assert report.learned_masks(trained()) == {}
