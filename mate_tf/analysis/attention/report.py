"""All analyses of trained models: printed tables, plots, and analysis.json."""

from mate_tf.analysis.attention import examples, learned
from mate_tf.analysis.attention.trained import Trained
from mate_tf.errors import InputError
from mate_tf.files.atomic import write_json

ANALYSES = {
    "learned masks": learned.learned_masks,
    "masks of an example": examples.example_masks,
    "attention flow": examples.attention_flow,
    "table": examples.table_maps,
    "coverage": examples.coverage,
}
"""Name -> function of a `Trained`. It writes plots and returns results for analysis.json, which are
empty if the analysis does not apply to the model."""


def analyze(*jobs) -> list[dict[str, dict]]:
    """Prints the results of all analyses, and writes plots and analysis.json.

    The files are written to <model_dir>/analysis of each job.

    Args:
        *jobs: the jobs, see `Trained`.

    Returns:
        for each job: name of the analysis -> results, as in the JSON file. Empty if no analysis
        applies to the model.

    Raises:
        InputError: if there is no checkpoint, the checkpoint is of another model, examples are
            missing, or no analysis applies to any job.
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
            f"{trained.checkpoint}: nothing to analyze: with attention {names}, every token "
            "attends to all tokens"
        )
    return all_found
