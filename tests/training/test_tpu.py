"""TPUs are found by name, address or on the machine; one that is not there is bad input at once."""

import socket
import types

import pytest
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.tasks.configs import RuntimeConfig
from mate_tf.training import tpu


@pytest.fixture
def host():
    """127.0.0.1:port of something that listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def silent_host():
    """127.0.0.1:port where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"127.0.0.1:{port}"


@pytest.mark.parametrize("name", [None, "", tpu.LOCAL])
def test_of_this_machine(name, tmp_path, monkeypatch):
    monkeypatch.setattr(tpu, "DEVICE_FILES", (str(tmp_path / "accel*"),))
    with pytest.raises(InputError, match=r"^--use_tpu: this machine has no TPU .*accel\*"):
        tpu.address(RuntimeConfig(tpu=name))
    (tmp_path / "accel0").touch()
    assert tpu.address(RuntimeConfig(tpu=name)) == tpu.LOCAL


def test_by_address(host, silent_host):
    assert tpu.address(RuntimeConfig(tpu=f"grpc://{host}")) == f"grpc://{host}"
    both = f"grpc://{host},grpc://{host}"
    assert tpu.address(RuntimeConfig(tpu=both)) == both
    with pytest.raises(InputError, match=f"grpc://{silent_host} does not answer"):
        tpu.address(RuntimeConfig(tpu=f"grpc://{host},grpc://{silent_host}"))
    with pytest.raises(InputError, match="'grpc://a:b' is not an address"):
        tpu.address(RuntimeConfig(tpu="grpc://a:b"))


def test_by_name(host, silent_host, monkeypatch):
    """Google Cloud is asked for the hosts; here something else answers for it."""
    asked = []

    def resolver(hosts):
        def make(name, zone, project):
            asked.append((name, zone, project))
            spec = tf.train.ClusterSpec({"worker": hosts})
            return types.SimpleNamespace(cluster_spec=lambda: spec)

        return make

    config = RuntimeConfig(tpu="my-tpu", tpu_zone="a-zone", gcp_project="a-project")
    cluster = tf.distribute.cluster_resolver
    monkeypatch.setattr(cluster, "TPUClusterResolver", resolver([host, host]))
    assert tpu.address(config) == f"grpc://{host},grpc://{host}"
    assert asked == [("my-tpu", "a-zone", "a-project")]
    monkeypatch.setattr(cluster, "TPUClusterResolver", resolver([silent_host]))
    with pytest.raises(InputError, match=f"^--tpu_name=my-tpu: {silent_host} does not answer"):
        tpu.address(config)


def test_name_that_nobody_knows(silent_host, monkeypatch):
    """The real look-up, of a machine's zone and project where nothing answers."""
    monkeypatch.setenv("GCE_METADATA_HOST", silent_host)
    before = socket.getdefaulttimeout()
    with pytest.raises(InputError, match=r"^--tpu_name=my-tpu: cannot be found in Google Cloud"):
        tpu.address(RuntimeConfig(tpu="my-tpu"))
    assert socket.getdefaulttimeout() == before


def test_tensorflow_that_cannot_use_it(host, monkeypatch):
    def fails(name, tpu_address):
        assert (name, tpu_address) == (tpu.STRATEGY, f"grpc://{host}")
        raise tf.errors.NotFoundError(None, None, "no such device\nand more")

    monkeypatch.setattr(tpu.distribute_utils, "get_distribution_strategy", fails)
    with pytest.raises(InputError, match=r"cannot be used: no such device \(TensorFlow for"):
        tpu.strategy(RuntimeConfig(tpu=f"grpc://{host}"))
