"""Modules are neither tiny nor long, and each has its test file at the same place below tests/.

`COVERED_BY` says where the tests of a module stand that has none of its own.
"""

import statistics

import pytest

SHORTEST, LONGEST, MEDIAN = 15, 400, 150
"""Lines of a module; `__init__` may be shorter."""

COVERED_BY = {
    # modules that only hold what another one is tested with
    "attention/context": "attention/test_contract",
    "attention/pattern": "attention/test_contract",
    "attention/tree": "attention/test_contract",
    "data/converters/sequences/sequence": "data/converters/sequences/test_converter",
    "data/converters/sequences/tokens": "data/converters/sequences/test_converter",
    "data/features": "data/records/test_tfrecord",
    "data/records/frames": "data/records/test_tfrecord",
    "layers/step_seeds": "layers/test_dropout",
    "layers/recomputation": "attention/test_mate",
    "training/best_checkpoint": "cli/test_train",
    "layers/cpu_features": "layers/test_precision",
    "tasks/packed_text": "tasks/test_text_pretrain",
    "tables/conversion": "data/converters/test_examples",
    "tables/delimited": "tables/test_files",
    "tables/json_table": "tables/test_files",
    "tables/question_nouns": "tables/test_question_wordings",
    "tables/question_subject": "tables/test_question_generation",
    "tasks/lra_settings": "tasks/test_sequence",
    # one thing from end to end, in parts that have no meaning alone
    "analysis/cost/encoder_worker": "analysis/cost/test_profile",
    "cli/checks": "cli/test_pretrained",
    "cli/folders": "cli/test_job",
    "cli/precisions": "cli/test_job",
    "serving/prepared": "serving/test_predictor",
    "serving/answer": "serving/test_predictor",
    "models/encoder_decoder_config": "models/test_encoder_decoder",
    "serving/configurations": "serving/test_pretrained",
    "serving/text_signatures": "serving/test_summarizer",
    "serving/hub": "serving/test_source",
    "serving/live": "serving/test_pretrained",
    "serving/requests": "serving/test_predictor",
    "serving/served": "serving/test_predictor",
    "serving/vocabulary": "serving/test_pretrained",
    "training/initial_weights": "training/test_trainer",
    "analysis/plots/flow": "analysis/attention/test_flow_by_type",
    "checkpoints/bundle": "checkpoints/test_load",
    "checkpoints/names": "checkpoints/test_load",
    "checkpoints/stored": "checkpoints/test_growth",
    "data/converters/example_features": "data/converters/test_examples",
    "data/converters/table_features": "data/converters/test_examples",
    "data/datasets/custom/answers": "data/datasets/test_custom",
    "data/datasets/custom/labels": "data/datasets/test_custom",
    "data/datasets/custom/lines": "data/datasets/test_custom",
    "data/datasets/custom/summary": "data/datasets/test_custom",
    "data/records/report": "data/records/test_create_data",
    "data/synthetic/domains": "data/synthetic/test_synthetic",
    "data/synthetic/questions": "data/synthetic/test_synthetic",
    "data/synthetic/sheets": "data/synthetic/test_synthetic",
    "data/synthetic/vocabulary": "data/synthetic/test_synthetic",
    "data/synthetic/words": "data/synthetic/test_synthetic",
    "serving/graph_answers": "serving/test_serving_default",
    "serving/number_texts": "faults/test_agreement",
    "serving/numeric": "serving/test_serving_default",
    "serving/word_pieces": "serving/test_serving_default",
    "serving/exported": "serving/test_predictor",
    "serving/fitting": "serving/test_table_reader",
    # data sets for tensorflow-datasets, which share their base class and its test
    "data/datasets/sqa_tfds": "data/datasets/test_tables_tfds",
    "data/datasets/tabfact_tfds": "data/datasets/test_tables_tfds",
    "data/datasets/wikitq_tfds": "data/datasets/test_tables_tfds",
    # modes of the command line, run as a user does
    "cli/eval": "cli/test_custom",
    "cli/export": "cli/test_predict",
    "cli/flags": "cli/test_main",
    "cli/pointr_modes": "cli/test_pointr",
    "cli/run": "cli/test_squad",
    # tasks: their settings, which the registry's test makes for each; their data have tests
    "tasks/associative_recall": "tasks/test_registry",
    "tasks/configs": "tasks/test_registry",
    "tasks/denoise": "tasks/test_text_to_text",
    "tasks/glue": "tasks/test_registry",
    "tasks/listops": "tasks/test_registry",
    "tasks/lra": "tasks/test_registry",
    "tasks/statements": "tasks/test_registry",
    "tasks/swag": "tasks/test_registry",
    "tasks/trainer_config": "tasks/test_registry",
    "tasks/summarize": "cli/test_summarize",
    # what needs a process, a browser or TensorFlow 2.15
    "demo/guard": "faults/test_page",
    "demo/server": "faults/test_page",
    "demo/speed": "demo/test_session",
    "layers/framework": "estimator/run",
    "training/estimator": "estimator/run",
    # what shows in a training only
    "training/generation": "cli/test_summarize",
    "checkpoints/moments": "training/test_bootstrap",
    "layers/xla": "training/test_compiled",
    "training/continuation": "training/test_bootstrap",
}
"""Module -> file with its tests, below mate_tf/ and tests/."""


@pytest.fixture(scope="module")
def modules(project):
    """Module, as in COVERED_BY -> number of lines; without `__init__` and generated ones."""
    package = project / "mate_tf"
    return {
        str(path.relative_to(package).with_suffix("")): len(path.read_text("utf-8").splitlines())
        for path in package.rglob("*.py")
        if path.name != "__init__.py" and path.parent.name != "protos"
    }


def own_test(project, module):
    folder, _, name = module.rpartition("/")
    return project / "tests" / folder / f"test_{name}.py"


def test_lines(modules):
    wrong = {name: n for name, n in modules.items() if not SHORTEST <= n <= LONGEST}
    assert not wrong
    assert statistics.median(modules.values()) < MEDIAN


def test_each_module_has_its_tests(project, modules):
    missing = [
        name
        for name in sorted(modules)
        if name not in COVERED_BY and not own_test(project, name).exists()
    ]
    assert not missing


def test_exceptions_are_needed_and_there(project, modules):
    for module, covering in COVERED_BY.items():
        assert module in modules, f"{module} is no module"
        assert (project / "tests" / f"{covering}.py").exists(), f"{covering} is no file"
        assert not own_test(project, module).exists(), f"{module} has tests of its own"
