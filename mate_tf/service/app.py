"""The service as an ASGI application: its paths, and what happens to a request on its way."""

import asyncio
import contextlib
import dataclasses
import functools
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from absl import logging
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.middleware import Middleware
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mate_tf.errors import InputError, on_one_line
from mate_tf.service import guard, openapi, request_values, stopping
from mate_tf.service.batching import Batcher, Full, Question
from mate_tf.service.metrics import CONTENT_TYPE, Metrics
from mate_tf.service.replies import JsonErrors, Refusal, error, reply
from mate_tf.service.settings import LARGEST_JSON, Settings
from mate_tf.service.table_store import Tables
from mate_tf.tables.limits import MIB

RETRY = {"Retry-After": "1"}
"""Header of responses to requests that may be sent again soon."""

_READERS = 2  # threads that read tables
_GONE = 499  # status, as nginx counts them, of requests whose client has gone
_AROUND_A_FILE = 2**16  # bytes of a form around its file
_ANSWERED = ("/v1/ask", "/v1/ask_batch", "/v1/tables")


class Service:
    """Answers requests with one model.

    Args:
        settings: its settings.

    Attributes:
        stopping: whether new requests are refused, since the process ends.
        running: requests that are being answered.
        metrics: what is counted.
    """

    # What `start` makes.
    _predictor: Any
    _batcher: Batcher
    _readers: ThreadPoolExecutor

    def __init__(self, settings: Settings):
        self.settings = settings
        self.stopping, self.running = False, 0
        self.metrics = Metrics()
        self._tables = Tables(
            settings.max_tables, settings.max_tables_bytes, settings.folder or None
        )

    def start(self) -> None:
        """Loads the model; InputError if it cannot be."""
        self._predictor = self.settings.load()
        self._readers = ThreadPoolExecutor(_READERS, "tables")
        self._batcher = Batcher(
            self._answer, self.settings.most, self.settings.waiting, self._observe
        )

    def close(self) -> None:
        """Ends the threads."""
        self._batcher.close()
        self._readers.shutdown(cancel_futures=True)

    async def ask(self, request: Request) -> Response:
        """Answers one question."""
        async with self._admitted(), self._received(request, "ask") as given:
            (answer,) = await self._answers([given])
        return reply(answer)

    async def ask_batch(self, request: Request) -> Response:
        """Answers a list of questions."""
        async with self._admitted():
            given = await self._json(request)
            if not isinstance(given, list) or not given:
                raise InputError("expected a list of questions, each an object")
            if len(given) > self.settings.waiting:
                raise Refusal(
                    413, f"{len(given)} questions; at most {self.settings.waiting} are allowed"
                )
            for number, each in enumerate(given, start=1):
                request_values.check_keys(
                    each, request_values.JSON_KEYS["ask"], f"question {number}: "
                )
            answers = await self._answers(given, numbered=True)
        return reply(answers)

    async def add_table(self, request: Request) -> Response:
        """Stores a table."""
        async with self._admitted(), self._received(request, "table") as given:
            name, prepared = await self._timed(self._read(self._table, given, ""))
        stored = {"table_id": name, "rows": prepared.table.num_rows}
        stored["columns"] = list(prepared.table.columns)
        return reply(stored | {"unread": prepared.table.unread})

    async def models(self, request: Request) -> Response:
        """Describes the model."""
        del request
        model = {
            "name": self.settings.name,
            "classes": self._predictor.class_names,
            "reads_texts": self.settings.reads_texts,
            "has_confidence": self._predictor.calibration is not None,
            "limits": dataclasses.asdict(self.settings.limits),
        }
        return reply({"models": [model]})

    async def health(self, request: Request) -> Response:
        """Says whether questions are answered."""
        del request
        if self.stopping:
            raise Refusal(503, "the service is stopping")
        if not self._batcher.is_alive:
            raise Refusal(503, "the service has failed")
        return reply({"status": "ok"})

    async def count(self, request: Request) -> Response:
        """Returns the metrics."""
        del request
        return Response(self.metrics.text(), media_type=CONTENT_TYPE)

    async def describe(self, request: Request) -> Response:
        """Returns the OpenAPI document."""
        del request
        return reply(openapi.document(self.settings))

    async def docs(self, request: Request) -> Response:
        """Returns a page that lists the paths."""
        del request
        return HTMLResponse(openapi.page(self.settings))

    def _observe(self, number: int) -> None:
        self.metrics.batch(number)
        self.metrics.waiting(len(self._batcher))

    def _answer(self, questions: Sequence[Question]) -> list[Any]:
        pairs = [(each.table, each.text) for each in questions]
        previous = [each.previous for each in questions]
        return self._predictor.ask_batch(pairs, self.settings.most, previous)

    @contextlib.asynccontextmanager
    async def _admitted(self) -> AsyncIterator[None]:
        """Refuses a request if the process ends or too many are being answered."""
        if self.stopping:
            raise Refusal(503, "the service is stopping", RETRY)
        if self.running >= self.settings.waiting + self.settings.most:
            raise Refusal(429, "too many requests; try again later", RETRY)
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1

    @contextlib.asynccontextmanager
    async def _received(self, request: Request, kind: str) -> AsyncIterator[dict[str, Any]]:
        """Yields the keys and values of a request, JSON or a form."""
        if _content_type(request) != "multipart/form-data":
            given = await self._json(request)
            request_values.check_keys(given, request_values.JSON_KEYS[kind])
            yield given
            return
        async with request.form(max_files=1, max_fields=8) as form:
            given: dict[str, Any] = dict(form)
            request_values.check_keys(given, request_values.FORM_KEYS[kind])
            if len(form.multi_items()) > len(given):
                raise InputError("the form has a field twice")
            for name, value in given.items():
                if isinstance(value, UploadFile) != (name == "file"):
                    kind = "a file" if name == "file" else "a text"
                    raise InputError(f"{name}: expected {kind}")
            for name in ("previous", "texts"):
                if name in given:
                    given[name] = request_values.parse(given[name], name)
            yield given

    async def _json(self, request: Request) -> Any:
        kind = _content_type(request)
        if kind != "application/json":
            raise Refusal(
                415, f"Content-Type {kind[:60]!r}; expected application/json or multipart/form-data"
            )
        pieces, size = [], 0
        async for piece in request.stream():
            size += len(piece)
            if size > LARGEST_JSON:
                raise Refusal(
                    413,
                    f"more than {LARGEST_JSON // MIB} MiB of JSON; send the table as a file, as "
                    "multipart/form-data",
                )
            pieces.append(piece)
        return await self._read(request_values.parse, b"".join(pieces))

    async def _read(self, function: Callable, *arguments) -> Any:
        """Calls a function in a thread of those that read tables."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, functools.partial(function, *arguments))

    async def _timed(self, answers) -> Any:
        """Waits for what a client waits for. Work that has not begun when time is up is dropped."""
        try:
            async with asyncio.timeout(self.settings.timeout):
                return await answers
        except TimeoutError:
            raise Refusal(
                504, f"no answer within {self.settings.timeout:g} s; try again later", RETRY
            ) from None

    async def _answers(self, given: list[dict], numbered: bool = False) -> list[dict]:
        return await self._timed(self._answered(given, numbered))

    async def _answered(self, given: list[dict], numbered: bool) -> list[dict]:
        """Returns the answers to requests as plain JSON values, each with the id of its table."""
        read = []
        for number, each in enumerate(given, start=1):
            where = f"question {number}: " if numbered else ""
            read.append(await self._read(self._question, each, where))
        try:
            futures = self._batcher.submit([question for _, question in read])
        except Full:
            raise Refusal(429, "too many questions are waiting; try again later", RETRY) from None
        self.metrics.waiting(len(self._batcher))
        answers = await asyncio.gather(*map(asyncio.wrap_future, futures))
        return [
            {**answer.to_json(), "table_id": name}
            for (name, _), answer in zip(read, answers, strict=True)
        ]

    def _question(self, given: dict, where: str) -> tuple[str, Question]:
        """Reads one question; returns the id of its table and the question."""
        text = request_values.question(given, where)
        name, prepared = self._table(given, where)
        before = request_values.previous(given.get("previous"), prepared.table, where)
        cells = (prepared.table.num_rows + 1) * prepared.table.num_columns
        return name, Question(prepared, text, before, cells)

    def _table(self, given: dict, where: str):
        """Returns the id and the prepared table of a request."""
        has_texts = given.get("texts") is not None
        if has_texts and not self.settings.reads_texts:
            raise InputError(f"{where}texts: {self.settings.name} does not read texts about cells")
        if has_texts and "table_id" in given:
            raise InputError(f"{where}texts: post them with the table")
        if "file" in given:
            request_values.check_one_table(given, "file", where)
            sent = given["file"]
            table = request_values.file(sent.file, sent.filename or "", self.settings.limits)
        else:
            request_values.check_one_table(given, "table", where)
            if "table_id" in given:
                name = given["table_id"]
                prepared = self._tables.get(name)
                if prepared is None:
                    raise Refusal(404, f"{where}table_id: no table {name[:60]!r}; post it again")
                return name, prepared
            table = request_values.table(given["table"], self.settings.limits, where)
        return self._tables.add(request_values.with_texts(given, table, where))


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


class RequestCounter:
    """Counts and times all requests, and makes sure that none ends with a stack trace.

    Args:
        app: what answers the requests.
        metrics: where they are counted.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics):
        self.app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin, status = time.monotonic(), 0

        async def sent(message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except ClientDisconnect:
            status = _GONE
        except Exception:
            logging.exception("%s %s", scope["method"], scope["path"])
            if not status:
                await error("internal error; see the server's log", 500)(scope, receive, sent)
        finally:
            path = scope["path"] if scope["path"] in openapi.PATHS else "other"
            self._metrics.request(path, status, time.monotonic() - begin)


def application(settings: Settings, ready: Callable[[], None] = lambda: None) -> Starlette:
    """Returns the application. It loads its model when it is started.

    Args:
        settings: its settings.
        ready: is called when the model is loaded.
    """
    service = Service(settings)

    @contextlib.asynccontextmanager
    async def lifespan(app):
        del app
        service.start()
        with stopping.handled(service):
            ready()
            yield
        service.close()

    methods = {
        "/v1/ask": service.ask,
        "/v1/ask_batch": service.ask_batch,
        "/v1/tables": service.add_table,
        "/v1/models": service.models,
        "/healthz": service.health,
        "/metrics": service.count,
        "/openapi.json": service.describe,
        "/docs": service.docs,
    }
    texts = {
        404: "no such path; /docs lists them",
        413: f"more than {settings.largest / MIB:g} MiB (--max_upload_mb)",
    }
    handlers: dict[Any, Any] = {Refusal: _refused, InputError: _invalid}
    return Starlette(
        routes=[
            Route(path, method, methods=["POST"] if path in _ANSWERED else ["GET"])
            for path, method in methods.items()
        ],
        middleware=[
            Middleware(RequestCounter, metrics=service.metrics),
            Middleware(JsonErrors, texts=texts),
            *guard.middleware(settings.hosts, settings.token, True, ["/healthz"]),
            Middleware(RequestBodyLimitMiddleware, settings.largest + _AROUND_A_FILE),
        ],
        exception_handlers=handlers,
        lifespan=lifespan,
    )


def _refused(request: Request, refusal: Refusal) -> Response:
    del request
    return error(str(refusal), refusal.status, refusal.headers)


def _invalid(request: Request, problem: InputError) -> Response:
    del request
    return error(on_one_line(problem), 400)
