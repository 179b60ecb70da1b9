"""Masks made by hand, saved masks, and attention by blocks against attention by mask."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from mate_tf.attention import AttentionConfig, TableContext, mask_blocks, mask_files, static_masks
from mate_tf.errors import InputError

from .conftest import banded, context_of, scattered

HIDDEN = 16


def some_input(seed, seq, batch=2):
    """x and a context in which examples end in padding of different lengths."""
    rng = np.random.default_rng(seed)
    x = tf.constant(rng.normal(size=[batch, seq, HIDDEN]), tf.float32)
    return x, context_of(seq, rng.integers(0, seq + 1, batch))


def both_forms(tables, x, context, **options):
    return (
        tables.layer_pair(AttentionConfig(name="static_mask", form=form, **options))(x, context)
        for form in ("masked", "blocks")
    )


def banded_and_scattered(path, n=512):
    """Saves a mask of 4 heads: scattered, a band, scattered, a band; and its last token's."""
    mask = np.stack([scattered(n, 0.08, seed=1), banded(n, 30)] * 2)
    mask_files.save(path, mask, of_last_token=True)
    return str(path)


@settings(max_examples=20)
@given(
    name=st.sampled_from(sorted(static_masks.MASKS)),
    seed=st.integers(0, 2**31 - 1),
    seq=st.integers(1, 150),
    diagonal=st.booleans(),
)
def test_blocks_equal_the_mask(tables, name, seed, seq, diagonal):
    x, context = some_input(seed, seq)
    masked, blocks = both_forms(tables, x, context, mask=name, diagonal=diagonal, seed=seed)
    np.testing.assert_allclose(blocks, masked, atol=1e-5, rtol=0)


@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**31 - 1),
    n=st.integers(1, 100),
    heads=st.sampled_from([1, 4]),
    share=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    shorter=st.integers(0, 50),
)
def test_blocks_of_any_saved_mask_equal_the_mask(
    tables, tmp_path_factory, seed, n, heads, share, shorter
):
    """Masks of any pairs, with rows that see nothing and rows that see all, and shorter inputs."""
    rng = np.random.default_rng(seed)
    mask = rng.random([heads, n, n]) < share
    mask[:, rng.integers(n)] = True
    mask[:, rng.integers(n)] = False
    path = tmp_path_factory.mktemp("masks") / "mask.npz"
    mask_files.save(path, mask)
    x, context = some_input(seed, max(n - shorter, 1))
    masked, blocks = both_forms(tables, x, context, mask=str(path))
    np.testing.assert_allclose(blocks, masked, atol=1e-5, rtol=0)


def test_blocks_of_a_length_take_shorter_inputs_and_refuse_longer_ones(tables):
    config = AttentionConfig(name="static_mask", mask="longformer", length=70, form="blocks")
    run = tables.layer_pair(config)
    masked = tables.layer_pair(AttentionConfig(config, form="masked"))
    dynamic = tf.function(
        lambda x, *ids: run(x, TableContext(*ids)),
        input_signature=[
            tf.TensorSpec([None, None, HIDDEN]),
            *[tf.TensorSpec([None, None], tf.int32)] * 4,
        ],
        autograph=False,
    )
    for seq in (3, 70):
        x, context = some_input(seq, seq)
        np.testing.assert_allclose(dynamic(x, *context[:4]), masked(x, context), atol=1e-5)
        np.testing.assert_allclose(run(x, context), masked(x, context), atol=1e-5)
    x, context = some_input(1, 71)
    for layer in (run, masked):
        with pytest.raises(InputError, match=r"longformer: a mask for 70 tokens.*longer: 71"):
            layer(x, context)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a mask for 70 tokens"):
        dynamic(x, *context[:4])


