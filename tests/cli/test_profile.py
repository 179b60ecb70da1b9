"""--mode=profile: what it measures by its flags, what it writes, what it refuses."""

import functools
import importlib.util
import json

import pytest

from mate_tf.analysis.cost import encoder_worker, measuring_process, profile, speed
from mate_tf.models.encoder_config import EncoderConfig

FIND = importlib.util.find_spec


@pytest.fixture
def asked(monkeypatch):
    """The settings that were asked for, and the folder; nothing is measured."""
    seen = []
    monkeypatch.setattr(profile, "run", lambda settings, folder: seen.append((settings, folder)))
    return seen


class WorkerInThisProcess(measuring_process.Worker):
    """Saves the 10 s that a process takes to import TensorFlow.

    tests/analysis/test_profile.py measures in a process of its own.
    """

    alive = True

    def __init__(self, command, environment=None):
        config = EncoderConfig(json.loads(command[-1])["config"])
        self._measurements = encoder_worker.Measurements(config)

    def ask(self, request, **arguments):
        return json.loads(json.dumps(getattr(self._measurements, request)(**arguments)))

    def close(self):
        pass


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--task=WTQ",), "computed by OpenVINO; the times below are TensorFlow's"),
        (("--task=WTQ", "--attention=bigbird"), "by TensorFlow: OpenVINO has no attention 'bigb"),
        (("--task=PRETRAIN",), "this model does not answer questions"),
    ],
)
@pytest.mark.usefixtures("asked")
def test_which_engine_answers_is_said(command, tmp_path, flags, said):
    assert said in command("--mode=profile", *flags, f"--output_dir={tmp_path}")


def test_by_default_two_layers_of_bert_base(command, asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command("--mode=profile")
    ((settings, folder),) = asked
    config = settings.config
    assert (config.num_hidden_layers, config.hidden_size, config.num_attention_heads) == (
        2,
        768,
        12,
    )
    assert (settings.lengths, settings.variants) == (profile.LENGTHS, profile.VARIANTS)
    assert (settings.precisions, settings.compiled) == (("float32",), "plain")
    assert (settings.passes, settings.time, settings.memory) == (("forward",), True, True)
    assert settings.threads >= 1
    assert folder == "out/profile"
    settings.check()


def test_flags_and_configuration(command, asked, config_file, tmp_path):
    command(
        "--mode=profile",
        f"--config_file={config_file}",
        f"--output_dir={tmp_path}",
        "--lengths=512,128",
        "--variants=kernel,tree_fine",
        "--precisions=float32,bfloat16",
        "--compile=both",
        "--passes=forward,training",
        "--nomemory",
        "--threads=1",
        "--repeats=3",
        "--radius=9",
        "--params_override=task.model.encoder.intermediate_size=48",
    )
    ((settings, folder),) = asked
    assert folder == str(tmp_path)
    assert settings.lengths == (128, 512)
    assert len(settings.cases(128, True)) == 2 * 2 * 2
    assert settings.passes == ("forward", "training")
    assert (settings.memory, settings.threads, settings.repeats) == (False, 1, 3)
    assert (settings.config.hidden_size, settings.config.intermediate_size) == (16, 48)
    assert settings.config.attention.radius == 9
    settings.check()


def test_measures(command, config_file, tmp_path, monkeypatch):
    monkeypatch.setattr(profile, "Worker", WorkerInThisProcess)
    small = functools.partial(speed.Machine, matmul=(32, 16, 32), stream_bytes=2**16)
    monkeypatch.setattr(speed, "Machine", small)
    flags = (f"--config_file={config_file}", f"--output_dir={tmp_path}", "--lengths=64")
    output = command(
        "--mode=profile", *flags, "--variants=mate_efficient", "--nomemory", "--repeats=1"
    )
    assert "64 tokens, forward" in output
    found = json.loads((tmp_path / "profile.json").read_text())
    (row,) = found["rows"]
    assert row["seconds"] > 0
    assert row["formula_flops"] > 0
    assert (tmp_path / "profile_seconds.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--lengths=12,x"], "--lengths=12,x: not numbers of tokens"),
        (["--variants=full,fast"], "unknown attention 'fast'; known: bigbird, "),
        (["--precisions=half"], "precisions: 'half' is not one of float32, bfloat16, float16"),
        (["--passes=backward"], "passes: 'backward' is not one of forward, training"),
        (["--lengths=-5"], "lengths: -5 tokens leave no room for a table"),
        (["--task=POINTR"], "task POINTR has no --mode=profile"),
    ],
)
def test_refused(refused, tmp_path, flags, words):
    message = refused("--mode=profile", f"--output_dir={tmp_path / 'out'}", *flags)
    assert message.startswith(words)
    assert not (tmp_path / "out").exists()


def test_without_matplotlib(refused, monkeypatch):
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name == "matplotlib" else FIND(name, *more),
    )
    assert "pip install 'mate-tf[plots]'" in refused("--mode=profile")
