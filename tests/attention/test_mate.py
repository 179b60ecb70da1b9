"""MATE in linear time against MATE by masking: equal wherever the windows reach."""

import pathlib
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from mate_tf import attention
from mate_tf.attention import AttentionConfig, coverage, masks, mate, mate_forms, mate_heads
from mate_tf.attention.mate_heads import head_types

pytestmark = pytest.mark.thorough
HIDDEN = 16
DENSE_IS_CHEAPER = mate_forms.masks_are_cheaper


@pytest.fixture(autouse=True, scope="module")
def always_by_buckets():
    """Short sequences too are cut into buckets here, unless a test says otherwise."""
    with mock.patch.object(mate_forms, "masks_are_cheaper", return_value=False):
        yield


SPEC = [
    tf.TensorSpec([None, None, HIDDEN]),
    dict.fromkeys(attention.TableContext.FEATURES, tf.TensorSpec([None, None], tf.int32)),
]
"""Of a graph for any length: x, and the parts of the context."""


def outputs(tables, context, name, seed=0, **options):
    batch, seq = context.row_ids.shape
    x = tf.constant(np.random.default_rng(seed).normal(size=[batch, seq, HIDDEN]), tf.float32)
    return tables.layer_pair(AttentionConfig(name=name, **options))(x, context).numpy()


def assert_equal_on_real_tokens(context, ours, expected):
    real = context.input_mask.numpy() == 1
    np.testing.assert_allclose(ours[real], expected[real], atol=1e-5, rtol=0)


def check_windowed(tables, context, seed=0, **options):
    """Equal to the windowed mask on all tokens; returns the outputs."""
    efficient = outputs(tables, context, "mate_efficient", seed, **options)
    windowed = outputs(tables, context, "mate_exact", seed, windowed=True, **options)
    np.testing.assert_allclose(efficient, windowed, atol=1e-5, rtol=0)
    return efficient


