"""Serves the page by uvicorn, in a thread."""

import contextlib
import socket
import threading
from collections.abc import Iterator, Sequence

import uvicorn
from starlette.types import ASGIApp

from mate_tf.service.connections import CONNECTIONS, TimedProtocol

_END = 0.4  # seconds for the server to end; `cli.signals` leaves a second for everything


@contextlib.contextmanager
def running(
    app: ASGIApp, listening: socket.socket, headers: Sequence[tuple[str, str]]
) -> Iterator[threading.Thread]:
    """Serves an application while the context lasts.

    Args:
        app: the application.
        listening: the socket to accept connections from.
        headers: headers of every response.

    Yields:
        the thread that serves it, when requests are accepted. A thread of its own leaves signals to
        the main thread, which ends the page by an exception.
    """
    config = uvicorn.Config(
        app,
        http=TimedProtocol,
        ws="none",
        log_level="critical",  # no traces of connections that end with the page
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=0,
        headers=list(headers),
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        while thread.is_alive() and not server.started:
            thread.join(0.05)
        yield thread
    finally:
        server.should_exit = server.force_exit = True
        thread.join(_END)
