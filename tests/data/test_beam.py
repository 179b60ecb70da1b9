"""The pipeline gives what the conversion in this process gives, up to the order of examples."""

import collections
import itertools
import json
import pathlib
import socket
import subprocess
import sys
import time
from typing import ClassVar

import pytest

from mate_tf.cli import flags
from mate_tf.data import records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.converters.windows import WindowConverter
from mate_tf.data.datasets import hybridqa
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.data.records import create_data
from mate_tf.errors import InputError
from mate_tf.tables.table import Table

pytest.importorskip("apache_beam", reason="needs the extra beam")

from mate_tf.data import beam

from .conftest import interaction

BATCH = 8


class Read(list):
    """Interactions of a reader that knows what is wrong with its files."""

    defects: ClassVar = {"tables without a header": ["x.csv", "a.csv"]}


def serialized(path):
    return [
        example.SerializeToString(deterministic=True) for example in records.read_examples(path)
    ]


def in_order_of(interactions, converter):
    return [
        conversion.example.SerializeToString(deterministic=True)
        for conversion in converter.convert_all(*interactions)
    ]


def same(splits, converter, folder):
    """Converts in both ways; the examples of each split, in both orders, and the reports."""
    ours, pipeline = folder / "in_process", folder / "beam"
    settings = {"test_batch_size": BATCH, "seed": 3}
    expected = create_data.create_data(splits, ours, converter, **settings)
    reports = beam.create_data(splits, pipeline, converter, **settings)
    names = sorted(str(path.relative_to(ours)) for path in ours.rglob("*"))
    assert sorted(str(path.relative_to(pipeline)) for path in pipeline.rglob("*")) == names
    orders = {}
    for split in splits:
        paths = [create_data.examples_path(root, split) for root in (ours, pipeline)]
        orders[split] = [serialized(path) for path in paths]
        assert len(orders[split][0]) == expected[split].examples + expected[split].padding_examples
        assert collections.Counter(orders[split][1]) == collections.Counter(orders[split][0])
        assert len(orders[split][1]) % (1 if split == "train" else BATCH) == 0
        path = create_data.interactions_path(pipeline, split)
        assert list(records.read_interactions(path)) == list(splits[split])
        ours_says, beam_says = (
            pathlib.Path(create_data.report_path(path)).read_text(encoding="utf-8")
            for path in paths
        )
        assert beam_says == ours_says
        assert str(reports[split]).split(";")[0] == str(expected[split]).split(";")[0]
    return orders, ours_says


def test_same_examples_and_reports(converter, tmp_path):
    splits = {
        "train": [interaction(number) for number in range(150)],
        "dev": Read(
            [interaction(0), interaction(1, 30), interaction(2, 31), interaction(3, 2, False)]
        ),
    }
    orders, report = same(splits, converter, tmp_path)
    report = json.loads(report)
    assert report["dropped"] == {"Couldn't find all answers": 2, "Invalid answer": 2}
    assert report["defects"] == {"tables without a header": 2}
    assert (report["interactions"], report["examples"], report["padding_examples"]) == (4, 4, 4)
    in_order = sorted(orders["train"][1])
    assert orders["train"][1] not in (in_order, orders["train"][0])
    assert len(set(orders["train"][1])) == 300
    # The two questions of an interaction do not stay beside each other, apart from chance.
    position = {example: index for index, example in enumerate(orders["train"][1])}
    unshuffled = in_order_of(splits["train"], converter)
    pairs = zip(unshuffled[::2], unshuffled[1::2], strict=True)
    assert sum(abs(position[a] - position[b]) == 1 for a, b in pairs) < 15


def test_questions_with_several_examples(vocabulary, tmp_path):
    converter = WindowConverter(vocabulary, 16, doc_stride=4, max_question_length=4)
    splits = {
        "train": [
            interaction_from_table(
                Table.from_rows([""], [["red blue " * length]], table_id=f"t{length}"),
                f"n{length}-0",
                [Question(f"n{length}-0_0", "who", texts=["red"])],
            )
            for length in (1, 10, 20)
        ]
    }
    orders, _ = same(splits, converter, tmp_path)
    assert len(orders["train"][1]) > 3


def test_nothing_to_write(converter, tmp_path):
    splits = {"dev": [interaction(0, is_valid=False)]}
    with pytest.raises(InputError, match=r"dev\.tfrecord: no question yields an example: 0 examp"):
        beam.create_data(splits, tmp_path, converter)
    with pytest.raises(InputError, match="0 examples of 0 questions"):
        beam.create_data({"dev": []}, tmp_path, converter)
    assert list((tmp_path / "tf_examples").iterdir()) == []


