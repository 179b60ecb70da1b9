"""Figures: cells of a table, masks, attention flow, training. matplotlib is imported on use."""

from mate_tf.analysis.plots.cells import cell_heat_map

__all__ = ["cell_heat_map"]
