"""--mode=ask: what is printed, and what is said of tables that cannot be used."""

import json

import pytest

from mate_tf.cli import ask
from mate_tf.serving import presets
from mate_tf.serving.predictor import Predictor
from mate_tf.tables.any_table import read_table

pytestmark = pytest.mark.usefixtures("loaded_once")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("name,age\nAnn,30\nBob,41\nCy,52\n")
    return path


@pytest.fixture
def exported(trained_model):
    """The flag of a folder with an export."""
    return f"--model_dir={trained_model}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n1,2\n1,2,3\n", "row 2 (line 3) has 3 cells, but the header has 2 cells"),
        (None, "no such file"),
    ],
    ids=["ragged", "missing"],
)
def test_unusable_tables(refused, tmp_path, content, words):
    """Said before any model is looked for."""
    path = tmp_path / "bad.csv"
    if content is not None:
        path.write_bytes(content)
    message = refused("--mode=ask", f"--table={path}", "--question=who?", "--export_dir=absent")
    assert message.startswith(f"{path}: {words}")


def test_by_the_ending_of_the_name(tmp_path):
    for name, content in (
        ("t.tsv", "a\tb\n1,5\t2\n"),
        ("t.json", '{"columns": ["a", "b"], "rows": [["1,5", 2]]}'),
        ("t.CSV", 'a,b\n"1,5",2\n'),
        ("t", "a;b\n1,5;2\n"),
    ):
        (tmp_path / name).write_text(content)
        table = read_table(str(tmp_path / name))
        assert (table.columns, table.rows) == (("a", "b"), (("1,5", "2"),))


def test_what_is_missing(refused, table, tmp_path, monkeypatch):
    monkeypatch.setattr(presets, "FOLDERS", ())
    assert "needs --table" in refused("--mode=ask", "--question=who?")
    assert "needs --question" in refused("--mode=ask", f"--table={table}")
    asked = ("--mode=ask", f"--table={table}", "--question=who?")
    assert "needs --export_dir" in refused(*asked)
    assert refused(*asked, f"--export_dir={tmp_path}") == (
        f"{tmp_path}: no SavedModel here; --mode=export writes one"
    )
    # As --mode=export would have written it.
    assert refused(*asked, f"--output_dir={tmp_path}").startswith(f"{tmp_path}/model/export: no ")


def test_prints_json_and_a_table(command, exported, table):
    output = command("--mode=ask", exported, f"--table={table}", "--question=who is 41?")
    answer = json.loads(next(line for line in output.splitlines() if line.startswith("{")))
    fields = {"cells", "aggregation", "value", "probability", "text", "cuts"}
    assert set(answer) == fields | {"confidence", "answerable", "notes"}
    assert (answer["confidence"], answer["answerable"], answer["notes"]) == (None, True, [])
    assert answer["cells"]
    for cell in answer["cells"]:
        assert f"**{cell['text']}**" in output
    assert "cut: " not in output


def test_says_what_was_cut(command, exported, tmp_path):
    path = tmp_path / "large.csv"
    columns = ",".join(f"c{number}" for number in range(20))
    path.write_text("\n".join([columns, *["1" + ",2" * 19] * 30]))
    output = command("--mode=ask", exported, f"--table={path}", "--question=who?")
    cuts = [line for line in output.splitlines() if line.startswith("cut: ")]
    assert "cut: 13 columns dropped: 8 to 20" in cuts
    assert not any("rows" in cut for cut in cuts)
    output = command("--mode=ask", exported, f"--table={path}", "--question=who?", "--prune_rows")
    assert "cut: 15 rows dropped: 16 to 30" in output.splitlines()


def test_questions_are_a_conversation(capsys, monkeypatch):
    """Each sees the answer before it, unless they are independent; each answer has a confidence."""
    asked = []

    class Table:
        num_rows = 3

        def render(self, coordinates):
            return "table"

    class Answer:
        coordinates, cuts, notes, answerable, text = (), (), (), True, "60"
        confidence = 0.2

        def to_json(self):
            return {}

    class Predictor:
        def prepare(self, table):
            return "prepared", table

        def ask(self, table, question, previous):
            assert table[0] == "prepared"
            asked.append(previous)
            return Answer()

    answers = ask.answer_all(Predictor(), Table(), ["a", "b", "c"])
    assert asked == [None, *answers[:2]]
    assert capsys.readouterr().out.count("}\n60 (unsure, confidence 20 %)\ntable\n") == 3
    ask.answer_all(Predictor(), Table(), ["a", "b"], conversation=False, form=ask.TABLE)
    assert asked[3:] == [None, None]
    printed = capsys.readouterr()
    assert "\nb\n60 (unsure, confidence 20 %)\ntable\n" in printed.out
    assert printed.err == ""
    monkeypatch.setattr(Table, "num_rows", 12_000)
    ask.answer_all(Predictor(), Table(), ["a", "b"])
    assert capsys.readouterr().err.splitlines() == [
        "reading | numbers, dates and words of 12,000 rows",
        "asking | question 1 of 2",
        "asking | question 2 of 2",
    ]


def test_without_a_model_it_is_the_preset(
    command, refused, trained_model, table, tmp_path, monkeypatch
):
    monkeypatch.setattr(presets, "FOLDERS", (tmp_path,))
    Predictor.from_pretrained(trained_model).save_preset(tmp_path / presets.DEFAULT)
    asked = ("ask", table, "who is 41?", "--format=json")
    assert command(*asked) == command(*asked, f"--init_checkpoint={tmp_path / presets.DEFAULT}")
    # A model that is named is never replaced.
    assert "no SavedModel here" in refused(*asked, f"--output_dir={tmp_path}")
