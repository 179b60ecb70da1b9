"""--mode=analyze on checkpoints with known masks."""

import importlib.util
import json
import re

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints, tasks
from mate_tf.attention import TableContext, coverage, masks
from mate_tf.data import records
from mate_tf.training import experiments

PNG = b"\x89PNG\r\n"
ENCODER = "task.model.encoder"


def attention(**options):
    return "--params_override=" + json.dumps(
        {"task": {"model": {"encoder": {"attention": options}}}}
    )


def encoder_layers(*names):
    """Each layer with another variant, and an override for it."""
    encoder = {"num_hidden_layers": len(names), "attention": [{"name": name} for name in names]}
    return "--params_override=" + json.dumps({"task": {"model": {"encoder": encoder}}})


@pytest.fixture
def saved(config_file, created, tmp_path):
    """saved(override, alpha): flags of a model with these weights, and its folder."""

    def save(override, alpha=None):
        config = experiments.load(config_file, [override.partition("=")[2]])
        config.task.conversion.bert_vocab_file = str(created / "vocab.txt")
        model = tasks.create(config.task).build_model()
        if alpha is not None:
            (variable,) = (v for v in model.encoder.patterns[0].variables if "alpha" in v.name)
            variable.assign(alpha)
        model_dir = tmp_path / "model"
        manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(model=model), str(model_dir), max_to_keep=1, checkpoint_name="ckpt"
        )
        manager.save(checkpoint_number=3)
        flags = (
            "--mode=analyze",
            f"--config_file={config_file}",
            f"--output_dir={created}",
            f"--model_dir={model_dir}",
            override,
        )
        return flags, model_dir

    return save


def analysis_of(model_dir):
    folder = model_dir / "analysis"
    for path in folder.glob("*.png"):
        assert path.read_bytes().startswith(PNG)
    plots = sorted(path.name for path in folder.glob("*.png"))
    return json.loads((folder / "analysis.json").read_text()), plots


def test_learned_mask(command, saved, files):
    """Importance by position: nothing on the diagonal, most beside it."""
    n = 12
    i, j = np.indices([n, n]).reshape(2, -1)
    special = (np.minimum(i, j) == 0) | (np.maximum(i, j) == n - 1)
    logits = np.select([i == j, special, abs(i - j) == 1], [-4.0, 1.0, 3.0], -1.0)
    override = attention(name="learned_mask", objective="dam", length=n)
    flags, model_dir = saved(override, np.stack([logits, np.where(i == j, -4.0, 0.5)]))
    output = command(*flags)
    found, plots = analysis_of(model_dir)
    assert list(found) == ["learned masks", "attention flow"]
    # the tables are longer than the mask
    assert list(found["attention flow"]["table 7"]) == ["uniform"]
    (line,) = (line for line in output.splitlines() if line.startswith("table | "))
    assert line.endswith(": none is drawn")
    of_pattern = found["learned masks"]["patterns_0"]
    p = {x: 1 / (1 + np.exp(-x)) for x in (-4.0, -1.0, 0.5, 1.0, 3.0)}
    first, second = of_pattern["importance of each head"]
    span = p[3.0] - p[-4.0]
    assert first["diagonal"] == second["diagonal"] == 0
    assert first["neighbours"] == 1
    assert first["special"] == pytest.approx((p[1.0] - p[-4.0]) / span, abs=1e-5)
    assert first["elsewhere"] == pytest.approx((p[-1.0] - p[-4.0]) / span, abs=1e-5)
    assert second["elsewhere"] == second["neighbours"] == 1
    mean = {name: (first[name] + second[name]) / 2 for name in first}
    assert of_pattern["importance"] == pytest.approx(mean)
    assert of_pattern["importance by distance"]["1"] == 1
    pairs = 10 * 10 - 10 - 2 * 9  # inside, beyond the neighbours
    assert of_pattern["sparsity of each head"] == pytest.approx([(12 + pairs) / 144, 12 / 144])
    assert plots == [
        f"patterns_0.{kind}.png" for kind in ("importance", "importance_by_head", "masks")
    ]
    neighbours = next(line for line in output.splitlines() if line.startswith("neighbours"))
    assert neighbours.split()[1:] == ["100.0", "%"] * 3
    elsewhere = next(line for line in output.splitlines() if line.startswith("elsewhere"))
    assert elsewhere.split()[3:] == [f"{100 * first['elsewhere']:.1f}", "%", "100.0", "%"]
    # nothing half-written is left
    assert len(files(model_dir / "analysis")) == len(plots) + 1


def test_learned_mask_of_an_initial_checkpoint(command, refused, saved, tmp_path):
    """Importance alone has no masks to plot; a checkpoint without alpha has nothing."""
    override = attention(name="learned_mask", length=12)
    flags, source = saved(override, np.zeros([2, 78]))
    elsewhere = f"--model_dir={tmp_path / 'elsewhere'}"
    command(*flags, elsewhere, f"--init_checkpoint={source}")
    _, plots = analysis_of(tmp_path / "elsewhere")
    assert plots == ["patterns_0.importance.png", "patterns_0.importance_by_head.png"]
    message = refused(*flags, f"--model_dir={tmp_path / 'none'}")
    assert message == f"{tmp_path / 'none'}: no checkpoint here; train first"
    flags, source = saved(attention(name="full"))
    message = refused(*flags, override, elsewhere, f"--init_checkpoint={source}")
    assert "without attention 'learned_mask': it has no patterns/0/alpha" in message


def _contexts(created):
    batches = records.dataset(created / "tf_examples" / "dev.tfrecord", 100)
    batch = next(batches.as_numpy_iterator())
    with_table = (batch["column_ids"] > 0).any(1)
    return TableContext(*(batch[name][with_table] for name in TableContext.FEATURES))


