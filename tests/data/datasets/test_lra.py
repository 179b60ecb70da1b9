"""Long Range Arena's official formats, in files made here; sentences of SST-2 are the real text."""

import pickle

import numpy as np
import pytest

from mate_tf.data.converters import sequences
from mate_tf.data.datasets import glue, lra
from mate_tf.errors import InputError


def questions(interactions):
    return [question for interaction in interactions for question in interaction.questions]


@pytest.fixture
def sst2(unpacked):
    folder = next(unpacked("glue-squad-vocab-lra").rglob("glue-small"))
    return [
        (sequences.texts(question)[0], question.answer.class_index)
        for question in questions(glue.read(folder, "dev", glue.SST_2))
    ]


def test_reviews(sst2, tmp_path):
    """Real sentences in the layout of aclImdb."""
    written = {}
    for index, (text, label) in enumerate(sst2[:40]):
        split = "train" if index < 30 else "test"
        name = f"{index}_{label * 9 + 1}"
        path = tmp_path / split / ("neg", "pos")[label] / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.setdefault(split, {})[name] = text, label
    (tmp_path / "train" / "unsup").mkdir()
    (tmp_path / "train" / "unsup" / "0_0.txt").write_text("no opinion")
    found = {}
    for split in ("train", "dev", "test"):
        for question in questions(lra.read_reviews(tmp_path, split)):
            name = question.id.removesuffix("-0_0").split("_", 3)[3]
            found.setdefault(split, {})[name] = (
                sequences.texts(question)[0],
                question.answer.class_index,
            )
    # As in Long Range Arena there is no set for development but the test set.
    assert found == {**written, "dev": written["test"]}


def test_reviews_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"train/neg: has no reviews"):
        list(lra.read_reviews(tmp_path, "train"))
    with pytest.raises(InputError, match="IMDb has no split 'unsup', only train, dev, test"):
        list(lra.read_reviews(tmp_path, "unsup"))
    (tmp_path / "test" / "neg").mkdir(parents=True)
    path = tmp_path / "test" / "neg" / "0_1.txt"
    path.write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"0_1\.txt: not valid UTF-8: byte 3 \(line 1\)"):
        list(lra.read_reviews(tmp_path, "test"))


def test_citations(tmp_path):
    lines = ['1.0\tP1\tP2\tb"A paper ."\tAnother "one', "0\tP3\tP4\tx\ty"]
    for name in ("train", "eval", "test"):
        path = tmp_path / f"new_aan_pairs.{name}.tsv"
        path.write_text("\n".join(lines) + f"\n1\tP5\tP6\tin\t{name}\n")
    for split, name in (("train", "train"), ("dev", "eval"), ("test", "test")):
        found = questions(lra.read_citations(tmp_path, split))
        assert [sequences.texts(each) for each in found] == [
            ['b"A paper ."', 'Another "one'],
            ["x", "y"],
            ["in", name],
        ]
        assert [each.answer.class_index for each in found] == [1, 0, 1]
        assert found[2].id == f"aan_{split}_2-0_0"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2\ta\tb\tc\td", "line 2: label is '2', expected 0 or 1"),
        ("1\ta\tb\tc", r"line 2: has 4 cells separated by tabs, expected 5 \(label, id1"),
    ],
)
def test_malformed_citations(tmp_path, line, message):
    (tmp_path / "new_aan_pairs.eval.tsv").write_text(f"1\ta\tb\tc\td\n{line}\n")
    with pytest.raises(InputError, match=rf"new_aan_pairs\.eval\.tsv {message}"):
        list(lra.read_citations(tmp_path, "dev"))
    with pytest.raises(InputError, match=r"new_aan_pairs\.test\.tsv: no such file"):
        list(lra.read_citations(tmp_path, "test"))


@pytest.fixture
def cifar(tmp_path):
    """31 images a batch, in the format of the Python version."""
    generator = np.random.default_rng(0)
    images = {}
    for index, name in enumerate([*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]):
        data = generator.integers(0, 256, [31, 3072], np.uint8)
        labels = [(index + i) % 10 for i in range(31)]
        content = {b"batch_label": b"x", b"labels": labels, b"data": data, b"filenames": []}
        (tmp_path / name).write_bytes(pickle.dumps(content, protocol=2))
        images[name] = data, labels
    return tmp_path, images


def test_images(cifar):
    folder, images = cifar
    sizes = {}
    for split in ("train", "dev", "test"):
        found = questions(lra.read_images(folder, split))
        sizes[split] = len(found)
        data, labels = images["test_batch" if split == "test" else "data_batch_1"]
        if split == "dev":
            data, labels = (part[-16:] for part in images["data_batch_5"])
        for question, colors, label in zip(found, data, labels, strict=False):
            assert question.answer.class_index == label
            grey = [int(value) for value in sequences.texts(question)[0].split()]
            red, green, blue = colors.reshape(3, 1024).astype(float)
            # The weights of ITU-R BT.601.
            expected = 0.299 * red + 0.587 * green + 0.114 * blue
            assert len(grey) == 1024
            np.testing.assert_allclose(grey, expected, atol=1.0)
    assert sizes == {"train": 139, "dev": 16, "test": 31}  # a tenth of 155, rounded


class _Harmful:
    def __reduce__(self):
        return (print, ("this would run",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no pickle", "is not a batch of CIFAR-10 for Python"),
        (pickle.dumps(_Harmful()), "builtins.print is not part of a CIFAR-10 batch"),
        (pickle.dumps({b"data": 3}), "is not a batch of CIFAR-10"),
        (
            pickle.dumps({b"data": np.zeros([2, 3072], np.uint8), b"labels": [1]}),
            r"has uint8\[2, 3072\] for 1 labels, expected uint8\[1, 3072\]",
        ),
        (
            pickle.dumps({b"data": np.zeros([1, 3072], np.uint8), b"labels": [10]}),
            "its labels are not from 0 to 9",
        ),
    ],
)
def test_malformed_images(cifar, capsys, content, message):
    folder, _ = cifar
    (folder / "test_batch").write_bytes(content)
    with pytest.raises(InputError, match=rf"test_batch: .*{message}"):
        list(lra.read_images(folder, "test"))
    assert "would run" not in capsys.readouterr().out


def test_images_that_are_not_there(cifar):
    folder, _ = cifar
    (folder / "data_batch_3").unlink()
    with pytest.raises(InputError, match="data_batch_3: no such file"):
        list(lra.read_images(folder, "train"))
    with pytest.raises(InputError, match="CIFAR-10 has no split 'val', only train, dev, test"):
        list(lra.read_images(folder, "val"))
