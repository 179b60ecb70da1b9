"""Mounts the page's blocks in an application that answers requests which gradio does not expect."""

from typing import Any

import gradio as gr
from absl import logging
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount


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
            # Gradio's routes fail at requests that its page does not send, such as of no function.
            # Errors of the page's functions do not come here.
            route.app.add_exception_handler(Exception, _refused)
    return app


def _refused(request: Request, error: Exception) -> PlainTextResponse:
    logging.info("%s: %r", request.url.path, error)
    return PlainTextResponse("This request cannot be answered.", 400)
