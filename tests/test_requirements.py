"""setup.py declares all that is imported; its requirements resolve for each Python (by uv)."""

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys

import pytest

PYTHONS = ("3.11", "3.12", "3.13")

IN_ANOTHER_ENVIRONMENT = {"oauth2client"}
"""Imported by TPUEstimator's code alone, see requirements-estimator.txt."""


def test_all_imports_are_declared(project):
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
    declared = _declared((project / "setup.py").read_text(encoding="utf-8"))
    missing = {
        name
        for name in imported
        if not {_normalized(each) for each in providers.get(name, [name])} & declared
    }
    assert not missing


def _declared(setup: str) -> set[str]:
    """Returns the names of all distributions that setup.py requires, in any extra."""
    texts = (
        "".join(part.value for part in node.values if isinstance(part, ast.Constant))
        if isinstance(node, ast.JoinedStr)
        else node.value
        for node in ast.walk(ast.parse(setup))
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    )
    return {_normalized(re.match(r"[\w.-]*", text)[0]) for text in texts}


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def resolve(project, tmp_path_factory):
    """resolve(python, extra): name -> version of all that pip would install."""
    uv = shutil.which("uv")
    if not uv:
        if os.environ.get("MATE_TF_REQUIRE_UV") == "1":
            pytest.fail("MATE_TF_REQUIRE_UV=1 but there is no uv on PATH")
        pytest.skip("needs uv on PATH and a package index")
    # A copy: what setuptools writes beside setup.py must not come into the checkout.
    folder = tmp_path_factory.mktemp("project")
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copy(project / name, folder)
    for package in ("mate_tf", "configs", "models"):
        (folder / package).mkdir()

    def run(python, extra):
        command = [uv, "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
        command += ["--only-binary", "tensorflow", "--python-version", python, "--extra", extra]
        result = subprocess.run(
            [*command, "setup.py"], cwd=folder, capture_output=True, text=True, timeout=300
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
