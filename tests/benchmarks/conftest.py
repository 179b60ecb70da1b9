"""The scripts in benchmarks/ as modules."""

import importlib.util

import pytest


@pytest.fixture(scope="session")
def load_benchmark(project):
    """load_benchmark(name): a new module of benchmarks/<name>.py."""

    def load(name):
        path = project / "benchmarks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load