def test_gradients_by_blocks(tables):
    x, context = some_input(4, 90)
    gradients = []
    for form in ("masked", "blocks"):
        run = tables.layer_pair(AttentionConfig(name="static_mask", mask="bigbird", form=form))
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.sin(run(x, context)))
        gradients.append(tape.gradient(loss, [x, *run.layer.trainable_variables]))
    for masked, blocks in zip(*gradients, strict=True):
        np.testing.assert_allclose(blocks, masked, atol=2e-5)


def test_scattered_masks_say_that_they_are_computed_by_mask(tmp_path, caplog):
    path = tmp_path / "scattered.npz"
    mask_files.save(path, scattered(256, 0.1)[None])
    pattern = static_masks.StaticMaskPattern(
        AttentionConfig(name="static_mask", mask=str(path)), num_heads=2
    )
    with caplog.at_level("INFO", logger="absl"):
        assert pattern.plan(256) is None
        assert pattern.plan(256) is None
    assert [record for record in caplog.messages if "computed by mask" in record] == [
        f"static_mask {path}: {mask_blocks.plan(pattern.static_mask(256))}; computed by mask"
    ]


def kinds(pattern, n, compiled=True):
    """Heads and name of the form of each part."""
    return [
        (None if part.heads is None else list(part.heads), type(part.form).__name__)
        for part in pattern.parts(n, compiled)
    ]


def test_heads_are_split_by_kind(tables, tmp_path):
    path = banded_and_scattered(tmp_path / "mixed.npz")
    x, context = some_input(3, 500)
    runs = {
        form: tables.layer_pair(AttentionConfig(name="static_mask", mask=path, form=form))
        for form in ("masked", "auto", "rows")
    }
    expected = runs.pop("masked")(x, context)
    for run in runs.values():
        np.testing.assert_allclose(run(x, context), expected, atol=1e-5)
    others = {"auto": "NoneType", "rows": "Rows"}
    for form, run in runs.items():
        found = kinds(run.pattern, 500)
        assert sorted(found) == [([0, 2], others[form]), ([1, 3], "Plan")]
        assert run.pattern.plan(500) is None


def test_what_is_decided_is_not_saved(tables, tmp_path):
    config = AttentionConfig(name="static_mask", mask=banded_and_scattered(tmp_path / "mask.npz"))
    pattern = static_masks.StaticMaskPattern(config, 4)
    pattern.parts(512)
    tf.train.Checkpoint(pattern=pattern).write(str(tmp_path / "checkpoint"))


def test_only_inference_in_this_process_is_compiled(tables, tmp_path):
    path = banded_and_scattered(tmp_path / "mixed.npz")
    x, context = some_input(3, 500)
    run = tables.layer_pair(AttentionConfig(name="static_mask", mask=path, form="rows"))

    def operations(training=False, **options):
        function = tf.function(lambda: run(x, context, training), autograph=False, **options)
        return {each.type for each in function.get_concrete_function().graph.get_operations()}

    assert "PyFuncStateless" in operations()
    assert "PyFuncStateless" not in operations(training=True)
    assert "PyFuncStateless" not in operations(jit_compile=True)
    with run.pattern.exporting():
        assert "PyFuncStateless" not in operations()
    assert "PyFuncStateless" in operations()


def test_options_that_do_not_fit(tmp_path):
    path = tmp_path / "mask.npz"
    mask_files.save(path, np.ones([1, 6, 6], bool))

    def pattern(**options):
        config = AttentionConfig(name="static_mask", **options)
        return static_masks.StaticMaskPattern(config, num_heads=2)

    assert pattern(mask=str(path), length=4, diagonal=False).static_mask(3).sum() == 6
    with pytest.raises(InputError, match="a mask for 6 tokens, not 7"):
        pattern(mask=str(path), length=7)
    with pytest.raises(InputError, match="form must be one of auto, masked, blocks, rows"):
        pattern(form="fast")
    with pytest.raises(InputError, match="longformr: no mask has this name"):
        pattern(mask="longformr")
    with pytest.raises(InputError, match="stride is 0, expected an integer"):
        pattern(mask="fixed", stride=0)
