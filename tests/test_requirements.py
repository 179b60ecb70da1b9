"""The requirements of setup.py resolve for each Python, with the package index asked by uv."""

import os
import re
import shutil
import subprocess

import pytest

PYTHONS = ("3.11", "3.12", "3.13")

pytestmark = [pytest.mark.slow, pytest.mark.environment]


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


@pytest.mark.parametrize("python", PYTHONS)
def test_gpu(resolve, python):
    found = resolve(python, "gpu")
    assert found["tensorflow"].startswith("2.20.")
    assert found["nvidia-cudnn-cu12"].startswith("9.")
    assert {"nvidia-cublas-cu12", "nvidia-cuda-runtime-cu12", "nvidia-nccl-cu12"} <= found.keys()


@pytest.mark.parametrize("python", PYTHONS)
def test_test(resolve, python):
    found = resolve(python, "test")
    assert found["tensorflow"].startswith("2.20.")
    assert found["tf-models-official"] == found["tensorflow"]
    assert not any(name.startswith("nvidia-") for name in found)
