"""Counts and times of the service, in Prometheus' format."""

import os
from typing import Any

import prometheus_client
from prometheus_client import multiprocess

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable with the folder in which several processes share what they count."""

CONTENT_TYPE = prometheus_client.CONTENT_TYPE_LATEST

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_BATCHES = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """Counters of one service.

    Attributes:
        registry: has all of them.
    """

    def __init__(self):
        self.registry = prometheus_client.CollectorRegistry()
        own: dict[str, Any] = {"registry": self.registry}
        self._requests = prometheus_client.Counter(
            "mate_tf_requests", "Requests by path and status.", ("path", "status"), **own
        )
        self._seconds = prometheus_client.Histogram(
            "mate_tf_request_seconds", "Time of a request.", ("path",), buckets=_SECONDS, **own
        )
        self._waiting = prometheus_client.Gauge(
            "mate_tf_waiting_questions",
            "Questions that wait for their turn.",
            multiprocess_mode="livesum",
            **own,
        )
        self._batches = prometheus_client.Histogram(
            "mate_tf_batch_questions", "Questions computed together.", buckets=_BATCHES, **own
        )

    def request(self, path: str, status: int, seconds: float) -> None:
        """Counts a request that has ended."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def waiting(self, number: int) -> None:
        """Sets how many questions wait."""
        self._waiting.set(number)

    def batch(self, number: int) -> None:
        """Counts a batch of questions."""
        self._batches.observe(number)

    def text(self) -> bytes:
        """Returns all values, including those of the other processes if there are several."""
        registry = self.registry
        if os.environ.get(FOLDER):
            registry = prometheus_client.CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)
        return prometheus_client.generate_latest(registry)
