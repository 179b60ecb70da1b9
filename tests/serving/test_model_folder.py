"""What kind of model a folder holds, and models on the Hugging Face hub, without a network."""

import subprocess
import sys
from unittest import mock

import huggingface_hub
import pytest
from huggingface_hub import constants

from mate_tf.errors import InputError
from mate_tf.serving import hub, model_folder
from mate_tf.serving.model_folder import Kind

HUGGING_FACE = ("config.json", "model.safetensors", "vocab.txt")
REVISION = "0123456789abcdef0123456789abcdef01234567"
OTHER_REVISION = REVISION[::-1]


def fill(folder, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (HUGGING_FACE, Kind.HUGGING_FACE),
        (("config.json", "pytorch_model.bin", "tokenizer.json"), Kind.HUGGING_FACE),
        (("bert_config.json", "model.ckpt.index", "vocab.txt"), Kind.TAPAS),
        (("params.yaml", "ckpt-7.index"), Kind.TRAINED),
        (("saved_model.pb",), Kind.EXPORT),
        (("config.yaml", "model.safetensors", "vocab.txt"), Kind.PRESET),
        # params.yaml is of our own trainings, whatever else the folder has.
        (("params.yaml", "ckpt-7.index", "bert_config.json"), Kind.TRAINED),
    ],
)
def test_kinds(tmp_path, names, kind):
    found = model_folder.find(fill(tmp_path, *names))
    assert (found.kind, found.folder, found.checkpoint) == (kind, str(tmp_path), str(tmp_path))
    assert found.name == str(tmp_path)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), r"no trained model here; it has none of config.json \(a Hugging Face model\), "),
        (("config.json", "vocab.txt"), r"config.json is here, but no weights \(\*.safetensors or "),
        (("bert_config.json", "vocab.txt"), r"is here, but no weights \(\*.index\)"),
        (("params.yaml",), r"is here, but no weights \(\*.index\)"),
        (("config.yaml", "vocab.txt"), r"is here, but no weights \(\*.safetensors\)"),
        (("config.json", "model.safetensors"), "has neither vocab.txt nor tokenizer.json"),
        (("bert_config.json", "model.ckpt.index"), "has neither vocab.txt nor"),
    ],
)
def test_what_is_missing(tmp_path, names, message):
    with pytest.raises(InputError, match=f"^{tmp_path}: .*{message}"):
        model_folder.find(fill(tmp_path, *names))


def test_stages_of_pointr(tmp_path):
    fill(tmp_path, "pointr.json")
    with pytest.raises(InputError, match=r"holds both stages of POINTR; use mate_tf.PointrPredict"):
        model_folder.find(tmp_path)


def test_one_checkpoint_of_several(tmp_path):
    fill(tmp_path, "bert_config.json", "vocab.txt", "model.ckpt-1.index", "model.ckpt-2.index")
    found = model_folder.find(tmp_path / "model.ckpt-1")
    assert (found.folder, found.checkpoint) == (str(tmp_path), str(tmp_path / "model.ckpt-1"))


@pytest.mark.parametrize(
    ("name", "task", "resets"),
    [
        ("tapas_wtq_wikisql_sqa_inter_masklm_base_reset", "WTQ", True),
        ("tapas_sqa_inter_masklm_large", "SQA", False),
        ("tapas_wikisql_sqa_masklm_small_reset", "WIKISQL_SUPERVISED", True),
        ("tapas-base-finetuned-tabfact", "TABFACT", False),
        ("tapas_inter_masklm_base_reset", None, True),
        ("sqawtq", None, False),
    ],
)
def test_names(tmp_path, name, task, resets):
    folder = fill(tmp_path / name, *HUGGING_FACE, "model.ckpt.index")
    for path in (folder, f"{folder}/", folder / "model.ckpt"):
        found = model_folder.find(path)
        assert (found.title, found.task, found.resets_positions) == (name, task, resets)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("google/tapas-base-finetuned-wtq", True),
        ("microsoft/tapex.v1_2", True),
        ("google/tapas@no_reset", True),
        ("google/tapas@refs/pr/1", True),
        ("google/tapas@v1.0", True),
        ("google/tapas@", False),
        ("google/tapas@a@b", False),
        ("google/tapas@../..", False),
        ("google@main/tapas", False),
        ("absent/model.ckpt-12@main", False),
        ("here/tapas@main", False),
        ("google/tapas/wtq", False),
        ("/google/tapas", False),
        ("./tapas", False),
        ("~/tapas", False),
        ("google", False),
        ("google/", False),
        ("absent/model.ckpt", False),
        ("absent/model.ckpt-12", False),
        ("absent/pytorch_model.bin", False),
        ("here/tapas", False),
    ],
)
def test_names_on_the_hub(tmp_path, monkeypatch, text, expected):
    """A path that begins with a folder of this machine is a wrong path, not a name."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    assert hub.is_name(text) == expected
    if not expected:
        with pytest.raises(InputError, match="no such folder or checkpoint"):
            model_folder.find(text)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """cache(name, *files): a model as huggingface_hub keeps it, with a `commit` that the revision
    `of` names. Nothing is fetched."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)

    def keep(name, *files, commit=REVISION, of="main"):
        folder = tmp_path / f"models--{name.replace('/', '--')}"
        fill(folder / "refs")
        (folder / "refs" / of).write_text(commit)
        return fill(folder / "snapshots" / commit, *files)

    return keep


