"""tfds builders give what is in the official files: parts of the real ones, loaded by name."""

import ast
import asyncio
import csv
import itertools
import json
import math

import pytest
import tensorflow_datasets as tfds

from mate_tf.data.converters import expansion
from mate_tf.data.datasets import hybridqa, sqa, tabfact, tables_tfds, wikitq
from mate_tf.errors import InputError

SHARED = ["header", "question", "question_id", "rows", "table_id", "title"]


def load(name, manual_dir, data_dir, **options):
    """As in a notebook, where a loop of asyncio is running already."""

    async def cell():
        manual = tfds.download.DownloadConfig(manual_dir=str(manual_dir))
        return tfds.load(
            name,
            data_dir=str(data_dir),
            download_and_prepare_kwargs={"download_config": manual},
            with_info=True,
            **options,
        )

    datasets, info = asyncio.run(cell())
    found = {
        split: {example["question_id"].decode(): example for example in tfds.as_numpy(dataset)}
        for split, dataset in datasets.items()
    }
    assert {split: len(examples) for split, examples in found.items()} == {
        split: info.splits[split].num_examples for split in info.splits
    }
    return found, info


def some_lines(source, target, count):
    """The first lines of a file."""
    with open(source, encoding="utf-8", newline="") as file:
        lines = list(itertools.islice(file, count))
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "w", encoding="utf-8", newline="") as file:
        file.writelines(lines)


def lists(value):
    return value.to_list() if hasattr(value, "to_list") else value.tolist()


def check_question_and_table(example, interaction, question):
    table = interaction.table
    assert example["question"].decode() == question.original_text
    assert example["table_id"].decode() == table.table_id
    assert example["title"].decode() == table.document_title
    assert [name.decode() for name in example["header"]] == [cell.text for cell in table.columns]
    rows = [[cell.text.encode() for cell in row.cells] for row in table.rows]
    assert lists(example["rows"]) == rows


def check_all(examples, interactions):
    """The same questions with the same tables; returns pairs of an example and a question."""
    expected = {
        question.id: (interaction, question)
        for interaction in interactions
        for question in interaction.questions
    }
    assert examples.keys() == expected.keys()
    for name, example in examples.items():
        check_question_and_table(example, *expected[name])
    return [(example, expected[name][1]) for name, example in examples.items()]


def cells(example, feature="answer_cells"):
    found = example[feature]
    return list(zip(found["row"].tolist(), found["column"].tolist(), strict=True))


def answer_cells(question):
    return [(cell.row_index, cell.column_index) for cell in question.answer.answer_coordinates]


def texts(example):
    return [text.decode() for text in example["answer_texts"]]


@pytest.fixture
def sqa_part(sqa_dir, tmp_path):
    folder = tmp_path / "official"
    for stem in sqa.splits().values():
        some_lines(sqa_dir / f"{stem}.tsv", folder / f"{stem}.tsv", 30)
    (folder / "table_csv").symlink_to(sqa_dir / "table_csv")
    return folder


