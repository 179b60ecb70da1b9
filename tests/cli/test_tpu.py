"""--use_tpu where there is no TPU: one line, before anything else is done."""

import pytest

from mate_tf.training import tpu


@pytest.fixture(autouse=True)
def no_tpu(tmp_path, monkeypatch):
    monkeypatch.setattr(tpu, "DEVICE_FILES", (str(tmp_path / "accel*"),))


@pytest.mark.parametrize("mode", ["run", "train", "eval"])
def test_there_is_none(refused, config_file, tmp_path, files, mode):
    flags = (f"--mode={mode}", f"--config_file={config_file}", f"--output_dir={tmp_path}/out")
    if mode == "eval":  # whose checkpoint is looked for first
        model_dir = tmp_path.with_name(f"{tmp_path.name}_model")
        model_dir.mkdir()
        flags += (f"--model_dir={model_dir}",)
    message = refused(*flags, "--use_tpu")
    assert message.startswith("--use_tpu: this machine has no TPU")
    message = refused(*flags, "--use_tpu", "--tpu_name=grpc://127.0.0.1:1")
    assert message.startswith("--tpu_name=grpc://127.0.0.1:1: grpc://127.0.0.1:1 does not answer")
    message = refused(*flags, "--tpu_name=my-tpu", "--tpu_zone=a-zone")
    assert message == "--tpu_name=my-tpu: needs --use_tpu"
    assert files(tmp_path) == []


def test_what_the_flags_set(config_file, tmp_path, monkeypatch):
    from absl import flags

    from mate_tf.cli import flags as flag_definitions
    from mate_tf.cli.job import Job

    asked = []
    monkeypatch.setattr(tpu, "address", asked.append)
    names = ("--use_tpu", "--tpu_name=my-tpu", "--tpu_zone=a-zone", "--gcp_project=a-project")
    folders = (f"--config_file={config_file}", f"--output_dir={tmp_path}")
    flag_definitions.FLAGS(["mate-tf", "--mode=train", *folders, *names])
    runtime = Job.from_flags(flags.FLAGS).experiment.runtime
    assert runtime.distribution_strategy == "tpu"
    assert (runtime.tpu, runtime.tpu_zone, runtime.gcp_project) == ("my-tpu", "a-zone", "a-project")
    assert asked == [runtime]


def test_predicting_is_for_the_processor(command, trained_copy):
    """A model that was trained on a TPU is used without one."""
    output = command(*trained_copy, "--mode=predict_and_evaluate", "--use_tpu")
    assert "predicted | 18 questions" in output
    assert "evaluated | " in output
