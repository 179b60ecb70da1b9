"""Masks made by hand, saved masks, and attention by blocks against attention by mask."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from mate_tf.attention import AttentionConfig, TableContext, mask_blocks, mask_files, static_masks
from mate_tf.errors import InputError

HIDDEN = 16

# Tables 3 and 4 of the paper at n = 128: with and without the diagonal, and by how much a random
# draw may miss them.
SPARSITIES = {
    "strided": (70.4, 71.2, 0.1),
    "fixed": (72.7, 73.4, 0.1),
    "longformer": (88.7, 89.5, 0.3),
    "logsparse": (89.8, 90.6, 0.1),
    "bigbird": (93.2, 93.9, 0.3),
    "star": (96.1, 96.9, 0.1),
}


@pytest.mark.parametrize("name", SPARSITIES)
def test_sparsities_of_the_paper(name):
    mask = static_masks.MASKS[name]
    *expected, tolerance = SPARSITIES[name]
    for diagonal, sparsity in zip((True, False), expected, strict=True):
        found = mask(128, diagonal=diagonal)
        assert found.dtype == bool
        assert found.shape == (128, 128)
        assert abs(100 * (1 - found.mean()) - sparsity) <= tolerance
        assert (found.diagonal() == diagonal).all()


@pytest.mark.parametrize("seed", range(5))
def test_random_masks_have_the_sparsity_with_any_seed(seed):
    for name in ("longformer", "bigbird"):
        expected, _, tolerance = SPARSITIES[name]
        found = static_masks.MASKS[name](128, seed=seed)
        assert abs(100 * (1 - found.mean()) - expected) <= tolerance
        np.testing.assert_array_equal(found, static_masks.MASKS[name](128, seed=seed))
        assert (found != static_masks.MASKS[name](128, seed=seed + 1)).any()


def test_masks_by_hand():
    def rows(mask):
        return ["".join(".x"[int(seen)] for seen in row) for row in mask]

    assert rows(static_masks.star(5)) == ["xxxxx", "xxx..", "xxxx.", "x.xxx", "x..xx"]
    assert rows(static_masks.logsparse(6)) == [
        "xxx.x.",
        "xxxx.x",
        "xxxxx.",
        ".xxxxx",
        "x.xxxx",
        ".x.xxx",
    ]
    assert rows(static_masks.strided(6, stride=3))[0] == "xxxx.."
    assert rows(static_masks.strided(6, stride=3))[3] == "xxxxxx"
    assert rows(static_masks.fixed(7, stride=3))[1] == "xxx..x."
    assert rows(static_masks.fixed(7, stride=3))[6] == "..x..xx"
    assert rows(static_masks.bigbird(5, num_random=0))[2] == "xxxxx"
    assert rows(static_masks.bigbird(6, num_random=0))[2] == "xxxx.x"
    assert rows(static_masks.longformer(5, window=1, num_global=0)) == [
        "xx...",
        "xxx..",
        ".xxx.",
        "..xxx",
        "...xx",
    ]


def test_random_tokens():
    beyond_the_band = static_masks.longformer(128, window=0, diagonal=False)
    assert np.sort(beyond_the_band.sum(0))[-3:].tolist() == [2, 127, 127]
    drawn = static_masks.bigbird(400, window=0, num_random=4, seed=3)[1:-1, 1:-1]
    others = drawn.sum(1) - 1  # without the token itself
    assert others.max() == 4
    assert others.mean() > 3.9
    # spread over the keys as independent draws would be: Poisson with mean 4
    assert 0.7 < np.var(drawn.sum(0)) / 4 < 1.3


@pytest.mark.parametrize("name", static_masks.MASKS)
@pytest.mark.parametrize("n", [1, 2, 5, 64, 131])
def test_tensors_and_arrays_agree(name, n):
    mask = static_masks.MASKS[name]
    np.testing.assert_array_equal(mask(tf.constant(n)), mask(n))


def test_options_out_of_range():
    with pytest.raises(InputError, match="stride must be 1 or more, not 0"):
        static_masks.strided(8, stride=0)
    with pytest.raises(InputError, match="window must be 0 or more"):
        static_masks.longformer(8, window=-1)


def some_input(seed, seq, batch=2):
    """x and a context in which examples end in padding of different lengths."""
    rng = np.random.default_rng(seed)
    x = tf.constant(rng.normal(size=[batch, seq, HIDDEN]), tf.float32)
    lengths = rng.integers(0, seq + 1, [batch, 1])
    zeros = tf.zeros([batch, seq], tf.int32)
    return x, TableContext(
        zeros, zeros, zeros, tf.constant((np.arange(seq) < lengths).astype(np.int32))
    )


def both_forms(tables, x, context, **options):
    return (
        tables.layer_pair(AttentionConfig(name="static_mask", form=form, **options))(x, context)
        for form in ("masked", "blocks")
    )


@settings(max_examples=20)
@given(
    name=st.sampled_from(sorted(static_masks.MASKS)),
    seed=st.integers(0, 2**31),
    seq=st.integers(1, 150),
    diagonal=st.booleans(),
)
def test_blocks_equal_the_mask(tables, name, seed, seq, diagonal):
    x, context = some_input(seed, seq)
    masked, blocks = both_forms(tables, x, context, mask=name, diagonal=diagonal, seed=seed)
    np.testing.assert_allclose(blocks, masked, atol=1e-5, rtol=0)


@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**31),
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
        run,
        input_signature=[
            tf.TensorSpec([None, None, HIDDEN]),
            TableContext(*[tf.TensorSpec([None, None], tf.int32)] * 4),
        ],
        autograph=False,
    )
    for seq in (3, 70):
        x, context = some_input(seq, seq)
        np.testing.assert_allclose(dynamic(x, context), masked(x, context), atol=1e-5)
        np.testing.assert_allclose(run(x, context), masked(x, context), atol=1e-5)
    x, context = some_input(1, 71)
    for layer in (run, masked):
        with pytest.raises(InputError, match=r"longformer: a mask for 70 tokens.*longer: 71"):
            layer(x, context)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a mask for 70 tokens"):
        dynamic(x, context)


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


def test_no_diagonal_against_numpy(tables):
    x, context = some_input(7, 20)
    run = tables.layer_pair(AttentionConfig(name="static_mask", mask="strided", diagonal=False))
    layer, real = run.layer, context.input_mask.numpy().astype(bool)

    def heads(dense):
        flat = x.numpy() @ dense.kernel.numpy() + dense.bias.numpy()
        return flat.reshape(2, 20, 4, 4).transpose(0, 2, 1, 3)

    query, key, value = heads(layer.query), heads(layer.key), heads(layer.value)
    expected = np.zeros([2, 20, 4, 4])
    for b, h, i in np.ndindex(2, 4, 20):
        seen = [
            j
            for j in range(20)
            if real[b, i] and real[b, j] and i != j and (abs(i - j) < 4 or (i - j) % 4 == 0)
        ]
        weights = np.exp([query[b, h, i] @ key[b, h, j] / 2 for j in seen])
        for weight, j in zip(weights, seen, strict=True):
            expected[b, i, h] += weight / weights.sum() * value[b, h, j]
    expected = expected.reshape(2, 20, 16) @ layer.output_projection.kernel.numpy()
    np.testing.assert_allclose(run(x, context), expected, atol=1e-5)


def banded(n, half_width):
    """A structured mask: a band and the first and last token."""
    i, j = np.indices([n, n])
    return (abs(i - j) <= half_width) | (i % (n - 1) == 0) | (j % (n - 1) == 0)


def scattered(n, share, seed=0):
    """The same with diagonals anywhere."""
    on = np.random.default_rng(seed).random(n) < share
    i, j = np.indices([n, n])
    return on[abs(i - j)] | (i % (n - 1) == 0) | (j % (n - 1) == 0)


def test_the_form_is_decided_from_the_masks_own_numbers():
    band, diagonals = (mask[None] for mask in (banded(1024, 48), scattered(1024, 0.1)))
    assert 1 - band.mean() > 0.9
    assert mask_blocks.plan(band).is_cheaper()
    assert not mask_blocks.plan(diagonals).is_cheaper()
    assert "blocks would cost" in str(mask_blocks.plan(diagonals))


def test_a_plan_covers_each_pair_once():
    mask = np.stack([banded(200, 3), scattered(200, 0.05)])
    plan = mask_blocks.plan(mask)
    covered = np.zeros([2, 200, 200], int)
    for head in range(2):
        for queries, keys, seen in zip(
            plan.queries, plan.keys[head], plan.allowed[head], strict=True
        ):
            for a, b in np.argwhere(seen):
                covered[head, queries[a], keys[b]] += 1
        covered[head, plan.dense] += plan.dense_allowed[head]
    np.testing.assert_array_equal(covered, mask)


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


def test_files_of_masks(tmp_path):
    mask = np.random.default_rng(1).random([3, 13, 13]) < 0.3
    path = tmp_path / "new" / "mask.npz"
    mask_files.save(path, mask, {"seed": 1})
    np.testing.assert_array_equal(mask_files.load(path), mask)
    assert mask_files.made_by(path) == {"seed": 1}
    assert [file.name for file in path.parent.iterdir()] == ["mask.npz"]
    with pytest.raises(InputError, match="3 heads, but the layers have 4"):
        mask_files.load(path, num_heads=4)
    with pytest.raises(InputError, match=r"a mask is <bool>\[heads, n, n\]"):
        mask_files.save(path, mask.astype(float))
    with pytest.raises(InputError, match="no mask has this name"):
        mask_files.load(tmp_path / "none.npz")
    content = path.read_bytes()
    for broken in (b"", b"text", content[: len(content) // 2]):
        path.write_bytes(broken)
        with pytest.raises(InputError, match="not the file of a mask"):
            mask_files.load(path)
    np.savez(path, other=mask)
    with pytest.raises(InputError, match="not the file of a mask"):
        mask_files.load(path)


def test_options_that_do_not_fit(tmp_path):
    path = tmp_path / "mask.npz"
    mask_files.save(path, np.ones([1, 6, 6], bool))

    def pattern(**options):
        config = AttentionConfig(name="static_mask", **options)
        return static_masks.StaticMaskPattern(config, num_heads=2)

    assert pattern(mask=str(path), length=4, diagonal=False).static_mask(3).sum() == 6
    with pytest.raises(InputError, match="a mask for 6 tokens, not 7"):
        pattern(mask=str(path), length=7)
    with pytest.raises(InputError, match="form must be one of auto, masked, blocks"):
        pattern(form="fast")
    with pytest.raises(InputError, match="longformr: no mask has this name"):
        pattern(mask="longformr")
    with pytest.raises(InputError, match="stride must be 1 or more"):
        pattern(mask="fixed", stride=0)
