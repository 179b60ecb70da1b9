"""Mounts the page's blocks in an application that answers requests which gradio does not expect.

Gradio's routes fail at requests that its page does not send, such as of no function, and say 500.
The page's own functions catch their errors, so that it is always the request that is wrong.
"""

from typing import Any

import gradio as gr
from absl import logging
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_FAILED, _WRONG = 500, 400


def mount(app: FastAPI, blocks: gr.Blocks, **options: Any) -> FastAPI:
    """Mounts blocks at "/" and returns the application.

    Args:
        app: the application.
        blocks: the page.
        **options: of `gradio.mount_gradio_app`.
    """
    app = gr.mount_gradio_app(app, blocks, path="/", **options)
    for route in app.routes:
        if isinstance(route, Mount):
            inner: Any = route.app
            inner.add_middleware(Wrong)
            inner.add_exception_handler(Exception, _refused)
    return app


class Wrong:
    """Gives responses of a failed request the status of a wrong one.

    Args:
        app: gradio's routes.
    """

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""

        async def changed(message: Message) -> None:
            if message.get("status") == _FAILED:
                message = {**message, "status": _WRONG}
            await send(message)

        await self.app(scope, receive, changed)


def _refused(request: Request, error: Exception) -> PlainTextResponse:
    logging.info("%s: %r", request.url.path, error)
    return PlainTextResponse("This request cannot be answered.", _WRONG)
