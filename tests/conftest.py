"""Fixtures for data that lives outside the project (never committed to it)."""

import os
import pathlib
import subprocess

import hypothesis
import pytest

# How long an example takes depends on who else computes.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")

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
def interpreter():
    """interpreter(name, what): the Python that MATE_TF_<name>_PYTHON says, of an environment with
    `what`; skips without it, or fails where it must be there."""

    def find(name, what):
        path = os.environ.get(f"MATE_TF_{name}_PYTHON")
        if not path:
            if os.environ.get(f"MATE_TF_REQUIRE_{name}") == "1":
                pytest.fail(f"MATE_TF_REQUIRE_{name}=1 but MATE_TF_{name}_PYTHON is not set")
            pytest.skip(f"needs MATE_TF_{name}_PYTHON, an interpreter with {what}")
        return path

    return find


@pytest.fixture(scope="session")
def goldens(shared) -> pathlib.Path:
    """Recorded inputs and outputs of the reference."""
    return shared / "goldens"


@pytest.fixture(scope="session")
def unpacked(shared, tmp_path_factory):
    """unpacked(name): folder with what the data's own `unpack` makes of an archive."""

    def unpack(name):
        target = tmp_path_factory.mktemp("official")
        subprocess.run([shared / "data" / "unpack", name, "--to", target], check=True)
        return target

    return unpack


@pytest.fixture(scope="session")
def sqa_dir(unpacked) -> pathlib.Path:
    """The official SQA files."""
    return unpacked("sqa") / "sqa"


@pytest.fixture(scope="session")
def tabfact_dir(unpacked) -> pathlib.Path:
    """The official TabFact files."""
    return unpacked("tabfact") / "tabfact"


@pytest.fixture(scope="session")
def wikitq_dir(unpacked) -> pathlib.Path:
    """The official WikiTableQuestions files."""
    return unpacked("wikitq") / "wikitq"


@pytest.fixture(scope="session")
def bert_vocab(unpacked) -> pathlib.Path:
    """The real BERT uncased vocabulary (30,522 pieces)."""
    return next(unpacked("glue-squad-vocab-lra").rglob("*vocab*.txt"))
