"""Commands and code in README.md, docs/ and results/ fit the program as it is.

Flags are parsed, configurations read and overridden, arguments of scripts parsed, imports
resolved; nothing is trained. Pages and commands that another test runs for real are named in
RUN_ELSEWHERE.
"""

import ast
import functools
import importlib
import importlib.util
import inspect
import pathlib
import re
import sys

import pytest
from absl import flags
from official.modeling.hyperparams import base_config

from mate_tf import attention, errors, tasks
from mate_tf.cli import checks, job, main, pointr, tapas_flags
from mate_tf.cli import flags as flag_definitions
from mate_tf.files.config_files import find_config
from mate_tf.pointr.config import NAME as POINTR
from mate_tf.pointr.config import STAGES, PointrExperiment
from mate_tf.training import experiments

from . import pages

RUN_ELSEWHERE = {
    "docs/extending.md": "tests/test_extending.py::test_the_task_runs_with_the_variant",
}
"""Page whose commands and code need what the page itself creates -> the test that runs them."""

RUN_FOR_REAL = {
    "mate-tf --config_file=configs/quickstart.yaml": ".ci/run",
    "saved_model_cli run": "tests/serving/test_clients.py::test_python_and_saved_model_cli",
    "--mode=ask": "tests/cli/test_ask.py::test_prints_json_and_a_table",
    "mate-tf ask": "tests/cli/test_pretrained.py::test_ask",
    "mate-tf export": "tests/cli/test_pretrained.py::test_export",
    "--mode=demo": "tests/demo/test_page.py::test_a_visit",
    "mate-tf serve": "tests/service/test_server.py::test_the_command",
    "--workers=2": "tests/service/test_server.py::test_several_processes",
    "mate-tf mcp": "tests/service/test_agents.py::test_the_command",
    "curl -s": "tests/service/test_documented.py::test_curl",
    "mate:predict": "tests/service/test_documented.py::test_rest_of_tensorflow_serving",
    "docker build": "tests/service/test_dockerfile.py::test_its_image",
    "--perturb=rows,columns": "tests/cli/test_predict.py::test_shuffled_tables",
    "--mode=analyze": "tests/cli/test_analyze.py::test_attention_flow_coverage_and_table",
    "--mode=profile": "tests/cli/test_profile.py::test_measures",
    "--task=POINTR": "tests/cli/test_pointr.py::test_asking",
    "--config_file=configs/custom.yaml": "tests/cli/test_custom.py",
    "--config_file=configs/custom_mini.yaml": "tests/cli/test_custom.py::test_from_the_preset",
    "--config_file=configs/pretrain_small.yaml": "tests/cli/test_pretrain.py",
    "--config_file=configs/text_pretrain_small.yaml": "tests/cli/test_text_pretrain.py",
    "--config_file=configs/treeformer_tf.yaml": "tests/cli/test_trees.py",
    "--config_file=configs/squad_v1.yaml": "tests/cli/test_sequences.py",
    "--config_file=configs/listops_small.yaml": "tests/cli/test_listops.py",
    "best_checkpoint_eval_metric": "tests/cli/test_train.py::test_the_best_checkpoint_is_kept",
    "multi_worker_mirrored": "tests/cli/test_workers.py::test_two_workers_train_as_one",
    "--trainer=tpu_estimator": "tests/cli/test_trainers.py::test_predicts_and_exports",
    "--use_tpu": "tests/cli/test_tpu.py",
    "--runner_type=DIRECT": "tests/data/test_beam.py",
    "benchmarks/attention.py": "tests/benchmarks/test_smoke.py::test_smallest_size",
}
"""Part of a command -> what runs it for real, with smaller sizes or data where these are large."""

FOREIGN_FLAGS = {"setup_file"}
"""Flags of other programs that the text names: Beam's."""

_FLAG = re.compile(r"--(\w+)")
_ARGUMENT = re.compile(r'add_argument\(\s*"--(\w+)"')
_KEY = re.compile(r"(?:task|trainer|runtime|bootstrap|point|read)(?:\.\w+)+(?==|$)")

MAIN = ("run_task_main.py", "mate-tf")
CHECKED = [path for path in pages.PAGES if pages.name(path) not in RUN_ELSEWHERE]
CHECKED += pages.RESULTS

every_page = pytest.mark.parametrize("path", CHECKED, ids=pages.name)