def num_blocks(seq, global_length, radius):
    return -(-max(seq - global_length, 1) // (mate_heads.BUCKETS_PER_BLOCK * radius))


SIZES = {
    "seed": st.integers(0, 2**31 - 1),
    "questions": st.lists(st.integers(0, 30), min_size=1, max_size=3),
    "columns": st.integers(1, 6),
    "global_length": st.integers(0, 30),
    "row_radius": st.integers(1, 9),
    "column_radius": st.integers(1, 9),
    "row_heads_ratio": st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
    "diagonal": st.booleans(),
}


def compare(tables, seq, seed, questions, columns, **options):
    """With any sizes it is the windowed mask; where the windows cover the table, MATE itself."""
    if not options["diagonal"]:  # see the option: each token needs another one
        seq, questions = max(seq, 2), [max(length, 2) for length in questions]
    context = tables.random_context(np.random.default_rng(seed), seq, questions, columns)
    efficient = check_windowed(tables, context, seed, **options)
    used = {kind.ids.removesuffix("_ids") for kind in head_types(AttentionConfig(**options), 4)}
    sizes = {name: options[name] for name in ("global_length", "row_radius", "column_radius")}
    if min(coverage(context, **sizes, head_type=kind) for kind in used) == 1:
        same = {name: options[name] for name in ("row_heads_ratio", "diagonal")}
        exact = outputs(tables, context, "mate_exact", seed, **same)
        assert_equal_on_real_tokens(context, efficient, exact)


# An example takes a quarter of a second.
fewer = settings(max_examples=settings.default.max_examples // 2)


@fewer
@given(blocks=st.integers(2, 4), missing=st.integers(0, 17), **SIZES)
def test_equals_the_masked_layer(tables, blocks, missing, **options):
    """In two or more blocks: with one, none is between others, or can be read from elsewhere."""
    radii = options["row_radius"], options["column_radius"]
    block = mate_heads.BUCKETS_PER_BLOCK * max(radii)
    seq = options["global_length"] + blocks * block - min(missing, block - 1)
    assert min(num_blocks(seq, options["global_length"], radius) for radius in radii) >= 2
    compare(tables, seq, **options)


@settings(max_examples=10)
@given(seq=st.integers(1, 30), **SIZES)
def test_equals_the_masked_layer_in_few_blocks(tables, seq, **options):
    compare(tables, seq, **options)


@fewer
@given(
    seed=st.integers(0, 2**31 - 1),
    seq=st.integers(20, 90),
    questions=st.lists(st.integers(1, 30), min_size=1, max_size=3),
    global_length=st.integers(0, 40),
    radius_beyond=st.integers(0, 9),
)
def test_equals_exact_mate_when_windows_cover(
    tables, seed, seq, questions, global_length, radius_beyond
):
    """Radii as large as the largest row and column reach everything, whatever G is."""
    context = tables.random_context(np.random.default_rng(seed), seq, questions)
    table = context.segment_ids.numpy() == 1

    def largest(ids):
        return max(np.bincount(row[of]).max(initial=1) for row, of in zip(ids, table, strict=True))

    options = {
        "global_length": global_length,
        "row_radius": int(largest(context.row_ids.numpy())) + radius_beyond,
        "column_radius": int(largest(context.column_ids.numpy())) + radius_beyond,
    }
    assert coverage(context, global_length, options["row_radius"], options["column_radius"]) == 1
    efficient = outputs(tables, context, "mate_efficient", seed, **options)
    exact = outputs(tables, context, "mate_exact", seed)
    assert_equal_on_real_tokens(context, efficient, exact)


def test_windows_equal_the_mask_on_500_tables(tables):
    rng = np.random.default_rng(0)
    context = tables.random_context(rng, 40, rng.integers(1, 9, 500), columns=5)
    options = {"global_length": 8, "row_radius": 3, "column_radius": 5}
    config = AttentionConfig(name="mate_efficient", **options)
    assert tables.layer_pair(config).pattern(context).windows
    check_windowed(tables, context, **options)


def test_the_paper_is_one_page():
    assert len(pathlib.Path(mate.__file__).read_text().splitlines()) <= 200


@pytest.mark.parametrize("seq", [1, 7, 8, 9, 12, 16, 17, 40])
def test_few_buckets_and_lengths_that_do_not_divide(tables, seq):
    """One bucket, two buckets, a part of one, none at all: no key is counted twice."""
    context = tables.random_context(np.random.default_rng(seq), seq, [3])
    check_windowed(tables, context, global_length=8, radius=4)


def test_first_and_last_bucket_do_not_see_each_other(tables):
    """All tokens in one column: only a wrap-around could join its ends."""
    context = tables.random_context(np.random.default_rng(0), 64, [4], columns=1, max_cell_length=1)
    in_table = tf.constant([[0] * 4 + [1] * 60])
    ones = tf.ones_like(in_table)
    context = context._replace(input_mask=ones, column_ids=in_table, segment_ids=in_table)
    config = AttentionConfig(global_length=4, radius=10, row_heads_ratio=0.0)
    run = tables.layer_pair(config)
    x = tf.Variable(tf.random.stateless_normal([1, 64, HIDDEN], [1, 2]))
    with tf.GradientTape() as tape:
        last = tf.reduce_sum(run(x, context)[0, -1])
    influence = tf.reduce_sum(tf.abs(tape.gradient(last, x)), -1)[0].numpy() > 0
    assert influence[:4].all()
    assert not influence[4:44].any()
    assert influence[44:].all()


@pytest.mark.parametrize("name", ["mate_efficient", "mate_exact"])
def test_padding_and_all_padding_rows_give_the_output_bias(tables, name):
    context = tables.random_context(np.random.default_rng(1), 30, [6, 0])
    run = tables.layer_pair(AttentionConfig(name=name, global_length=8, radius=5))
    run.layer.output_projection.bias.assign(tf.range(HIDDEN, dtype=tf.float32))
    y = run(tf.random.normal([2, 30, HIDDEN]), context).numpy()
    padding = context.input_mask.numpy() == 0
    assert padding[0].any()
    assert padding[1].all()
    np.testing.assert_array_equal(y[padding], np.tile(np.arange(HIDDEN), [padding.sum(), 1]))


@pytest.mark.parametrize("jit_compile", [False, True])
def test_question_beyond_the_global_length_stays_global(tables, jit_compile):
    """One graph takes both ways: a question of 7 tokens fits, the others do not."""
    x = tf.random.stateless_normal([2, 60, HIDDEN], [3, 4])
    options = {"global_length": 8, "row_radius": 10, "column_radius": 40}
    efficient = tables.layer_pair(AttentionConfig(name="mate_efficient", **options))
    exact = tables.layer_pair(AttentionConfig(name="mate_exact"))
    run = tf.function(efficient, autograph=False, jit_compile=jit_compile)
    for question in (7, 20, 60):
        rng = np.random.default_rng(2)
        context = tables.random_context(rng, 60, [question, 5], max_row_length=6)
        assert_equal_on_real_tokens(context, run(x, context).numpy(), exact(x, context).numpy())
    assert run.experimental_get_tracing_count() == 1


def test_overflow_of_long_sequences_takes_stretches(tables):
    """More tokens than one stretch of queries, and not a multiple of it."""
    seq = 2 * mate_forms.QUERY_CHUNK + 9
    context = tables.random_context(np.random.default_rng(2), seq, [20, 5], max_row_length=6)
    check_windowed(tables, context, global_length=8, radius=10)


def test_gradients_where_the_question_overflows(tables):
    """They are computed anew, by the mask."""
    seq = mate_forms.QUERY_CHUNK + 9
    context = tables.random_context(np.random.default_rng(2), seq, [20, 5], max_row_length=6)
    config = AttentionConfig(name="mate_efficient", global_length=8, radius=10)
    x, upstream = (tf.random.stateless_normal([2, seq, HIDDEN], [3, part]) for part in range(2))
    gradients = []
    for other in (
        config,
        AttentionConfig(config.as_dict() | {"name": "mate_exact"}, windowed=True),
    ):
        run = tables.layer_pair(other)

        @tf.function(autograph=False)
        def gradient(run=run):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = run(x, context)
            return tape.gradient(y, x, upstream)

        gradients.append(gradient())
    np.testing.assert_allclose(*gradients, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("global_length", [4, 16])
def test_layers_of_a_graph_drop_different_probabilities(tables, global_length):
    """Layers share the traced computation, with (4) and without a question that overflows."""
    context = tables.random_context(np.random.default_rng(2), 40, [10, 8], max_row_length=6)
    config = AttentionConfig(name="mate_efficient", global_length=global_length, radius=4)
    variant = attention.get(config.name)
    layer = variant.attention(config, 4, hidden_size=HIDDEN, dropout_rate=0.5)
    x = tf.random.stateless_normal([2, 40, HIDDEN], [3, 4])

    @tf.function(autograph=False)
    def run(training):
        pattern = variant.pattern(config, 4)(context)
        return [layer(x, pattern, training=training) for _ in range(2)]

    tf.random.set_seed(5)
    (one, other), (again, _), (without, expected) = run(True), run(True), run(False)
    np.testing.assert_array_equal(without, expected)
    real = context.input_mask.numpy() == 1
    for a, b in ((one, other), (one, again), (one, without)):
        assert (np.abs(a.numpy() - b.numpy())[real].max(axis=-1) > 1e-6).all()


RATE, SEED = 0.4, [7, 11]


def kept(shape, *added):
    """0 or 1 / (1 - rate), as stateless dropout with the step's seed and what is added to it."""
    seed = tf.constant(SEED) + tf.constant(added)
    return tf.nn.experimental.stateless_dropout(tf.ones(shape), RATE, seed).numpy()


def kept_by_buckets(context, kinds, global_length):
    """Factors of the probabilities, [batch, heads, queries, keys]: those of the global rows and of
    each block's window, in the order of the products."""
    batch, seq = context.row_ids.shape
    factors = np.zeros([batch, 4, seq, seq])
    for number, kind in enumerate(kinds):
        order = masks.sort_order(context, getattr(context, kind.ids)).numpy()
        block = mate_heads.BUCKETS_PER_BLOCK * kind.radius
        blocks, width = num_blocks(seq, global_length, kind.radius), block + 2 * kind.radius
        of_first = kept([batch, kind.count, global_length, seq], 0, 2 * number)
        shape = [batch, blocks, kind.count, block, global_length + width]
        of_window = kept([batch * blocks, *shape[2:]], 0, 2 * number + 1).reshape(shape)
        heads = slice(kind.first, kind.first + kind.count)
        for example in range(batch):
            for rank, query in enumerate(order[example]):
                if rank < global_length:
                    factors[example, heads, query] = of_first[example, :, rank]
                    continue
                of_block, place = divmod(rank - global_length, block)
                begin = global_length + of_block * block - kind.radius
                ranks = [*range(global_length), *range(begin, begin + width)]
                for column, key_rank in enumerate(ranks):
                    # Ranks before the first bucket and behind the last one are not tokens.
                    if column < global_length or global_length <= key_rank < seq:
                        key = order[example, key_rank]
                        found = of_window[example, of_block, :, place, column]
                        factors[example, heads, query, key] = found
    return factors


def kept_by_chunks(context, kinds):
    batch, seq = context.row_ids.shape
    factors = []
    for kind in kinds:
        shape = [batch, kind.count, mate_forms.QUERY_CHUNK, seq]
        chunks = [kept(shape, kind.first, n) for n in range(-(-seq // mate_forms.QUERY_CHUNK))]
        factors.append(np.concatenate(chunks, axis=2)[:, :, :seq])
    return np.concatenate(factors, axis=1)


@pytest.mark.parametrize("question", [8, 20])
def test_dropout_is_that_of_the_probabilities(tables, question, monkeypatch):
    """In the global rows, in the windows and, with a question of 20 tokens, in all chunks. Expected
    is full attention under the mask, with each probability times its factor."""
    monkeypatch.setattr(mate_forms, "QUERY_CHUNK", 16)
    monkeypatch.setattr(mate_forms.step_seeds, "draw", lambda: tf.constant(SEED))
    context = tables.random_context(np.random.default_rng(2), 50, [question, 5], max_row_length=6)
    options = {"global_length": 9, "row_radius": 5, "column_radius": 8, "row_heads_ratio": 0.25}
    config = AttentionConfig(name="mate_efficient", **options)
    run = tables.layer_pair(config, dropout_rate=RATE)
    layer, kinds = run.layer, head_types(config, 4)
    x = tf.random.stateless_normal([2, 50, HIDDEN], [3, 4])
    windowed = AttentionConfig(name="mate_exact", windowed=True, **options)
    mask = tables.layer_pair(windowed).pattern.mask(context)
    by_buckets = question <= 9
    factors = kept_by_buckets(context, kinds, 9) if by_buckets else kept_by_chunks(context, kinds)
    assert 0.3 < np.mean(factors[np.asarray(mask)] == 0) < 0.5
    (value,) = layer.project(x, layer.value)
    probabilities = layer.scores(x, mask) * factors
    expected = layer.project_back(tf.einsum("bhqk,bkhd->bqhd", probabilities, value))
    np.testing.assert_allclose(run(x, context, training=True), expected, atol=1e-5, rtol=0)
    assert np.abs(expected - run(x, context)).max() > 0.1


@pytest.mark.parametrize("seq", [39, 40, 41])
def test_short_sequences_are_computed_under_the_mask(tables, seq):
    """At 8 + 4 * 8 tokens a window is as long as the sequence; nothing changes but the way."""
    context = tables.random_context(np.random.default_rng(2), seq, [9, 5])
    options = {"global_length": 8, "radius": 8}
    by_buckets = outputs(tables, context, "mate_efficient", **options)
    with mock.patch.object(mate_forms, "masks_are_cheaper", wraps=DENSE_IS_CHEAPER) as asked:
        y = outputs(tables, context, "mate_efficient", **options)
    assert asked.called
    assert DENSE_IS_CHEAPER(*asked.call_args.args) == (seq <= 40)
    np.testing.assert_allclose(y, by_buckets, atol=1e-5, rtol=0)


def test_a_graph_for_any_length_computes_short_sequences_under_the_mask(tables):
    """One graph: masks up to 8 + 4 * 8 tokens, no masks beyond; outputs and gradients are equal."""
    config = AttentionConfig(name="mate_efficient", global_length=8, radius=8)
    run = tables.layer_pair(config)

    def outputs(x, pattern):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run.layer(x, pattern)
        return y, tape.gradient(y, x, y)

    @tf.function(input_signature=SPEC, autograph=False)
    def of_any_length(x, parts):
        pattern = run.pattern(attention.TableContext(**parts))
        return *outputs(x, pattern), pattern.by_masks, tf.shape(pattern.biases[0])

    with mock.patch.object(mate_forms, "masks_are_cheaper", DENSE_IS_CHEAPER):
        for seq, question in ((5, 2), (40, 9), (41, 9), (60, 5)):
            context = tables.random_context(np.random.default_rng(seq), seq, [question, 3])
            x = tf.random.stateless_normal([2, seq, HIDDEN], [seq, 1])
            *found, dense, shape = of_any_length(x, context.tensors)
            assert bool(dense) == (seq <= 40)
            assert shape.numpy().tolist() == [2, 1, *[seq * bool(dense)] * 2]
            for ours, expected in zip(found, outputs(x, run.pattern(context)), strict=True):
                np.testing.assert_allclose(ours, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("seq", [40, 60])
def test_a_graph_for_any_length_drops_probabilities(tables, seq):
    """About as many as configured, other ones in each call and for each type of heads."""
    config = AttentionConfig(name="mate_efficient", global_length=8, radius=8)
    run = tables.layer_pair(config, num_heads=2, dropout_rate=0.5)
    of_any_length = tf.function(
        lambda x, parts: run(x, attention.TableContext(**parts), training=True),
        input_signature=SPEC,
        autograph=False,
    )
    # All tokens are the question's: each of them attends to all.
    ones = tf.ones([1, seq], tf.int32)
    parts = dict.fromkeys(SPEC[1], 0 * ones) | {"input_mask": ones}
    x = tf.random.stateless_normal([1, seq, HIDDEN], [2, 1])
    with mock.patch.object(mate_forms, "masks_are_cheaper", DENSE_IS_CHEAPER):
        found = np.stack([of_any_length(x, parts) for _ in range(40)])
        expected = run(x, attention.TableContext(**parts)).numpy()
    assert found.std(axis=0).min() > 0
    # Over all outputs, so that chance does not reach the tolerance: its deviation is near 0.01.
    slope = np.sum(found.mean(axis=0) * expected) / np.sum(expected**2)
    assert slope == pytest.approx(1, abs=0.1)


def test_unsorted_input(tables):
    """Rows out of order, as no converter makes them: the layer sorts for itself."""
    context = tables.random_context(np.random.default_rng(4), 50, [7], columns=4)
    shuffle = np.concatenate([np.arange(7), 7 + np.random.default_rng(5).permutation(43)])
    context = context.map(lambda part: tf.gather(part, shuffle, axis=1))
    check_windowed(tables, context, global_length=9, radius=6)


def test_mask_has_row_heads_first_and_rounds_their_number_down(tables):
    context = tables.random_context(np.random.default_rng(6), 30, [5])
    config = AttentionConfig(name="mate_exact", row_heads_ratio=0.4)
    mask = tables.layer_pair(config, num_heads=6, hidden_size=24).pattern.mask(context).numpy()
    assert mask.shape == (1, 6, 30, 30)
    np.testing.assert_array_equal(mask[:, 1], masks.same_row(context))
    np.testing.assert_array_equal(mask[:, 2], masks.same_column(context))


@pytest.mark.parametrize("short_inputs", [True, False])
def test_graphs_for_short_or_long_inputs_only(tables, short_inputs):
    """Masks or windows at any length, with the same outputs; also for a question longer than G."""
    config = AttentionConfig(name="mate_efficient", global_length=8, radius=8)
    run = tables.layer_pair(config)

    @tf.function(input_signature=SPEC, autograph=False)
    def of_one_form(x, parts):
        with mate_forms.graph_for(short_inputs):
            pattern = run.pattern(attention.TableContext(**parts))
        assert pattern.by_masks is None
        assert bool(pattern.biases) == short_inputs
        return run.layer(x, pattern)

    for seq, question in ((30, 5), (60, 5), (60, 9)):
        context = tables.random_context(np.random.default_rng(seq), seq, [question, 3])
        x = tf.random.stateless_normal([2, seq, HIDDEN], [seq, 1])
        with mock.patch.object(mate_forms, "masks_are_cheaper", DENSE_IS_CHEAPER):
            expected = run(x, context)
        np.testing.assert_allclose(of_one_form(x, context.tensors), expected, atol=1e-5, rtol=0)


def test_a_long_window_is_chosen_by_the_length():
    """In a graph for long inputs too, if the window can be longer than they are."""
    kinds = head_types(AttentionConfig(name="mate_efficient", radius=100), 4)
    with mate_forms.graph_for(short_inputs=False):
        assert mate_forms.choice_of_graph(48, kinds) is False
        assert mate_forms.choice_of_graph(49, kinds) is None
    assert mate_forms.choice_of_graph(48, kinds) is None
