"""Settings of the service. They can be sent to other processes."""

import dataclasses
from collections.abc import Callable
from typing import Any

from mate_tf.tables.limits import MIB, Limits

LARGEST_JSON = 16 * MIB
"""Bytes of a request without a file."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of one service.

    Attributes:
        load: returns the `Predictor`.
        name: name of the model.
        reads_texts: whether it reads texts about cells, as POINTR does.
        hosts: names and addresses by which it may be asked, see `guard.hosts`.
        token: what clients must know; "" for none.
        limits: limits of tables.
        largest: bytes of a request.
        most: questions that are answered together.
        waiting: questions that may wait.
        timeout: seconds for an answer.
        max_tables: tables that are kept.
        max_tables_bytes: their bytes.
        folder: folder in which several processes share tables; "" for one process.
    """

    load: Callable[[], Any]
    name: str
    reads_texts: bool = False
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    token: str = ""
    limits: Limits = dataclasses.field(default_factory=Limits)
    largest: int = 128 * MIB
    most: int = 16
    waiting: int = 64
    timeout: float = 30.0
    max_tables: int = 100
    max_tables_bytes: int = 256 * MIB
    folder: str = ""
