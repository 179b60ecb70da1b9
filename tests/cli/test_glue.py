"""All nine tasks of GLUE through the command line, on small files in the official format."""

import json
import pathlib
import shutil
import zipfile

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from mate_tf.data import records
from mate_tf.data.records.create_data import interactions_path
from mate_tf.evaluation import glue, predictions

from .. import glue_files

CONFIG = """
task:
  conversion: {max_seq_length: 32, tokens: bytes}
  train_data: {global_batch_size: 4, seed: 0}
  validation_data: {global_batch_size: 4}
  model:
    encoder: {hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 1, intermediate_size: 8}
trainer: {train_steps: 2, steps_per_loop: 2, summary_interval: 2, checkpoint_interval: 2,
  validation_interval: 2}
tf_random_seed: 0
"""
TASKS = {folder: folder.upper() for folder in glue_files.TASKS}
LABELS = {"0", "1"}
ENTAILMENT = {"entailment", "not_entailment"}
NLI = {"contradiction", "entailment", "neutral"}
SUBMISSIONS = {
    "CoLA": LABELS,
    "SST-2": LABELS,
    "MRPC": LABELS,
    "STS-B": None,
    "QQP": LABELS,
    "MNLI-m": NLI,
    "MNLI-mm": NLI,
    "QNLI": ENTAILMENT,
    "RTE": ENTAILMENT,
    "WNLI": LABELS,
    "AX": NLI,
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory, invoked, never_graphs):
    """Folder with out/<task>/model for each task; two steps each."""
    folder = tmp_path_factory.mktemp("glue")
    (folder / "tiny.yaml").write_text(CONFIG)
    glue_files.write_diagnostics(folder / "official")
    for name, task in TASKS.items():
        path = glue_files.write(folder / "official", name)
        flags = (
            f"--task={task}",
            f"--params_override={folder / 'tiny.yaml'}",
            f"--input_dir={path}",
            f"--output_dir={folder / 'out' / name}",
            "--num_processes=1",
        )
        assert invoked(*flags) == 0
    return folder


def test_submissions(trained):
    found = {path.stem: path for path in trained.glob("out/*/model/*.tsv")}
    assert set(SUBMISSIONS) == set(glue.SUBMISSIONS) < set(found)
    for name, labels in SUBMISSIONS.items():
        header, *lines = found[name].read_text().splitlines()
        assert header == "index\tprediction"
        index, values = zip(*(line.split("\t") for line in lines), strict=True)
        assert index == tuple(map(str, range(6))), name
        if labels is None:
            assert all(0 <= float(value) <= 5 for value in values)
        else:
            assert set(values) <= labels, name
    # The label of a class, not its number.
    folder = trained / "out" / "RTE" / "model"
    of_model = {each.question_id: each for each in predictions.read_tsv(folder / "test.tsv")}
    for line in found["RTE"].read_text().splitlines()[1:]:
        index, label = line.split("\t")
        predicted = of_model[f"RTE_test_{index}-0_0"].class_index
        assert label == ("entailment", "not_entailment")[predicted]


def test_broken_lines_are_reported(trained):
    report = json.loads((trained / "out/QQP/tf_examples/train.report.json").read_text())
    assert report["defects"] == {"broken lines": 5}
    report = json.loads((trained / "out/QQP/tf_examples/test.report.json").read_text())
    assert report["dropped"] == {"No text": 1}


def of_sklearn(gold, chosen, classes):
    found = {"accuracy": metrics.accuracy_score(gold, chosen)}
    if classes == 2:
        found["F1"] = metrics.f1_score(gold, chosen, zero_division=0)
        found["Matthews correlation"] = metrics.matthews_corrcoef(gold, chosen)
    return found