def test_masks_of_an_example(command, trained, created, tmp_path):
    """Of MATE: what row heads see, and what column heads see."""
    model_dir = tmp_path / "elsewhere"
    checkpoint = trained[-1].partition("=")[2]
    flags = (*trained[:-1], f"--model_dir={model_dir}", f"--init_checkpoint={checkpoint}")
    wide = f"--params_override={ENCODER}.attention.radius=200"
    output = command("--mode=analyze", *flags, wide)
    found, plots = analysis_of(model_dir)
    assert plots == ["heads.png", "patterns_0.example.png", "table.png"]
    of_pattern = found["masks of an example"]["patterns_0"]
    context = _contexts(created).map(lambda part: tf.constant(part[:1]))
    tokens = int(tf.reduce_sum(context.input_mask))
    seen = [
        int(tf.math.count_nonzero(mask(context))) for mask in (masks.same_row, masks.same_column)
    ]
    assert of_pattern["tokens"] == tokens
    assert of_pattern["sparsity of each head"] == pytest.approx([1 - n / tokens**2 for n in seen])
    assert f"{tokens} tokens" in output


def test_masks_that_the_content_makes_are_of_layers(command, saved):
    flags, model_dir = saved(encoder_layers("full", "tree_fine", "static_mask"))
    command(*flags)
    found, plots = analysis_of(model_dir)
    assert plots == [
        *("heads.png", "layer_2.example.png", "patterns_2.example.png"),
        "table.png",
    ]
    assert {name: of["attention"] for name, of in found["masks of an example"].items()} == {
        "layer_2": "tree_fine",
        "patterns_2": "static_mask",
    }


def test_attention_flow_coverage_and_table(command, trained, created, tmp_path):
    """Of MATE without its own settings: what is reached, and what would reach more.

    The first example's table is drawn, in words, as a picture and as a page.
    """
    model_dir = tmp_path / "elsewhere"
    checkpoint = trained[-1].partition("=")[2]
    flags = (*trained[:-1], f"--model_dir={model_dir}", f"--init_checkpoint={checkpoint}")
    output = command("--mode=analyze", *flags, f"--params_override={ENCODER}.attention.radius=8")
    found, _ = analysis_of(model_dir)
    flow = found["attention flow"]
    for name in ("attention", "uniform"):
        assert sum(flow["table 7"][name].values()) == pytest.approx(1)
    context = _contexts(created)
    assert flow["examples"] == len(context.input_mask)
    assert np.shape(flow["by layer and head"]) == (1, 2, 8)
    # no row head sees the other rows, no column head the other columns
    first, second = np.array(flow["by layer and head"]).mean(0)
    assert first[4] == first[6] == 0
    assert second[4] == second[5] == 0
    assert first[5] > 0
    assert second[6] > 0
    reached = found["coverage"]["mate_efficient"]["reached"]
    settings = found["coverage"]["mate_efficient"]
    assert reached == pytest.approx(coverage(context, settings["global_length"], 8))
    cheapest = found["coverage"]["cheapest"]
    assert list(cheapest) == ["90%", "95%", "99%", "100%"]
    everything = cheapest["100%"]
    radii = everything["row_radius"], everything["column_radius"]
    assert coverage(context, everything["global_length"], *radii) == 1
    (line,) = (line for line in output.splitlines() if line.startswith("100%"))
    assert line.split()[1:4] == [str(everything["global_length"]), *map(str, radii)]

    assert found["table"] == {
        "rows": context.row_ids[0].max(),
        "columns": context.column_ids[0].max(),
        "views": ["attention", "mask"],
    }
    path = model_dir / "analysis" / "table.html"
    assert f"page | {path}\n" in output
    page = path.read_text()
    header, *_ = re.findall("<thead>.*?</thead>", page)
    batch = next(records.dataset(created / "tf_examples" / "dev.tfrecord", 1).as_numpy_iterator())
    pieces = (created / "vocab.txt").read_text().split("\n")
    first = (batch["row_ids"][0] == 0) & (batch["column_ids"][0] == 1)
    for number in batch["input_ids"][0][first]:
        assert pieces[number].removeprefix("##") in header
    assert f"mate_efficient: {checkpoint}" in page


def test_no_table_is_drawn_without_one(command, saved, created, tmp_path):
    flags, model_dir = saved(attention(name="static_mask"))
    examples = str(tmp_path / "no_tables.tfrecord")
    without = []
    for example in records.read_examples(created / "tf_examples" / "dev.tfrecord"):
        for name in ("column_ids", "row_ids", "segment_ids"):
            ids = example.features.feature[name].int64_list.value
            ids[:] = [0] * len(ids)
        without.append(example)
    records.write_examples(without, examples)
    output = command(*flags, f"--params_override=task.validation_data.input_path={examples}")
    assert "\ntable | no example with a table: none is drawn\n" in output
    assert not (model_dir / "analysis" / "table.html").exists()


def test_nothing_to_analyze(refused, saved):
    """Full attention, and no tables that it could be seen on."""
    flags, model_dir = saved(attention(name="full"))
    absent = "--params_override=task.validation_data.input_path=absent.tfrecord"
    message = refused(*flags, absent)
    assert message == "absent.tfrecord: no such file; run --mode=create_data first"
    assert not (model_dir / "analysis").exists()
    assert checkpoints.pattern_variables(str(model_dir)) == {}


def test_no_matplotlib(refused, trained, monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find_spec(name)
    )
    message = refused("--mode=analyze", *trained)
    assert message == "--mode=analyze needs matplotlib: pip install 'mate-tf[plots]'"
