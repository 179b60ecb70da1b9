"""The last checkpoint of a training; the file `checkpoint` is there, lost or damaged."""

import pytest
import tensorflow as tf

from mate_tf.checkpoints.latest import latest, repair
from mate_tf.errors import InputError

STATES = {"lost": None, "empty": b"", "garbage": b"\x00\xff\x93NUMPY", "foreign": b"{}\n"}


@pytest.fixture
def folder(tmp_path):
    """Checkpoints of steps 5, 10 and 20."""
    variable = tf.Variable(tf.range(1000.0))
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(x=variable), str(tmp_path), 3)
    for step in (5, 10, 20):
        variable.assign_add(tf.ones(1000))
        manager.save(checkpoint_number=step)
    return tmp_path


def damage(folder, step, ending="data-00000-of-00001"):
    path = folder / f"ckpt-{step}.{ending}"
    path.write_bytes(path.read_bytes()[:40])


def step_of(folder):
    path = latest(str(folder))
    return path and int(path.rpartition("-")[2])


def named(folder):
    """The step that TensorFlow itself would take."""
    return tf.train.latest_checkpoint(str(folder)).rpartition("-")[2]


def listed(folder):
    """The steps of the checkpoints that TensorFlow knows, and deletes when they are too many."""
    paths = tf.train.get_checkpoint_state(str(folder)).all_model_checkpoint_paths
    return [path.rpartition("-")[2] for path in paths]


def test_all_is_well(folder, caplog):
    before = (folder / "checkpoint").read_bytes()
    repair(str(folder))
    assert step_of(folder) == 20
    assert (folder / "checkpoint").read_bytes() == before
    assert not caplog.records


def test_nothing_is_called_damaged_that_a_pattern_did_not_find(folder):
    odd = folder.rename(folder.with_name("lr=[1e-4]"))
    with pytest.raises(InputError, match=r"lr=\[1e-4\]: TensorFlow reads .* as a pattern"):
        repair(str(odd))


def test_none(tmp_path):
    repair(str(tmp_path))
    assert latest(str(tmp_path)) is None
    assert latest(str(tmp_path / "absent")) is None
    repair(str(tmp_path / "absent"))


@pytest.mark.parametrize("state", STATES)
def test_without_its_name(folder, caplog, state):
    """Steps are compared as numbers."""
    if STATES[state] is None:
        (folder / "checkpoint").unlink()
    else:
        (folder / "checkpoint").write_bytes(STATES[state])
    assert step_of(folder) == 20
    assert "checkpoint names a checkpoint that does not exist; using ckpt-20" in caplog.text
    repair(str(folder))
    assert named(folder) == "20"
    assert listed(folder) == ["5", "10", "20"]


def test_an_earlier_one_is_named(folder):
    """A run that was killed while it saved step 20."""
    tf.compat.v1.train.update_checkpoint_state(str(folder), "ckpt-10", ["ckpt-5", "ckpt-10"])
    repair(str(folder))
    assert named(folder) == "10"


def test_later_ones_than_the_named_one_are_never_used(folder):
    """They are of another training, or were not finished: a damaged one gives way to earlier."""
    tf.compat.v1.train.update_checkpoint_state(str(folder), "ckpt-10", ["ckpt-5", "ckpt-10"])
    damage(folder, 10)
    repair(str(folder))
    assert named(folder) == "5"


@pytest.mark.parametrize("ending", ["index", "data-00000-of-00001"])
@pytest.mark.parametrize("state", ["lost", "there"])
def test_damaged_ones_are_passed_over(folder, caplog, ending, state):
    damage(folder, 20, ending)
    damage(folder, 10, ending)
    if state == "lost":
        (folder / "checkpoint").unlink()
    repair(str(folder))
    assert named(folder) == "5"
    assert listed(folder) == ["5"]
    assert "ckpt-20: is damaged and is not used" in caplog.text
    assert "continuing from ckpt-5" in caplog.text


def test_changed_bytes(folder):
    """The checksum tells."""
    path = folder / "ckpt-20.data-00000-of-00001"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(bytes(content))
    repair(str(folder))
    assert named(folder) == "10"


def test_all_are_damaged(folder):
    for step in (5, 10, 20):
        damage(folder, step)
    with pytest.raises(InputError, match=r"cannot be read \(ckpt-5, ckpt-10, ckpt-20\)"):
        repair(str(folder))


@pytest.mark.parametrize("name", ["ckpt-3", 'a "b"/ckpt-3', "ü/北-[1]*", "a\\b-1"])
@pytest.mark.parametrize("absolute", [False, True])
def test_the_name_is_read_as_tensorflow_reads_it(tmp_path, name, absolute):
    prefix = tmp_path / name
    prefix.parent.mkdir(exist_ok=True)
    path = str(prefix) if absolute else name
    tf.compat.v1.train.update_checkpoint_state(str(tmp_path), path, ["ckpt-1", path])
    assert latest(str(tmp_path)) is None
    prefix.with_name(prefix.name + ".index").touch()
    prefix.with_name(prefix.name + "0.index").touch()
    assert latest(str(tmp_path)) == str(prefix)
    if not {"*", "\\"} & set(name):  # TensorFlow takes these for patterns
        assert latest(str(tmp_path)) == tf.train.latest_checkpoint(str(tmp_path))
