"""--mode=run --seeds: one conversion, a training run for each seed, and the spread of the metrics.

```
<output_dir>                  examples, for all seeds
<model_dir>/seed_<seed>       checkpoints, predictions and metrics.json of each seed
<model_dir>/seeds.json        what is done, and the statistics
```
"""

import dataclasses
import json
import os

from mate_tf import tasks
from mate_tf.cli.job import Job
from mate_tf.cli.scores import predict_and_evaluate
from mate_tf.cli.work import create_data, train
from mate_tf.errors import InputError
from mate_tf.evaluation import seeds as statistics
from mate_tf.evaluation.metrics import Quantity
from mate_tf.files import paths
from mate_tf.files.atomic import write_json
from mate_tf.files.json_files import read_json_object
from mate_tf.files.lock import locked
from mate_tf.layers.framework import keras
from mate_tf.training import experiments

_NO_METRICS = ("global_step", "learning_rate")  # in what a training run returns


def run_seeds(job: Job, seeds: list[int]) -> dict[str, statistics.Spread]:
    """Trains and evaluates with each seed; prints the spread of each metric and writes it as JSON.

    A seed is that of initial weights, dropout and the order of batches. Seeds that are done already
    are not run again, and neither is the conversion.

    Returns:
        metric -> its statistics. A task that does not answer questions has the metrics
            of its training.

    Raises:
        InputError: also if the model folder has runs of another configuration, or another process
            runs seeds there.
    """
    with locked(job.model_dir, "a run of several seeds"):
        path = os.path.join(job.model_dir, statistics.FILE)
        runs = _done(job, path)
        jobs = {seed: with_seed(job, seed) for seed in seeds}
        missing = [
            seed
            for seed in seeds
            if str(seed) not in runs or not os.path.isdir(jobs[seed].model_dir)
        ]
        if missing and not (
            os.path.exists(path) and paths.matching(job.experiment.task.train_data.input_path)
        ):
            create_data(job)
            _save(job, path, runs)
        for number, seed in enumerate(seeds, start=1):
            done = "" if seed in missing else " | done already"
            print(f"\nseed {seed} ({number} of {len(seeds)}) | {jobs[seed].model_dir}{done}")
            if seed in missing:
                runs[str(seed)] = _run(jobs[seed])
                _save(job, path, runs)
                keras.backend.clear_session()
        shares = job.task.capabilities.answers_questions
        summary = statistics.over_seeds([runs[str(seed)] for seed in seeds], shares)
        _save(job, path, runs, {name: each._asdict() for name, each in summary.items()})
    print(f"\n{len(seeds)} seeds: {', '.join(map(str, seeds))}")
    print(statistics.table(summary))
    print(f"\nevaluated | {path}")
    return summary


def with_seed(job: Job, seed: int) -> Job:
    """Returns the job with a seed, which has a model folder of its own and shares the examples."""
    experiment = job.experiment.replace()
    values = {"tf_random_seed": seed, "task": {"train_data": {"seed": seed}}}
    experiments.override(experiment, values, "--seeds")
    model_dir = os.path.join(job.model_dir, f"seed_{seed}")
    return dataclasses.replace(
        job,
        experiment=experiment,
        task=tasks.create(experiment.task),
        model_dir=model_dir,
        export_dir=os.path.join(model_dir, "export"),
    )


def _run(job: Job) -> dict[str, float | Quantity]:
    """Trains and evaluates one seed, as far as it is not done yet; returns its metrics."""
    scores = train(job)
    if job.task.capabilities.answers_questions:
        return statistics.read_metrics(predict_and_evaluate(job))
    return {name: float(value) for name, value in scores.items() if name not in _NO_METRICS}


def _done(job: Job, path: str) -> dict[str, dict[str, float | Quantity]]:
    """Returns seed -> metrics of the seeds that are done with this configuration."""
    if not os.path.exists(path):
        return {}
    content = read_json_object(path)
    try:
        before, runs = dict(content["experiment"]), dict(content["runs"])
        runs = {
            seed: {name: _metric(value) for name, value in run.items()}
            for seed, run in runs.items()
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: is not a file of --seeds ({error!r}); remove it") from error
    difference = experiments.first_difference(before, _shared(job))
    if difference:
        name, old, new = difference
        raise InputError(
            f"{path}: the seeds here were run with {name}={old}, not {new}; give another "
            "--model_dir"
        )
    return runs


def _metric(value) -> float | Quantity:
    if isinstance(value, dict):
        return Quantity(value=float(value["value"]), unit=str(value["unit"]))
    return float(value)


def _save(job: Job, path: str, runs: dict, summary: dict | None = None) -> None:
    """Writes what is done, and the statistics when all is."""
    content = {"experiment": _shared(job), "runs": runs}
    write_json(path, content | ({"statistics": summary} if summary else {}))


def _shared(job: Job) -> dict:
    """Returns what all seeds share of the configuration, as JSON has it."""
    content = json.loads(json.dumps(job.experiment.as_dict()))
    del content["runtime"]  # devices may change
    return content
