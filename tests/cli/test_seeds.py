"""--seeds: one conversion, a folder for each seed, statistics; and what is refused."""

import json
import shutil

import pytest
import tensorflow as tf

from mate_tf.evaluation import seeds

from .. import glue_files

CONFIG = """
task:
  name: RTE
  conversion: {max_seq_length: 24, tokens: bytes}
  train_data: {global_batch_size: 2, seed: 0}
  validation_data: {global_batch_size: 6}
  model:
    encoder: {hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 1, intermediate_size: 8}
trainer: {train_steps: 1, steps_per_loop: 1, summary_interval: 1, checkpoint_interval: 1,
  validation_interval: 1}
tf_random_seed: 0
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, never_graphs):
    """Folder with tiny.yaml and RTE."""
    path = tmp_path_factory.mktemp("seeds")
    (path / "tiny.yaml").write_text(CONFIG)
    glue_files.write(path, "RTE", number=6)
    return path


def arguments(folder, output_dir):
    return (
        f"--config_file={folder / 'tiny.yaml'}",
        f"--input_dir={folder / 'RTE'}",
        f"--output_dir={output_dir}",
        "--num_processes=1",
    )


@pytest.fixture(scope="module")
def made(folder, invoked):
    """Output folder of a run with the seeds 3 and 1; not to be changed."""
    assert invoked("run", *arguments(folder, folder / "out"), "--seeds=3,1") == 0
    return folder / "out"


def metrics(model_dir):
    return json.loads((model_dir / "metrics.json").read_text())["dev"]["RTE"]["model"]


def checkpoint(model_dir):
    path = tf.train.latest_checkpoint(str(model_dir))
    reader = tf.train.load_checkpoint(path)
    names = [name for name in reader.get_variable_to_shape_map() if name.startswith("model/")]
    return {name: reader.get_tensor(name).tolist() for name in names}


def test_statistics_of_the_folders(made):
    content = json.loads((made / "model" / seeds.FILE).read_text())
    assert list(content["runs"]) == ["3", "1"]
    name = "dev | RTE | accuracy"
    of_seeds = [metrics(made / "model" / f"seed_{seed}")["accuracy"] for seed in (3, 1)]
    found = content["statistics"][name]
    assert found["values"] == of_seeds
    assert found["median"] == pytest.approx(sum(of_seeds) / 2)
    assert found["half_iqr"] == pytest.approx(abs(of_seeds[0] - of_seeds[1]) / 4)
    assert not any("95 %" in name for name in content["statistics"])
    assert not (made / "model" / "seed_1" / "export").exists()


def test_a_seed_equals_a_run_of_its_own(made, folder, invoked, tmp_path):
    """The same weights, which differ from those of the other seed."""
    out = shutil.copytree(made, tmp_path / "out", ignore=shutil.ignore_patterns("model"))
    flags = (*arguments(folder, out), "--tf_random_seed=1")
    assert invoked("train", *flags, "--params_override=task.train_data.seed=1") == 0
    alone = checkpoint(out / "model")
    assert alone
    assert alone == checkpoint(made / "model" / "seed_1")
    assert alone != checkpoint(made / "model" / "seed_3")


def test_done_seeds_are_not_run_again(made, folder, command, refused, tmp_path):
    """Killed in seed 1, the run goes on there; with all done it prints the table only."""
    out = tmp_path / "out"
    shutil.copytree(made, out)
    flags = arguments(folder, made)[:2] + arguments(folder, out)[2:]
    content = json.loads((out / "model" / seeds.FILE).read_text())
    # The path of the examples is part of the configuration.
    text = json.dumps(content).replace(str(made), str(out))
    content = json.loads(text)
    complete = content["statistics"]
    content["runs"]["3"]["dev | RTE | accuracy"] = 0.125  # recognizable
    del content["runs"]["1"], content["statistics"]
    (out / "model" / seeds.FILE).write_text(json.dumps(content))
    output = command("run", *flags, "--seeds=3,1")
    assert "seed 3 (1 of 2) | " in output
    assert output.count("done already") == 1
    assert "created |" not in output
    found = json.loads((out / "model" / seeds.FILE).read_text())["statistics"]
    name = "dev | RTE | accuracy"
    assert found[name]["values"] == [0.125, complete[name]["values"][1]]
    again = command("run", *flags, "--seeds=1,3")
    assert again.count("done already") == 2
    assert "predicted |" not in again
    (line,) = (line for line in again.splitlines() if line.startswith(name))
    assert f"{50 * sum(found[name]['values']):.2f} %" in line
    # Another configuration is not mixed with what is done.
    assert refused("run", *flags, "--seeds=1,3", "--learning_rate=0.5").endswith(
        "seeds.json: the seeds here were run with trainer.optimizer_config.learning_rate.bert."
        "initial_learning_rate=2e-05, not 0.5; give another --model_dir"
    )
    (out / "model" / seeds.FILE).write_text('{"experiment": {}, "runs": {"1": 2}}')
    assert "is not a file of --seeds" in refused("run", *flags, "--seeds=1,3")


@pytest.mark.parametrize("given", ["a", "", "1,1", "1,01", "-1", "2147483648", "0,1.5", "9" * 5000])
def test_no_seeds(folder, refused, given):
    expected = (
        f"--seeds={given}: expected different whole numbers from 0 to 2147483647, for example"
    )
    assert refused("run", *arguments(folder, folder / "no"), f"--seeds={given}").startswith(
        expected
    )
    assert not (folder / "no").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--mode=train",), "--seeds is for --mode=run"),
        (("ask", "t.csv", "who?"), "--seeds is for --mode=run"),
        (("--tf_random_seed=1",), "--seeds and --tf_random_seed: give one of them"),
        (("--export_dir=x",), "--seeds and --export_dir: no model is exported; --mode=export with"),
        (("--calibrate",), "--seeds and --calibrate: no model is exported"),
    ],
)
def test_flags_without_meaning(folder, refused, flags, message):
    given = (*arguments(folder, folder / "no"), *flags, "--seeds=0,1")
    assert refused(*given).startswith(message)
    assert not (folder / "no").exists()


def test_two_models(refused):
    message = "--seeds: task POINTR has two models; give the tasks of its stages"
    assert refused("--task=POINTR", "--seeds=0,1") == message
