"""Meaning of configuration keys of tf-models that its docstrings do not explain."""

UNIMPLEMENTED = frozenset({"SLIDEConfig", "AdafactorConfig"})
"""Classes of optimizers that tf-models names but does not implement: `type` cannot name them."""

KEYS = {
    "TaskConfig": {
        "init_checkpoint": "Checkpoint to start from.",
        "model": "Configuration of the model.",
        "train_data": "Training examples.",
        "validation_data": "Examples for evaluation.",
        "name": "Name of the task.",
        "differential_privacy_config": "Clipping and noise of differentially private training "
        "(`clipping_norm`, `noise_multiplier`); null: none.",
        "allow_image_summary": "Allows a task to write images into the summaries. Tasks of mate-tf "
        "write none.",
    },
    "TrainerConfig": {
        "loss_upper_bound": "A training loss above this bound counts as diverged, as does NaN.",
        "recovery_begin_steps": "Step from which the bound holds.",
        "recovery_max_trials": "How often a diverged training restarts from its last checkpoint; "
        "0: it stops with an error at once; negative: the loss is not checked.",
    },
    "RuntimeConfig": {
        "tpu_enable_xla_dynamic_padder": "Whether XLA pads dynamic shapes on a TPU; null: XLA's "
        "default.",
        "num_cores_per_replica": "For model parallelism of tf-models' own models. No effect here.",
        "default_shard_dim": "For model parallelism of tf-models' own models. No effect here.",
        "use_tpu_mp_strategy": "For model parallelism of tf-models' own models. No effect here.",
    },
    "BaseOptimizerConfig": {
        "clipnorm": "Largest norm of the gradient of a single variable; null: not clipped.",
        "clipvalue": "Largest absolute value of an element of a gradient; null: not clipped.",
        "global_clipnorm": "Largest norm of all gradients together; null: not clipped.",
    },
    "OptimizerConfig": {
        "slide": "Placeholder: tf-models has no implementation of it.",
        "adafactor": "Placeholder: tf-models has no implementation of it.",
    },
    "AdafactorKerasConfig": {
        "name": "Name of the optimizer.",
        "learning_rate": "Not used: `trainer.optimizer_config.learning_rate` decides.",
    },
}
"""Class of tf-models that declares the key, key, meaning."""
