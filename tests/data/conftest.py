"""Small vocabularies."""

import pytest


@pytest.fixture(scope="session")
def vocabulary_file(tmp_path_factory):
    """vocabulary_file(pieces): a file with these, one a line."""

    def write(pieces):
        path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
        path.write_text("\n".join(pieces), encoding="utf-8")
        return path

    return write
