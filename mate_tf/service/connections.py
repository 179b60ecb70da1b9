"""Connections of the page and of the service: how many, and time limits for slow clients."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 256
"""Connections at a time; further requests are answered by 503."""

PATIENCE = {h11.IDLE: 10, h11.SEND_BODY: 120}
"""Seconds that a client has to begin and end its headers, and to send what follows them."""

STALLED = 60
"""Seconds after which a client that does not read its response is cut off."""


class TimedProtocol(H11Protocol):
    """HTTP of a connection that is closed if its client takes too long."""

    _waiting: tuple | None = None  # state of the client, and the handle of its time limit
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport) -> None:
        """Begins to wait for a request. Of far too many connections the new ones are cut off."""
        super().connection_made(transport)
        if len(self.connections) > 2 * CONNECTIONS:
            transport.abort()
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Reads a part of a request."""
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        """Begins to wait for the next request."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc) -> None:
        """Forgets the time limits."""
        super().connection_lost(exc)
        for handle in (self._waiting[1] if self._waiting else None, self._stalled):
            if handle:
                handle.cancel()

    def pause_writing(self) -> None:
        """Begins to wait for the client to read."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED, self.transport.abort)

    def resume_writing(self) -> None:
        """Ends to wait for the client to read."""
        super().resume_writing()
        if self._stalled:
            self._stalled.cancel()

    def _wait(self) -> None:
        """Sets the time limit of the client's state; one that is set already for it goes on."""
        state = self.conn.their_state
        if self._waiting:
            if self._waiting[0] is state:
                return
            self._waiting[1].cancel()
            self._waiting = None
        if state in PATIENCE:
            self._waiting = state, self.loop.call_later(PATIENCE[state], self.transport.abort)
