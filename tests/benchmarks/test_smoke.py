"""Each benchmark at its smallest size: it ends well, prints its table and writes files."""

import importlib
import json
import pathlib
import shlex
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import yaml

from mate_tf.attention import base
from mate_tf.attention import config as attention_options
from mate_tf.checkpoints import safetensors
from mate_tf.models.encoder import TableEncoder
from mate_tf.training import experiments

from ..checkpoints.test_huggingface import bert_tensors
from ..cli import test_pointr
from ..cli.conftest import invoke

pytestmark = pytest.mark.slow

PROJECT = pathlib.Path(__file__).resolve().parents[2]
FOLDER, CONFIGS = PROJECT / "benchmarks", PROJECT / "configs"
HELPERS = {"long_files", "common", "table_questions_worker", "variables_as_arguments"}
ELSEWHERE = {"tpu_lowering": "tests/tpu/test_lowering.py"}
"""Benchmark -> what runs it instead."""

ROWS = [("ann", "bern"), ("bob", "basel"), ("cy", "chur"), ("dee", "genf")]
CHARACTERS = [chr(number) for number in range(33, 127) if not chr(number).isupper()]
ENCODER = {"hidden_size": 24, "num_attention_heads": 2, "intermediate_size": 16}
TRAINER = "trainer.steps_per_loop=1,trainer.summary_interval=1,trainer.validation_interval=2"
SIZES = {
    "attention": (
        "--lengths 64 --variants full mate_efficient --compile plain --repeats 1",
        "mate_efficient",
    ),
    "attention_flow": ("--examples {wtq_dev}", "largest difference"),
    "compiled_cache": ("--precisions float32 --repeats 1", "with the cache"),
    "conversion": ("--input_dir {wikitq} {vocab} --max_seq_length 64 --processes 1", "questions/s"),
    "coverage_of_answers": (
        "--wikitq_dir {wikitq} --hybridqa_dir {hybridqa} {vocab} --lengths 64",
        "ranked and filled",
    ),
    "custom": (
        f"--tables 2 1 --data {{out}} --params_override {TRAINER},trainer.train_steps=2",
        "commonest answer",
    ),
    "deeper": ("{project}/models/mini {out}/deeper --after 1 3", "6 layers"),
    "encoder_decoder_speed": (
        "--lengths 64 --target 5 --layers 1 --repeats 1 --parts encoder --variants tree_fine",
        "training step",
    ),
    "end_to_end": (
        "--input_dir {wikitq} {vocab} --peers_python {peers} --questions 4 --chunk 2 "
        "--layers 1 --hidden_size 128 --batch_sizes 1 2 --attention full --precisions float32",
        "both commands, their start included",
    ),
    "engines": (
        "--peers_python {peers} --layers 1 --lengths 32 --repeats 1 "
        "--sides 'mate-tf openvino full float32' 'hugging-face torch float32'",
        "mate-tf openvino full float32",
    ),
    "equal_steps": (
        "--config_file {configs}/sqa_small.yaml --data {sqa_data} --work_dir {out} {vocab} "
        "--steps 2 --metric 'SQA | ALL' --starts nothing= --attention mate_efficient full "
        "--perturb rows",
        "95 % interval",
    ),
    "hybridqa_coverage": (
        "--input_dir {hybridqa} {vocab} --limits 0 5 --processes 1",
        "fit 2048 tokens, k=5",
    ),
    "latest_dates": ("", "tables in the right order  20 of 20"),
    "least_mass": (
        "--steps 2 --seeds 0 --tree_height 1 --bounds 1e-9 0.5 --config {small} --data {out}",
        "LEAST_MASS",
    ),
    "long_tables": (
        "--interactions {wtq}/interactions/dev.tfrecord --lengths 0 30 --tables 2",
        "calibration error",
    ),
    "mate_choices": ("--lengths 512 --num_hidden_layers 1 --repeats 1", "fused projections"),
    "mini": ("--model {model}", "row and column match, counted"),
    "mini_examples": (
        "--wtq {wtq} --sqa {sqa_data} --questions {wtq} --long 2 "
        "--config_file {configs}/wtq_mini_long.yaml {vocab}",
        "train.tfrecord",
    ),
    "office": ("--sets {few}", "of the shown ones right"),
    "packing": (
        "--examples {wtq_dev} --attention mate_efficient --questions 32 --batch_size 2 "
        "--hidden_size 64 --num_hidden_layers 1 --repeats 1",
        "the first attention's",
    ),
    "pointr": (
        "--input_dir {hybridqa} --weights {reader} --config {pointr} --data {out} "
        "--variants Passage-Only",
        "TF-IDF of cells",
    ),
    "programs": ("--interactions {wtq}/interactions/dev.tfrecord --every 4", "programs: "),
    "pretrained_parity": (
        "--input_dir {wikitq} {vocab} --peers_python {peers} --questions 4 --layers 1",
        "same cells",
    ),
    "pruning": ("--sqa_dir {sqa} --wikitq_dir {wikitq} {vocab} --lengths 32", "rows 100.0"),
    "reader_examples": ("--hybridqa {hybridqa} --xquad {xquad}", "dev-v1.1.json: 8 questions"),
    "scattered_masks": ("--length 64 --repeats 1", "gathered keys, XLA"),
    "serving_features": ("--input_dir {wikitq} {vocab}", "share of ranks equal"),
    "service": ("--seconds 4 --clients 4 --malformed 60", "refused by 4xx in one line   60"),
    "serving_load": (
        "{vocab} --attention full --lengths 64 --requests 10 --threads 2 --batch_size 2 "
        "--hidden_size 16 --num_hidden_layers 1",
        "astray 0",
    ),
    "sparsebert": (
        "--text {text} --glue {glue} --weights {bert} --vocab {bert}/vocab.txt --data {out} "
        "--tasks SST-2 --parts masks glue --prices 0.1 --steps 2 --seeds 0 --precision float32",
        "random, as sparse",
    ),
    "static_masks_speed": ("--lengths 64 --repeats 1 --variants banded", "banded"),
    "summarization": (
        "--passages {passages} --weights {bert} --variants full --steps 2 --held_out 3 "
        "--data {out} --params_override {summaries}",
        "loss with another passage",
    ),
    "synonyms": (
        "--interactions {wtq}/interactions/dev.tfrecord",
        "written | ",
    ),
    "table_readers": ("", "mate-tf, by column"),
    "treeformer_learning": (
        "--tasks recall --seeds 0 --steps 2 --tree_height 1 --data {out} "
        "--params_override task.generation.num_train=64,task.generation.num_dev=8 "
        f"--params_override {TRAINER},task.generation.num_test=8 "
        "--variants full 'tree_fine, bootstrapped'",
        "tree_fine, bootstrapped",
    ),
    "treeformer_speed": ("--lengths 128 --repeats 1 --variants tree_fine", "tree_fine skewed"),
    "unanswerable": ("--model_dir {model} --questions 5", "calibration error"),
    "visible_pairs": ("--examples {wtq_dev}", "same_row_or_column"),
}
"""Benchmark -> its arguments, where {…} is of the fixture `paths`, and a part of what it prints."""


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def write_official_files(folder):
    """SQA and WikiTableQuestions: a table, and a question about each of its rows."""
    table = "".join(f"{name},{town}\n" for name, town in [("name", "town"), *ROWS])
    sqa = ["id\tannotator\tposition\tquestion\ttable_file\tanswer_coordinates\tanswer_text"]
    wikitq = ["id\tutterance\tcontext\ttargetValue"]
    for row, (name, town) in enumerate(ROWS):
        where = f"nt-{row}\t0\t0\twhere is {name} ?\ttable_csv/a.csv"
        sqa.append(f"{where}\t\"['({row}, 1)']\"\t\"['{town}']\"")
        wikitq.append(f"nt-{row}\twhere is {name} ?\tcsv/204-csv/1.csv\t{town}")
    write(folder / "sqa" / "table_csv" / "a.csv", table)
    write(folder / "wikitq" / "csv" / "204-csv" / "1.csv", table)
    splits = ("random-split-1-train", "random-split-1-dev")
    for stem in (*splits, "train", "test"):
        write(folder / "sqa" / f"{stem}.tsv", "\n".join(sqa) + "\n")
    for stem in (*splits, "training", "pristine-unseen-tables"):
        write(folder / "wikitq" / "data" / f"{stem}.tsv", "\n".join(wikitq) + "\n")