@pytest.mark.parametrize("name", TASKS)
def test_metrics(trained, name):
    """Those in metrics.json are what scikit-learn and SciPy say of the files."""
    task, folder = TASKS[name], trained / "out" / name
    results = json.loads((folder / "model" / "metrics.json").read_text())
    scored = [split for split in results if split.startswith("dev")]
    assert len(scored) == (2 if task == "MNLI" else 1)
    for split in scored:
        chosen = {
            each.question_id: each
            for each in predictions.read_json(folder / "model" / f"{split}.json")
        }
        asked = [
            each.questions[0]
            for each in records.read_interactions(interactions_path(folder, split))
        ]
        assert len(asked) == 6
        of_model = results[split][task]["model"]
        if task == "STS-B":
            gold = [question.answer.float_value for question in asked]
            values = [chosen[question.id].value for question in asked]
            assert np.ptp(values) > 0
            expected = {
                "Pearson correlation": stats.pearsonr(gold, values)[0],
                "Spearman correlation": stats.spearmanr(gold, values)[0],
            }
        else:
            gold = [question.answer.class_index for question in asked]
            classes = [chosen[question.id].class_index for question in asked]
            expected = of_sklearn(gold, classes, len(set(gold)))
        names = {
            score.metric for score in glue.SCORES if (score.task, score.split) == (task, split)
        }
        assert names
        assert {name: of_model[name] for name in names} == pytest.approx(
            {name: expected[name] for name in names}, abs=1e-9
        )


def test_all_scores_and_the_submission(trained, command):
    output = command("glue", f"--output_dir={trained / 'out'}")
    assert "MNLI mismatched, accuracy" in output
    scores = json.loads((trained / "out" / "glue.json").read_text())
    assert None not in scores.values()
    of_tasks = {
        task: [value for name, value in scores.items() if name.startswith((f"{task},", f"{task} "))]
        for task in TASKS.values()
    }
    mean = np.mean([np.mean(values) for values in of_tasks.values()])
    assert scores["mean, GLUE"] == pytest.approx(mean)
    assert f"{100 * mean:.1f} %" in output
    with zipfile.ZipFile(trained / "out" / "submission.zip") as archive:
        assert sorted(archive.namelist()) == sorted(f"{name}.tsv" for name in SUBMISSIONS)
        assert archive.read("AX.tsv").startswith(b"index\tprediction\n0\t")


def test_one_task(trained, command, refused, tmp_path):
    (tmp_path / "rte").symlink_to(trained / "out" / "RTE")
    output = command("glue", f"--output_dir={tmp_path}")
    line = next(line for line in output.splitlines() if line.startswith("mean, GLUE"))
    assert line.split() == ["mean,", "GLUE", "-"]
    assert "no submission | missing: CoLA.tsv, SST-2.tsv, MRPC.tsv" in output
    assert "QNLI.tsv, WNLI.tsv\n" in output  # and not AX.tsv, which may be left out
    assert not (tmp_path / "submission.zip").exists()
    (tmp_path / "empty").mkdir()
    assert refused("glue", f"--output_dir={tmp_path / 'empty'}").endswith(
        "empty: no metrics.json with scores of GLUE in its folders"
    )


def test_a_mixture_is_refused(trained, command, refused, tmp_path):
    """A submission of another checkpoint than the scores beside it, or of another run."""
    model = pathlib.Path(shutil.copytree(trained / "out" / "RTE", tmp_path / "rte")) / "model"
    scores = json.loads((model / "metrics.json").read_text())
    assert scores["checkpoint"] == {"name": "ckpt-2", "step": 2}
    submission = (model / "RTE.tsv").read_text()
    (model / "RTE.tsv").write_text(submission + "9\tentailment\n")
    line = refused("glue", f"--output_dir={tmp_path}")
    assert line.startswith(f"{model / 'RTE.tsv'}: is not from ckpt-2, whose scores are here; run")
    (model / "RTE.tsv").write_text(submission)
    command("glue", f"--output_dir={tmp_path}")
    scores["checkpoint"] = {"name": "ckpt-1", "step": 1}
    (model / "metrics.json").write_text(json.dumps(scores))
    (tmp_path / "glue.json").unlink()
    assert "has the scores of ckpt-1, but the predictions next to it are from ckpt-2" in refused(
        "glue", f"--output_dir={tmp_path}"
    )
    assert not (tmp_path / "glue.json").exists()
    del scores["checkpoint"]  # as earlier versions wrote them
    (model / "metrics.json").write_text(json.dumps(scores))
    command("glue", f"--output_dir={tmp_path}")
