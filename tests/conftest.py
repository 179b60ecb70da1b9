"""Fixtures for data that lives outside the project (never committed to it)."""

import os
import pathlib
import subprocess

import pytest

PROJECT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


@pytest.fixture(scope="session")
def project() -> pathlib.Path:
    """The checkout the tests run from."""
    return PROJECT


@pytest.fixture(scope="session")
def shared() -> pathlib.Path:
    """Real data and goldens; skips where they are absent, fails where they must not be."""
    path = pathlib.Path(os.environ.get("MATE_TF_SHARED", PROJECT.parent / "shared"))
    if not path.is_dir():
        if os.environ.get("MATE_TF_REQUIRE_SHARED") == "1":
            pytest.fail(f"MATE_TF_REQUIRE_SHARED=1 but {path} is not there")
        pytest.skip(f"needs the data and goldens in {path} (set MATE_TF_SHARED)")
    return path


@pytest.fixture(scope="session")
def goldens(shared) -> pathlib.Path:
    """Recorded inputs and outputs of the reference."""
    return shared / "goldens"


@pytest.fixture(scope="session")
def sqa_dir(shared, tmp_path_factory) -> pathlib.Path:
    """The official SQA files, unpacked once per session."""
    target = tmp_path_factory.mktemp("official")
    subprocess.run([shared / "data" / "unpack", "sqa", "--to", target], check=True)
    return target / "sqa"


@pytest.fixture(scope="session")
def tabfact_dir(shared, tmp_path_factory) -> pathlib.Path:
    """The official TabFact files, unpacked once per session."""
    target = tmp_path_factory.mktemp("official")
    subprocess.run([shared / "data" / "unpack", "tabfact", "--to", target], check=True)
    return target / "tabfact"


@pytest.fixture(scope="session")
def wikitq_dir(shared, tmp_path_factory) -> pathlib.Path:
    """The official WikiTableQuestions files, unpacked once per session."""
    target = tmp_path_factory.mktemp("official")
    subprocess.run([shared / "data" / "unpack", "wikitq", "--to", target], check=True)
    return target / "wikitq"


@pytest.fixture(scope="session")
def bert_vocab(shared, tmp_path_factory) -> pathlib.Path:
    """The real BERT uncased vocabulary (30,522 pieces)."""
    target = tmp_path_factory.mktemp("vocabulary")
    subprocess.run([shared / "data" / "unpack", "glue-squad-vocab-lra", "--to", target], check=True)
    return next(target.rglob("*vocab*.txt"))
