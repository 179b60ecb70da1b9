"""The pages in results/: short lines, links that lead somewhere, commands that exist."""

import pathlib
import re
import shlex

import pytest

from mate_tf.cli import flags as definitions

PROJECT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = PROJECT / "results"
PROGRAM = PROJECT / "run_task_main.py"
"""Also installed as `mate-tf`."""

PAGES = sorted(FOLDER.glob("*.md"))
MAX_LINE, MAX_TABLE_LINE = 140, 120

FORBIDDEN = re.compile(r"\bissues? |\bsessions?\b|\bnot kept\b|\b20\d\d-\d\d-\d\d\b", re.IGNORECASE)
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
FOLDERS = r"benchmarks|colab|configs|docs|mate_tf|protos|results|tests|\.ci"
FILE = re.compile(
    rf"(?<![\w/.-])(?:(?:{FOLDERS})/[\w./-]*\w|run_task_main\.py|requirements-\w+\.txt)"
)
LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[\w-]+\]: (\S+)$", re.MULTILINE)
REFERENCE = re.compile(r"\]\[([\w-]+)\]")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FLAG = re.compile(r"--[a-z]\w*")

every_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)


def prose(text: str) -> str:
    """Text of a page without its fenced blocks."""
    return BLOCK.sub("", text)


def links(path: pathlib.Path) -> list[str]:
    """Targets of the links of a page."""
    return [a or b for a, b in LINK.findall(prose(path.read_text(encoding="utf-8")))]


def anchors(path: pathlib.Path) -> set[str]:
    """Anchors that a site generator makes of the headings of a page."""
    headings = HEADING.findall(prose(path.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\s-]", "", found).strip().lower().replace(" ", "-") for found in headings}


def commands(path: pathlib.Path) -> list[str]:
    """Fenced blocks by line, continued lines joined, and code in backticks."""
    text = path.read_text(encoding="utf-8")
    lines = "\n".join(BLOCK.findall(text)).replace("\\\n", " ").splitlines()
    return lines + SPAN.findall(prose(text))


def flags(script: pathlib.Path) -> set[str]:
    """Flags that a script defines, read from its source."""
    if script == PROGRAM:
        defined = definitions.FLAGS.flags_by_module_dict()[definitions.__name__]
        return {f"--{no}{flag.name}" for flag in defined for no in ("", "no")}
    sources = [script, *script.parent.glob("common.py")]  # what benchmarks share
    return {name for path in sources for name in re.findall(r'"(--\w+)"', path.read_text("utf-8"))}


def test_pages_are_linked_from_the_index():
    assert {path.name for path in PAGES} - {"index.md"} <= set(links(FOLDER / "index.md"))
    assert len(PAGES) > 5


@every_page
def test_lines_are_short(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    limits = [MAX_TABLE_LINE if line.startswith("|") else MAX_LINE for line in lines]
    assert [line for line, limit in zip(lines, limits, strict=True) if len(line) > limit] == []


@every_page
def test_words(path):
    text = path.read_text(encoding="utf-8")
    assert [found.group() for found in FORBIDDEN.finditer(text)] == []


@every_page
def test_links(path):
    text = prose(path.read_text(encoding="utf-8"))
    defined = set(re.findall(r"^\[([\w-]+)\]: ", text, re.MULTILINE))
    assert set(REFERENCE.findall(text)) == defined
    for link in links(path):
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), link


@every_page
def test_commands_name_existing_files(path):
    names = {name for command in commands(path) for name in FILE.findall(command)}
    assert [name for name in sorted(names) if not (PROJECT / name).exists()] == []


@every_page
def test_commands_have_the_flags_of_their_scripts(path):
    unknown = []
    for command in commands(path):
        is_one = "--" in command and (".py" in command or "mate-tf" in command)
        words = shlex.split(command) if is_one else []
        scripts = [PROJECT / word for word in words if word.endswith(".py") and "/" in word]
        scripts += [PROGRAM for word in words if word in ("mate-tf", "run_task_main.py")]
        for script in scripts:
            given = {found.group() for word in words if (found := FLAG.match(word))}
            unknown += [f"{script.name} {flag}" for flag in given - flags(script)]
    assert unknown == []


def test_tables_of_all_pages_are_well_formed():
    """Each row of a table has the columns of its header."""
    for path in PAGES:
        columns = 0
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("|"):
                columns = 0
                continue
            columns = columns or line.count("|")
            assert line.count("|") == columns, f"{path.name}: {line}"
