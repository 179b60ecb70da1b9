"""Weights that several presets have in common, in the file of one of them."""

import shutil

import numpy as np
import pytest

from mate_tf.checkpoints import channels, safetensors, shared
from mate_tf.errors import InputError
from mate_tf.serving import model_folder
from mate_tf.serving.engine import loading
from mate_tf.serving.predictor import Predictor

WORDS, OWN, BIAS = "bert/embeddings/words", "head/kernel", "bias"
FILE = "model.safetensors"


def weights(seed):
    """The same word embeddings, and other values for another seed."""
    own = np.random.default_rng(seed).normal(size=[4, 3]).astype(np.float32)
    words = np.random.default_rng(0).normal(size=[50, 4]).astype(np.float32)
    return {WORDS: words, OWN: own, BIAS: own[0]}


@pytest.fixture
def folder(tmp_path):
    """Folders one, two and both/two; those named two share weights with one."""
    for name, seed in (("one", 1), ("two", 2), ("both/two", 2)):
        (tmp_path / name).mkdir(parents=True)
        safetensors.write(str(tmp_path / name / FILE), channels.rounded(weights(seed)), None)
    return tmp_path


@pytest.mark.parametrize("name", ["two", "both/two"])
def test_what_both_have_is_in_one_file(folder, name):
    path = folder / name / FILE
    before, size = safetensors.read(str(path)), path.stat().st_size
    before = {name: tensor.read() for name, tensor in before.items()}
    safetensors.share(str(path), "one")
    assert size - path.stat().st_size > 50 * 4  # the table in 8 bits
    assert shared.metadata(path.read_bytes()) == {
        "format": "pt",
        "shares_with": "one",
        "shared": f"{WORDS} {WORDS}.scale",
    }
    for begin in ("", "file://"):
        again = safetensors.read(f"{begin}{path}")
        assert again.keys() == before.keys()
        for each, values in before.items():
            np.testing.assert_array_equal(again[each].read(), values)


@pytest.mark.parametrize("name", ["gone", "../one", "", "/etc"])
def test_a_file_that_is_not_there(folder, name):
    path = str(folder / "two" / FILE)
    safetensors.write(path, {BIAS: np.ones(3)}, metadata={shared.PRESET: name})
    with pytest.raises(InputError, match=rf"two/{FILE}: shares weights with the preset '{name}', "):
        safetensors.read(path)


def test_tensors_that_the_other_file_lacks(folder):
    path = str(folder / "two" / FILE)
    shares = {shared.PRESET: "one", shared.NAMES: "more"}
    safetensors.write(path, {BIAS: np.ones(3)}, metadata=shares)
    with pytest.raises(InputError, match=rf"one/{FILE}: lacks more, which .*two/{FILE} shares"):
        safetensors.read(path)


def test_a_preset_that_is_moved_and_saved(project, tmp_path):
    """Without its neighbour it says what is missing; what `save_preset` writes stands alone."""
    own = project / "models" / "mini-conversation"
    moved = tmp_path / "moved"
    shutil.copytree(own, moved)
    found = loading.find(model_folder.find(moved))
    with pytest.raises(InputError, match="shares weights with the preset 'mini', whose folder is"):
        found.weights()
    Predictor.from_pretrained(own).save_preset(tmp_path / "alone")
    expected = loading.find(model_folder.find(own)).weights()
    alone = loading.find(model_folder.find(tmp_path / "alone")).weights()
    assert alone.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(alone[name], values)
