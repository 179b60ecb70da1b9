"""Serves the page below a path, behind a proxy."""

import re
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from mate_tf.errors import InputError

_HOST = r"(?:[\w.-]+|\[[\da-fA-F:.]+\])"
_PART = r"/(?!\.\.?(?:/|$))[\w.~-]+"  # neither . nor .., which browsers take out
_FORM = re.compile(rf"(https?://{_HOST}(?::\d+)?)?({_PART})*/?", re.ASCII)


def check(root_path: str) -> str:
    """Returns a path or address without a slash at its end; "" stays.

    Raises:
        InputError: if it is neither a path, such as /tables, nor an address of http or https.
    """
    if not (_FORM.fullmatch(root_path) and _has_port(root_path)):
        raise InputError(
            f"--root_path={root_path}: expected a path, such as /tables, or the address of the "
            "page, such as https://example.org/tables"
        )
    return root_path.rstrip("/")


def _has_port(root_path: str) -> bool:
    """Returns whether the port, if there is one, is a number that ports have."""
    try:
        return urlsplit(root_path).port != 0
    except ValueError:  # also for an address in brackets that is not one of IPv6
        return False


class Below:
    """Takes the path off that a proxy has left before the page's own paths.

    Args:
        app: what the requests reach.
        root: from `check`.
    """

    def __init__(self, app: ASGIApp, root: str):
        self._app, self._path = app, urlsplit(root).path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on a request."""
        path = scope.get("path", "")
        if self._path and (path == self._path or path.startswith(f"{self._path}/")):
            own = path.removeprefix(self._path) or "/"
            scope = {**scope, "path": own, "raw_path": own.encode()}
        await self._app(scope, receive, send)
