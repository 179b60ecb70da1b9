"""pyproject.toml declares all that is imported, and resolves for each Python (by uv). The lock of
continuous integration is what it asks for."""

import ast
import importlib.metadata
import itertools
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement

import mate_tf

PYTHONS = ("3.11", "3.12", "3.13")

LOCK = "requirements-lock.txt"
LOCKED_EXTRAS = ("test", "serve", "mcp", "docs")

IN_ANOTHER_ENVIRONMENT = {"oauth2client"}
"""Imported by TPUEstimator's code alone, see requirements-estimator.txt."""


@pytest.fixture(scope="module")
def metadata(project):
    """The table `project` of pyproject.toml."""
    return tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_all_imports_are_declared(project, metadata):
    imported = set()
    for path in (project / "mate_tf").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module.partition(".")[0])
    imported -= {"mate_tf", *sys.stdlib_module_names, *IN_ANOTHER_ENVIRONMENT}
    providers = importlib.metadata.packages_distributions()
    # "google" is a namespace of many distributions; what we import from it is protobuf's.
    providers["google"] = ["protobuf"]
    declared = _declared(metadata)
    missing = {
        name
        for name in imported
        if not {_normalized(each) for each in providers.get(name, [name])} & declared
    }
    assert not missing


def _declared(project) -> set[str]:
    """Returns the names of all distributions that pyproject.toml requires, in any extra."""
    extras = project["optional-dependencies"].values()
    return {_name(each) for each in itertools.chain(project["dependencies"], *extras)}


def _name(requirement: str) -> str:
    return _normalized(re.match(r"[\w.-]*", requirement)[0])


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_one_version(project, metadata):
    """The version is written in the package; what else names it has the same."""
    assert metadata["dynamic"] == ["version"]
    citation = yaml.safe_load((project / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == mate_tf.__version__
    assert f"({mate_tf.__version__})" in (project / "CHANGELOG.md").read_text(encoding="utf-8")


def _locked(project) -> list[Requirement]:
    lines = (project / LOCK).read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith((" ", "#"))]


def test_the_lock_has_what_is_required(project, metadata):
    """Each requirement is locked, for Linux and each Python, at a version that it allows."""
    locked = _locked(project)
    wanted = [Requirement(each) for each in metadata["dependencies"]]
    for extra in LOCKED_EXTRAS:
        wanted += [Requirement(each) for each in metadata["optional-dependencies"][extra]]
    for python in PYTHONS:
        where = {"python_version": python, "python_full_version": f"{python}.9"}
        where |= {"sys_platform": "linux", "platform_machine": "x86_64"}
        there = {
            _normalized(each.name): str(each.specifier).removeprefix("==")
            for each in locked
            if not each.marker or each.marker.evaluate(where)
        }
        for each in wanted:
            if _normalized(each.name) != "mate-tf":
                version = there[_normalized(each.name)]
                assert each.specifier.contains(version), f"{each}: {version} is locked"


@pytest.mark.slow
@pytest.mark.environment
def test_the_lock_is_up_to_date(project, uv, copied):
    """Compiled again, with the versions that it has, the lock is the same."""
    head = (project / LOCK).read_text(encoding="utf-8").splitlines()[1]
    command = re.fullmatch(r"#    uv (pip compile .+)", head)[1].split()
    shutil.copy(project / LOCK, copied)
    done = subprocess.run([uv, "--quiet", *command], cwd=copied, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (copied / LOCK).read_text() == (project / LOCK).read_text()


@pytest.fixture(scope="module")
def uv():
    found = shutil.which("uv")
    if not found and os.environ.get("MATE_TF_REQUIRE_UV") == "1":
        pytest.fail("MATE_TF_REQUIRE_UV=1 but there is no uv on PATH")
    if not found:
        pytest.skip("needs uv on PATH and a package index")
    return found


@pytest.fixture(scope="module")
def copied(project, tmp_path_factory):
    """A copy: what setuptools writes beside setup.py must not come into the checkout."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copy(project / name, folder)
    for package in ("mate_tf", "configs", "models"):
        (folder / package).mkdir()
    shutil.copy(project / "mate_tf" / "__init__.py", folder / "mate_tf")
    return folder


@pytest.fixture(scope="module")
def resolve(uv, copied):
    """resolve(python, extra): name -> version of all that pip would install."""

    def run(python, extra):
        command = [uv, "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
        command += ["--only-binary", "tensorflow", "--python-version", python, "--extra", extra]
        result = subprocess.run(
            [*command, "pyproject.toml"], cwd=copied, capture_output=True, text=True, timeout=300
        )
        assert result.returncode == 0, result.stderr
        return dict(re.findall(r"^([\w.-]+)==(\S+)", result.stdout, re.MULTILINE))

    return run


@pytest.mark.slow
@pytest.mark.environment
@pytest.mark.parametrize("python", PYTHONS)
def test_gpu(resolve, python):
    found = resolve(python, "gpu")
    assert found["tensorflow"].startswith("2.20.")
    assert found["nvidia-cudnn-cu12"].startswith("9.")
    assert {"nvidia-cublas-cu12", "nvidia-cuda-runtime-cu12", "nvidia-nccl-cu12"} <= found.keys()


@pytest.mark.slow
@pytest.mark.environment
@pytest.mark.parametrize("python", PYTHONS)
def test_test(resolve, python):
    found = resolve(python, "test")
    assert found["tensorflow"].startswith("2.20.")
    assert found["tf-models-official"] == found["tensorflow"]
    assert not any(name.startswith("nvidia-") for name in found)
