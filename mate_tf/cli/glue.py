"""--mode=glue: scores of the models of all tasks of GLUE."""

import os
import zipfile

from mate_tf.cli.folders import folders
from mate_tf.evaluation import glue, metrics
from mate_tf.files.atomic import atomic_path, write_json


def main(flags) -> None:
    """Prints the scores and their means, writes glue.json and, with all tasks, submission.zip.

    The models are in folders below --output_dir, one for each task.
    """
    folder = folders(flags).output_dir
    found = glue.read_scores(folder)
    scores = {score: value for score, (value, _) in found.items()}
    means = glue.means(scores)
    rows = {str(score): scores.get(score) for score in glue.SCORES}
    rows |= {f"mean, {name}": means.get(name) for name in glue.MEANS}
    print(metrics.comparison({"dev": rows}, "GLUE"))
    path = os.path.join(folder, "glue.json")
    write_json(path, rows)
    print(f"\nevaluated | {path}")
    models = dict.fromkeys(model for _, model in found.values())
    files = [path for model in models for path in sorted(model.glob("*.tsv"))]
    files = {path.name: path for path in files if path.stem in glue.SUBMISSIONS}
    needed = (name for name in glue.SUBMISSIONS if name != glue.DIAGNOSTICS)
    missing = [name for name in needed if f"{name}.tsv" not in files]
    if missing:
        print(f"no submission | there is no {', '.join(f'{name}.tsv' for name in missing)}")
        return
    path = os.path.join(folder, "submission.zip")
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, file in files.items():
            archive.write(file, name, zipfile.ZIP_DEFLATED)
    print(f"submission | {path}: {', '.join(files)}")
