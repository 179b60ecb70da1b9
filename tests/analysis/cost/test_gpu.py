"""What the report says about GPUs, with TensorFlow's and nvidia-smi's answers made up."""

import types

import pytest
import tensorflow as tf

from mate_tf.analysis.cost import encoder_worker, gpu, measuring_process
from mate_tf.models.encoder_config import EncoderConfig

NVIDIA_SMI = """#!/bin/sh
test "$1" = --query-gpu=name,memory.total,driver_version || exit 1
echo "Tesla T4, 15360 MiB, 550.54.15"
echo "NVIDIA L4, 23034 MiB, 550.54.15"
"""


@pytest.fixture
def nvidia_smi(monkeypatch, tmp_path):
    """An nvidia-smi that lists two GPUs."""
    program = tmp_path / "nvidia-smi"
    program.write_text(NVIDIA_SMI)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.fixture
def one_gpu(monkeypatch):
    """TensorFlow sees the second of the GPUs. Returns the list of hidden kinds of devices."""
    hidden = []
    details = {"device_name": "NVIDIA L4", "compute_capability": (8, 9)}
    config = tf.config.experimental
    monkeypatch.setattr(gpu, "devices", lambda: ["/physical_device:GPU:0"])
    monkeypatch.setattr(config, "get_device_details", lambda device: details)
    monkeypatch.setattr(tf.config, "set_visible_devices", lambda *what: hidden.append(what))
    return hidden


def test_name_capability_memory_and_driver(nvidia_smi, one_gpu):
    assert gpu.describe() == [
        "GPU 0: NVIDIA L4, compute capability 8.9, 23034 MiB, driver 550.54.15"
    ]


def test_without_nvidia_smi(one_gpu, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu.describe() == ["GPU 0: NVIDIA L4, compute capability 8.9"]


def test_a_driver_whose_gpus_tensorflow_does_not_see(nvidia_smi, monkeypatch):
    monkeypatch.setattr(gpu, "devices", list)
    (line,) = gpu.describe()
    assert line.startswith("nvidia-smi lists Tesla T4, NVIDIA L4, but TensorFlow sees no GPU")
    assert "pip install 'mate-tf[gpu]'" in line
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")  # hidden on purpose
    assert gpu.describe() == []


def test_gpus_are_left_to_the_workers(one_gpu, monkeypatch):
    gpu.leave_to_workers()
    assert one_gpu == [([], "GPU")]
    monkeypatch.setattr(gpu, "devices", list)
    gpu.leave_to_workers()
    assert len(one_gpu) == 1


def test_a_worker_measures_the_memory_of_the_gpu(one_gpu, monkeypatch):
    """100 bytes are in use before, 350 at most."""
    state = types.SimpleNamespace(current=100, peak=900)
    config = tf.config.experimental
    monkeypatch.setattr(config, "get_memory_info", lambda device: vars(state))

    def reset(device):
        assert device == "GPU:0"
        state.peak = state.current

    monkeypatch.setattr(config, "reset_memory_stats", reset)
    with gpu.peak_of_block() as peak:
        state.peak = 350
    assert peak() == measuring_process.Peak(250, 350)

    small = EncoderConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    found = encoder_worker.Measurements(small).prepare(variant="full", length=24)
    assert found == {"increment": 0, "peak": 100}
