"""--task=POINTR --mode=ask: questions about a table and the passages that its cells link to."""

import json

from mate_tf.cli.ask import export_dir_of, read_table
from mate_tf.errors import InputError


def main(flags) -> None:
    """Answers every --question about --table, in HybridQA's format with --passages, or plain."""
    if not flags.table:
        raise InputError("--mode=ask needs --table=FILE")
    if not flags.question:
        raise InputError('--mode=ask needs --question="..."')
    if not flags.export_dir:
        raise InputError(
            "--task=POINTR --mode=ask needs --export_dir=FOLDER of the exported models"
        )
    if not flags.passages:
        table, links, passages = read_table(flags.table), {}, {}
    else:
        from mate_tf.data.datasets.hybridqa import read_linked_table

        table, links, passages = read_linked_table(flags.table, flags.passages)
    from mate_tf.serving.pointr import PointrPredictor

    predictor = PointrPredictor(export_dir_of(flags))
    for question in flags.question:
        answer = predictor.ask(table, question, links, passages)
        print(f"\n{question}")
        print(json.dumps(answer.to_json(), ensure_ascii=False))
        print(table.render(answer.coordinates))
        where = f"passage {answer.passage}" if answer.passage else "cell"
        print(f"read: {answer.text!r} in the {where}: {answer.sentence}")
        for cut in answer.cuts:
            print(f"cut: {cut}")
