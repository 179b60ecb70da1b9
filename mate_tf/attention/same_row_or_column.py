"""The mask of SAT (Zhang et al., 2020; section 2 of the MATE paper), one for all heads."""

from mate_tf.attention import masks
from mate_tf.attention.full import FullPattern


class SameRowOrColumnPattern(FullPattern):
    """Pattern of own row, own column and question; the question attends to every real token.

    It is what TAPAS computes with restrict_attention_mode "same_colum_or_row".
    """

    def mask(self, context):
        mask = masks.same_row_or_column(context)[:, None]
        return mask if self.config.diagonal else masks.without_diagonal(mask)