def write_texts(folder):
    """Documents, sentences with classes, passages, and questions about a text."""
    words = np.random.default_rng(0).choice(list("abcdefgh"), [60, 6, 6])
    documents = ("\n".join(map(" ".join, document)) for document in words)
    write(folder / "text" / "a.txt", "\n\n".join(documents))
    lines = ["sentence\tlabel", *(f"a{i} b{i}\t{i % 2}" for i in range(16))]
    for split in ("train", "dev"):
        write(folder / "glue" / "SST-2" / f"{split}.tsv", "\n".join(lines) + "\n")
    write(folder / "glue" / "SST-2" / "test.tsv", "index\tsentence\n0\ta b\n")
    passages = {
        f"/wiki/{i}": f"Town {i} is a small town . It has {f'w{i} ' * 12}. It is old ."
        for i in range(12)
    }
    write(folder / "passages" / "a.json", passages)
    paragraph = {"context": "Chi won .", "qas": [{"id": "0", "question": "who?", "answers": []}]}
    write(folder / "xquad.json", {"data": [{"title": "A", "paragraphs": [paragraph]}] * 9})


def write_few(folder):
    """Two questions of office work, one without an answer."""
    write(folder / "a.csv", "name,town\nann,bern\nbob,basel\n")
    asked = [("where does ann live?", "bern"), ("how much does bob cost?", None)]
    lines = [{"table": "a.csv", "question": text, "answer": answer} for text, answer in asked]
    write(folder / "questions.jsonl", "\n".join(map(json.dumps, lines)))
    return folder


