"""TPUs for tf.distribute: finds the TPU that `runtime` names, or fails within seconds."""

import contextlib
import glob
import re
import socket

import tensorflow as tf
from official.common import distribute_utils

from mate_tf.errors import InputError

STRATEGY = "tpu"
"""Value of runtime.distribution_strategy."""

LOCAL = "local"
"""Value of runtime.tpu for the TPU of this machine, as on a TPU VM; None means the same."""

DEVICE_FILES = ("/dev/accel*", "/dev/vfio/[0-9]*")
"""Device files of a machine with a TPU. libtpu itself would search for minutes."""

TIMEOUT = 10
"""Seconds to wait for an answer of a TPU or of Google Cloud."""

_PORT = 8470
_GRPC = "grpc://"
_LOOKUP_FAILS = (OSError, RuntimeError, ValueError, ImportError)


def strategy(config) -> tf.distribute.Strategy:
    """Returns a TPUStrategy over all cores of the TPU that a config names.

    Args:
        config: a `tasks.configs.RuntimeConfig`.

    Raises:
        InputError: if the TPU is not found, does not answer, or this TensorFlow cannot use it.
    """
    where = address(config)
    try:
        return distribute_utils.get_distribution_strategy(STRATEGY, tpu_address=where)
    except (tf.errors.OpError, RuntimeError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise InputError(
            f"runtime.tpu={where}: cannot be used: {reason} (TensorFlow for a TPU of this machine "
            "is the package tensorflow-tpu)"
        ) from error


def address(config) -> str:
    """Returns the address of the TPU that a config names, without initializing the TPU.

    Args:
        config: a `tasks.configs.RuntimeConfig`. Its `tpu` is LOCAL, or grpc:// addresses separated
            by commas, or a name to look up on Google Cloud, in `tpu_zone` and `gcp_project`
            (None: this machine's).

    Returns:
        LOCAL, or the addresses of its hosts: grpc://host:port, separated by commas.

    Raises:
        InputError: if the TPU is not found or does not answer.
    """
    name = config.tpu or LOCAL
    if name == LOCAL:
        if not any(map(glob.glob, DEVICE_FILES)):
            raise InputError(
                f"--use_tpu: this machine has no TPU ({' and '.join(DEVICE_FILES)} are not there); "
                "--tpu_name says which other one to use"
            )
        return LOCAL
    hosts = name.split(",") if name.startswith(_GRPC) else _look_up(name, config)
    for host in hosts:
        _check_answers(name, host)
    return ",".join(_GRPC + host.removeprefix(_GRPC) for host in hosts)


def _look_up(name: str, config) -> list[str]:
    """Returns host:port of each host of a TPU on Google Cloud."""
    from oauth2client import client

    try:
        with _timeout():
            resolver = tf.distribute.cluster_resolver.TPUClusterResolver(
                name, zone=config.tpu_zone, project=config.gcp_project
            )
            return resolver.cluster_spec().job_tasks("worker")
    except (*_LOOKUP_FAILS, client.Error) as error:
        reason = str(error).strip().partition("\n")[0]
        raise InputError(
            f"--tpu_name={name}: cannot be found in Google Cloud: {reason}; --tpu_zone and "
            "--gcp_project say where to look"
        ) from error


def _check_answers(name: str, host: str) -> None:
    match = re.fullmatch(r"(?:grpc://)?([^:/,]+)(?::(\d+))?", host)
    if not match:
        raise InputError(f"--tpu_name={name}: {host!r} is not an address like grpc://10.0.0.2:8470")
    try:
        socket.create_connection((match[1], int(match[2] or _PORT)), TIMEOUT).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"--tpu_name={name}: {host} does not answer: {error}") from error


@contextlib.contextmanager
def _timeout():
    """Ends network look-ups after TIMEOUT seconds. Most libraries set no timeout."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
