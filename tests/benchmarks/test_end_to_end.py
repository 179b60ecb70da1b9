"""Whole questions beside Hugging Face's pipeline: turns, ratios, the table and the plot."""

import argparse

import pytest

from mate_tf.data import interactions
from mate_tf.data.datasets import custom


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("end_to_end")


class Worker:
    """Answers in a constant time; one answer in bfloat16 is another one."""

    def __init__(self, side, log):
        self.side, self.log, self.closed = side, log, False

    def ask(self, request, asked, batch_size):
        self.log.append((self.side.attention, self.side.precision, batch_size))
        per_question = {"Hugging Face": 0.4, "full": 0.2, "mate_efficient": 0.1}
        seconds = len(asked) * per_question[self.side.attention] / (1 + (batch_size > 1))
        answers = [
            [[[0, 1]], "SUM" if each["question"] == "q3" and self.is_rough else "NONE"]
            for each in asked
        ]
        theirs = self.side.attention == "Hugging Face"
        ours = {} if theirs else {"parts": {"converting": seconds / 4, "model": seconds / 2}}
        return {"seconds": seconds, "answers": answers, "peak": 2**30, **ours}

    @property
    def is_rough(self):
        return self.side.precision == "bfloat16"

    def close(self):
        self.closed = True


@pytest.fixture
def options():
    return argparse.Namespace(
        batch_sizes=(1, 4),
        attention=["full", "mate_efficient"],
        precisions=["float32", "bfloat16"],
        chunk=16,
    )


def test_int8_is_of_full_attention(benchmark, options):
    options.precisions = ["float32", "int8"]
    found = [side for side in benchmark.sides(options) if side.precision == "int8"]
    assert {side.attention for side in found} == {"full"}
    assert [side.batch_size for side in found] == [1, 4]


