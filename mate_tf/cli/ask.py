"""--mode=ask and --mode=demo: answers of a trained model, on the terminal and on a web page."""

import errno
import importlib.util
import json
import os
import socket
import sys

from mate_tf.cli.checks import check_export, given_table, limits, reading
from mate_tf.errors import InputError
from mate_tf.serving import answer_notes, model_folder, presets
from mate_tf.tables.table import Table

FORMATS = ("json", "table", "both")
"""Values of --format."""

JSON, TABLE, BOTH = FORMATS

_LONG = 5_000
"""Rows of a table that takes seconds, so that the progress is reported."""


def ask(flags) -> None:
    """Answers every --question about --table. A question may refer to the previous answer."""
    check_request(flags)
    if flags.passages:
        model = presets.PASSAGES if presets.PASSAGES in presets.names() else "FOLDER of its models"
        raise InputError(f"--passages: only POINTR reads them; give --init_checkpoint={model}")
    table = given_table(flags)
    if not flags.init_checkpoint:
        check_export(export_dir_of(flags))  # before TensorFlow is loaded, which takes seconds
    predictor = load(flags)
    answer_all(predictor, table, flags.question, form=flags.format)


def load(flags):
    """Loads --init_checkpoint, or the export, as a `Predictor` or POINTR's models like one."""
    if reads_texts(flags):
        from mate_tf.pointr.adapter import TextsPredictor

        return TextsPredictor(_folder(flags), reading(flags) or "whole")
    if flags.init_checkpoint:
        from mate_tf.cli.pretrained import load_predictor

        return load_predictor(flags)
    from mate_tf.serving.predictor import Predictor

    if flags.task or flags.config_file:
        from mate_tf.cli.job import Job

        Job.from_flags(flags)  # raises for tasks that cannot answer questions
    return Predictor(export_dir_of(flags), reading(flags) or "whole")


def reads_texts(flags) -> bool:
    """Returns whether the model is of POINTR, which reads texts about cells."""
    return model_folder.holds_pointr(_folder(flags))


def _folder(flags) -> str:
    return flags.init_checkpoint or flags.export_dir or ""


def check_request(flags) -> None:
    """Raises InputError for flags without a table or without a question."""
    if not flags.table:
        raise InputError("--mode=ask needs --table=FILE")
    if not flags.question:
        raise InputError('--mode=ask needs --question="..."')
    if not all(text.strip() for text in flags.question):
        raise InputError("--question: the question is empty")


def answer_all(
    predictor, table: Table, questions, conversation: bool = True, form: str = BOTH
) -> list:
    """Prints the answers and returns them.

    Args:
        predictor: a `Predictor`.
        table: the table.
        questions: questions about it.
        conversation: whether a question may refer to the answer of the previous question.
        form: JSON, TABLE or BOTH. JSON is one JSON value: an object, or a list of them for several
            questions. TABLE is the answer in words, with its confidence, and the table with the
            selected cells marked.

    Returns:
        list of answers.
    """
    is_long, answers = table.num_rows >= _LONG, []
    if is_long:
        _report(f"reading | numbers, dates and words of {table.num_rows:,} rows")
    prepared = predictor.prepare(table)
    for number, question in enumerate(questions, start=1):
        if is_long:
            _report(f"asking | question {number} of {len(questions)}")
        previous = answers[-1] if answers and conversation else None
        answer = predictor.ask(prepared, question, previous)
        answers.append(answer)
        if form != JSON:
            print_answer(table, question, answer, form)
    if form == JSON:
        rows = [
            {"question": question, **answer.to_json()}
            for question, answer in zip(questions, answers, strict=True)
        ]
        print_json(rows)
    return answers


def print_json(rows: list[dict]) -> None:
    """Prints one JSON value: of one question its answer, of several the list of their answers."""
    print(json.dumps(rows[0] if len(rows) == 1 else rows, ensure_ascii=False))


def _report(line: str) -> None:
    """Prints a line about the progress, apart from the output that programs read."""
    print(line, file=sys.stderr, flush=True)


def print_answer(table: Table, question: str, answer, form: str) -> None:
    """Prints one answer as TABLE or BOTH."""
    print(f"\n{question}")
    if form == BOTH:
        print(json.dumps(answer.to_json(), ensure_ascii=False))
    print(answer_notes.in_words(answer))
    print(table.render(answer.coordinates))
    for note in answer.notes:
        print(f"note: {note}")
    for cut in answer.cuts:
        print(f"cut: {cut}")


def export_dir_of(flags) -> str:
    """Returns --export_dir, or the default folder of --mode=export.

    Raises:
        InputError: if --export_dir, --model_dir and --output_dir are all missing.
    """
    if flags.export_dir:
        return flags.export_dir
    if flags.model_dir or flags.output_dir:
        return os.path.join(flags.model_dir or os.path.join(flags.output_dir, "model"), "export")
    raise InputError(
        f"--mode={flags.mode} needs --export_dir=FOLDER of an exported model, or --init_checkpoint="
        "FOLDER_OR_NAME of a trained one"
    )


def demo(flags) -> None:
    """Serves the page until the process is interrupted."""
    if importlib.util.find_spec("gradio") is None:
        raise InputError("--mode=demo needs gradio: pip install -e '.[demo]'")
    from mate_tf.demo import below  # needs starlette

    check_port(flags.host, flags.port)
    below.check(flags.root_path)
    is_pretrained = flags.init_checkpoint or reads_texts(flags)
    made = _pretrained(flags) if is_pretrained else _exported(flags)
    from mate_tf.demo import page

    page.serve(
        made,
        flags.port,
        flags.host,
        flags.allowed_hosts,
        flags.max_upload_mb,
        limits(flags),
        flags.root_path,
    )


def _pretrained(flags):
    """Loads --init_checkpoint, before `demo.page` is imported: that turns the hub off."""
    predictor = load(flags)
    from mate_tf.demo import session
    from mate_tf.serving import configurations

    if reads_texts(flags):
        return session.Demo(predictor, None, "HYBRIDQA", _folder(flags), reads_texts=True)

    model = model_folder.find(flags.init_checkpoint)
    is_export = model.kind is model_folder.Kind.EXPORT
    task = "" if is_export else configurations.read(model, flags.task).task
    return session.Demo(predictor, predictor.model, task, flags.init_checkpoint)


def _exported(flags):
    """Loads an export and its checkpoint, if there is one."""
    if not (flags.task or flags.config_file):
        export_dir = export_dir_of(flags)
        check_export(export_dir)  # raises before TensorFlow, which takes seconds to load
    from mate_tf.cli.job import Job
    from mate_tf.demo import session

    if flags.task or flags.config_file:
        job = Job.from_flags(flags)
        export_dir, model_dir = job.export_dir, job.model_dir
    else:
        model_dir = flags.model_dir or os.path.dirname(os.path.abspath(export_dir))
    if not flags.model_dir and not session.has_checkpoint(model_dir):
        model_dir = None
    return session.Demo.load(export_dir, model_dir, reading(flags) or "whole")


def check_port(host: str, port: int) -> None:
    """Raises InputError if --host is not an address of this machine, or --port is in use."""
    if host.startswith("[") != host.endswith("]"):
        raise InputError(f"--host={host}: has one bracket")
    host = host.strip("[]")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, UnicodeError, TypeError) as error:  # a NUL is a TypeError
            reason = getattr(error, "strerror", None) or error
            in_use = getattr(error, "errno", None) in (errno.EADDRINUSE, errno.EACCES)
            flag = f"--port={port}" if in_use else f"--host={host}"
            raise InputError(f"{flag}: cannot be used ({reason}); give another") from error
