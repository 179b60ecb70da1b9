"""The comparison with and without bootstrapping runs each training once and reports all seeds."""

import json
import pathlib
import sys

import pytest


@pytest.fixture
def benchmark(load_benchmark):
    return load_benchmark("treeformer_learning")


ACCURACY = {
    "full": 0.5,
    "tree_fine": 0.25,
    "tree_fine_bootstrapped": 0.4,
    "tree_fine_bootstrapped_balanced": 0.45,
    "tree_coarse": 0.2,
    "tree_coarse_bootstrapped": 0.3,
}


def write_run(model_dir, accuracy, bootstrapped, steps):
    """What training would leave; with bootstrapping in two stages."""
    tree = {} if "full" in model_dir.name else {"tree_height": 1, "leaf_shares": [0.75, 0.25]}
    layer = {"attention": model_dir.name.rpartition("_")[0], "gradient_norm": 0.5, **tree}
    folders = [model_dir / "stage_1", model_dir] if bootstrapped else [model_dir]
    model_dir.mkdir(parents=True)
    for number, folder in enumerate(folders, 1):
        folder.mkdir(exist_ok=True)
        end = steps * number // len(folders)
        lines = [
            {"step": end - 1, "probe_loss": 2.0, "layers": [layer]},
            {
                "step": end,
                "training": {"class_accuracy": 0.1},
                "probe_loss": 1.0,
                "layers": [layer],
            },
            {"step": end, "validation": {"class_accuracy": accuracy}},
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "layers.jsonl").write_text(text)


def test_each_training_runs_once(benchmark, tmp_path, monkeypatch, capsys):
    runs = []

    def run(options, task, mode, *flags):
        if mode == "create_data":
            (options.data / task / "tf_examples").mkdir(parents=True)
            (options.data / task / "tf_examples" / "dev.tfrecord").touch()
            return
        runs.append((task, *flags))
        values = dict(flag.lstrip("-").split("=", 1) for flag in flags[:3])
        model_dir = pathlib.Path(values["model_dir"])
        name, _, seed = model_dir.name.rpartition("_")
        assert values["tf_random_seed"] == seed
        accuracy = ACCURACY[name] + 0.02 * int(seed)
        write_run(model_dir, accuracy, "bootstrapped" in name, int(values["num_train_steps"]))

    monkeypatch.setattr(benchmark, "run", run)
    common = ["treeformer_learning.py", f"--data={tmp_path / 'data'}", "--steps=8"]
    common += [f"--output={tmp_path / 'out'}", "--tasks", "recall"]
    monkeypatch.setattr(sys, "argv", [*common, "--seeds", "1", "--variants", "tree_fine"])
    benchmark.main()  # a part
    assert len(runs) == 1
    monkeypatch.setattr(sys, "argv", [*common, "--seeds", "0", "1"])
    benchmark.main()
    assert len(runs) == 12
    bootstrapped = [flags for flags in runs if any("bootstrap." in flag for flag in flags)]
    assert len(bootstrapped) == 6
    assert all("bootstrap.layer_width=2" in flags[-1] for flags in bootstrapped)
    trees = [flags for flags in runs if any("tree_height=6" in flag for flag in flags)]
    assert len(trees) == 10
    balanced = [flags for flags in runs if any("balancing_loss=0.02" in flag for flag in flags)]
    assert len(balanced) == 2

    found = json.loads((tmp_path / "out" / "treeformer_learning.json").read_text())
    recall = found["tasks"]["recall"]
    assert recall["class_accuracy"]["full"] == [0.5, 0.52]
    assert recall["with minus without"]["tree_fine"] == pytest.approx([0.15, 0.15])
    printed = capsys.readouterr().out
    assert "tree_coarse, bootstrapped              31.0    1.4   30.0  32.0" in printed
    assert "tree_fine: with minus without         +15.0    0.0   +15.0  +15.0" in printed
    names = {path.name for path in (tmp_path / "out").glob("*.png")}
    assert "treeformer_learning_recall_loss.png" in names
    assert "treeformer_learning_recall_tree_coarse_bootstrapped_leaves.png" in names
    # Again: all results are there.
    benchmark.main()
    assert len(runs) == 12
    # The figures of two trainings alone.
    folder = tmp_path / "data" / "recall" / "runs"
    names = [str(folder / name) for name in ("full_0", "tree_coarse_bootstrapped_1")]
    monkeypatch.setattr(sys, "argv", [*common[:1], f"--output={tmp_path}", "--plot", *names])
    benchmark.main()
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "full_0_loss.png",
        "full_0_gradients.png",
        "full_0_tree_coarse_bootstrapped_1_leaves.png",
    }
    # More steps are trained on.
    monkeypatch.setattr(sys, "argv", [*common, "--seeds", "0", "--variants", "full", "--steps=9"])
    with pytest.raises(FileExistsError):
        benchmark.main()


