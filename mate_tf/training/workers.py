"""Training of one model by several processes (workers): MultiWorkerMirroredStrategy.

The same command runs in each process. The environment variable TF_CONFIG lists all workers and
identifies this one:

    {"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}

Each worker takes a part of each batch. The chief, which is the first worker, writes checkpoints,
summaries and logs. All workers read them, so the model folder must be visible to all. TensorFlow
requires all workers to take part in saving; the others save to a temporary folder. When a worker is
lost, the others end. The same commands then resume from the last checkpoint.
"""

import contextlib
import functools
import json
import os
import re
import socket
import tempfile
import threading
import time
import zlib
from typing import Any

import tensorflow as tf
from tensorflow.python.distribute.collective_all_reduce_strategy import coordination_config_pb2
from tensorflow.python.eager import context as eager_context

from mate_tf import errors
from mate_tf.errors import InputError, LostWorkerError
from mate_tf.files.json_files import parse_json

STRATEGY = "multi_worker_mirrored"
_VARIABLE = "TF_CONFIG"
_JOBS = ("chief", "worker")
_ADDRESS = re.compile(r"[^\s:/]+:\d{1,5}")
_TASK = re.compile(r"/job:(\w+)/replica:\d+/task:(\d+)")
_SEEDS = 2**31 - 1
_HEARTBEAT = 30
_GREETING, _ALL_THERE = 8, b"all are there"
_PAUSE = 0.3
_IMPLEMENTATIONS = tf.distribute.experimental.CommunicationImplementation
_ALGORITHMS = {
    None: _IMPLEMENTATIONS.AUTO,
    "ring": _IMPLEMENTATIONS.RING,
    "nccl": _IMPLEMENTATIONS.NCCL,
}
_LOST = (
    tf.errors.UnavailableError,
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
)


@contextlib.contextmanager
def joined(experiment):
    """Connects to the other processes of this experiment and yields the `Workers`.

    The first call in a process must come before any other use of TensorFlow. Without TF_CONFIG, or
    with another strategy, this process is the only worker.

    Raises:
        InputError: if TF_CONFIG cannot be used, or a worker does not connect in time.
        LostWorkerError: if a worker is lost later.
    """
    runtime = experiment.runtime
    together = runtime.distribution_strategy == STRATEGY
    workers = Workers(
        strategy(runtime.all_reduce_alg, experiment.trainer.worker_timeout) if together else None
    )
    try:
        with _quiet_threads() if workers.several else contextlib.nullcontext():
            yield workers
    except tf.errors.OpError as error:
        if not (workers.several and (isinstance(error, _LOST) or errors.is_of_collectives(error))):
            raise
        raise LostWorkerError(
            f"lost another worker ({_reason(error)}); run the same command on all workers "
            "again to resume from the last checkpoint"
        ) from error


@contextlib.contextmanager
def _quiet_threads():
    """Silences errors in TensorFlow's own threads that the main thread raises too."""
    before = threading.excepthook

    def hook(args):
        if not isinstance(args.exc_value, tf.errors.OpError):
            before(args)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = before


@functools.cache
def strategy(all_reduce_alg: str | None, timeout: int) -> tf.distribute.Strategy:
    """Returns the strategy of this process. There can be only one.

    Args:
        all_reduce_alg: "ring" or "nccl"; None: TensorFlow chooses.
        timeout: seconds to wait for the other workers.

    Raises:
        InputError: see `joined`.
    """
    addresses = read_cluster()
    if not addresses:
        return _create(all_reduce_alg)
    try:
        _wait_for_all(_all_addresses(addresses), _own_index(addresses), timeout)
        _configure(addresses, timeout)
        return _create(all_reduce_alg)
    except (tf.errors.OpError, RuntimeError, OSError) as error:
        names = ", ".join(_all_addresses(addresses))
        raise InputError(
            f"{_VARIABLE}: the workers {names} did not connect: {_reason(error)}"
        ) from error


class Workers:
    """The processes of a training run, from the view of one of them.

    Args:
        strategy: their common strategy; None: this process is the only one.

    Attributes:
        several: whether there are other processes.
        is_chief: whether this process writes checkpoints and logs; true for a single process.
    """

    def __init__(self, strategy: tf.distribute.Strategy | None):
        self._strategy: Any = strategy
        self.several = strategy is not None and (
            strategy.num_replicas_in_sync > len(strategy.extended.worker_devices)
        )
        self.is_chief = not self.several or self._strategy.extended.should_checkpoint

    @contextlib.contextmanager
    def own_folder(self, model_dir: str):
        """Yields the folder to write to: the model folder, or a temporary one if not chief."""
        if self.is_chief:
            yield model_dir
        else:
            with tempfile.TemporaryDirectory() as folder:
                yield folder

    def agree(self, experiment, step: int):
        """Returns a copy of the experiment with a common seed, after comparing all workers.

        Raises:
            InputError: if the workers have different configurations or different checkpoints.
        """
        experiment = experiment.replace()
        if not self.several:
            return experiment
        text = json.dumps(experiment.as_dict(), sort_keys=True, default=str)
        drawn = int.from_bytes(os.urandom(4), "big") % _SEEDS
        gathered = self._all_gather([step, zlib.crc32(text.encode()), drawn])
        steps, configurations, seeds = zip(*gathered, strict=True)
        if len(set(configurations)) > 1:
            raise InputError("the workers' configurations differ: run the same command on each")
        if len(set(steps)) > 1:
            raise InputError(
                f"the workers' last checkpoints are of different steps, {sorted(set(steps))}: "
                "--model_dir must be a folder that all of them see"
            )
        if experiment.tf_random_seed is None:
            experiment.tf_random_seed = seeds[0]
        return experiment

    def wait(self) -> None:
        """Waits for all workers. Afterwards all files that the chief wrote before are visible."""
        if self.several:
            self._all_gather([0])

    def _all_gather(self, numbers: list[int]) -> list[list[int]]:
        """Returns the numbers of each replica, in the order of the replicas."""

        @tf.function
        def gather():
            def of_replica():
                own = tf.constant([numbers], tf.int64)
                return tf.distribute.get_replica_context().all_gather(own, axis=0)

            return self._strategy.run(of_replica)

        return self._strategy.experimental_local_results(gather())[0].numpy().tolist()


