"""Texts through the command line: spans, choices of endings, a number of a pair, two towers."""

import json

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.data import records
from mate_tf.evaluation import predictions

from .. import graphs

WORDS = "where is bern ? on the aare . a river she waves he sits runs flies eats ,"
BYTES = "32, tokens: bytes"
CONFIG = """
task:
  name: NAME
  conversion: {max_seq_length: LENGTH}
  train_data: {global_batch_size: 4, seed: 0}
  validation_data: {global_batch_size: 4}
  model:
    encoder:
      vocab_size: 300
      hidden_size: 16
      num_hidden_layers: 1
      num_attention_heads: 2
      intermediate_size: 16
trainer: {train_steps: 2, steps_per_loop: 1, summary_interval: 1, checkpoint_interval: 1,
  validation_interval: 2}
tf_random_seed: 0
"""


@pytest.fixture
def flags(tmp_path):
    """flags(task, length): those of a tiny experiment with files in <tmp_path>/official."""

    def make(name, length="48"):
        config = CONFIG.replace("NAME", name).replace("LENGTH", length)
        (tmp_path / "tiny.yaml").write_text(config)
        pieces = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[EMPTY]", *WORDS.split())
        (tmp_path / "vocab.txt").write_text("\n".join(pieces))
        given = () if length == BYTES else (f"--bert_vocab_file={tmp_path / 'vocab.txt'}",)
        return (
            *given,
            f"--config_file={tmp_path / 'tiny.yaml'}",
            f"--input_dir={tmp_path / 'official'}",
            f"--output_dir={tmp_path / 'out'}",
            "--num_processes=1",
        )

    (tmp_path / "official").mkdir()
    return make


def served(tmp_path, count):
    """The outputs of the exported model for the first examples of dev."""
    model = tf.saved_model.load(str(tmp_path / "out" / "model" / "export"))
    examples = records.read_examples(tmp_path / "out" / "tf_examples" / "dev.tfrecord")
    serialized = [next(examples).SerializeToString() for _ in range(count)]
    return model.signatures["serving_examples"](examples=tf.constant(serialized))


def squad_file(count):
    context = "Bern  is on the Aare . " + "a river . " * 12
    return {
        "data": [
            {
                "title": "Bern",
                "paragraphs": [
                    {
                        "context": context,
                        "qas": [
                            {
                                "id": f"q{i}",
                                "question": "Where is Bern?",
                                "answers": [{"text": "the Aare", "answer_start": 12}] * (i % 2),
                                "is_impossible": i % 2 == 0,
                            }
                            for i in range(count)
                        ],
                    }
                ],
            }
        ]
    }


def test_squad(command, refused, flags, tmp_path):
    for split, count in (("train", 4), ("dev", 3)):
        path = tmp_path / "official" / f"{split}-v2.0.json"
        path.write_text(json.dumps(squad_file(count)))
    windows = "task.conversion.doc_stride=16,task.conversion.max_question_length=8"
    arguments = (*flags("SQUAD"), f"--params_override={windows},task.version=v2.0")
    output = command("--mode=run", *arguments)
    # 42 tokens, 41 of them and then 25 fit into windows of 48 beside the question
    assert "8 examples of 4 questions (100.0%)" in output
    assert "span accuracy  " in output
    model_dir = tmp_path / "out" / "model"
    of_model = json.loads((model_dir / "metrics.json").read_text())["dev"]["SQuAD v2.0"]["model"]
    assert (of_model["questions"], of_model["unanswered"]) == (3, 0)
    assert of_model["F1, answerable"][1] == 1
    answers, probabilities = (
        json.loads((model_dir / f"dev.{kind}.json").read_text())
        for kind in ("predictions", "na_probs")
    )
    assert set(answers) == set(probabilities) == {"q0", "q1", "q2"}
    context = squad_file(0)["data"][0]["paragraphs"][0]["context"]
    assert all(text in context for text in answers.values())
    assert all((probabilities[name] > 0.5) == (text == "") for name, text in answers.items())
    threshold = "--params_override=task.null_score_diff_threshold=-1000"
    with graphs.avoided():  # they were traced above
        command("--mode=predict", *arguments, threshold)
    answers = json.loads((model_dir / "dev.predictions.json").read_text())
    assert set(answers.values()) == {""}
    command("--mode=export", *arguments)
    outputs = served(tmp_path, 2)
    assert outputs["pred_span"].shape == (2, 2)
    assert np.all(outputs["empty_span_log_prob"] < 0)
    other = refused("--mode=create_data", *arguments, "--params_override=task.version=v1.1")
    assert other.endswith("train-v1.1.json: no such file; the folder has that of task.version=v2.0")


