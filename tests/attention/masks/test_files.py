"""Files of masks."""

import numpy as np
import pytest

from mate_tf.attention import mask_files
from mate_tf.errors import InputError


def test_files_of_masks(tmp_path):
    mask = np.random.default_rng(1).random([3, 13, 13]) < 0.3
    path = tmp_path / "new" / "mask.npz"
    mask_files.save(path, mask, {"seed": 1})
    np.testing.assert_array_equal(mask_files.load(path), mask)
    assert mask_files.made_by(path) == {"seed": 1}
    assert [file.name for file in path.parent.iterdir()] == ["mask.npz"]
    with pytest.raises(InputError, match="3 heads, but the layers have 4"):
        mask_files.load(path, num_heads=4)
    with pytest.raises(InputError, match=r"a mask is <bool>\[heads, n, n\]"):
        mask_files.save(path, mask.astype(float))
    with pytest.raises(InputError, match="no mask has this name"):
        mask_files.load(tmp_path / "none.npz")
    content = path.read_bytes()
    for broken in (b"", b"text", content[: len(content) // 2]):
        path.write_bytes(broken)
        with pytest.raises(InputError, match="not the file of a mask"):
            mask_files.load(path)
    np.savez(path, other=mask)
    with pytest.raises(InputError, match="not the file of a mask"):
        mask_files.load(path)
