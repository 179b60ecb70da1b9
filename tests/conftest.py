"""Seeds, memory and interpreters of all tests; fixtures for data outside the project."""

import functools
import gc
import inspect
import itertools
import os
import pathlib
import subprocess
import sys
from unittest import mock

import hypothesis
import pytest

from . import annotations, graphs, loaded, memory, seeds, tiny_model
from .shared_folder import shared_folder

# Deadlines and too_slow are off: how long an example takes depends on what else the machine does.
_ANY_MACHINE = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("default", max_examples=30, **_ANY_MACHINE)
hypothesis.settings.register_profile("ci", max_examples=100, **_ANY_MACHINE)
hypothesis.settings.load_profile("ci" if graphs.THOROUGH else "default")

# Two workers with two threads each only get in each other's way on two cores.
for _threads in ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

# XLA compiles for a few small steps: to optimize the code takes longer than it saves.
if not graphs.THOROUGH:
    os.environ.setdefault(
        "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
    )

_OPTIMIZES = pytest.StashKey[bool]()
"""Whether TensorFlow's graph optimizer (Grappler) is on in the test that runs."""

PROJECT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# Tests import TensorFlow before mate_tf, which would set it.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")


def pytest_addoption(parser):
    parser.addoption(
        "--seed", type=int, default=0, help="Seed of every random draw that a test does not seed."
    )


def pytest_collection_modifyitems(items):
    """Marks tests whose code runs in an environment of its own, and those that avoid graphs,
    directly or in a fixture."""
    annotations.read_once()  # here, because all modules are imported now
    gc.freeze()  # they live on: collections of garbage need not go through them
    for item in items:
        if "interpreter" in getattr(item, "fixturenames", ()):
            item.add_marker("environment")
        fixtures = itertools.chain(*item._fixtureinfo.name2fixturedefs.values())
        if any(map(_avoids_graphs, (item.obj, *(fixture.func for fixture in fixtures)))):
            item.add_marker("thorough")


@functools.cache
def _avoids_graphs(function) -> bool:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return "avoided" in getattr(code, "co_names", ())


def pytest_configure(config):
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = config.option.seed
    # Graphs have millions of objects. With Python's thresholds garbage collection took up to half
    # of the time. Here it runs after tests with large graphs and after each file.
    gc.set_threshold(100_000, 50, 1000)
    memory.keep_little()


def _seed(config, name: str) -> None:
    context = seeds.begin(name, config.option.seed)
    if context is not None:
        graphs.share_stack()
        _choose_grappler(config, context)


def _choose_grappler(config, context) -> None:
    """Switches TensorFlow's graph optimizer off: a quarter of the time of a training of few steps.
    What it does is not of this project. The slow tests, every job that is a process of its own, and
    tests with the mark `grappler` run with it."""
    off = {"disable_meta_optimizer": not config.stash[_OPTIMIZES]}
    if not off.items() <= context._optimizer_experimental_options.items():
        context.set_optimizer_experimental_options(off)


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef, request):
    """Shared fixtures draw the same numbers whichever test needs them first."""
    if fixturedef.scope != "function":
        _seed(request.config, fixturedef.argname)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    _seed(item.config, item.nodeid)
    before = set(graphs.gradients())
    result = yield
    if graphs.large():
        graphs.forget(set(graphs.gradients()) - before)  # not those of its fixtures
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Frees graphs after a test that has built large ones, and after the last test of a file. Only
    after the whole protocol: until then the test holds on to the values of its fixtures."""
    optimizes = map(item.get_closest_marker, ("slow", "environment", "grappler"))
    item.config.stash[_OPTIMIZES] = any(optimizes)
    result = yield
    if nextitem is None or nextitem.path != item.path:
        graphs.forget(graphs.gradients())
        if "tf_keras" in sys.modules:
            sys.modules["tf_keras"].backend.clear_session()
        seeds.forget_graphs()
        gc.collect()
        # What is left lives on, modules above all; later collections need not go through it.
        gc.freeze()
        memory.give_back()
    elif graphs.large():
        gc.collect()
    return result


@pytest.fixture(scope="module")
def loaded_once():
    """For files that ask one export many times; see `loaded.once`."""
    import tensorflow as tf

    with mock.patch.object(tf.saved_model, "load", loaded.once(tf.saved_model.load)):
        yield


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
def run_python(project):
    """run_python(code, *arguments): what a new process prints; fails if the code does."""

    def run(code, *arguments):
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return run


@pytest.fixture(scope="session")
def goldens(shared) -> pathlib.Path:
    """Recorded inputs and outputs of the reference."""
    return shared / "goldens"


@pytest.fixture(scope="session")
def recordings(goldens) -> pathlib.Path:
    """Official files of HybridQA as small ones, and what the reference makes of them."""
    return goldens / "metrics" / "open" / "hybridqa"


@pytest.fixture(scope="session")
def unpacked(shared, tmp_path_factory):
    """unpacked(*names): folder with what the data's own `unpack` makes of archives."""

    def unpack(*names):
        target = tmp_path_factory.mktemp("official")
        subprocess.run([shared / "data" / "unpack", *names, "--to", target], check=True)
        return target

    return unpack


@pytest.fixture(scope="session")
def vocabulary_file(tmp_path_factory):
    """vocabulary_file(pieces): a file with these, one a line."""

    def write(pieces):
        path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
        path.write_text("\n".join(pieces), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def trained_model(tmp_path_factory) -> pathlib.Path:
    """Folder of a tiny trained model with its export in `export`, its vocabulary beside it. Tests
    must not write into it."""
    return shared_folder(tmp_path_factory, "trained_model", tiny_model.make) / "model"


@pytest.fixture(scope="session")
def mini():
    """The preset, as `Predictor.from_preset` and `mate-tf serve` load it."""
    from mate_tf.serving.predictor import Predictor

    return Predictor.from_preset()


@pytest.fixture(scope="session")
def quickstart_model() -> pathlib.Path:
    """Folder of the model that README.md's first command trains, with its export; skips without
    it, or fails where it must be there. Tests must not write into it."""
    path = PROJECT / "out" / "quickstart" / "model"
    if not (path / "export").is_dir():
        if os.environ.get("MATE_TF_REQUIRE_QUICKSTART") == "1":
            pytest.fail(f"MATE_TF_REQUIRE_QUICKSTART=1 but there is no {path / 'export'}")
        pytest.skip(f"needs {path / 'export'}, which README.md's first command makes")
    return path


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


@pytest.fixture
def as_if_forked(monkeypatch):
    """as_if_forked(): does what happens in the child of a fork; undone at the end of the test."""
    from mate_tf.serving import forks

    def fork():
        monkeypatch.setattr(forks, "_before", [*forks._before])
        monkeypatch.setattr(forks, "_loaded", [*forks._loaded])
        forks._forget()

    return fork
