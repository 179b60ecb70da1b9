"""Files are read with and without TensorFlow's file systems."""

import pytest
import tensorflow as tf

from mate_tf.files import paths


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_reading(tmp_path, scheme):
    (tmp_path / "a.txt").write_bytes(b"a\r\n\xff")
    path = f"{scheme}{tmp_path}/a.txt"
    assert paths.is_remote(path) == bool(scheme)
    assert paths.read_bytes(path) == b"a\r\n\xff"
    for missing in ("absent.txt", ""):
        with pytest.raises(OSError, match=str(tmp_path)):
            paths.read_bytes(f"{scheme}{tmp_path}/{missing}")


def test_paths_of_this_file_system(tmp_path):
    assert not paths.is_remote(tmp_path)
    assert not paths.is_remote("a:/b")
    with pytest.raises(OSError, match="gone"), paths.as_os_error():
        raise tf.errors.NotFoundError(None, None, "gone")