def of_program(path: pathlib.Path, *programs: str) -> list[pages.Command]:
    """The commands of a page that run one of the programs, from the program's name on."""
    found = []
    for command in pages.commands(path):
        words = command.words[1:] if command.words[0].startswith("python") else command.words
        if words and words[0].startswith(programs):
            found.append(pages.Command(command.page, words))
    return found


@pytest.fixture
def parsed():
    """parsed(words): the values of the command line's flags."""

    def parse(words):
        return main.parse([*words])

    yield parse
    parse(["tests"])


@every_page
def test_command_lines(path, parsed):
    for command in of_program(path, *MAIN):
        try:
            check(parsed(command.words))
        except (flags.Error, errors.InputError) as error:
            pytest.fail(f"{command}\n{error}")


def check(values) -> None:
    """Checks the flags of one command; raises InputError for what the program would refuse."""
    if values.config_file and pathlib.Path(values.config_file).parts[0] == "out":
        return  # written by a command before it
    if values.mode == "ask":
        assert values.table, "--mode=ask without --table"
        if values.table.startswith("mate_tf/"):
            assert (pages.PROJECT / values.table).is_file(), values.table
        assert values.question, "--mode=ask without --question"
    if not (values.task or values.config_file):
        able = (
            *checks.OF_PRESET,
            "glue",
            "profile",
            *(["export"] if values.init_checkpoint else []),
        )
        assert values.mode in able, "neither --task nor --config_file"
        return
    config_file = values.config_file and find_config(values.config_file)
    overrides = [experiments.read_override(text) for text in values.params_override]
    if checks.task_name(values) == POINTR:
        assert values.mode in ("ask", *pointr.MODES)
        for override in overrides:
            experiments.override(PointrExperiment(), *override)
        check_inputs(values, *(tasks.get(stage) for stage in STAGES.values()))
        return
    experiment = experiments.load(config_file, task=values.task)
    job._check_mode(experiment.task.name, values)
    for name, key in job.FLAG_OVERRIDES.items():
        if getattr(values, name) is not None:
            experiments.override(experiment, job._nested(key, getattr(values, name)), name)
    for override in overrides:
        experiments.override(experiment, *override)
    check_inputs(values, tasks.create(experiment.task))


def check_inputs(values, *of_tasks) -> None:
    """Checks that a command that reads official files says where these and the vocabulary are."""
    if values.mode not in ("run", "create_data"):
        return
    for task in of_tasks:
        able = task.capabilities
        assert values.input_dir or not able.needs_files, "needs --input_dir"
        found = able.makes_vocabulary or able.builds_vocabulary
        assert values.bert_vocab_file or found, "needs --bert_vocab_file"


@every_page
def test_scripts(path, monkeypatch):
    """Their arguments, and that the scripts are there."""
    for command in of_program(path, "benchmarks/", "docs/", "tests/"):
        script, *arguments = command.words
        monkeypatch.syspath_prepend(str((pages.PROJECT / script).parent))  # as Python does
        spec = importlib.util.spec_from_file_location("script", pages.PROJECT / script)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        spec.loader.exec_module(module)
        try:
            module.arguments()
        except SystemExit:
            pytest.fail(str(command))


