"""The benchmark of the confidence fits to half of the tables and measures on the others."""

import numpy as np
import pytest

from mate_tf.data.interactions import Question, interactions_of_single_questions
from mate_tf.serving.confidence import Group, Scored
from mate_tf.tables.table import Table


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("unanswerable")


def test_halves_have_no_table_in_common(benchmark):
    interactions = []
    for number in (0, 1, 2, 0):
        table = Table.from_rows(["a"], [[number]])
        questions = [Question(f"t{number}-{index}_0", "which?") for index in range(3)]
        interactions += interactions_of_single_questions(table, questions)
    sizes = [len(half) for half in benchmark.halves(interactions)]
    assert sizes == [9, 3]
    cells = [
        {each.table.rows[0].cells[0].text for each in h} for h in benchmark.halves(interactions)
    ]
    assert cells == [{"0", "2"}, {"1"}]


def scored(seed, count=2000):
    """A model that says 0.9 and 0.99, and is right 10 % and 30 % of the time; as sure of other
    tables, which share fewer words with the questions."""
    random = np.random.default_rng(seed)
    sure = random.random(count) < 0.5
    right = random.random(count) < np.where(sure, 0.3, 0.1)
    asked = Group(np.where(sure, 0.99, 0.9), np.full(count, 0.8))
    own = Group(*(values[:200] for values in asked))
    other = Group(own.probabilities, np.where(random.random(200) < 0.75, 0.0, 0.8))
    return Scored(asked, right, own, other)


def test_figures_and_plot(benchmark, tmp_path, capsys):
    figures, curves = benchmark.measure(scored(0), scored(1))
    assert figures["calibration error"]["probability"] == pytest.approx(0.763, abs=0.03)
    assert figures["calibration error"]["confidence"] < 0.04
    errors = figures["calibration error, own table"]
    assert errors["probability"] == pytest.approx(0.945 - 0.2, abs=0.03)
    # One temperature cannot bring a probability above one half below it.
    assert errors["temperature"] > 0.2
    assert errors["temperature and bias"] < 0.04
    assert errors["confidence"] < 0.06
    assert figures["AUROC"]["probability"] == pytest.approx(0.5, abs=0.01)
    assert figures["AUROC"]["shared words"] == pytest.approx(0.75 + 0.25 / 2, abs=0.05)
    assert figures["AUROC"]["confidence"] > 0.8
    assert figures["AUROC"]["has an answer"] > 0.8
    assert figures["all questions, answered"] == 1
    assert figures["AUROC, right answers"] > figures["AUROC"]["confidence"]
    assert figures["another table, refused"] == pytest.approx(0.75, abs=0.1)
    both = benchmark.mean(figures, benchmark.measure(scored(1), scored(0))[0])
    assert both["questions"] == 4000
    assert both["AUROC"].keys() == figures["AUROC"].keys()
    assert both["right"] == pytest.approx((scored(0).right.mean() + scored(1).right.mean()) / 2)
    path = tmp_path / "plot.png"
    benchmark.plot(figures, curves, "title", path)
    assert path.read_bytes().startswith(b"\x89PNG")
    benchmark.show(figures)
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("calibration error, probability  ") for line in lines)
    answered = f"{100 * figures['own table, answered']:.1f} %"
    assert any(line.split() == ["own", "table,", "answered", *answered.split()] for line in lines)
