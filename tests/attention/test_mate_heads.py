"""Types of heads, and options out of range."""

import pytest

from mate_tf.attention import AttentionConfig
from mate_tf.attention.mate import head_types
from mate_tf.errors import InputError


@pytest.mark.parametrize(
    "options", [{"row_heads_ratio": 1.5}, {"radius": 0}, {"row_radius": -1}, {"global_length": -1}]
)
def test_options_out_of_range_are_named(options):
    with pytest.raises(InputError, match=next(iter(options)).removeprefix("row_r")):
        head_types(AttentionConfig(**options), 4)