def test_sqa(sqa_part, tmp_path):
    found, info = load(tables_tfds.Sqa.name, sqa_part, tmp_path / "tfds")
    assert set(found) == {"train", "dev", "test"}
    own = ["answer_cells", "answer_texts", "position", "sequence_id"]
    assert sorted(info.features) == sorted(SHARED + own)
    for split, stem in sqa.splits().items():
        check_all(found[split], sqa.read(sqa_part, stem))
        with open(sqa_part / f"{stem}.tsv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        assert len(rows) == len(found[split])
        for row in rows:
            sequence = f"{row['id']}-{row['annotator']}"
            example = found[split][f"{sequence}_{row['position']}"]
            assert example["sequence_id"].decode() == sequence
            assert example["position"] == int(row["position"])
            assert texts(example) == ast.literal_eval(row["answer_text"])
            named = {ast.literal_eval(each) for each in ast.literal_eval(row["answer_coordinates"])}
            assert cells(example) == sorted(named)


def test_broken_file(sqa_part, tmp_path):
    path = sqa_part / "test.tsv"
    path.write_text(path.read_text(encoding="utf-8") + "ns-1\t0\n", encoding="utf-8")
    with pytest.raises(Exception, match=r"test\.tsv line 31: 2 fields where the header has"):
        load("sqa", sqa_part, tmp_path / "tfds")


def test_nothing_there(tmp_path):
    folder = tmp_path / "official"
    folder.mkdir()
    (folder / "README").write_text("nothing")
    with pytest.raises(InputError, match="official: has no official file of tab_fact"):
        load("tab_fact", folder, tmp_path / "tfds")
    with pytest.raises(AssertionError, match=r"github\.com/ppasupat/WikiTableQuestions"):
        load("wtq", tmp_path / "absent", tmp_path / "tfds")


def test_wikitq(wikitq_dir, tmp_path):
    folder = tmp_path / "official"
    for split in ("train", "test"):
        name = f"{wikitq.splits()[split]}.tsv"
        some_lines(wikitq_dir / "data" / name, folder / "data" / name, 40)
    (folder / "csv").symlink_to(wikitq_dir / "csv")
    found, info = load(tables_tfds.Wtq.name, folder, tmp_path / "tfds")
    assert set(found) == {"train", "test"}
    own = ["answer_cells", "answer_number", "answer_texts", "problem"]
    assert sorted(info.features) == sorted(SHARED + own)
    problems = 0
    for split, examples in found.items():
        assert len(examples) == 39
        for example, question in check_all(
            examples, wikitq.read(folder, split, original_cells=True)
        ):
            answer = question.answer
            assert texts(example) == list(answer.answer_texts)
            assert cells(example) == answer_cells(question)
            assert bool(example["problem"]) == (not answer.is_valid)
            problems += not answer.is_valid
            if answer.HasField("float_value"):
                assert example["answer_number"] == pytest.approx(answer.float_value)
            else:
                assert math.isnan(example["answer_number"])
    assert 0 < problems < 40


def test_tabfact(tabfact_dir, tmp_path):
    folder = tmp_path / "official"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "all_csv").symlink_to(tabfact_dir / "data" / "all_csv")
    (folder / "tokenized_data").symlink_to(tabfact_dir / "tokenized_data")
    with open(tabfact_dir / "data" / "val_id.json", encoding="utf-8") as file:
        tables = json.load(file)[:4]
    (folder / "data" / "val_id.json").write_text(json.dumps(tables))
    found, info = load(tables_tfds.TabFact.name, folder, tmp_path / "tfds")
    assert set(found) == {"dev"}
    assert sorted(info.features) == sorted([*SHARED, "label"])
    with open(folder / "tokenized_data" / "val_examples.json", encoding="utf-8") as file:
        statements = json.load(file)
    expected = {
        (f"table_csv/{table}", text): "entailed" if label else "refuted"
        for table in tables
        for text, label in zip(*statements[table][:2], strict=True)
    }
    label = info.features["label"]
    assert {
        (example["table_id"].decode(), example["question"].decode()): label.int2str(
            int(example["label"])
        )
        for example in found["dev"].values()
    } == expected
    assert {example["title"].decode() for example in found["dev"].values()} == {
        statements[table][2] for table in tables
    }
    check_all(found["dev"], tabfact.read(folder, "dev"))


def test_hybridqa(goldens, tmp_path):
    raw = goldens / "metrics" / "open" / "hybridqa" / "raw"
    found, info = load(tables_tfds.HybridQa.name, raw, tmp_path)
    assert set(info.splits) == set(hybridqa.SPLITS)
    for split in hybridqa.SPLITS:
        interactions = {each.questions[0].id: each for each in hybridqa.read(raw, split)}
        for example, question in check_all(found[split], interactions.values()):
            interaction = interactions[question.id]
            table = interaction.table
            assert example["answer"].decode() == "".join(question.answer.answer_texts)
            assert cells(example, "candidate_cells") == answer_cells(question)
            passages = example["passages"]
            assert dict(zip(passages["identifier"], passages["text"], strict=True)) == {
                name.encode(): text.encode()
                for name, text in expansion.passages(interaction).items()
            }
            assert len(example["links"]["row"]) == sum(
                len(expansion.links(cell))
                for row in [table.columns, *(row.cells for row in table.rows)]
                for cell in row
            )
