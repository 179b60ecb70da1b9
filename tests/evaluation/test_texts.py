"""Files of written texts."""

import json

import pytest

from mate_tf.errors import InputError
from mate_tf.evaluation import texts
from mate_tf.evaluation.predictions import Prediction


def test_written_and_read(tmp_path):
    path = tmp_path / "dev.jsonl"
    found = [Prediction(f"x{i}-0_0", (), texts=(f"né {i}",), score=-0.5 * i) for i in range(2)]
    texts.write(found, path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[1]) == {"question_id": "x1-0_0", "text": "né 1", "score": -0.5}
    assert "né" in lines[0]
    assert texts.read(path) == found


def test_a_broken_line(tmp_path):
    path = tmp_path / "dev.jsonl"
    path.write_text('{"question_id": "x", "text": "t", "score": 1}\n{"question_id": "x"}\n')
    with pytest.raises(InputError, match=r"dev\.jsonl line 2: has no 'text'"):
        texts.read(path)
