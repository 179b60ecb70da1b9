"""The analyses of a model and their file."""

import json
import types

import pytest

from mate_tf.analysis.attention import report
from mate_tf.errors import InputError


@pytest.fixture
def analyses(monkeypatch, tmp_path):
    """analyses(found): all analyses are those of this dict; a job is its folder."""

    class TrainedModel:
        checkpoint = "ckpt-7"
        configs = (types.SimpleNamespace(name="full"),) * 2

        def __init__(self, job):
            self.job = job

        def path(self, name):
            return str(tmp_path / self.job / name)

    def make(**found):
        monkeypatch.setattr(report, "TrainedModel", TrainedModel)
        monkeypatch.setattr(
            report,
            "ANALYSES",
            {name: (lambda trained, what=what: what(trained.job)) for name, what in found.items()},
        )

    return make


def test_what_is_found_is_written_for_each_job(analyses, tmp_path, capsys):
    analyses(masks=lambda job: {"sparsity": 0.5}, flow=lambda job: {"x": 1} if job == "b" else {})
    found = report.analyze("a", "b")
    assert found == [{"masks": {"sparsity": 0.5}}, {"masks": {"sparsity": 0.5}, "flow": {"x": 1}}]
    for job, written in zip("ab", found, strict=True):
        assert json.loads((tmp_path / job / "analysis.json").read_text()) == written
    assert capsys.readouterr().out.count("analyzed | ") == 2


def test_jobs_with_nothing(analyses, tmp_path):
    analyses(masks=lambda job: {})
    with pytest.raises(InputError, match="ckpt-7: nothing to analyze: with attention full, every"):
        report.analyze("a", "b")
    analyses(masks=lambda job: {"x": 1} if job == "b" else {})
    assert report.analyze("a", "b") == [{}, {"masks": {"x": 1}}]
    assert not (tmp_path / "a").exists()
