"""Attention by the type of the token that it goes to, against counts by hand."""

import numpy as np
import pytest

from mate_tf.analysis.attention import flow as attention_flow
from mate_tf.analysis.attention import flow_by_type
from mate_tf.analysis.attention.flow_by_type import COLUMN, NEITHER, ROW, TYPES, FlowByType
from mate_tf.analysis.plots import flow as flow_plots
from mate_tf.attention import AttentionConfig, TableContext
from mate_tf.models.encoder import TableEncoder

from ...models.tiny_encoder import tiny


def small_table():
    """[CLS] a [SEP], a header of two columns, two rows; the last cell has two tokens; padding."""
    segment = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0]
    row = [0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 0]
    column = [0, 0, 0, 1, 2, 1, 2, 1, 2, 2, 0]
    mask = [1] * 10 + [0]
    return TableContext(*map(np.array, (segment, row, column, mask)))


def test_types_part_the_tokens_that_are_no_padding():
    types = flow_by_type.token_types(small_table())
    assert types.shape == (8, 5, 11)
    np.testing.assert_array_equal(types.sum(0), np.tile([1] * 10 + [0], [5, 1]))
    # as the first of the last cell's two tokens sees them
    seen = [np.flatnonzero(of_type[3]).tolist() for of_type in types]
    assert seen == [[0], [1, 2], [3], [4], [5], [7], [6], [8, 9]]


def test_uniform_is_the_mean_over_tokens():
    flow = FlowByType()
    flow.add(small_table())
    # of 5 data tokens with 10 tokens each
    same_cell = 1 + 1 + 1 + 2 + 2
    same_row = 1 + 1 + 2 + 1 + 1
    same_column = 1 + 2 + 1 + 1 + 1
    elsewhere = 25 - same_cell - same_row - same_column
    expected = np.array([5, 10, 5, 5, elsewhere, same_row, same_column, same_cell]) / 50
    np.testing.assert_allclose(flow.uniform, expected)
    assert flow.uniform.sum() == pytest.approx(1)
    # an example without data cells, as a sentence is, counts for nothing
    flow.add(TableContext(*np.array([[0, 0], [0, 0], [0, 0], [1, 1]])))
    assert flow.examples == 1
    np.testing.assert_allclose(flow.uniform, expected)


def looking(context, where):
    """Probabilities that are equal among the tokens that `where` says."""
    allowed = where(context) & (context.input_mask > 0)
    return allowed / np.maximum(allowed.sum(-1, keepdims=True), 1)


def other_column_same_row(context):
    return (context.row_ids[:, None] == context.row_ids) & (
        context.column_ids[:, None] != context.column_ids
    )


def same_column(context):
    return context.column_ids[:, None] == context.column_ids


def everything(context):
    return np.ones([len(context.row_ids)] * 2, bool)


def test_heads_that_look_along_rows_and_columns():
    context = small_table()
    flow = FlowByType(num_layers=2, num_heads=2)
    row, column, both = (
        looking(context, where) for where in (other_column_same_row, same_column, everything)
    )
    flow.add(context, [np.stack([row, column]), np.stack([both, row])])
    assert flow.head_likeness() == [[ROW, COLUMN], [NEITHER, ROW]]
    names = list(map(str, TYPES))
    of_row = dict(zip(names, flow.by_head[0, 0], strict=True))
    assert of_row["table, other column, same row"] == pytest.approx(1)
    np.testing.assert_allclose(flow.by_head.sum(-1), 1, rtol=1e-6)
    table = flow.table()
    assert list(table) == ["attention / uniform", "attention", "uniform"]
    name = "table, other column, other row"
    times = table["attention"][name] / table["uniform"][name]
    assert float(table["attention / uniform"][name]) == pytest.approx(times, abs=0.006)
    figure = flow_plots.row_and_column_heads(flow, "heads")
    own_row, own_column = (axes.images[0].get_array() for axes in figure.axes[:2])
    assert own_row[1, 0] == pytest.approx(np.log2(flow.times_uniform(ROW)[1, 0]))
    assert own_row[0, 0] > 0
    assert own_row[0, 1] == -3
    assert own_column[0, 1] > 0


def inputs(encoder, context):
    """The encoder's inputs with the ids of a context, without padding."""
    names = {"input_ids"} | {name for _, name in encoder.embeddings.type_names}
    length = int(context.input_mask.sum())
    zeros = {name: np.zeros([1, length], np.int32) for name in names}
    return zeros | {
        name: ids[None, :length].astype(np.int32) for name, ids in context.tensors.items()
    }


def test_measure_looks_at_so_many_examples():
    encoder = TableEncoder(tiny(attention=AttentionConfig(name="full")))
    example = inputs(encoder, small_table())
    flow, overall = flow_by_type.measure(encoder, [example] * 3, most=2)
    assert (flow.examples, overall.examples) == (2, 3)
    data = flow_by_type.data_tokens(small_table().map(lambda ids: ids[:10]))
    types = flow_by_type.token_types(small_table().map(lambda ids: ids[:10]))
    for number, layer in enumerate(attention_flow.probabilities(encoder, example)):
        expected = np.einsum("hst,cst->hc", layer[0].numpy()[:, data], types.astype(float)) / 5
        np.testing.assert_allclose(flow.by_head[number], expected, rtol=1e-5)


def test_without_probabilities_there_is_the_uniform_attention(capsys):
    encoder = TableEncoder(tiny(attention=AttentionConfig(name="tree_coarse")))
    flow, overall = flow_by_type.measure(encoder, [inputs(encoder, small_table())] * 2, most=2)
    assert (flow.examples, overall.examples) == (0, 2)
    assert list(flow.table() | overall.table()) == ["uniform"]
    assert capsys.readouterr().out.count("only uniform attention is measured") == 1
