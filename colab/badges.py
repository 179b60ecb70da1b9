"""Writes "Open in Colab" badges into the notebooks, once the project is published on GitHub.

    python colab/badges.py OWNER/NAME [BRANCH]

It replaces the badges that are there. Colab opens only what GitHub has.
"""

import json
import pathlib
import sys

BADGE = "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
FOLDER = pathlib.Path(__file__).parent


def write_badge(path: pathlib.Path, repository: str, branch: str) -> None:
    """Writes the badge as the first line of a notebook's first cell."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    lines = notebook["cells"][0]["source"]
    if lines[0].startswith(BADGE):
        lines = lines[2:]
    url = f"https://colab.research.google.com/github/{repository}/blob/{branch}/colab/{path.name}"
    notebook["cells"][0]["source"] = [f"{BADGE}({url})\n", "\n", *lines]
    text = json.dumps(notebook, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Writes all badges. Ends with the usage for other arguments than OWNER/NAME [BRANCH]."""
    if not 1 <= len(arguments) <= 2 or arguments[0].count("/") != 1:
        sys.exit(__doc__)
    branch = arguments[1] if arguments[1:] else "main"
    for path in sorted(FOLDER.glob("*.ipynb")):
        write_badge(path, arguments[0], branch)


if __name__ == "__main__":
    main(sys.argv[1:])
