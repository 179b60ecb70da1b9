"""Modules are attributes of their packages, and are imported when they are asked for; what an
import of mate_tf sets for TensorFlow."""

import ast
import importlib
import os
import platform
import subprocess
import sys

import pytest

import mate_tf
from mate_tf import tables
from mate_tf.lazy import on_first_use


def test_every_package_has_its_modules_as_attributes(project):
    """Not only those that something else has imported already."""
    packages = list((project / "mate_tf").rglob("__init__.py"))
    missing = [
        path
        for path in packages
        if path.parent.name != "protos" and "= on_first_use(__name__" not in path.read_text("utf-8")
    ]
    assert len(packages) > 20
    assert not missing


def test_modules_are_imported_on_first_use(run_python):
    code = (
        "import sys, mate_tf\n"
        "assert not [name for name in sys.modules if name.startswith('mate_tf.tables')]\n"
        "assert mate_tf.tables.numbers.__name__ == 'mate_tf.tables.numbers'\n"
        "plots = mate_tf.analysis.plots\n"
        "assert plots.cells.cell_heat_map is plots.cell_heat_map\n"
        "assert mate_tf.serving.model_folder.find\n"
        "assert mate_tf.errors.InputError is mate_tf.InputError\n"
        "assert 'mate_tf.tables.html' not in sys.modules and 'tensorflow' not in sys.modules\n"
        "import mate_tf.analysis.cost\n"
        "assert 'flops' in dir(mate_tf.analysis.cost)\n"
    )
    run_python(code)


def test_type_checkers_see_what_is_imported_on_first_use(project):
    """The imports under TYPE_CHECKING are those of `__getattr__`, from the same modules."""
    found = 0
    for path in (project / "mate_tf").rglob("__init__.py"):
        text = path.read_text("utf-8")
        if "if TYPE_CHECKING:" not in text:
            continue
        name = ".".join(path.parent.relative_to(project).parts)
        package = importlib.import_module(name)
        (block,) = [
            node
            for node in ast.parse(text).body
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        ]
        names = set()
        for node in block.body:
            for alias in node.names:
                names.add(alias.asname or alias.name)
                expected = getattr(importlib.import_module(node.module), alias.name)
                assert getattr(package, alias.asname or alias.name) is expected
        assert names >= set(getattr(package, "_EXPORTS", ())), name
        found += len(names)
    assert found > 50


def test_dir_has_public_names_only():
    assert dir(mate_tf) == sorted([*mate_tf.__all__, "__version__"])
    assert {"Table", "Predictor", "analysis", "training"} <= set(dir(mate_tf))
    assert "numbers" in dir(tables)
    assert "on_first_use" not in dir(tables)


def test_what_is_not_there():
    get, _ = on_first_use("mate_tf.tables", {"Table": "mate_tf.tables.table"})
    assert get("Table") is mate_tf.Table
    assert get("numbers").__name__ == "mate_tf.tables.numbers"
    for name in ("nothing_of_that_name", "_private", "__path__x"):
        with pytest.raises(AttributeError, match=f"'mate_tf.tables' has no attribute '{name}'"):
            get(name)


@pytest.mark.parametrize("given", [None, "0"])
@pytest.mark.parametrize("name", ["TF_ENABLE_ONEDNN_OPTS", "TF_USE_LEGACY_KERAS"])
def test_what_is_set_unless_the_user_says_otherwise(project, name, given):
    """oneDNN, which TensorFlow leaves off without AVX512-VNNI; and Keras 2 alone."""
    if name == "TF_ENABLE_ONEDNN_OPTS" and platform.machine().lower() not in ("x86_64", "amd64"):
        pytest.skip("not an x86 processor")
    if name == "TF_USE_LEGACY_KERAS":
        pytest.importorskip("tf_keras", reason="TensorFlow 2.15 has Keras 2 without tf_keras")
    assert environment_after(project, "import mate_tf", name, given) == (given or "1")


def test_keras_is_not_chosen_after_tensorflow_is_imported(project):
    code = "import sys; sys.modules['tensorflow'] = sys; import mate_tf"
    assert environment_after(project, code, "TF_USE_LEGACY_KERAS") == "None"


def environment_after(project, code, name, given=None):
    """Returns the value of an environment variable after `code` has run in a new process."""
    environment = {key: value for key, value in os.environ.items() if key != name}
    if given:
        environment[name] = given
    command = [sys.executable, "-c", f"{code}; import os; print(os.environ.get({name!r}))"]
    return subprocess.check_output(command, cwd=project, env=environment, text=True).strip()