def write_weights(folder, vocab):
    """A BERT in Hugging Face's format, and the encoder of POINTR's reader as a checkpoint."""
    sizes = {"vocab_size": vocab, "num_hidden_layers": 6, "max_position_embeddings": 128}
    sizes |= {name: ENCODER[name] for name in ("hidden_size", "intermediate_size")}
    tensors = {name: each.astype(np.float32) for name, each in bert_tensors(**sizes).items()}
    config = {"model_type": "bert", "num_attention_heads": 2, "type_vocab_size": 2, **sizes}
    write(folder / "bert" / "config.json", config)
    safetensors.write(str(folder / "bert" / "model.safetensors"), tensors)
    write(folder / "pointr.yaml", test_pointr.CONFIG)
    experiment = experiments.load(task="HYBRIDQA_RC")
    experiments.override(experiment, yaml.safe_load(test_pointr.CONFIG)["read"], "test")
    encoder = TableEncoder(experiment.task.model.encoder)
    tf.train.Checkpoint(encoder=encoder).save(str(folder / "reader" / "ckpt"))


@pytest.fixture(scope="module")
def paths(tmp_path_factory, trained_model):
    """Name -> path of small data, or text of an override."""
    folder = tmp_path_factory.mktemp("smoke")
    pieces = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += [f"{before}{each}" for before in ("", "##") for each in CHARACTERS]
    vocab = write(folder / "vocab.txt", "\n".join(pieces) + "\n")
    write_official_files(folder)
    test_pointr.write_data(folder / "hybridqa")
    write_texts(folder)
    write_weights(folder, len(pieces))
    write(folder / "bert" / "vocab.txt", vocab.read_text())
    write(folder / "reader" / "vocab.txt", (folder / "hybridqa" / "vocab.txt").read_text())
    recall = (CONFIGS / "associative_recall.yaml").read_text("utf-8")
    recall = recall.replace("num_train: 8000, num_dev: 1000", "num_train: 64, num_dev: 8")
    for config, data in (("sqa_small", "sqa"), ("wtq", "wikitq")):
        flags = [f"--config_file={CONFIGS / config}.yaml", f"--input_dir={folder / data}"]
        flags += [f"--bert_vocab_file={vocab}", f"--output_dir={folder / f'{data}_data'}"]
        assert invoke("--mode=create_data", *flags, "--num_processes=1") == 0
    encoder = ENCODER | {"vocab_size": len(pieces), "max_position_embeddings": 128}
    names = ("sqa", "wikitq", "hybridqa", "text", "glue", "passages", "bert", "reader", "sqa_data")
    return {name: folder / name for name in names} | {
        "vocab": f"--bert_vocab_file {vocab}",
        "wtq": folder / "wikitq_data",
        "wtq_dev": folder / "wikitq_data" / "tf_examples" / "dev.tfrecord",
        "xquad": folder / "xquad.json",
        "pointr": folder / "pointr.yaml",
        "small": write(folder / "small.yaml", recall),
        "configs": CONFIGS,
        "project": PROJECT,
        "few": write_few(folder / "few"),
        "model": trained_model,
        "summaries": shlex.quote(json.dumps({"task": {"model": {"encoder": encoder}}})),
    }


@pytest.fixture
def here(monkeypatch):
    """Benchmarks can be imported, run jobs of the command line in this process, and register
    variants that are gone afterwards."""
    run, program = subprocess.run, str(PROJECT / "run_task_main.py")

    def run_here(command, **options):
        if program in command:
            return subprocess.CompletedProcess(command, invoke(*command[2:]))
        return run(command, **options)

    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(subprocess, "run", run_here)
    for name in ("set_intra_op_parallelism_threads", "set_inter_op_parallelism_threads"):
        monkeypatch.setattr(tf.config.threading, name, lambda threads: None)  # TensorFlow is in use
    for module, name in ((base, "_VARIANTS"), (attention_options, "_OPTIONS")):
        monkeypatch.setattr(module, name, dict(getattr(module, name)))


def test_all_are_here():
    names = {path.stem for path in FOLDER.glob("*.py")} - HELPERS
    assert names == SIZES.keys() | ELSEWHERE.keys()


@pytest.mark.parametrize("name", SIZES)
def test_smallest_size(name, paths, here, interpreter, tmp_path, monkeypatch, capsys):
    arguments, printed = SIZES[name]
    own = {"out": tmp_path / "work"}
    if "{peers}" in arguments:
        own["peers"] = interpreter("PEERS", "torch and transformers")
    words = f"{name}.py --output {tmp_path}/results {arguments}".format_map(paths | own)
    monkeypatch.setattr(sys, "argv", shlex.split(words))
    importlib.import_module(name).main()
    assert printed in capsys.readouterr().out
    assert [*tmp_path.glob("results/*.json"), *tmp_path.glob("results/train*")]
