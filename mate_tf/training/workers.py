"""Several processes, on one machine or many, that train one model: MultiWorkerMirroredStrategy.

The same command runs on each of them, and the environment variable TF_CONFIG says who they are:

    {"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}

Each takes a part of each batch. Checkpoints, summaries and logs are of the chief, the first worker;
all read them, so the model folder must be one that all of them see. What the others save, because
all must take part in saving, goes to a temporary folder. When a worker is lost, the others end, and
the same commands go on from the last checkpoint.
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

import tensorflow as tf
from tensorflow.python.distribute.collective_all_reduce_strategy import coordination_config_pb2
from tensorflow.python.eager import context as eager_context

from mate_tf.errors import InputError, LostWorkerError

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
    """Gives the `Workers` that run this experiment together, of which this process is one.

    Must come before all of TensorFlow, the first time in a process. Without TF_CONFIG, or with
    another strategy, the process is alone.

    Raises:
        InputError: TF_CONFIG cannot be used, a worker is not there in time, or one is lost later.
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
        if not (workers.several and (isinstance(error, _LOST) or is_of_collectives(error))):
            raise
        raise LostWorkerError(
            f"another worker is lost ({_reason(error)}); run the same command on all workers "
            "again to go on from the last checkpoint"
        ) from error


@contextlib.contextmanager
def _quiet_threads():
    """TensorFlow's own threads say nothing of an error that the main one gets as well."""
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
    """The strategy of this process, of which there can be only one.

    Args:
        all_reduce_alg: "ring", "nccl" or None for what fits.
        timeout: seconds to wait for the other workers.

    Raises:
        InputError: as `joined`.
    """
    addresses = read_cluster()
    if not addresses:
        return _create(all_reduce_alg)
    try:
        _meet(_all_addresses(addresses), _own_place(addresses), timeout)
        _configure(addresses, timeout)
        return _create(all_reduce_alg)
    except (tf.errors.OpError, RuntimeError, OSError) as error:
        names = ", ".join(_all_addresses(addresses))
        raise InputError(
            f"{_VARIABLE}: the workers {names} did not come together: {_reason(error)}"
        ) from error


class Workers:
    """All processes of a training, as one of them sees them.

    Args:
        strategy: what unites them; None: this process is alone.

    Attributes:
        several: whether there are others.
        is_chief: whether this is the process that writes, as one that is alone does.
    """

    def __init__(self, strategy: tf.distribute.Strategy | None):
        self._strategy = strategy
        self.several = strategy is not None and (
            strategy.num_replicas_in_sync > len(strategy.extended.worker_devices)
        )
        self.is_chief = not self.several or strategy.extended.should_checkpoint

    @contextlib.contextmanager
    def own_folder(self, model_dir: str):
        """Where this process may write: the model folder, or one that is deleted at the end."""
        if self.is_chief:
            yield model_dir
        else:
            with tempfile.TemporaryDirectory() as folder:
                yield folder

    def agree(self, experiment, step: int):
        """A copy of the experiment with one seed for all, who must be about to do the same.

        Raises:
            InputError: they have different configurations, or see different checkpoints.
        """
        experiment = experiment.replace()
        if not self.several:
            return experiment
        text = json.dumps(experiment.as_dict(), sort_keys=True, default=str)
        drawn = int.from_bytes(os.urandom(4), "big") % _SEEDS
        told = self._all_gather([step, zlib.crc32(text.encode()), drawn])
        steps, configurations, seeds = zip(*told, strict=True)
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
        """Returns when all have come here: what the chief wrote before is there."""
        if self.several:
            self._all_gather([0])

    def _all_gather(self, numbers: list[int]) -> list[list[int]]:
        """What each replica has, in their order."""

        @tf.function
        def gather():
            def of_replica():
                own = tf.constant([numbers], tf.int64)
                return tf.distribute.get_replica_context().all_gather(own, axis=0)

            return self._strategy.run(of_replica)

        return self._strategy.experimental_local_results(gather())[0].numpy().tolist()


def is_of_collectives(error: tf.errors.OpError) -> bool:
    """Whether an operation failed because another worker is lost."""
    return "Collective ops is aborted" in str(error)


def _create(all_reduce_alg):
    if all_reduce_alg not in _ALGORITHMS:
        names = ", ".join(filter(None, _ALGORITHMS))
        raise InputError(f"runtime.all_reduce_alg={all_reduce_alg}: expected one of {names}")
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=_ALGORITHMS[all_reduce_alg]
    )
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)


def _meet(addresses: list[str], own: int, timeout: float) -> None:
    """Returns when all workers are there, which come to the first one's address.

    TensorFlow waits for a worker that does not come without an end, whatever timeout it is given,
    and nothing else runs in the process meanwhile.

    Raises:
        OSError: not all are there in time, or the address cannot be used.
    """
    deadline = time.monotonic() + timeout
    host, _, port = addresses[0].rpartition(":")

    def left() -> float:
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError(f"not all were there within {timeout} seconds")
        return seconds

    with contextlib.ExitStack() as stack:
        if own == 0:
            server = stack.enter_context(socket.create_server(("", int(port))))
            come = {}
            while len(come) < len(addresses) - 1:
                server.settimeout(left())
                connection = stack.enter_context(server.accept()[0])
                connection.settimeout(left())
                come[connection.recv(_GREETING)] = connection
            for connection in come.values():
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


def _own_place(cluster) -> int:
    """Which of `_all_addresses` is this process's."""
    task = json.loads(os.environ[_VARIABLE])["task"]
    return _all_addresses(cluster).index(cluster[task["type"]][task["index"]])


def _configure(cluster, timeout):
    """TensorFlow itself would wait for an hour; there is no public name for saying so."""
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
    """Job -> addresses, as TF_CONFIG has them; empty without it.

    Raises:
        InputError: saying what is wrong with TF_CONFIG.
    """
    text = os.environ.get(_VARIABLE, "")
    if not text.strip():
        return {}
    try:
        config = json.loads(text)
    except ValueError as error:
        raise InputError(f"{_VARIABLE}={text}: is not JSON: {error}") from error
    cluster = config.get("cluster") if isinstance(config, dict) else None
    if not isinstance(cluster, dict) or not cluster:
        raise InputError(f'{_VARIABLE}={text}: has no "cluster" with lists of addresses')
    for job, addresses in cluster.items():
        if job not in _JOBS:
            raise InputError(
                f"{_VARIABLE}: job {job!r} in the cluster, only chief and worker can be"
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
        raise InputError(f"{_VARIABLE}: task.type {task['type']!r} is no job of the cluster")
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
    """The task that an error names with its address, or what TensorFlow says in its first line."""
    text = str(error)
    found = _TASK.search(text)
    if found:
        job, index = found[1], int(found[2])
        return f"{job} {index} at {read_cluster()[job][index]}"
    text = text.rpartition("aborted by: ")[2]
    return next(filter(str.strip, text.splitlines()), type(error).__name__)
