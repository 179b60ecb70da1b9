"""Attention over tables: variants behind one contract (`base`), found by name.

A new variant is one file, and one row of `_VARIANTS`, by which it is imported when it is asked for.
"""

import functools
import importlib
from typing import TYPE_CHECKING

from mate_tf.attention.base import (
    AttentionPattern,
    TableAttention,
    get,
    names,
    register,
)
from mate_tf.attention.config import AttentionConfig, register_on_first_use
from mate_tf.attention.coverage import coverage
from mate_tf.attention.sorted_views import MultiViewEmbedding
from mate_tf.attention.table_context import TableContext
from mate_tf.lazy import on_first_use

if TYPE_CHECKING:
    from mate_tf.attention import masks, static_masks
    from mate_tf.attention.masks import files as mask_files
    from mate_tf.attention.masks import learned as mask_pruning

_VARIANTS = {
    "full": "full.FullPattern, full.MaskedAttention, full.FullOptions",
    "same_row_or_column": (
        "same_row_or_column.SameRowOrColumnPattern, full.MaskedAttention, full.FullOptions"
    ),
    "structure_mask": (
        "structure_mask.StructureMaskPattern, full.MaskedAttention, "
        "structure_mask.StructureMaskOptions"
    ),
    "mate_exact": "mate_exact.MateExactPattern, mate_exact.MateExact, mate_heads.MateExactOptions",
    "mate_efficient": (
        "mate_forms.MateEfficientPattern, mate_forms.MateEfficient, mate_heads.MateOptions"
    ),
    "learned_mask": (
        "learned_mask.LearnedMaskPattern, full.MaskedAttention, learned_mask.LearnedMaskOptions"
    ),
    "static_mask": (
        "static_masks.StaticMaskPattern, static_masks.StaticMaskAttention, "
        "static_masks.StaticMaskOptions"
    ),
    "tree_fine": "tree.TreePattern, tree_fine.TreeFine, tree_fine.TreeFineOptions",
    "tree_coarse": "tree.TreePattern, tree_coarse.TreeCoarse, tree.TreeOptions",
    "linformer": "linformer.LinformerPattern, linformer.Linformer, linformer.LinformerOptions",
    "table_etc": "table_etc.TableETCPattern, table_etc.TableETC, table_etc.TableETCOptions",
    "bigbird": "bigbird.BigBirdPattern, bigbird.BigBird, bigbird.BigBirdOptions",
    "kernel": "kernel.KernelPattern, kernel.KernelAttention, kernel.KernelOptions",
    "table_bias": "table_bias.TableBiasPattern, table_bias.TableBias, table_bias.TableBiasOptions",
}
"""Name of a variant -> its pattern, attention and options, each as module.class."""


def _register(name: str) -> None:
    def imported(path):
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(f"{__name__}.{module}"), name)

    register(name, *map(imported, _VARIANTS[name].split(", ")))


for _name in _VARIANTS:
    register_on_first_use(_name, functools.partial(_register, _name))

_EXPORTS = {
    "mask_files": "mate_tf.attention.masks.files",
    "mask_pruning": "mate_tf.attention.masks.learned",
}

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

__getattr__, __dir__ = on_first_use(__name__, _EXPORTS)
