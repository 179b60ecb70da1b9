"""What packages export is there, and costs no import before it is asked for."""

import importlib

import pytest

PACKAGES = ("mate_tf", "mate_tf.checkpoints", "mate_tf.data", "mate_tf.layers", "mate_tf.models")


@pytest.mark.parametrize("package", PACKAGES)
def test_each_name_is_there(package):
    module = importlib.import_module(package)
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None, name
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        _ = module.nothing_of_that_name


def test_nothing_is_imported_before_it_is_needed(run_python):
    """TensorFlow takes seconds; a task or a head is not needed to make a config."""
    code = (
        "import sys, mate_tf, mate_tf.data, mate_tf.models\n"
        "assert mate_tf.Table and mate_tf.data.Question\n"
        "loaded = [name for name in sys.modules if name.startswith('mate_tf.models.')]\n"
        "assert not loaded and 'tensorflow' not in sys.modules, loaded\n"
    )
    run_python(code)