@every_page
def test_python(path):
    """Blocks compile; what they import is there, and so are keywords of what they call."""
    for block in pages.blocks(path, "python"):
        tree = ast.parse(block, filename=pages.name(path))
        names = imported(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                resolve(node, names)
            elif isinstance(node, ast.Call):
                check_keywords(node, resolve(node.func, names))


def imported(tree: ast.Module) -> dict:
    """What a block's imports bind: name -> object."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = importlib.import_module(alias.name)
                names[alias.asname or alias.name.partition(".")[0]] = (
                    module if alias.asname else sys.modules[alias.name.partition(".")[0]]
                )
        elif isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            for alias in node.names:
                names[alias.asname or alias.name] = member(module, alias.name)
    return names


def member(owner, name: str):
    """An attribute, or a module of a package; AttributeError or ImportError without one."""
    if inspect.ismodule(owner) and not hasattr(owner, name):
        return importlib.import_module(f"{owner.__name__}.{name}")
    return getattr(owner, name)


def resolve(node, names: dict):
    """The object that a name or a chain of attributes stands for; None if no import binds it."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if not isinstance(node, ast.Attribute):
        return None
    owner = resolve(node.value, names)
    return None if owner is None else member(owner, node.attr)


def check_keywords(call: ast.Call, function) -> None:
    """Checks the keywords of a call whose function is known and takes no others."""
    if function is None:
        return
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = {parameter.name for parameter in parameters}
    unknown = {keyword.arg for keyword in call.keywords} - known - {None}
    assert not unknown, f"{ast.unparse(call)}: unknown arguments {unknown}"


@every_page
def test_names_in_the_text(path, keys):
    """Files, flags, keys of the configuration and names of mate_tf between backticks exist."""
    for span in pages.code_spans(path):
        first = span.split("(")[0]
        if flag := _FLAG.match(span):
            assert flag[1] in FOREIGN_FLAGS or any(flag[1] in each for each in known_flags()), span
            span = span.removeprefix("--params_override=")
        if key := _KEY.match(span):
            assert key[0] in keys, f"{span}: no such key"
        if first.startswith(("mate_tf/", "configs/", "tests/", "benchmarks/", "colab/")):
            assert any(pages.PROJECT.glob(first.rstrip("/"))), f"{span}: no such file"
        elif first.startswith("mate_tf.") and first.replace(".", "").isidentifier():
            owner = importlib.import_module("mate_tf")
            for name in first.split(".")[1:]:
                owner = member(owner, name)


@functools.cache
def known_flags() -> tuple[frozenset[str], ...]:
    """Flags of the program, those that switch something off, those of the scripts, and TAPAS's."""
    names = flag_definitions.FLAGS.flags_by_module_dict()[flag_definitions.__name__]
    own = {flag.name for flag in names}
    scripts = [*pages.PROJECT.glob("benchmarks/*.py"), *pages.PROJECT.glob("docs/*.py")]
    of_scripts = {name for path in scripts for name in _ARGUMENT.findall(path.read_text("utf-8"))}
    own |= tapas_flags.NAMES
    return frozenset(own), frozenset(f"no{name}" for name in own), frozenset(of_scripts)


@pytest.fixture(scope="module")
def keys():
    """All keys of the experiments of all tasks, from the top, and of all attention variants."""
    found = set()

    def add(config, prefix):
        for name in config.as_dict():
            found.add(prefix + name)
            if isinstance(getattr(config, name), base_config.Config):
                add(getattr(config, name), f"{prefix}{name}.")

    for name in tasks.names():
        add(tasks.experiment(name), "")
    add(PointrExperiment(), "")
    for variant in attention.names():
        add(attention.AttentionConfig(name=variant), "task.model.encoder.attention.")
    return found


@pytest.mark.parametrize("where", sorted({*RUN_ELSEWHERE.values(), *RUN_FOR_REAL.values()}))
def test_what_runs_commands_for_real_is_there(where):
    file, _, name = where.partition("::")
    path = pages.PROJECT / file
    assert path.is_file()
    if name:
        functions = [
            each.name for each in ast.parse(path.read_text()).body if hasattr(each, "name")
        ]
        assert name in functions


def test_commands_that_run_for_real_are_shown():
    shown = [str(command) for path in pages.PAGES for command in pages.commands(path)]
    assert [part for part in RUN_FOR_REAL if not any(part in each for each in shown)] == []


def test_parsing_of_shell_blocks():
    block = (
        'for x in a b; do\n  python p.py --x=$x \\\n      -y\ndone\nA=\'{"b": 1}\' q "c # d" && r\n'
    )
    block += "# remark\n. s # and why\npython t.py --o='a:\n  b'\n"
    assert pages.parse(block) == [
        ("python", "p.py", "--x=a", "-y"),
        ("python", "p.py", "--x=b", "-y"),
        ("q", "c # d"),
        ("r",),
        (".", "s"),
        ("python", "t.py", "--o=a:\n  b"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "--mode=trian --config_file=configs/sqa.yaml",
        "--config_file=configs/no.yaml",
        "--task=NONE --mode=train",
        "--task=SQA --mode=train --attention=mate",
        "--task=SQA --mode=train --params_override=task.model.encoder.attention.radios=3",
        "--task=SQA --input_dir=data/sqa",
        "--task=RTE --mode=ask --table=t.csv --question=q",
        "--mode=ask --question=q",
    ],
)
def test_wrong_command_lines_are_found(line, parsed):
    with pytest.raises((flags.Error, errors.InputError, AssertionError)):
        check(parsed(["run_task_main.py", *line.split()]))
