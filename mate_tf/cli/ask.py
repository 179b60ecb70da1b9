"""--mode=ask: questions about one's own table, answered by an exported model."""

import json
import os

from mate_tf.errors import InputError
from mate_tf.tables.table import Table


def main(flags) -> None:
    """Answers every --question about --table; a later one may refer to the answer before it."""
    if not flags.table:
        raise InputError("--mode=ask needs --table=FILE")
    if not flags.question:
        raise InputError('--mode=ask needs --question="..."')
    table = read_table(flags.table)
    export_dir = export_dir_of(flags)
    # Bad flags and tables are told before TensorFlow takes its seconds to load.
    from mate_tf.cli.job import Job
    from mate_tf.serving.predictor import Predictor

    if flags.task or flags.config_file:
        Job.from_flags(flags)  # refuses tasks whose models answer no questions
    answer_all(Predictor(export_dir), table, flags.question)


def read_table(path: str) -> Table:
    """Reads a table by the ending of its name; what is no TSV or JSON is read as CSV.

    Raises:
        InputError: if it cannot be read or has no rows.
    """
    readers = {".tsv": Table.from_tsv, ".json": Table.from_json}
    return readers.get(os.path.splitext(path)[1].lower(), Table.from_csv)(path)


def answer_all(predictor, table: Table, questions, conversation: bool = True) -> list:
    """Prints each answer as JSON and as a table with the chosen cells marked; returns them.

    Args:
        predictor: a `Predictor`.
        table: the table.
        questions: questions about it.
        conversation: whether each question may refer to the answer of the one before.
    """
    answers = []
    for question in questions:
        previous = answers[-1] if answers and conversation else None
        answer = predictor.ask(table, question, previous)
        print(f"\n{question}")
        print(json.dumps(answer.to_json(), ensure_ascii=False))
        print(table.render(answer.coordinates))
        for cut in answer.cuts:
            print(f"cut: {cut}")
        answers.append(answer)
    return answers


def export_dir_of(flags) -> str:
    """--export_dir, or the one below --model_dir or --output_dir, as --mode=export writes it."""
    if flags.export_dir:
        return flags.export_dir
    if flags.model_dir or flags.output_dir:
        return os.path.join(flags.model_dir or os.path.join(flags.output_dir, "model"), "export")
    raise InputError(f"--mode={flags.mode} needs --export_dir=FOLDER of an exported model")
