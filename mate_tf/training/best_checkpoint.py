"""Checks the settings of tf-models' exporter, which keeps the checkpoint that is best on dev."""

from mate_tf import values

VALIDATION_LOSS = "validation_loss"
"""Name of the loss on `task.validation_data`, among the metrics of an evaluation."""

_KEYS = ("best_checkpoint_export_subdir", "best_checkpoint_eval_metric")


def check(settings, task) -> None:
    """Raises InputError if tf-models could not tell which checkpoint is the best one.

    Args:
        settings: TrainerConfig; if it names no folder and no metric, all is well.
        task: the task, whose metrics may be named.
    """
    folder, metric = (getattr(settings, key) for key in _KEYS)
    if not folder and not metric:
        return
    if not folder or not metric:
        missing = _KEYS[1] if folder else _KEYS[0]
        raise values.refused(f"trainer.{missing}", metric if folder else folder, "a name")
    if folder in (".", "..") or "/" in folder or "\\" in folder:
        raise values.refused(f"trainer.{_KEYS[0]}", folder, "the name of a folder in --model_dir")
    known = [VALIDATION_LOSS, *(each.name for each in task.build_metrics(training=False))]
    if metric not in known:
        raise values.refused(f"trainer.{_KEYS[1]}", metric, f"one of {', '.join(known)}")
    order = settings.best_checkpoint_metric_comp
    if order not in ("higher", "lower"):
        raise values.refused("trainer.best_checkpoint_metric_comp", order, "higher or lower")
