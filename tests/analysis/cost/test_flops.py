"""FLOPs from the graph and by formula agree, variant by variant."""

import pytest
import tensorflow as tf

from mate_tf import attention
from mate_tf.analysis.cost import encoder_layers, flops
from mate_tf.attention import base, decision_trees
from mate_tf.models.encoder_config import EncoderConfig

EXACT = ("full", "same_row_or_column", "mate_exact", "learned_mask", "linformer", "kernel")
EXACT += ("table_bias",)
BLOCKS = ("mate_efficient", "table_etc", "bigbird", "tree_coarse")
"""Variants that fill up blocks, or compute something once a batch."""


def config_of(variant, length, **sizes):
    config = EncoderConfig(num_hidden_layers=1, **sizes)
    return encoder_layers.variant_config(config, variant, length)


@pytest.mark.parametrize("length", [600, 2048])
@pytest.mark.parametrize("variant", EXACT + BLOCKS)
def test_graph_and_formula_agree(variant, length):
    if variant == "learned_mask" and length > 1000:
        pytest.skip("its alpha would be large")
    # Half the width of BERT-base: TensorFlow's allocator keeps what models of that width take.
    half = {"hidden_size": 384, "num_attention_heads": 6, "intermediate_size": 1536}
    config = config_of(variant, length, **half)
    count, by_hand = flops.count_layers(config, length), flops.formula(config, length)
    tolerance = 1e-9 if variant in EXACT else 0.05
    assert count.products == pytest.approx(by_hand, rel=tolerance)
    # what is not a matmul is little
    assert count.products < count.everything < 1.05 * count.products
    assert count.bytes > 4 * 2 * length * config.hidden_size


def test_two_bert_base_layers_by_hand():
    """MATE's products at 2048 tokens are 62.3 GFLOP; the limits of its speed-up follow."""
    config = EncoderConfig(num_hidden_layers=2)
    mate, full = (encoder_layers.variant_config(config, x) for x in ("mate_efficient", "full"))
    assert flops.formula(mate, 2048) / 1e9 == pytest.approx(62.3, abs=0.05)
    ratios = {n: flops.formula(full, n) / flops.formula(mate, n) for n in (2048, 4096, 8192)}
    assert ratios == pytest.approx({2048: 1.34, 4096: 1.76, 8192: 2.58}, abs=0.01)
    # up to G + 4 R tokens it computes what `full` does
    assert flops.formula(mate, 284) == flops.formula(full, 284)


def test_order_of_the_models_in_figure_5():
    """TableETC most of the linear ones, MATE and Linformer below full attention."""
    config = EncoderConfig(num_hidden_layers=2)
    for length in (2048, 4096):
        found = {
            name: flops.formula(encoder_layers.variant_config(config, name, length), length)
            for name in ("full", "mate_efficient", "linformer", "table_etc")
        }
        assert found["linformer"] < 1.1 * found["mate_efficient"]
        assert found["mate_efficient"] < found["table_etc"]
        assert max(found["linformer"], found["mate_efficient"]) < found["full"]


def test_counts_what_the_profiler_does():
    """Where there are neither branches nor Einsum, both are the same to the last operation."""
    config = config_of("full", 40, hidden_size=32, num_attention_heads=4, intermediate_size=64)
    forward = encoder_layers.forward(config)
    x, context = encoder_layers.inputs(config, 40)
    graph = tf.function(forward).get_concrete_function(x, context).graph
    profiler = tf.compat.v1.profiler
    options = profiler.ProfileOptionBuilder(profiler.ProfileOptionBuilder.float_operation())
    profile = profiler.profile(graph, options=options.with_empty_output().build())
    assert flops.count_graph(graph).everything == profile.total_float_ops


def test_what_the_graph_does_not_say():
    """Leaves are as large as the content makes them; most variants have no formula or a graph."""
    small = {"hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 16}
    config = config_of("tree_fine", 40, **small)
    with pytest.raises(flops.Uncountable):
        flops.count_layers(config, 40)
    assert flops.formula(config, 40) > 0


def test_trees_by_hand():
    """Height 3: three nodes on a path, all seven where the levels are scored whole."""
    shape, full = decision_trees.TreeShape.of(3), 4 * 1000**2 * 16
    fine, coarse = (attention.get(name).attention for name in ("tree_fine", "tree_coarse"))
    assert base.all_pairs_flops(16, 1000) == full
    path, levels = (fine.tree_flops(shape, 1000, 16, at_once=way) for way in (False, True))
    assert path == full / 8 + 4 * 1000 * 16 * 3
    assert levels == full / 8 + 4 * 1000 * 16 * 7
    sums = 1000 * 16 + 4 * 15 * 16
    assert coarse.tree_flops(shape, 1000, 16, at_once=False) == 4 * 1000 * 16 * 3 + sums


def test_only_the_branch_taken_counts():
    """A question beyond G makes MATE dense, in another branch."""
    config = config_of("mate_efficient", 600)
    few = flops.count_layers(config, 600)
    config.attention.override({"global_length": encoder_layers.QUESTION - 1})
    with pytest.raises(flops.Uncountable):  # stretches, in a loop
        flops.count_layers(config, 600)
    assert few.products < flops.formula(config_of("full", 600), 600)


def test_einsum():
    @tf.function
    def call(a, b):
        tf.einsum("bshd,md->bshm", a, b)
        return tf.einsum("ab,b->ab", b, b[0])

    graph = call.get_concrete_function(tf.zeros([2, 3, 5, 7]), tf.zeros([11, 7])).graph
    assert flops.count_graph(graph).products == 2 * 2 * 3 * 5 * 7 * 11 + 11 * 7
