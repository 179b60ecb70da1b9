"""The accessor `mate` of pandas frames."""

import pytest

pandas = pytest.importorskip("pandas")


def test_asks_the_preset():
    from mate_tf.serving import pandas_accessor

    frame = pandas.DataFrame({"Name": ["Ann", "Bob"], "Age": [31, 40]})
    answer = frame.mate.ask("how old is Bob?")
    assert answer.text == "40"
    assert "**40**" in answer.to_markdown()
    assert "<table>" in answer._repr_html_()
    assert frame.mate.ask("how old is Ann?", pandas_accessor._loaded("mini")).text == "31"
