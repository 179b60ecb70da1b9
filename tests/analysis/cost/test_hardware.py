"""The name of the device."""

import platform

import pytest
import tensorflow as tf

from mate_tf.analysis.cost import hardware


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("model name\t: AMD EPYC 7B13", "AMD EPYC 7B13"),
        ("model name\t: Intel(R) Xeon(R) CPU @ 2.20GHz", "Intel Xeon"),
        ("model name\t: Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", "Intel Core i7-8650U"),
    ],
)
def test_processor(monkeypatch, tmp_path, line, name):
    path = tmp_path / "cpuinfo"
    path.write_text(f"processor\t: 0\n{line}\nflags\t: fpu\n")
    monkeypatch.setattr(hardware, "CPU_INFO", path)
    assert hardware.processor() == name


def test_processor_of_another_system(monkeypatch, tmp_path):
    monkeypatch.setattr(hardware, "CPU_INFO", tmp_path / "absent")
    monkeypatch.setattr(platform, "processor", lambda: "arm")
    assert hardware.processor() == "arm"


def test_gpus_come_first(monkeypatch):
    assert hardware.describe() == {"device": hardware.processor(), "tensorflow": tf.__version__}
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind])
    details = {"device_name": "Tesla T4"}
    monkeypatch.setattr(tf.config.experimental, "get_device_details", lambda gpu: details)
    assert hardware.describe()["device"] == "Tesla T4"