def _create(all_reduce_alg):
    if all_reduce_alg not in _ALGORITHMS:
        names = ", ".join(filter(None, _ALGORITHMS))
        raise InputError(f"runtime.all_reduce_alg={all_reduce_alg}: expected one of {names}")
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=_ALGORITHMS[all_reduce_alg]
    )
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)


def _wait_for_all(addresses: list[str], own: int, timeout: float) -> None:
    """Waits until all workers have connected to the first one; `own` is this process's index.

    TensorFlow itself would wait without end for a missing worker, whatever timeout it is given, and
    block the whole process. Raises OSError if one does not connect in `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    host, _, port = addresses[0].rpartition(":")

    def left() -> float:
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError(f"not all workers connected within {timeout} seconds")
        return seconds

    with contextlib.ExitStack() as stack:
        if own == 0:
            server = stack.enter_context(socket.create_server(("", int(port))))
            connections = {}
            while len(connections) < len(addresses) - 1:
                server.settimeout(left())
                connection = stack.enter_context(server.accept()[0])
                connection.settimeout(left())
                connections[connection.recv(_GREETING)] = connection
            for connection in connections.values():
                connection.sendall(_ALL_THERE)
            return
        while True:
            with (
                contextlib.suppress(ConnectionError),
                socket.create_connection((host, int(port)), timeout=left()) as connection,
            ):
                connection.sendall(str(own).encode().ljust(_GREETING))
                connection.settimeout(left())
                if connection.recv(len(_ALL_THERE)) == _ALL_THERE:
                    return
            time.sleep(min(_PAUSE, left()))


def _own_index(cluster) -> int:
    """Returns the index of this process in `_all_addresses`."""
    task = json.loads(os.environ[_VARIABLE])["task"]
    return _all_addresses(cluster).index(cluster[task["type"]][task["index"]])


def _configure(cluster, timeout):
    """Sets timeouts of the coordination service. There is no public API; the default is an hour."""
    jobs = [
        coordination_config_pb2.CoordinatedJob(name=job, num_tasks=len(cluster[job]))
        for job in _JOBS
        if job in cluster
    ]
    eager_context.context().configure_coordination_service(
        service_type="standalone",
        service_leader=f"/job:{jobs[0].name}/replica:0/task:0",
        cluster_register_timeout_in_ms=timeout * 1000,
        heartbeat_timeout_in_ms=_HEARTBEAT * 1000,
        coordinated_jobs=jobs,
    )


def read_cluster() -> dict[str, list[str]]:
    """Returns job -> addresses of TF_CONFIG; empty without TF_CONFIG.

    Raises:
        InputError: if TF_CONFIG is not valid.
    """
    text = os.environ.get(_VARIABLE, "")
    if not text.strip():
        return {}
    config = parse_json(text, f"{_VARIABLE}={text}")
    cluster = config.get("cluster") if isinstance(config, dict) else None
    if not isinstance(cluster, dict) or not cluster:
        raise InputError(f'{_VARIABLE}={text}: has no "cluster" with lists of addresses')
    for job, addresses in cluster.items():
        if job not in _JOBS:
            raise InputError(
                f"{_VARIABLE}: job {job!r} in the cluster, expected only chief and worker"
            )
        if not isinstance(addresses, list) or not addresses:
            raise InputError(f"{_VARIABLE}: cluster.{job} is not a list of addresses")
        for address in addresses:
            if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
                raise InputError(f"{_VARIABLE}: cluster.{job} has {address!r}, not host:port")
    task = config.get("task")
    if not isinstance(task, dict) or not {"type", "index"} <= set(task):
        raise InputError(f'{_VARIABLE}={text}: has no "task" with type and index')
    if task["type"] not in cluster:
        raise InputError(f"{_VARIABLE}: task.type {task['type']!r} is not a job of the cluster")
    number = len(cluster[task["type"]])
    if not isinstance(task["index"], int) or not 0 <= task["index"] < number:
        raise InputError(
            f"{_VARIABLE}: task.index {task['index']!r}, but cluster.{task['type']} has {number} "
            "addresses, counted from 0"
        )
    if len(set(_all_addresses(cluster))) < len(_all_addresses(cluster)):
        raise InputError(f"{_VARIABLE}: an address is in the cluster twice")
    return cluster


def _all_addresses(cluster) -> list[str]:
    return [address for job in _JOBS for address in cluster.get(job, [])]


def _reason(error) -> str:
    """Returns the worker that an error names, with its address, or the error's first line."""
    text = str(error)
    match = _TASK.search(text)
    if match:
        job, index = match[1], int(match[2])
        return f"{job} {index} at {read_cluster()[job][index]}"
    text = text.rpartition("aborted by: ")[2]
    return next(filter(str.strip, text.splitlines()), type(error).__name__)
