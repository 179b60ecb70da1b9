"""--mode=ask: answers questions about a given table with an exported model."""

import json
import os

from mate_tf.errors import InputError
from mate_tf.tables.table import Table


def main(flags) -> None:
    """Answers every --question about --table. A question may refer to the previous answer."""
    if not flags.table:
        raise InputError("--mode=ask needs --table=FILE")
    if not flags.question:
        raise InputError('--mode=ask needs --question="..."')
    table = read_table(flags.table)
    export_dir = export_dir_of(flags)
    # Imported after the checks above: TensorFlow takes seconds to load.
    from mate_tf.cli.job import Job
    from mate_tf.serving.predictor import Predictor

    if flags.task or flags.config_file:
        Job.from_flags(flags)  # raises for tasks that cannot answer questions
    answer_all(Predictor(export_dir), table, flags.question)


def read_table(path: str) -> Table:
    """Reads a table. The extension selects TSV or JSON; all other files are read as CSV.

    Raises:
        InputError: if it cannot be read or has no rows.
    """
    readers = {".tsv": Table.from_tsv, ".json": Table.from_json}
    return readers.get(os.path.splitext(path)[1].lower(), Table.from_csv)(path)


def answer_all(predictor, table: Table, questions, conversation: bool = True) -> list:
    """Prints each answer as JSON and as a table with the selected cells marked.

    Args:
        predictor: a `Predictor`.
        table: the table.
        questions: questions about it.
        conversation: whether a question may refer to the answer of the previous question.

    Returns:
        list of answers.
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
    """Returns --export_dir, or the default folder of --mode=export.

    Raises:
        InputError: if --export_dir, --model_dir and --output_dir are all missing.
    """
    if flags.export_dir:
        return flags.export_dir
    if flags.model_dir or flags.output_dir:
        return os.path.join(flags.model_dir or os.path.join(flags.output_dir, "model"), "export")
    raise InputError(f"--mode={flags.mode} needs --export_dir=FOLDER of an exported model")
