"""--mode=ask: answers questions about a given table with a trained model."""

import json
import os

from mate_tf.cli.checks import check_export, limits, reading
from mate_tf.errors import InputError
from mate_tf.serving import notes
from mate_tf.tables.given import read_table
from mate_tf.tables.table import Table

FORMATS = ("json", "table", "both")
"""Values of --format."""

JSON, TABLE, BOTH = FORMATS


def main(flags) -> None:
    """Answers every --question about --table. A question may refer to the previous answer."""
    check_request(flags)
    table = read_table(flags.table, limits(flags))
    export_dir = None if flags.init_checkpoint else export_dir_of(flags)
    if export_dir:
        check_export(export_dir)
    # Imported after the checks above: TensorFlow takes seconds to load.
    from mate_tf.cli.job import Job
    from mate_tf.cli.pretrained import load_predictor
    from mate_tf.serving.predictor import Predictor

    if not export_dir:
        predictor = load_predictor(flags)
    else:
        if flags.task or flags.config_file:
            Job.from_flags(flags)  # raises for tasks that cannot answer questions
        predictor = Predictor(export_dir, reading(flags))
    answer_all(predictor, table, flags.question, form=flags.format)


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
            questions. TABLE is the answer in words and the table with the selected cells marked.

    Returns:
        list of answers.
    """
    answers = []
    for question in questions:
        previous = answers[-1] if answers and conversation else None
        answer = predictor.ask(table, question, previous)
        answers.append(answer)
        if form != JSON:
            print_answer(table, question, answer, form)
    if form == JSON:
        found = [
            {"question": question, **answer.to_json()}
            for question, answer in zip(questions, answers, strict=True)
        ]
        print(json.dumps(found[0] if len(found) == 1 else found, ensure_ascii=False))
    return answers


def print_answer(table: Table, question: str, answer, form: str) -> None:
    """Prints one answer as TABLE or BOTH."""
    print(f"\n{question}")
    if form == BOTH:
        print(json.dumps(answer.to_json(), ensure_ascii=False))
    if form == TABLE or not answer.answerable:
        print(notes.in_words(answer))
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
