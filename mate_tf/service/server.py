"""Serves the application by uvicorn, in this process or in several."""

import dataclasses
import functools
import os
import pathlib
import signal
import tempfile
from typing import Any

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from mate_tf.errors import InputError, on_one_line
from mate_tf.service import guard
from mate_tf.service.connections import CONNECTIONS, TimedProtocol
from mate_tf.service.settings import Settings

GRACE = 5
"""Seconds beyond the time limit of an answer that a service has to end after a signal."""

_METRICS, _TABLES, _ERROR = "metrics", "tables", "error"  # in the folder of several processes
_SILENT = 30  # seconds after which a process that says nothing is replaced


def serve(settings: Settings, host: str, port: int, workers: int = 1) -> None:
    """Serves until the process is interrupted.

    Prints the token, if there is one, and the address whenever a process is ready.

    Args:
        settings: settings of the service; with several processes they are pickled.
        host: the address to serve.
        port: the port.
        workers: number of processes, each with its own model. They share tables and metrics.

    Raises:
        InputError: the model cannot be loaded.
        OSError: if the port is in use, or the address is not one of this machine.
    """
    with guard.listening(host, port) as listening:
        address = f"http://{guard.shown(host)}:{listening.getsockname()[1]}"
        if settings.token:
            print(f"token | {settings.token}", flush=True)
        if workers > 1:
            with tempfile.TemporaryDirectory(prefix="mate-tf-service-") as folder:
                _serve_by_workers(settings, listening, address, workers, pathlib.Path(folder))
            return
        predictor = settings.load()  # here its errors are those of the command
        settings = dataclasses.replace(settings, load=lambda: predictor)
        uvicorn.Server(_config(settings, address)).run([listening])


def _config(settings: Settings, address: str, folder: str = "", workers: int = 1) -> uvicorn.Config:
    return uvicorn.Config(
        functools.partial(_application, settings, address, folder),
        factory=True,
        workers=workers,
        lifespan="on",
        http=TimedProtocol,
        ws="none",
        log_config=None,
        log_level="critical",  # no traces of connections that end with the service
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=int(settings.timeout) + 1,
        timeout_worker_healthcheck=_SILENT,
        headers=list(guard.HEADERS),
    )


def _application(settings: Settings, address: str, folder: str) -> Any:
    """Returns the application in the process that serves it."""
    from mate_tf.service import app  # takes seconds, in which a process must say that it lives

    if folder:
        load = functools.partial(_noted, settings.load, os.path.join(folder, _ERROR))
        settings = dataclasses.replace(settings, load=load, folder=os.path.join(folder, _TABLES))
    return app.application(settings, functools.partial(print, f"serve | {address}", flush=True))


def _noted(load, path: str) -> Any:
    """Loads the model; if it cannot be, writes the error for the parent process and ends this one.

    It ends at once: while Python unloads TensorFlow, the parent would wait for a sign of life.
    """
    try:
        return load()
    except Exception as error:
        pathlib.Path(path).write_text(on_one_line(error) or repr(error), "utf-8")
        os._exit(STARTUP_FAILURE)


class _Workers(Multiprocess):
    """The processes, and the signal that ends them."""

    received = 0

    def handle_int(self) -> None:
        """Ends the processes."""
        self.received = signal.SIGINT
        super().handle_int()

    def handle_term(self) -> None:
        """Ends the processes."""
        self.received = signal.SIGTERM
        super().handle_term()


def _serve_by_workers(settings: Settings, listening, address: str, workers: int, folder) -> None:
    for name in (_METRICS, _TABLES):
        (folder / name).mkdir()
    # prometheus_client reads it when it is imported, which only the new processes do.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder / _METRICS)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        processes = _Workers(_config(settings, address, str(folder), workers), [listening])
        signal.signal(signal.SIGHUP, before[signal.SIGHUP])  # it ends the command, as others
        processes.run()
    finally:
        del os.environ["PROMETHEUS_MULTIPROC_DIR"]
        for number, handler in before.items():
            signal.signal(number, handler)
    if any(each.exitcode == STARTUP_FAILURE for each in processes.processes):
        failed = folder / _ERROR
        raise InputError(failed.read_text("utf-8") if failed.exists() else "a process has failed")
    if processes.received:
        signal.raise_signal(processes.received)
