"""What README.md and docs/ say that a model prints is what it prints.

Needs the model that the README's first command leaves in out/quickstart; `mini` is in models/.
"""

import contextlib
import doctest
import io
import re
import shlex
import subprocess

import pytest

from mate_tf.cli import main

from . import pages

MODEL = "out/quickstart/model/export"
ANSWERS = ("Osaka", "no answer found", "Julia Schmidt", "AVERAGE")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_LINES = r"((?:(?!```).*\n)+)"
_SHOWN = re.compile(
    rf"^```(sh|python)\n{_LINES}```\n\n(?:(?!```|#).+\n)+\n```text\n{_LINES}```$", re.MULTILINE
)


def shown(page) -> list[tuple[str, str, str]]:
    """Returns language, code and output of the blocks that ask a model, with an output below."""
    found = _SHOWN.finditer(page.read_text(encoding="utf-8"))
    return [match.groups() for match in found if MODEL in match[2] or asks_mini(match[2])]


def asks_mini(code: str) -> bool:
    """Returns whether the code asks without naming a model."""
    named = "_dir" in code or "--model" in code
    return "from_preset()" in code or (code.startswith("mate-tf ask ") and not named)


CASES = [(page, *case) for page in pages.PAGES for case in shown(page)]


pytestmark = pytest.mark.usefixtures("quickstart_model", "loaded_once")


def printed(language: str, code: str) -> str:
    """Runs Python code, or shell commands (mate-tf's within this process); returns stdout."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        if language == "python":
            exec(compile(code, "<page>", "exec"), {})
            return output.getvalue()
        for words in pages.parse(code):
            if words[0] == "mate-tf" or "run_task_main.py" in words[:2]:
                start = 2 if words[0].startswith("python") else 1
                main.run(["mate-tf", *words[start:]])  # exits with a code if it fails
            else:
                result = subprocess.run(words, capture_output=True, text=True)
                assert result.returncode == 0, shlex.join(words) + result.stderr[-2000:]
                print(result.stdout)
    return output.getvalue()


@pytest.mark.parametrize(
    ("page", "language", "code", "output"),
    CASES,
    ids=[f"{pages.name(case[0])} {index}" for index, case in enumerate(CASES)],
)
def test_output_is_as_shown(page, language, code, output, monkeypatch):
    monkeypatch.chdir(pages.PROJECT)
    found = printed(language, code)
    # Only the answers are shown of a long output: "..." stands for the rest.
    assert doctest.OutputChecker().check_output(output, found, FLAGS), f"{output}\n!=\n{found}"


def test_what_is_compared():
    """README.md and the pages about asking show outputs, and a changed answer is noticed."""
    of_pages = [pages.name(page) for page, *_ in CASES]
    assert of_pages.count("README.md") >= 3
    assert sum(asks_mini(code) for _, _, code, _ in CASES) >= 2
    assert {"docs/getting-started.md", "docs/serving.md"} <= set(of_pages)
    for _, _, _, output in CASES:
        [answer, *_] = [each for each in ANSWERS if each in output]
        wrong = output.replace(answer, "Oslo")
        assert not doctest.OutputChecker().check_output(output, wrong, FLAGS)
