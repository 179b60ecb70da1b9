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


def interaction(name, table_id, number=2):
    table = Table.from_rows(["City"], [["Bern"]], table_id=table_id)
    questions = [Question(f"{name}-0_{i}", "which city?", [(0, 0)]) for i in range(number)]
    return interaction_from_table(table, f"{name}-0", questions)


def write(folder, converter, split, *found):
    examples = [each.example for each in converter.convert_all(*found)]
    records.write_examples(examples, examples_path(folder, split))
    records.write_interactions(found, interactions_path(folder, split))


def test_mixed(benchmark, tmp_path):
    vocab_file = tmp_path / "vocab.txt"
    synthetic.make_vocabulary(vocab_file)
    long, short = (ExampleConverter(vocab_file, length) for length in (32, 16))
    wtq, sqa, questions = (str(tmp_path / name) for name in ("wtq", "sqa", "questions"))
    write(wtq, long, "train", interaction("w", "table_csv/1-1.csv", 1))
    for split, table_id in (("dev", "table_csv/2-1.csv"), ("test", "table_csv/3-1.csv")):
        write(wtq, long, split, interaction(split, table_id, 1))
    tables = [f"table_csv/{number}_1.csv" for number in range(1, 5)]
    write(sqa, long, "train", *(interaction(f"s{name[10]}", name) for name in tables))
    write(questions, short, "train", *(interaction(f"q{i}", f"t{i}", 1) for i in range(6)))
    found = benchmark.mixed(wtq, sqa, questions, share=3)
    ids = [benchmark.text(each, "question_id") for each in found]
    expected = ["w-0_0", "s1-0_0", "s4-0_0", "q0-0_0", "q3-0_0"]
    assert collections.Counter(ids) == collections.Counter(expected)
    assert ids != expected
    assert {benchmark.length_of(each) for each in found} == {32}
    lengthened = found[ids.index("q3-0_0")].features.feature
    assert list(lengthened["input_mask"].int64_list.value)[-16:] == [0] * 16
    assert lengthened["numeric_values_scale"].float_list.value[-1] == 1
    assert math.isnan(lengthened["numeric_values"].float_list.value[-1])
