"""A replaced folder has its old contents or its new ones, wherever the process is killed."""

import os
import pathlib
import shutil
import threading

import pytest

from mate_tf.errors import InputError
from mate_tf.files import folder

OLD = {"a": "old", "only_old": "old", "deep/b": "old"}
NEW = {"a": "new", "only_new": "new", "deep/b": "new", "deep/c": "new"}
STEPS = ((os, "rename"), (os, "mkdir"), (os, "rmdir"), (os, "remove"), (shutil, "rmtree"))
LAST_STEP = 18


class Killed(BaseException):
    pass


def write(path, contents):
    for name, text in contents.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)


def read(path):
    path = pathlib.Path(path)
    found = [each for each in path.rglob("*") if each.is_file()]
    return {str(each.relative_to(path)): each.read_text() for each in found}


def read_unlocked(path):
    return {name: text for name, text in read(path).items() if not name.endswith(".lock")}


def replace(path):
    with folder.replaced(str(path)) as new:
        write(pathlib.Path(new), NEW)


@pytest.fixture(params=["beside", "current", "within", "mount", "link"])
def place(request, tmp_path, monkeypatch):
    """A folder with old contents, as it may be found."""
    path = tmp_path / "models" / "export"
    write(path, OLD)
    if request.param == "current":
        monkeypatch.chdir(path)
        return pathlib.Path()
    if request.param == "within":
        monkeypatch.chdir(path / "deep")
    if request.param == "mount":
        monkeypatch.setattr(os.path, "ismount", lambda each: each == str(path))
    if request.param == "link":
        link = tmp_path / "link"
        link.symlink_to(path)
        return link
    return path


def rest(tmp_path):
    """What stands beside the folder."""
    return sorted(each.name for each in (tmp_path / "models").iterdir())


def test_replaced(place, tmp_path):
    if pathlib.Path.cwd().name == "deep":
        # The folder that the process is in goes with the old contents.
        os.chdir(tmp_path)
    replace(place)
    assert read(place) == NEW
    assert rest(tmp_path) == ["export"]
    assert not (tmp_path / "link").exists() or (tmp_path / "link").is_symlink()


def test_a_new_one(tmp_path):
    replace(tmp_path / "models" / "export")
    assert read(tmp_path / "models" / "export") == NEW
    assert rest(tmp_path) == ["export"]


def test_failure_in_the_block(place, tmp_path):
    def fail():
        with folder.replaced(str(place)) as new:
            write(pathlib.Path(new), {"a": "half"})
            raise Killed

    with pytest.raises(Killed):
        fail()
    assert read(place) == OLD
    assert rest(tmp_path) == ["export"]


def failing_at(monkeypatch, number, error, for_ever):
    """Step `number` fails; a killed process takes none of the steps after it either."""
    done = []

    def failing(function):
        def call(*arguments, **options):
            done.append(function)
            if len(done) == number or (for_ever and len(done) > number):
                raise error
            return function(*arguments, **options)

        return call

    for module, name in STEPS:
        monkeypatch.setattr(module, name, failing(getattr(module, name)))
    return done


def test_one_at_a_time(place, tmp_path):
    """The second is refused, and what the first writes stays."""
    seconds = []

    def second():
        try:
            replace(place)
        except InputError as error:
            seconds.append(str(error))

    with folder.replaced(str(place)) as new:
        write(pathlib.Path(new), {"a": "first"})
        other = threading.Thread(target=second)
        other.start()
        other.join()
    path = os.path.realpath(place)
    assert [each.partition(":")[0] for each in seconds] == [path]
    assert "an export, process" in seconds[0]
    assert read(place) == {"a": "first"}
    assert rest(tmp_path) == ["export"]


@pytest.mark.parametrize("number", range(1, LAST_STEP + 1))
def test_killed_at_each_step(place, number, tmp_path):
    """The next call finds old or new contents, whole, and replaces them."""
    with pytest.MonkeyPatch.context() as patch:
        done = failing_at(patch, number, Killed(), for_ever=True)
        try:
            replace(place)
        except Killed:
            assert len(done) >= number
    folder.recover(str(place))
    assert read(place) in (OLD, NEW)
    assert rest(tmp_path) == ["export"]
    os.chdir(tmp_path)
    replace(tmp_path / "models" / "export")
    assert read(tmp_path / "models" / "export") == NEW
    assert rest(tmp_path) == ["export"]


@pytest.mark.parametrize("number", range(1, LAST_STEP + 1))
def test_put_back_if_a_step_fails(place, number, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        failing_at(patch, number, OSError("no space"), for_ever=False)
        try:
            replace(place)
        except OSError:
            assert read_unlocked(place) in (OLD, NEW)
        else:
            # If its locked file could not be removed, the next one does so.
            assert read_unlocked(place) == NEW
    folder.recover(str(place))
    assert rest(tmp_path) == ["export"]


def test_steps_are_counted(place, monkeypatch):
    """Enough of them are tried above."""
    done = failing_at(monkeypatch, 1000, Killed(), for_ever=True)
    replace(place)
    assert 2 < len(done) <= LAST_STEP
