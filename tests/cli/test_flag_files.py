"""--flagfile: lines in place of the flag; what cannot be read is refused at once."""

import os

import pytest

from mate_tf.cli import main
from mate_tf.cli.flag_files import expand
from mate_tf.errors import InputError


def test_lines_in_place_of_the_flag(tmp_path):
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text("\ufeff\n  --port=1\n# no\n// no\n\n--host=é\n", encoding="utf-8")
    outer.write_text(f"--a\n-flagfile={inner}\n--b\n")
    flags = ["--port=1", "--host=é"]
    assert expand(["x", f"--flagfile={outer}", "y"]) == ["x", "--a", *flags, "--b", "y"]
    assert expand(["--flagfile", str(inner), "y"]) == [*flags, "y"]
    assert expand(["--flagfile=", "--", f"--flagfile={inner}"]) == ["--", f"--flagfile={inner}"]
    given = main.parse(["mate-tf", "ask", f"--flagfile={inner}", "--port=2"])
    assert (given.mode, given.host, given.port) == ("ask", "é", 2)


def test_flags_of_the_reference_may_be_in_a_file(tmp_path):
    (tmp_path / "flags").write_text("--restrict_attention_mode=full\n")
    assert main.parse(["mate-tf", f"--flagfile={tmp_path / 'flags'}"]).attention == "full"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"--host=\xff", r"not valid UTF-8"),
        (b"--flagfile=NAME", "includes itself"),
        (b"#" * 2_000_000, "is larger than 1,048,576 bytes"),
        (None, "cannot be read: not a regular file, but a pipe"),
        (b"--flagfile=NAME.absent", "cannot be read: No such file"),
        (b"--flagfile=a\0b", "cannot be read: embedded null byte"),
        (b"--flagfile", "needs a file name"),
    ],
)
def test_what_is_refused(tmp_path, content, message):
    path = tmp_path / "flags"
    if content is None:
        os.mkfifo(path)
    else:
        path.write_bytes(content.replace(b"NAME", os.fsencode(path)))
    with pytest.raises(InputError, match=f"^--flagfile.*{message}"):
        main.parse(["mate-tf", f"--flagfile={path}"])
