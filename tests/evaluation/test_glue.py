"""Submissions of GLUE, and means against the tables of the papers."""

import json

import pytest

from mate_tf.data.converters import sequences
from mate_tf.errors import InputError
from mate_tf.evaluation import glue
from mate_tf.evaluation.predictions import Prediction

# SparseBERT's table 1, BERT-base (ours) on the dev sets, and Treeformer's table 9, BERT-base. The
# mean of the latter is in its table 2.
TABLES = {
    "SparseBERT": (
        {"MNLI": (85.4, 85.8), "QQP F1": 88.2, "QNLI": 91.5, "SST-2": 92.9, "COLA": 62.1}
        | {"STS-B": 88.8, "MRPC F1": 90.4, "RTE": 69.0},
        83.8,
    ),
    "Treeformer": (
        {"MNLI": (81.33, None), "QQP": 89.62, "QNLI": 87.93, "SST-2": 90.63, "MRPC F1": 89.55}
        | {"RTE": 67.19, "COLA": 54.53},
        80.11,
    ),
}


def scores(table):
    found = {}
    for name, value in table.items():
        task, _, metric = name.partition(" ")
        if task == "MNLI":
            for split, part in zip(("dev", "dev_mismatched"), value, strict=True):
                found |= {} if part is None else {glue.Score(task, split=split): part}
            continue
        other = {"COLA": "Matthews correlation", "STS-B": "Spearman correlation"}
        found[glue.Score(task, metric or other.get(task, "accuracy"))] = value
    return found


@pytest.mark.parametrize("paper", TABLES)
def test_means_of_the_papers(paper):
    table, mean = TABLES[paper]
    found = glue.means(scores(table))
    assert set(found) == {paper}  # what the other means need is not all there
    assert found[paper] == pytest.approx(mean, abs=0.05)


def test_mean_of_glue():
    """Nine tasks count alike, also those with two scores."""
    assert len(glue.SCORES) == 13
    found = dict.fromkeys(glue.SCORES, 0.5)
    found[glue.Score("MRPC", "F1")] = 0.9
    found[glue.Score("WNLI")] = 0.8
    assert glue.means(found)["GLUE"] == pytest.approx((7 * 0.5 + 0.7 + 0.8) / 9)
    del found[glue.Score("WNLI")]
    assert "GLUE" not in glue.means(found)
    assert str(glue.Score("MNLI", split="dev_mismatched")) == "MNLI mismatched, accuracy"


def test_submission_of_classes(tmp_path):
    asked = [sequences.interaction(f"RTE_test_{index}", ["a", "b"]) for index in (0, 1, 5)]
    predicted = {f"RTE_test_{i}-0_0": Prediction("", (), class_index=1) for i in (1, 2)}
    path = tmp_path / "RTE.tsv"
    glue.write_submission(path, asked, predicted, ("entailment", "not_entailment"))
    assert path.read_bytes() == (
        b"index\tprediction\n0\tentailment\n1\tnot_entailment\n5\tentailment\n"
    )


def test_submission_of_numbers(tmp_path):
    values = (2.71828, 7.0, -0.5)
    asked = [sequences.interaction(f"STS-B_test_{index}", ["a", "b"]) for index in range(4)]
    predicted = {
        f"STS-B_test_{i}-0_0": Prediction("", (), value=value) for i, value in enumerate(values)
    }
    path = tmp_path / "STS-B.tsv"
    glue.write_submission(path, asked, predicted, ())
    assert path.read_text() == "index\tprediction\n0\t2.718\n1\t5.000\n2\t0.000\n3\t0.000\n"


def write(folder, task, accuracy, split="dev"):
    folder.mkdir(parents=True)
    content = {split: {task: {"model": {"accuracy": accuracy}, "majority class": {"accuracy": 1}}}}
    (folder / "metrics.json").write_text(json.dumps(content))


def test_scores_of_folders(tmp_path):
    write(tmp_path / "rte" / "model", "RTE", 0.625)
    write(tmp_path / "mnli", "MNLI", 0.75, split="dev_mismatched")
    write(tmp_path / "sqa" / "model", "SQA", 0.5)
    assert glue.read_scores(tmp_path) == {
        glue.Score("RTE"): (0.625, tmp_path / "rte" / "model"),
        glue.Score("MNLI", split="dev_mismatched"): (0.75, tmp_path / "mnli"),
    }
    # Of several seeds the median.
    write(tmp_path / "wnli" / "model" / "seed_0", "WNLI", 0.5)
    statistics = {"dev | WNLI | accuracy": {"median": 0.25}}
    (tmp_path / "wnli" / "model" / "seeds.json").write_text(json.dumps({"statistics": statistics}))
    found = glue.read_scores(tmp_path)
    assert found[glue.Score("WNLI")] == (0.25, tmp_path / "wnli" / "model")
    write(tmp_path / "rte_again" / "model", "RTE", 0.5)
    with pytest.raises(InputError, match=r"rte/model and .*rte_again/model both have RTE: give a"):
        glue.read_scores(tmp_path)
    with pytest.raises(InputError, match=r"sqa: no metrics\.json with scores of GLUE"):
        glue.read_scores(tmp_path / "sqa")
    (tmp_path / "mnli" / "metrics.json").write_text("{")
    with pytest.raises(InputError, match=r"mnli/metrics\.json: not valid JSON"):
        glue.read_scores(tmp_path)
