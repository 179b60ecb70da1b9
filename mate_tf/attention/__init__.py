"""Attention over tables: variants behind one contract (`base`), found by name.

A new variant is one file, imported here and registered in one line.
"""

from mate_tf.attention import (
    bigbird,
    full,
    kernel,
    learned_mask,
    linformer,
    masks,
    mate,
    same_row_or_column,
    static_masks,
    table_bias,
    table_etc,
    tree,
    tree_coarse,
    tree_fine,
)
from mate_tf.attention.base import (
    AttentionPattern,
    TableAttention,
    get,
    names,
    register,
)
from mate_tf.attention.config import AttentionConfig
from mate_tf.attention.context import TableContext
from mate_tf.attention.coverage import coverage
from mate_tf.attention.masks import files as mask_files
from mate_tf.attention.masks import learned as mask_pruning
from mate_tf.attention.views import MultiViewEmbedding
from mate_tf.lazy import on_first_use

register("full", full.FullPattern, full.MaskedAttention, full.FullOptions)
register(
    "same_row_or_column",
    same_row_or_column.SameRowOrColumnPattern,
    full.MaskedAttention,
    full.FullOptions,
)
register("mate_exact", mate.MateExactPattern, mate.MateExact, mate.MateExactOptions)
register("mate_efficient", mate.MateEfficientPattern, mate.MateEfficient, mate.MateOptions)
register(
    "learned_mask",
    learned_mask.LearnedMaskPattern,
    full.MaskedAttention,
    learned_mask.LearnedMaskOptions,
)
register(
    "static_mask",
    static_masks.StaticMaskPattern,
    static_masks.StaticMaskAttention,
    static_masks.StaticMaskOptions,
)
register("tree_fine", tree.TreePattern, tree_fine.TreeFine, tree_fine.TreeFineOptions)
register("tree_coarse", tree.TreePattern, tree_coarse.TreeCoarse, tree.TreeOptions)
register("linformer", linformer.LinformerPattern, linformer.Linformer, linformer.LinformerOptions)
register("table_etc", table_etc.TableETCPattern, table_etc.TableETC, table_etc.TableETCOptions)
register("bigbird", bigbird.BigBirdPattern, bigbird.BigBird, bigbird.BigBirdOptions)
register("kernel", kernel.KernelPattern, kernel.KernelAttention, kernel.KernelOptions)
register(
    "table_bias", table_bias.TableBiasPattern, table_bias.TableBias, table_bias.TableBiasOptions
)

__all__ = [
    "AttentionConfig",
    "AttentionPattern",
    "MultiViewEmbedding",
    "TableAttention",
    "TableContext",
    "coverage",
    "get",
    "mask_files",
    "mask_pruning",
    "masks",
    "names",
    "register",
    "static_masks",
]

__getattr__, __dir__ = on_first_use(__name__)
