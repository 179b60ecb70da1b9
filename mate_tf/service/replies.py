"""Responses in JSON, errors among them: each is one line."""

import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Refusal(Exception):
    """A request that is refused.

    Args:
        status: of the response.
        text: says why, in one line.
        headers: of the response.
    """

    def __init__(self, status: int, text: str, headers: dict[str, str] | None = None):
        super().__init__(text)
        self.status, self.headers = status, headers


def reply(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Returns a response of JSON. Numbers that JSON lacks, such as infinity, become null."""
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(content), ensure_ascii=False)
    return Response(text + "\n", status, headers, "application/json")


def error(text: str, status: int, headers: dict[str, str] | None = None) -> Response:
    """Returns the response to a request that cannot be answered, one line."""
    return reply({"error": " ".join(text.split())}, status, headers)


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


class JsonErrors:
    """Makes errors in plain text, as libraries write them, into those of `error`.

    Args:
        app: what answers the requests.
        texts: status -> text to send instead.
    """

    def __init__(self, app: ASGIApp, texts: Mapping[int, str]):
        self.app, self._texts = app, texts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        held: list[Message] = []

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_plain_error(message):
                held.append(message)
            elif not held:
                await send(message)
            elif message["type"] == "http.response.body":
                held.append(message)
                if not message.get("more_body"):
                    text = b"".join(each["body"] for each in held[1:]).decode("utf-8", "replace")
                    kept = {
                        name.decode("latin-1"): value.decode("latin-1")
                        for name, value in held[0]["headers"]
                        if name not in (b"content-type", b"content-length")
                    }
                    status = held[0]["status"]
                    answer = error(self._texts.get(status, text), status, kept)
                    await answer(scope, receive, send)

        await self.app(scope, receive, sent)


def _is_plain_error(start: Message) -> bool:
    kind = dict(start["headers"]).get(b"content-type", b"")
    return start["status"] >= 400 and kind.startswith(b"text/plain")
