"""Errors of events are told on the page, and never raised."""

from mate_tf.demo import events
from mate_tf.errors import InputError


def test_caught(caplog):
    with events.Caught() as caught:
        raise InputError("type a question first")
    assert caught.message == "type a question first"
    with events.Caught() as caught:
        raise ValueError("a secret")
    assert caught.message == events.UNEXPECTED
    assert "a secret" in caplog.text
    with events.Caught() as caught:
        pass
    assert not caught.message
