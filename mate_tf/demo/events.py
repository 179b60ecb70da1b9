"""Options of all events of the page, and messages about their errors."""

from typing import Any

from absl import logging

from mate_tf.errors import InputError

UNEXPECTED = "Internal error; the server's terminal has the details."


class Caught:
    """Context that catches exceptions and keeps a message for the user.

    Attributes:
        message: the message; "" without an exception.
    """

    message = ""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, InputError):
            self.message = str(error)
        elif isinstance(error, Exception):
            logging.exception("the page shows: %s", UNEXPECTED)
            self.message = UNEXPECTED
        return isinstance(error, Exception)


EVENT: dict[str, Any] = {
    "api_visibility": "private",
    "concurrency_id": "model",
    "concurrency_limit": 1,
}
"""Options of every event: no public API, and one event at a time, for correct timings."""

SCROLL: dict[str, Any] = {
    "fn": None,
    "js": """() => setTimeout(() => {
        const shown = document.querySelector("#message .mate-error, #answer .mate-answer");
        shown?.scrollIntoView({block: "nearest"});
    }, 100)""",  # until it is drawn
    "api_visibility": "private",
}
"""Options of an event that brings the error or the answer into view: a narrow window has it below
the inputs."""