def test_swag(command, refused, flags, tmp_path):
    endings = "ending0,ending1,ending2,ending3"
    row = "She waves.,He,sits.,runs.,flies on the river a.,eats."
    for split, count in (("train", 8), ("val", 5)):
        rows = [f"{i},{row},{i % 4}" for i in range(count)]
        text = "\n".join([f",sent1,sent2,{endings},label", *rows])
        (tmp_path / "official" / f"{split}.csv").write_text(f"{text}\n")
    (tmp_path / "official" / "test.csv").write_text(f",sent1,sent2,{endings}\n0,{row}\n")
    arguments = flags("SWAG")
    output = command("--mode=run", *arguments)
    # 12 tokens for each choice, of which the longest has 13
    assert "5 sequence tokens dropped in 5 examples" in output
    assert "class accuracy  " in output
    model_dir = tmp_path / "out" / "model"
    results = json.loads((model_dir / "metrics.json").read_text())
    assert results["dev"]["SWAG"]["model"]["questions"] == 5
    assert results["test"]["SWAG"]["model"] == {"questions without gold answer": 1}
    first = json.loads((model_dir / "dev.json").read_text())[0]
    assert len(first["class_probabilities"]) == 4
    command("--mode=export", *arguments)
    outputs = served(tmp_path, 1)
    np.testing.assert_allclose(
        outputs["class_probabilities"][0], first["class_probabilities"], atol=1e-5
    )
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    export = f"--export_dir={model_dir / 'export'}"
    message = refused("--mode=ask", export, f"--table={table}", "--question=?")
    assert "the model does not read tables; it takes tf.train.Examples" in message


@pytest.mark.usefixtures("without_graphs")
def test_a_number_of_a_pair(command, flags, tmp_path):
    rows = [f"a {i}\tb {i % 3}\t{i % 6}" for i in range(9)]
    for split in ("train", "dev"):
        text = "\n".join(["sentence1\tsentence2\tscore", *rows]) + "\n"
        (tmp_path / "official" / f"{split}.tsv").write_text(text)
    (tmp_path / "official" / "test.tsv").write_text("sentence1\tsentence2\na\tb\n")
    output = command("--mode=run", *flags("STS-B", BYTES))
    assert "squared error  " in output
    model_dir = tmp_path / "out" / "model"
    results = json.loads((model_dir / "metrics.json").read_text())
    of_model = results["dev"]["STS-B"]["model"]
    assert set(of_model) > {"Pearson correlation", "Spearman correlation"}
    assert (of_model["questions"], of_model["unanswered"]) == (9, 0)
    assert results["test"]["STS-B"]["model"] == {"questions without gold answer": 1}
    # Both files have the number, which is not a class.
    by_name = {each.question_id: each for each in predictions.read_json(model_dir / "dev.json")}
    for each in predictions.read_tsv(model_dir / "dev.tsv"):
        assert each.value == pytest.approx(by_name[each.question_id].value)
        assert each.class_index is None
        assert each.class_probabilities == ()


@pytest.mark.usefixtures("without_graphs")
def test_two_towers(command, refused, flags, tmp_path):
    rows = [f"{i % 2}\tP{i}\tQ{i}\tpaper {i}\tanother paper, {i}" for i in range(6)]
    for split in ("train", "eval", "test"):
        path = tmp_path / "official" / f"new_aan_pairs.{split}.tsv"
        path.write_text("\n".join(rows) + "\n")
    arguments = flags("LRA_RETRIEVAL", BYTES)
    output = command("--mode=create_data", *arguments)
    # 16 bytes for each paper, [CLS] among them.
    assert "sequence tokens dropped in 6 examples" in output
    command("--mode=train", *arguments)
    command("--mode=predict_and_evaluate", *arguments)
    results = json.loads((tmp_path / "out" / "model" / "metrics.json").read_text())
    assert results["dev"]["LRA_RETRIEVAL"]["model"]["questions"] == 6
    longer = refused("--mode=train", *arguments, "--max_seq_length=9000")
    assert longer.startswith("task.conversion.max_seq_length=9000 is more than task.model.encoder.")
