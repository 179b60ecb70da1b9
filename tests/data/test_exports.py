"""Public names of mate_tf.data."""

import pytest

from mate_tf import data
from mate_tf.data.converters.examples import ExampleConverter


def test_every_name_is_there():
    assert sorted(data._EXPORTS) == sorted(data.__all__)
    for name in data.__all__:
        assert getattr(data, name).__name__ == name
    assert data.ExampleConverter is ExampleConverter
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = data.nothing
