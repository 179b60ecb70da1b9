"""--mode=ask with both models of POINTR. Imports TensorFlow only for models that it computes."""

from mate_tf.cli.ask import JSON, check_request, export_dir_of, print_answer, print_json
from mate_tf.cli.checks import given_table, reading
from mate_tf.data.datasets.hybridqa import read_linked_table
from mate_tf.pointr.predictor import PointrPredictor
from mate_tf.tables import cell_texts
from mate_tf.tables.table import Table


def ask(flags) -> None:
    """Answers every --question about --table and the texts of --passages."""
    check_request(flags)
    table, links, passages = _read_given(flags)
    folder = flags.init_checkpoint or export_dir_of(flags)
    models = PointrPredictor(folder, reading(flags) or "whole")
    rows = []
    for question in flags.question:
        answer = models.ask(table, question, links, passages)
        rows.append({"question": question, **answer.to_json()})
        if flags.format != JSON:
            print_answer(table, question, answer, flags.format)
    if flags.format == JSON:
        print_json(rows)


def _read_given(flags) -> tuple[Table, dict, dict]:
    """Reads --table and --passages, which are both in HybridQA's format if that is a .json."""
    if not flags.passages:
        return given_table(flags), {}, {}
    if flags.passages.endswith(".json"):
        return read_linked_table(flags.table, flags.passages)
    texts = cell_texts.read(flags.passages)
    return cell_texts.add(given_table(flags), texts, flags.passages), {}, {}