def test_turns_and_figures(benchmark, options, monkeypatch, tmp_path, capsys):
    workers, log = [], []

    def start(side, folder, options):
        workers.append(Worker(side, log))
        return workers[-1], 3.0

    monkeypatch.setattr(benchmark, "start", start)
    found = benchmark.sides(options)
    assert len(found) == 10
    assert str(found[0]) == "Hugging Face, float32, one at a time"
    asked = [{"question": f"q{number}", "rows": [["a b"], ["c"]]} for number in range(20)]
    results = benchmark.measure(found, "folder", asked, options)
    assert len(workers) == 5  # one for both batch sizes
    assert all(worker.closed for worker in workers)
    turns = log[-20:]
    assert turns[0][0] == turns[10 + 9][0] == "Hugging Face"  # another side begins each turn
    assert set(turns[:10]) == set(turns[10:])
    table = benchmark.rows(results, len(asked))
    by_side = {row["side"]: row for row in table}
    # The pipeline's best is its batches of 4: 0.2 seconds a question.
    ours = by_side["full, bfloat16, batches of 4"]
    assert ours["milliseconds a question"] == pytest.approx(100)
    assert ours["times as fast"] == pytest.approx(2)
    assert ours["shares"] == {"converting": pytest.approx(0.25), "model": pytest.approx(0.5)}
    assert ours["same as float32"] == ours["same as theirs"] == 19 / 20
    assert by_side["mate_efficient, float32, one at a time"]["same as theirs"] == 1
    assert by_side["Hugging Face, float32, one at a time"]["times as fast"] == pytest.approx(0.5)
    assert (ours["load"], ours["peak MiB"]) == (3.0, 1024)
    capsys.readouterr()
    benchmark.show(table)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines[2:4]] == ["Hugging Face"] * 2
    assert any("2.00 (2.00 to 2.00)" in line and "95.0 %" in line for line in lines)
    assert lines[-1].split()[-4:] == ["25.0", "%", "50.0", "%"]
    benchmark.plot(table, "title", tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_jobs(benchmark, options, monkeypatch, capsys):
    """One for each variant and precision, beside the pipeline's best and the answers one by one."""
    found = {side: {"seconds": [4.0], "answers": [1, 2]} for side in benchmark.sides(options)}
    found[benchmark.sides(options)[1]]["seconds"] = [3.0]
    asked = [
        {"columns": ["a", "b, c"], "rows": [['"', "1\n2"]], "question": f"q{number}?"}
        for number in range(2)
    ]

    def run_job(attention, precision, model, data, options):
        assert [each.name for each in sorted(data.glob("*.jsonl"))] == [
            *("dev.jsonl", "test.jsonl", "train.jsonl")
        ]
        (interaction,) = list(custom.read(data, "test"))[1:]
        (question,) = interaction.questions
        assert (question.id, question.original_text) == ("1-0_0", "q1?")
        table = interactions.table_of(interaction)
        assert (table.columns, table.rows) == (("a", "b, c"), (('"', "1\n2"),))
        return {"create_data": 0.5, "predict": 1.0, "answers": [1, 2 + (precision != "float32")]}

    monkeypatch.setattr(benchmark, "run_job", run_job)
    table = benchmark.jobs(found, "model", asked, options)
    assert [each["side"] for each in table] == [
        *("full, float32", "full, bfloat16"),
        *("mate_efficient, float32", "mate_efficient, bfloat16"),
    ]
    assert [each["same as one at a time"] for each in table] == [1, 0.5] * 2
    assert {each["times as fast"] for each in table} == {2}  # 3 seconds to 1.5
    benchmark.show_jobs(table)
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.split() == ["mate_efficient,", "bfloat16", "750", "2.00", "0.5", "1.0", "50.0", "%"]


def test_both_programs(benchmark, interpreter, wikitq_dir, bert_vocab, tmp_path):
    """Equal answers wherever both read the same words; all answers in their order."""
    options = argparse.Namespace(
        peers_python=interpreter("PEERS", "torch and transformers"),
        input_dir=wikitq_dir,
        bert_vocab_file=bert_vocab,
        batch_sizes=(1, 4),
        attention=["full"],
        precisions=["float32"],
        questions=20,
        min_words=0,
        hybridqa=False,
        chunk=16,
        max_seq_length=512,
        layers=1,
        hidden_size=128,
        threads=1,
    )
    asked = benchmark.read_questions(options)
    assert len(asked) == 20
    folder = benchmark.write_model(options, tmp_path)
    results = benchmark.measure(benchmark.sides(options), folder, asked, options)
    theirs, in_batches, ours, ours_in_batches = (found["answers"] for found in results.values())
    assert theirs == in_batches
    assert ours == ours_in_batches
    assert sum(map(list.__eq__, theirs, ours)) >= 10
    parts = results[benchmark.sides(options)[2]]["parts"]
    assert list(parts) == ["reading", "converting", "model", "decoding"]
    assert min(parts.values()) > 0
    assert sum(parts.values()) == pytest.approx(sum(list(results.values())[2]["seconds"]))
    (job,) = benchmark.jobs(results, folder, asked, options)
    # Of tables that do not fit, create_data and the predictor drop something else.
    assert job["same as one at a time"] >= 0.8
    assert min(job["create_data"], job["predict"]) > 1


def test_expanded_cells(benchmark, goldens):
    """Cells with the sentences of their links that are most like the question, k in a table."""
    raw = goldens / "metrics" / "open" / "hybridqa" / "raw"
    options = argparse.Namespace(
        input_dir=raw, hybridqa=True, sentences=40, questions=3, min_words=0
    )
    expanded = benchmark.read_questions(options)
    options.sentences = 0
    plain = benchmark.read_questions(options)
    assert expanded
    for ours, without in zip(expanded, plain, strict=True):
        assert (ours["columns"], ours["question"]) == (without["columns"], without["question"])
        pairs = [
            pair
            for rows in zip(ours["rows"], without["rows"], strict=True)
            for pair in zip(*rows, strict=True)
        ]
        assert all(own.startswith(cell) for own, cell in pairs)
        assert any(len(own) > len(cell) + 20 for own, cell in pairs)


def test_long_tables_are_chosen(benchmark):
    asked = [{"rows": [["a b"] * number], "question": number} for number in range(10)]
    found = benchmark.end_to_end_questions.chosen(asked, 3, 6)
    assert [each["question"] for each in found] == [3, 5, 7]
