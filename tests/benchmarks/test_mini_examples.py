"""Which examples `mini` is trained on, and that all of them have one length."""

import collections
import math

import pytest

from mate_tf.data import records, synthetic
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.data.records.create_data import examples_path, interactions_path
from mate_tf.tables.table import Table


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("mini_examples")


def interaction(name, table_id, number=2, *, texts=("Bern",), kind=""):
    table = Table.from_rows(["City"], [[text] for text in texts], table_id=table_id)
    questions = [
        Question(f"{name}-0_{i}", "which city?", [(0, 0)], given=kind) for i in range(number)
    ]
    return interaction_from_table(table, f"{name}-0", questions)


def write(folder, converter, split, *found):
    examples = [each.example for each in converter.convert_all(*found)]
    records.write_examples(examples, examples_path(folder, split))
    records.write_interactions(found, interactions_path(folder, split))


@pytest.fixture(scope="module")
def converters(tmp_path_factory):
    vocab_file = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    synthetic.make_vocabulary(vocab_file)
    return [ExampleConverter(vocab_file, length) for length in (64, 32)]


CITIES = [f"Town number {number}" for number in range(12)]


@pytest.fixture
def wtq(converters, tmp_path):
    folder = str(tmp_path / "wtq")
    write(folder, converters[0], "train", interaction("w", "table_csv/1-1.csv", 1))
    write(folder, converters[0], "dev", interaction("dev", "table_csv/2-1.csv", 1))
    held = interaction("test", "table_csv/3-1.csv", 1, texts=CITIES)
    write(folder, converters[0], "test", held)
    return folder


def test_mixed(benchmark, converters, wtq, tmp_path):
    sqa = str(tmp_path / "sqa")
    tables = [f"table_csv/{number}_1.csv" for number in range(1, 5)]
    write(sqa, converters[0], "train", *(interaction(f"s{name[10]}", name) for name in tables))
    questions = [converters[1].convert_all(interaction(f"q{i}", f"t{i}", 1)) for i in range(6)]
    examples = [each.example for converted in questions for each in converted]
    found = benchmark.mixed(wtq, sqa, examples, share=3)
    ids = [benchmark.text(each, "question_id") for each in found]
    expected = ["w-0_0", "s1-0_0", "s4-0_0", "q0-0_0", "q3-0_0"]
    assert collections.Counter(ids) == collections.Counter(expected)
    assert ids != expected
    assert {benchmark.length_of(each) for each in found} == {64}
    lengthened = found[ids.index("q3-0_0")].features.feature
    assert list(lengthened["input_mask"].int64_list.value)[-32:] == [0] * 32
    assert lengthened["numeric_values_scale"].float_list.value[-1] == 1
    assert math.isnan(lengthened["numeric_values"].float_list.value[-1])


def test_kept_questions(benchmark, converters, wtq, tmp_path):
    """Most of the easy kinds are left out, and tables that are for evaluation."""
    questions = str(tmp_path / "questions")
    kinds = ["other lookup"] * 40 + ["superlative"] * 5
    made = [interaction(f"{kind}{i}", f"t{i}", 1, kind=kind) for i, kind in enumerate(kinds)]
    shared = [*CITIES[:10], "Lisbon", "Porto"]
    for name, texts in (("same", shared), ("other", shared[2:]), ("few", CITIES[:3])):
        made.append(interaction(name, name, 1, texts=texts, kind="pair"))
    write(questions, converters[1], "train", *made)
    kept = benchmark.kept_questions(questions, benchmark.HeldOutTables(wtq))
    ids = [benchmark.text(each, "question_id") for each in kept]
    hard = {f"superlative{i}-0_0" for i in range(40, 45)} | {"other-0_0", "few-0_0"}
    assert {name for name in ids if not name.startswith("other lookup")} == hard
    assert 0 < len(ids) - len(hard) < 20
    assert ids != sorted(ids)
