"""Layers and helpers that attention and models share. This package imports neither of them."""

from mate_tf.layers.cells import Cells
from mate_tf.layers.framework import keras, within_xla
from mate_tf.layers.layer_norm import LayerNorm
from mate_tf.layers.shapes import build_child, check_length, shape_list
from mate_tf.lazy import on_first_use

__all__ = ["Cells", "LayerNorm", "build_child", "check_length", "keras", "shape_list", "within_xla"]

__getattr__, __dir__ = on_first_use(__name__)