def test_from_the_cache_of_the_hub(cache):
    folder = cache("google/tapas-tiny-finetuned-wtq", *HUGGING_FACE)
    found = model_folder.find("google/tapas-tiny-finetuned-wtq")
    assert (found.kind, found.folder) == (Kind.HUGGING_FACE, str(folder))
    assert (found.name, found.task) == (f"google/tapas-tiny-finetuned-wtq@{REVISION}", "WTQ")


@pytest.mark.parametrize("named", ["no_reset", OTHER_REVISION])
def test_a_revision_from_the_hub(cache, named):
    """By a branch or the commit; the words of a revision say nothing about the model."""
    cache("google/tapas-tiny-wtq", *HUGGING_FACE)
    folder = cache("google/tapas-tiny-wtq", *HUGGING_FACE, commit=OTHER_REVISION, of="no_reset")
    found = model_folder.find(f"google/tapas-tiny-wtq@{named}")
    assert (found.folder, found.title) == (str(folder), "tapas-tiny-wtq")
    assert found.name == f"google/tapas-tiny-wtq@{OTHER_REVISION}"
    assert (found.task, found.resets_positions) == ("WTQ", False)
    assert model_folder.find(found.name) == found


def test_a_revision_that_is_not_in_the_cache(cache):
    cache("google/tapas-tiny-wtq", *HUGGING_FACE)
    with pytest.raises(InputError, match=r"tapas-tiny-wtq@v2: .* the model is not in the cache"):
        model_folder.find("google/tapas-tiny-wtq@v2")


def test_no_weights_on_the_hub(cache):
    cache("google/tapas-tiny", "config.json", "vocab.txt", "tf_model.h5")
    with pytest.raises(InputError, match=r"tapas-tiny: this model has no weights as .safetensors"):
        model_folder.find("google/tapas-tiny")


def test_not_fetched(cache):
    del cache
    with pytest.raises(InputError) as raised:
        model_folder.find("nobody/none")
    assert str(raised.value) == (
        "nobody/none: no such folder, and not fetched from the Hugging Face hub: it cannot be "
        "reached, and the model is not in the cache"
    )


def test_only_one_kind_of_weights_is_fetched(tmp_path, monkeypatch):
    """PyTorch's files only for models without safetensors."""
    patterns = []

    def fetch(name, revision, allow_patterns):
        assert (name, revision) == ("nobody/none", None)
        patterns.append(allow_patterns)
        names = ("config.json", "vocab.txt")
        if "pytorch_model*.bin" in allow_patterns:
            names += ("pytorch_model.bin",)
        return str(fill(tmp_path, *names))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    assert model_folder.find("nobody/none").folder == str(tmp_path)
    first, second = patterns
    assert "model*.safetensors" in first
    assert not any(each.endswith(".bin") for each in first)
    assert "tf_model.h5" not in second


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("RepositoryNotFoundError", "there is no model of this name, or it needs a token"),
        ("RevisionNotFoundError", "the model has no such revision"),
    ],
)
def test_an_error_of_the_hub(monkeypatch, error, reason):
    def fail(*_, **__):
        text = "404 Client Error.\n\nNot Found"
        raise getattr(huggingface_hub.errors, error)(text, response=mock.MagicMock())

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    with pytest.raises(InputError, match=f"none@v2: .* Hugging Face hub: {reason}"):
        model_folder.find("nobody/none@v2")


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(hub.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"nobody/none: no such folder; .* 'mate-tf\[hub\]'"):
        model_folder.find("nobody/none")


def test_no_tensorflow_is_imported(project):
    code = "import sys, mate_tf.serving.model_folder; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=project).returncode == 0
