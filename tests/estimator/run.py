"""What tests/cli/test_trainers.py has done in the environment of requirements-estimator.txt.

    python tests/estimator/run.py jobs.json

jobs.json is a list of [arguments of the command line, path]. Without a path the arguments are run;
with one, the logits for the dev examples, by their question ids, are written there.
"""

import json
import sys
from unittest import mock

import numpy as np
from absl import logging  # noqa: F401  (defines flags, which flagsaver would take away again)
from absl.testing import flagsaver

from mate_tf.cli import flags, main


def logits(arguments) -> dict[str, np.ndarray]:
    """Question id -> <float32>[tokens], by the trainer that the arguments name."""
    from mate_tf.cli.job import Job
    from mate_tf.data.records.create_data import examples_path
    from mate_tf.training import prediction

    with (
        flagsaver.flagsaver(),
        mock.patch.object(prediction, "OUTPUTS", (*prediction.OUTPUTS, "logits")),
    ):
        flags.FLAGS(["mate-tf", *arguments])
        job = Job.from_flags(flags.FLAGS)
        examples = examples_path(job.output_dir, "dev")
        outputs = job.trainer.predictor(job.experiment, job.model_dir)(examples)
        return {output["question_id"]: output["logits"] for output in outputs}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        jobs = json.load(file)
    for arguments, path in jobs:
        print("::", *arguments, flush=True)
        if path:
            np.savez(path, **logits(arguments))
        else:
            with flagsaver.flagsaver():
                main.run(["mate-tf", *arguments])