def test_what_a_killed_pipeline_left(converter, tmp_path):
    abandoned = tmp_path / "tf_examples" / ".beam" / "beam-temp-dev" / "dev"
    abandoned.parent.mkdir(parents=True)
    abandoned.write_bytes(b"half")
    beam.create_data({"dev": [interaction(0)]}, tmp_path, converter, test_batch_size=2)
    names = sorted(path.name for path in (tmp_path / "tf_examples").iterdir())
    assert names == ["dev.report.json", "dev.tfrecord"]


def test_options(converter, tmp_path):
    splits = {"dev": [interaction(0)]}
    with pytest.raises(InputError, match="'SPORK' is not one of DIRECT, DATAFLOW"):
        beam.create_data(splits, tmp_path, converter, runner="SPORK")
    options = ["--direct_num_workers=many"]
    with pytest.raises(InputError, match=r"DIRECT runner with --direct_num_.*: invalid int value"):
        beam.create_data(splits, tmp_path, converter, options=options)
    with pytest.raises(InputError, match="DATAFLOW runner"):
        beam.create_data(splits, tmp_path, converter, runner="DATAFLOW")
    assert list(tmp_path.iterdir()) == []
    assert flags.FLAGS["runner_type"].parser.enum_values == list(beam.RUNNERS)


JOB_SERVICE = "apache_beam.runners.portability.local_job_service_main"
WORKER = "apache_beam.runners.worker.sdk_worker_main"
CONFIG = """
task:
  name: SYNTHETIC
  generation: {num_train_tables: 100, num_dev_tables: 3, num_test_tables: 2}
  conversion: {max_seq_length: 128, drop_rows_to_fit: true}
"""


@pytest.fixture(scope="module")
def job_service(tmp_path_factory):
    """Beam's local job service in a process of its own; its port."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("job_service")
    command = [sys.executable, "-m", JOB_SERVICE, "--port", str(port)]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        until(lambda: b"Listening for beam jobs" in (folder / "log").read_bytes())
        yield port
        process.kill()
        process.wait()


def until(happened, seconds=600):
    """Waits until something has happened."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.1)


# A worker that is killed after it has converted its first chunk, whatever the machine's speed.
KILLED_WORKER = f"""
import os, runpy, signal
from mate_tf.data import beam

convert = beam._Convert.process

def process(self, chunk):
    yield from convert(self, chunk)
    os.kill(os.getpid(), signal.SIGKILL)

beam._Convert.process = process
runpy.run_module("{WORKER}", run_name="__main__")
"""


def test_killed_worker_of_a_job_service(job_service, project, tmp_path):
    """The command ends with one line; run again, with a relative path, it writes all records."""
    (tmp_path / "config.yaml").write_text(CONFIG)
    (tmp_path / "killed_worker.py").write_text(KILLED_WORKER)
    options = f"--job_endpoint=localhost:{job_service}"

    def flags(worker):
        kind = "--environment_type=beam:env:harness_subprocess_python:v1"
        worker = f"--environment_config='{sys.executable} {worker}'"
        return ["--runner_type=PORTABLE", f"--beam_options={options} {kind} {worker}"]

    def started(folder, *arguments):
        command = [sys.executable, project / "run_task_main.py", "--mode=create_data"]
        command += ["--config_file=config.yaml", f"--output_dir={folder}", *arguments]
        return subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    killed = started("killed", *flags(tmp_path / "killed_worker.py"))
    said = killed.communicate(timeout=600)[1]
    assert killed.returncode == 2, said[-2000:]
    assert "Traceback" not in said
    [line] = [line for line in said.splitlines() if "Beam's PORTABLE runner" in line]
    assert line.startswith("run_task_main.py: Beam's PORTABLE runner: the pipeline failed: ")
    assert not list((tmp_path / "killed").glob("tf_examples/*"))

    # Beam would wait five minutes for a service that is not there.
    nobody = f"{options}x --job_server_timeout=10"
    wrong = started("wrong", "--runner_type=PORTABLE", f"--beam_options={nobody}")
    again, ours = started("killed", *flags(f"-m {WORKER}")), started("ours")
    for process in (again, ours):
        assert process.wait(timeout=300) == 0, process.stderr.read()[-2000:]
    assert wrong.wait(timeout=300) == 2
    for split in ("train", "dev", "test"):
        paths = [
            create_data.examples_path(tmp_path / folder, split) for folder in ("killed", "ours")
        ]
        found, expected = (collections.Counter(serialized(path)) for path in paths)
        assert found == expected
        assert sum(found.values()) > 10


def test_part_of_hybridqa(goldens, bert_vocab, tmp_path):
    raw = goldens / "metrics" / "open" / "hybridqa" / "raw"
    part = list(itertools.islice(hybridqa.read(raw, "dev"), 40))
    converter = ExampleConverter(
        bert_vocab,
        1024,
        drop_rows_to_fit=True,
        expand_entity_descriptions=True,
        entity_descriptions_sentence_limit=5,
    )
    same({"dev": part}, converter, tmp_path)
