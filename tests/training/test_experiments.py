"""Configuration: what a user may write, and what is said to one who writes something else."""

import pathlib

import pytest

from mate_tf.errors import InputError
from mate_tf.files.config_files import find_config
from mate_tf.training import experiments

CONFIGS = pathlib.Path(__file__).parents[2] / "configs"


@pytest.mark.parametrize(
    "name",
    [
        *("sqa", "wtq", "hybridqa", "hybridqa_rc", "tabfact", "pretrain", "custom", "quickstart"),
        *("squad_v2", "listops", "rte", "treeformer_tc", "sparsebert_dam_s"),
        "treeformer/tc_9_layers",
    ],
)
def test_a_config_survives_saving(name, tmp_path):
    """One of each kind; tests/test_recipes.py loads all."""
    experiment = experiments.load(str(CONFIGS / f"{name}.yaml"))
    experiment.task.model.encoder.check()
    saved = experiments.save(experiment, str(tmp_path))
    assert experiments.load(saved).as_dict() == experiment.as_dict()


def test_overrides_in_order(tmp_path):
    file = tmp_path / "more.yaml"
    file.write_text("trainer: {train_steps: 7}\n")
    experiment = experiments.load(
        task="sqa",
        params_override=[
            "task.model.temperature=0.5,trainer.train_steps=5",
            str(file),
            "task: {train_data: {buckets: [64, 128]}}",
            "trainer.optimizer_config.learning_rate.bert.initial_learning_rate=1e-3",
            "task.model.encoder.attention.name=full",
        ],
    )
    assert experiment.task.model.temperature == 0.5
    assert experiment.trainer.train_steps == 7
    assert list(experiment.task.train_data.buckets) == [64, 128]
    rate = experiment.trainer.optimizer_config.learning_rate.bert
    assert rate.initial_learning_rate == 1e-3
    assert experiment.task.model.encoder.attention.name == "full"


def test_resolve_fills_in_the_schedule():
    experiment = experiments.load(task="SQA", params_override="trainer.train_steps=300")
    resolved = experiments.resolve(experiment)
    assert resolved.trainer.optimizer_config.learning_rate.bert.decay_steps == 300
    assert experiment.trainer.optimizer_config.learning_rate.bert.decay_steps == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task: {model: {temprature: 1}}", "'task.model.temprature'; did you mean 'temperature'"),
        ("taks: {}", "'taks'; did you mean 'task'"),
        ("trainer: {train_steps: many}", "trainer.train_steps is 'many', expected an integer"),
        ("trainer: {train_steps: 1.5}", "expected an integer"),
        ("task: 3", "expected keys and values"),
        ("trainer: 3", "expected keys and values"),
        ("task: {model: {select_one_column: 1}}", "expected true or false"),
        ("task: {train_data: {buckets: 64}}", "expected a list"),
        ("task: {train_data: {input_path: 64}}", "expected text"),
        ("task: {model: {encoder: {attention: {radios: 3}}}}", "radios"),
        ("task: {model: {encoder: {attention: {name: ful}}}}", "'ful'"),
        ("trainer: {optimizer_config: {optimizer: {type: adamx}}}", "expected one of sgd"),
        (
            "runtime: {mixed_precision_dtype: mixed_bfloat16}",
            "runtime.mixed_precision_dtype is 'mixed_bfloat16', expected one of float32, float16, "
            "bfloat16",
        ),
        ("runtime: {distribution_strategy: mirored}", "is 'mirored', expected one of off, "),
        ("task: [", "is not YAML"),
        ("just words", "expected keys and values"),
    ],
)
def test_bad_configuration_names_file_and_key(tmp_path, text, message):
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as raised:
        experiments.load(str(file), task="SQA")
    assert str(file) in str(raised.value)
    assert message in str(raised.value)


def test_another_model_in_the_same_folder(tmp_path):
    """The first key that differs, with both values; what does not change the model may differ."""
    experiment = experiments.load(task="SQA")
    experiments.check_same_model(experiment, str(tmp_path))  # nothing was trained there
    experiments.save(experiment, str(tmp_path))
    longer = experiments.load(
        task="SQA", params_override="trainer.train_steps=9,task.train_data.global_batch_size=3"
    )
    experiments.check_same_model(longer, str(tmp_path))
    encoder = "task.model.encoder."
    for override, message in (
        (f"{encoder}attention.name=full", f"{encoder}attention.name=mate_efficient, not full"),
        (f"{encoder}attention.radius=7", f"{encoder}attention.radius=42, not 7"),
        (
            f"{encoder}disabled_features=[column_ids]",
            r"disabled_features=\[\], not \['column_ids'\]",
        ),
        ("task.model.temperature=2.0", r"task\.model\.temperature=1\.0, not 2\.0"),
    ):
        other = experiments.load(task="SQA", params_override=override)
        with pytest.raises(InputError, match=rf"params\.yaml: .*{message}; give another --model"):
            experiments.check_same_model(other, str(tmp_path))
    experiments.check_same_model(other, str(tmp_path), "encoder")


def test_a_file_that_starts_from_another(tmp_path):
    """Values, the task's name and the options of another attention; a wrong key names its file."""
    file = tmp_path / "own.yaml"
    file.write_text(
        "base: sqa.yaml\ntrainer: {train_steps: 7}\n"
        "task: {model: {encoder: {attention: {name: full}}}}"
    )
    experiment, base = experiments.load(str(file)), experiments.load(find_config("sqa.yaml"))
    assert experiment.trainer.train_steps == 7
    assert experiment.task.model.encoder.attention.as_dict() == {"name": "full", "diagonal": True}
    experiment.task.model.encoder.attention = base.task.model.encoder.attention
    experiment.trainer.train_steps = base.trainer.train_steps
    assert experiment.as_dict() == base.as_dict()

    (tmp_path / "sqa.yaml").write_text("task: {name: SQA}\ntrainer: {train_step: 7}")
    with pytest.raises(InputError, match=r"sqa\.yaml: unknown key 'trainer.train_step'"):
        experiments.load(str(file))


def test_overrides_of_the_package_are_found_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values, source = experiments.read_override("configs/sqa.yaml")
    assert values["task"]["name"] == "SQA"
    assert source == "configs/sqa.yaml"
    with pytest.raises(InputError, match=r"--params_override=absent\.yaml: no such file"):
        experiments.read_override("absent.yaml")


def test_bad_override_changes_nothing():
    experiment = experiments.load(task="SQA")
    before = experiment.as_dict()
    with pytest.raises(InputError, match=r"--params_override.*task\.model\.x"):
        experiments.override(
            experiment, *experiments.read_override("task.model.temperature=3,task.model.x=1")
        )
    assert experiment.as_dict() == before


def test_no_task_or_another_one(tmp_path):
    with pytest.raises(InputError, match="STATEMENTS, STS-B, SUMMARIZE, SWAG, SYNTHETIC"):
        experiments.load()
    with pytest.raises(InputError, match="unknown task 'TABLES'"):
        experiments.load(task="TABLES")
    file = tmp_path / "a.yaml"
    file.write_text("task: {name: SQA}")
    with pytest.raises(InputError, match="for task SQA, not for SYNTHETIC"):
        experiments.load(str(file), task="SYNTHETIC")
    with pytest.raises(InputError, match=r"absent\.yaml"):
        experiments.load(str(tmp_path / "absent.yaml"))
