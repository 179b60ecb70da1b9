"""What `auto` chooses on each kind of device, and says."""

import pytest
import tensorflow as tf

from mate_tf.layers import precision


@pytest.fixture(autouse=True)
def forget():
    """Forgets the choice before and after."""
    precision.choose.cache_clear()
    yield
    precision.choose.cache_clear()


@pytest.fixture
def device(monkeypatch, tmp_path):
    """device(cpu_info, capabilities): a machine with this /proc/cpuinfo and these GPUs."""

    def set_device(cpu_info="", capabilities=()):
        path = tmp_path / "cpuinfo"
        path.write_text(cpu_info)
        monkeypatch.setattr(precision, "CPU_INFO", path)
        gpus = list(range(len(capabilities)))
        monkeypatch.setattr(tf.config, "list_physical_devices", {"GPU": gpus}.get)
        monkeypatch.setattr(
            tf.config.experimental,
            "get_device_details",
            lambda gpu: {"compute_capability": capabilities[gpu]} if capabilities[gpu] else {},
        )

    return set_device


@pytest.mark.parametrize(
    ("cpu_info", "name"),
    [
        ("model name : x\nflags\t\t: fpu avx512_bf16 amx_bf16\n", "amx_bf16"),
        ("flags\t\t: fpu avx512_bf16\n", "avx512_bf16"),
        ("Features\t: fp asimd bf16\n", "bf16"),
        ("flags\t\t: fpu avx2 avx512f\nmodel name : the bf16 one\n", ""),
        ("", ""),
    ],
)
def test_processors(device, cpu_info, name):
    device(cpu_info)
    assert precision.bfloat16() == name
    assert precision.choose().precision == ("bfloat16" if name else "float32")
    assert name in precision.choose().reason


def test_no_description_of_the_processor(monkeypatch, tmp_path):
    monkeypatch.setattr(precision, "CPU_INFO", tmp_path / "absent")
    assert precision.bfloat16() == ""


@pytest.mark.parametrize(
    ("capabilities", "chosen"),
    [
        ([(8, 0)], "bfloat16"),
        ([(9, 0), (7, 5)], "float32"),
        ([(7, 0)], "float32"),
        ([None], "float32"),
    ],
)
def test_gpus(device, capabilities, chosen):
    """All of them must have it, whatever the processor has."""
    device("flags : avx512_bf16", capabilities)
    assert precision.choose().precision == chosen
    assert "GPU" in precision.choose().reason


def test_what_is_given_stays(device):
    device("flags : avx512_bf16")
    assert [precision.resolve(each) for each in (None, "float16")] == [None, "float16"]
    assert precision.resolve(precision.AUTO) == "bfloat16"
