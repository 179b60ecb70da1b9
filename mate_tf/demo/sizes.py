"""Decides which requests to the page are too large."""

from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mate_tf.demo import uploads

_LARGEST_FORM = 16 * 2**20  # bytes of a request without a file: a pasted table, a question
_AROUND_AN_UPLOAD = 2**16  # bytes of a form around its file
_UPLOAD = "/upload"


class Sizes:
    """Refuses requests that are too large, and uploads that do not fit on the disk.

    Args:
        app: what the other requests reach.
        folder: folder of the uploads.
        largest_upload: in bytes.
    """

    def __init__(self, app: ASGIApp, folder: str, largest_upload: int):
        self._folder, self._largest = folder, largest_upload
        self._forms = RequestBodyLimitMiddleware(app, _LARGEST_FORM)
        self._uploads = RequestBodyLimitMiddleware(app, largest_upload + _AROUND_AN_UPLOAD)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses or passes on a request."""
        app = self._forms
        if scope["type"] == "http" and scope["path"].rstrip("/").endswith(_UPLOAD):
            app = self._uploads
            if not uploads.has_room(self._folder, self._largest):
                app = PlainTextResponse("The disk is too full for more uploads now.", 507)
        await app(scope, receive, send)