def test_its_configurations_and_overrides_fit(benchmark, project, monkeypatch, tmp_path):
    """Every run's settings are settings of the task."""
    from mate_tf.training import bootstrap, experiments

    found = {}

    def run(options, task, mode, *flags):
        if mode == "train":
            texts = [f.partition("=")[2] for f in flags if f.startswith("--params_override")]
            path = str(project / "configs" / benchmark.TASKS[task][0])
            experiment = experiments.load(path, texts)
            experiment.trainer.train_steps = benchmark.steps_of(options, task)
            found[task, flags[0].rpartition("/")[2]] = experiment
        raise KeyboardInterrupt

    monkeypatch.setattr(benchmark, "run", run)
    monkeypatch.setattr(sys, "argv", ["x", f"--data={tmp_path}"])
    options = benchmark.arguments()
    for task in benchmark.TASKS:
        (tmp_path / task / "tf_examples").mkdir(parents=True)
        (tmp_path / task / "tf_examples" / "dev.tfrecord").touch()
        for variant in benchmark.VARIANTS:
            with pytest.raises(KeyboardInterrupt):
                benchmark.train(options, task, variant, seed=2)
    assert len(found) == 12
    before = {
        ("recall", "tree_fine"): [300],  # with full attention
        ("recall", "tree_coarse"): [],
        ("listops", "tree_fine"): [120],
        ("listops", "tree_coarse"): [],
    }
    for (task, name), experiment in found.items():
        attention, steps = experiment.task.model.encoder.attention, experiment.trainer.train_steps
        assert attention.name in name
        if "bootstrapped" in name:
            # heights 1 to 6 in both layers at once
            first, each = before[task, attention.name], 60 if task == "recall" else 24
            growing = [sum(first) + each * stage for stage in range(1, 6)]
            expected = [*first, *growing, steps]
            assert [stage.last_step for stage in bootstrap.stages(experiment)] == expected
        else:
            assert experiment.bootstrap.layer_width == 0
        assert experiment.trainer.layer_log_interval == steps // 40


@pytest.mark.slow
def test_two_steps_for_real(jobs_in_this_process, benchmark, tmp_path, monkeypatch, capsys):
    """Full attention, and trees after a stage without them."""
    generation = {"num_train": 64, "num_dev": 8, "num_test": 8, "length": 31, "min_distance": 8}
    trainer = {"steps_per_loop": 1, "summary_interval": 1}
    override = {"task": {"generation": generation}, "trainer": trainer}
    arguments = ["x", "--tasks", "recall", "--seeds", "0", "--steps=2", "--tree_height=1"]
    arguments += ["--variants", "full", "tree_fine, bootstrapped"]
    arguments += [f"--params_override={json.dumps(override)}", f"--data={tmp_path / 'data'}"]
    monkeypatch.setattr(sys, "argv", [*arguments, f"--output={tmp_path / 'out'}"])
    benchmark.main()
    found = json.loads((tmp_path / "out" / "treeformer_learning.json").read_text())
    results = found["tasks"]["recall"]["class_accuracy"]
    assert results.keys() == {"full", "tree_fine, bootstrapped"}
    assert all(8 * accuracy in range(9) for (accuracy,) in results.values())
    runs = tmp_path / "data" / "recall" / "runs" / "tree_fine_bootstrapped_0"
    lines = benchmark.read_lines(runs)
    heights = [line["layers"][0].get("tree_height") for line in lines if "layers" in line]
    assert [each for each in heights if each is None]
    assert heights[-1] == 1
    pictures = {path.name for path in (tmp_path / "out").glob("*.png")}
    assert "treeformer_learning_recall_loss.png" in pictures
    assert "treeformer_learning_recall_tree_fine_bootstrapped_leaves.png" in pictures
    assert "tree_fine, bootstrapped" in capsys.readouterr().out
