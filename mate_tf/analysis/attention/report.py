"""All analyses of trained models: printed tables, plots, and analysis.json."""

from mate_tf.analysis.attention import examples, learned
from mate_tf.analysis.attention.trained import Trained
from mate_tf.errors import InputError
from mate_tf.files.atomic import write_json

ANALYSES = {
    "learned masks": learned.learned_masks,
    "relations": learned.relation_masks,
    "masks of an example": examples.example_masks,
    "attention flow": examples.attention_flow,
    "table": examples.table_maps,
    "coverage": examples.coverage,
}
"""Each takes a `Trained`, writes its plots, and returns what goes into analysis.json: empty where
the model has nothing of the kind."""


def analyze(*jobs) -> list[dict[str, dict]]:
    """Prints what is found, and writes it to <model_dir>/analysis: plots and analysis.json.

    Returns:
        of each job: name of the analysis -> what it found, as in the JSON file; empty where there
        is nothing to analyze.

    Raises:
        InputError: there is no checkpoint, or one of another model; the examples that are needed
            are not there; or there is nothing to analyze in any of the jobs.
    """
    all_found = []
    for trained in map(Trained, jobs):
        found = {name: results for name, run in ANALYSES.items() if (results := run(trained))}
        all_found.append(found)
        if found:
            path = trained.path("analysis.json")
            write_json(path, found)
            print(f"analyzed | {path}")
    if not any(all_found):
        names = ", ".join(dict.fromkeys(config.name for config in trained.configs))
        raise InputError(
            f"{trained.checkpoint}: nothing to analyze: with attention {names}, every token sees "
            "every other one"
        )
    return all_found
