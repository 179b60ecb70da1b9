"""Makes the modules in docs/hooks importable, as mkdocs does."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs" / "hooks"))
