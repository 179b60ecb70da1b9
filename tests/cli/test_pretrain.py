"""--task=PRETRAIN through its modes, on the interactions of another task, and on into that task."""

import gzip
import itertools
import re

import pytest

from mate_tf.training import trainer

CONFIG = """
task:
  name: PRETRAIN
  conversion: {max_seq_length: 64}
  train_data: {global_batch_size: 4, seed: 0}
  validation_data: {global_batch_size: 4}
  model:
    encoder:
      vocab_size: VOCAB_SIZE
      hidden_size: 16
      num_hidden_layers: 1
      num_attention_heads: 2
      intermediate_size: 16
      # What the small task's encoder has.
      disabled_features: [prev_label_ids]
      attention: {name: full}
trainer: {train_steps: 2, steps_per_loop: 1, summary_interval: 1, checkpoint_interval: 1,
  validation_interval: 2}
tf_random_seed: 0
"""


@pytest.fixture(scope="module")
def arguments(created, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretrain")
    vocabulary = created / "vocab.txt"
    pieces = len(vocabulary.read_text(encoding="utf-8").splitlines())
    config = folder / "tiny.yaml"
    config.write_text(CONFIG.replace("VOCAB_SIZE", str(pieces)))
    return (
        f"--config_file={config}",
        f"--bert_vocab_file={vocabulary}",
        f"--input_dir={created}",
        f"--output_dir={folder / 'out'}",
        "--num_processes=1",
    )


def figures(output, title):
    """What the table with this title says: name -> value with its unit."""
    _, _, table = output.partition(f"{title}step 2\n")
    rows = itertools.takewhile(lambda line: line.startswith("  "), table.splitlines())
    return dict(re.split("  +", row.strip(), maxsplit=1) for row in rows)


def test_all_modes_and_fine_tuning(command, arguments, created, config_file, monkeypatch, tmp_path):
    output = command("--mode=run", *arguments)
    assert "created | dev: " in output
    trained = figures(output, "trained | ")
    assert set(trained) > {"masked lm accuracy", "masked lm loss", "next sentence accuracy"}
    assert trained["masked lm accuracy"].endswith(" %")

    # Another evaluation of the same weights masks the same words.
    evaluated = figures(command("--mode=eval", *arguments), "evaluated | ")
    assert evaluated == trained

    # The steps of the following trainings are those of any other task; they only begin.
    begun = []

    def begin(controller, config, evaluating):
        begun.append((int(controller.global_step.numpy()), config.train_steps, evaluating))
        return {}

    monkeypatch.setattr(trainer, "_run_training", begin)

    # It goes on where it stopped.
    folder = arguments[3].partition("=")[2]
    assert "trained | step 2\n" in command("--mode=train", *arguments, "--num_train_steps=3")
    assert begun == [(2, 3, True)]

    # With full attention before, with mate_efficient now.
    output = command(
        "--mode=train",
        f"--config_file={config_file}",
        f"--output_dir={created}",
        f"--model_dir={tmp_path / 'fine_tuned'}",
        f"--init_checkpoint={folder}/model",
    )
    (line,) = (line for line in output.splitlines() if line.startswith("initialized | "))
    missing = line.partition("missing: ")[2].partition(";")[0]
    assert "encoder/" not in missing
    assert "heads" in missing
    assert begun[1:] == [(0, 2, True)]


@pytest.mark.parametrize("mode", ["predict", "predict_and_evaluate", "export", "ask"])
def test_modes_it_does_not_have(refused, arguments, tmp_path, mode):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "saved_model.pb").touch()
    asked = (f"--table={tmp_path / 't.csv'}", "--question=a?") if mode == "ask" else ()
    asked += (f"--export_dir={tmp_path}",) if mode in ("ask", "export") else ()
    message = refused(f"--mode={mode}", *arguments, f"--model_dir={tmp_path}", *asked)
    start = f"task PRETRAIN does not answer questions, so it has no --mode={mode}"
    assert message.startswith(start)


def test_no_interactions_there(refused, arguments, tmp_path):
    message = refused("--mode=create_data", *arguments, f"--input_dir={tmp_path}")
    assert message.startswith(f"{tmp_path}: has no table for train with task.dev_share=0.05 in ")
    assert message.endswith("and no interactions/train*.tfrecord of --mode=create_data")


def test_the_published_corpus(command, refused, arguments, tmp_path):
    """TAPAS's interactions.txtpb.gz as it is; then with a bad line."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    lines = [
        'table: { columns: { text: "Year" } columns: { text: "Film" } '
        f'rows: {{ cells: {{ text: "20{page}" }} cells: {{ text: "Film \\303\\251 {page}" }} }} '
        f'table_id: "http://en.wikipedia.org/wiki/P{page}_1" }} '
        f'questions: {{ id: "TITLE" original_text: "Title {page}" }}\n'
        for page in range(10, 50)
    ]
    with gzip.open(corpus / "interactions.txtpb.gz", "wt") as file:
        file.writelines(lines)
    flags = (
        *arguments,
        f"--input_dir={corpus}",
        f"--output_dir={tmp_path / 'out'}",
        "--params_override=task.dev_share=0.2",
    )
    output = command("--mode=create_data", *flags)
    train = re.search(r"created \| train: (\d+) examples of (\d+) questions \(100.0%\)", output)
    dev = re.search(r"created \| dev: (\d+) examples of (\d+) questions \(100.0%\)", output)
    assert int(train[1]) + int(dev[1]) == len(lines)
    assert int(dev[1]) > 0

    with gzip.open(corpus / "interactions.txtpb.gz", "at") as file:
        file.write("tabel: {}\n")
    message = refused("--mode=create_data", *flags, "--params_override=task.dev_share=0.001")
    assert f"{corpus}/interactions.txtpb.gz line 41: not an interaction" in message
    assert 'has no field named "tabel"' in message
