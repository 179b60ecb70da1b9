"""Flags of google-research/tapas: taken over, or answered with what to write here.

They are read before all other flags. Its flags that this program has under the same name are not
here. docs/migration.md lists all of them.
"""

import json
import re
from collections.abc import Iterator

from mate_tf.errors import InputError

ATTENTION = {
    "full": "full",
    "same_colum_or_row": "same_row_or_column",
    "headwise_same_colum_or_row": "mate_exact",
    "headwise_efficient": "mate_efficient",
    "table_attention": "table_bias",
}
"""Value of --restrict_attention_mode (with its spelling) -> attention variant."""

RENAMED = {
    "restrict_attention_bucket_size": "radius",
    "restrict_attention_header_size": "global_length",
    "restrict_attention_row_heads_ratio": "row_heads_ratio",
    "eval_batch_size": "test_batch_size",
    "predict_batch_size": "test_batch_size",
    "tpu_iterations_per_loop": "iterations_per_loop",
    "vocab_file": "bert_vocab_file",
    "random_seed": "tf_random_seed",
}
"""Flag -> flag of this program that takes the same value."""

_OF_HEADS = """
    positive_weight cell_classification_threshold average_logits_per_cell max_num_columns
    max_num_rows num_aggregation_labels num_classification_labels span_prediction
    aggregation_loss_importance use_answer_as_supervision answer_loss_importance
    use_normalized_answer_loss huber_loss_delta answer_loss_cutoff cell_select_pref temperature
    agg_temperature use_gumbel_for_cells use_gumbel_for_agg average_approximation_function
    init_cell_selection_weights_to_zero select_one_column disable_per_token_loss
    allow_empty_column_selection mask_examples_without_labels cell_cross_entropy
    cell_cross_entropy_hard_em classification_label_weight
"""
_OF_ENCODERS = """
    attention_probs_dropout_prob hidden_dropout_prob initializer_range softmax_temperature
"""
KEYS = {
    **{name: f"task.model.{name}" for name in _OF_HEADS.split()},
    **{f"bert_config_{name}": f"task.model.encoder.{name}" for name in _OF_ENCODERS.split()},
    "disabled_features": "task.model.encoder.disabled_features",
    "disable_position_embeddings": "task.model.encoder.disable_position_embeddings",
    "attention_bias_disabled": "task.model.encoder.attention.disabled_relation",
    "max_column_id": "task.conversion.max_column_id",
    "max_row_id": "task.conversion.max_row_id",
    "warmup_ratio": "trainer.optimizer_config.learning_rate.bert.warmup_ratio",
    "grad_clipping": "trainer.optimizer_config.optimizer.bert_adamw.clipvalue",
    "save_checkpoints_steps": "trainer.checkpoint_interval",
    "keep_checkpoint_max": "trainer.max_to_keep",
    "num_eval_steps": "trainer.validation_steps",
}
"""Flag -> key of the configuration. The flag stands for --params_override=KEY=VALUE."""

_LISTS = ("disabled_features",)

WITHOUT_EFFECT = {
    "tapas_verbosity": None,
    "eval_throttle_secs": None,
    "eval_start_delay_secs": None,
    "minutes_to_sleep_before_predictions": None,
    "keep_checkpoint_every_n_hours": None,
    "eval_name": None,
    "loop_predict": "false",
    "data_format": "tfrecord",
    "compression_type": "GZIP",
    "proj_value_length": "-1",
    "attention_bias_use_relative_scalar_only": "true",
    "table_pruning_config_file": "",
}
"""Flag that is accepted and changes nothing -> its only such value; None: any value."""

_MASKING = "only the task PRETRAIN masks words: --params_override=task.masking"
ANSWERS = {
    "do_train": "--mode=train",
    "do_eval": "--mode=eval (loss and metrics) or --mode=predict_and_evaluate (scores)",
    "do_predict": "--mode=predict",
    "do_sequence_prediction": "--mode=predict of task SQA does this itself",
    "evaluated_checkpoint_step": "the last checkpoint of --model_dir is evaluated",
    "max_eval_count": "--params_override=trainer.validation_steps=BATCHES",
    "loop_predict": (
        "--mode=predict uses the last checkpoint and ends; --mode=train evaluates every "
        "trainer.validation_interval steps"
    ),
    "input_file_train": "--params_override=task.train_data.input_path=FILES",
    "input_file_eval": "--params_override=task.validation_data.input_path=FILES",
    "input_file_predict": "--mode=predict reads --output_dir, where --mode=create_data wrote it",
    "eval_interactions_file": "--mode=predict_and_evaluate reads --output_dir",
    "predict_interactions_file": "--mode=predict_and_evaluate reads --output_dir",
    "input_file": "--task=PRETRAIN --mode=create_data --input_dir=FOLDER with interactions",
    "prediction_output_dir": "predictions are written to --model_dir",
    "output_token_probabilities": "--mode=predict of task HYBRIDQA writes them itself",
    "compute_weighted_denotation_accuracy": "--mode=predict_and_evaluate prints the accuracies",
    "num_train_examples": "--num_train_steps=N, examples divided by the batch size",
    "test_mode": "--num_train_steps=10 --train_batch_size=1 --test_batch_size=1",
    "data_format": "files are TFRecords",
    "compression_type": "examples are written with GZIP, and read with GZIP or uncompressed",
    "proj_value_length": (
        "--attention=linformer with --params_override=task.model.encoder.attention."
        "projected_length=N,task.model.encoder.attention.length=TOKENS"
    ),
    "attention_bias_use_relative_scalar_only": "--attention=table_bias has scalar biases only",
    "table_pruning_config_file": (
        "pruning models are not supported; --prune_columns and --prune_rows drop what matches the "
        "question least"
    ),
    "max_predictions_per_seq": f"{_MASKING}.max_predictions_per_seq=N",
    "masked_lm_prob": f"{_MASKING}.masked_lm_prob=P",
    "dupe_factor": "words are masked anew in each step of --task=PRETRAIN",
    "always_continue_cells": "--params_override=task.masking.mask_whole_cells=true",
    **dict.fromkeys(
        ("min_num_rows", "min_num_columns", "min_question_length", "max_question_length"),
        "--task=PRETRAIN takes all tables and texts",
    ),
    "gc_project": "--beam_options='--project=P'",
    "gc_region": "--beam_options='--region=R'",
    "gc_job_name": "--beam_options='--job_name=NAME'",
    "gc_staging_location": "--beam_options='--staging_location=PATH'",
    "gc_temp_location": "--beam_options='--temp_location=PATH'",
    "extra_packages": "--beam_options='--extra_package=FILE'",
}
"""Flag -> what to do instead."""

ANSWERS_TO_VALUES = {
    ("mode", "evaluate"): "--mode=predict_and_evaluate predicts and prints scores",
    ("task", "HYBRIDQA_E2E"): "--task=POINTR has both stages",
}
"""(Flag, value) -> what to do instead."""

_BOOLEAN = """
    average_logits_per_cell use_answer_as_supervision use_normalized_answer_loss
    use_gumbel_for_cells use_gumbel_for_agg init_cell_selection_weights_to_zero select_one_column
    disable_per_token_loss allow_empty_column_selection mask_examples_without_labels
    cell_cross_entropy cell_cross_entropy_hard_em disable_position_embeddings loop_predict
    attention_bias_use_relative_scalar_only do_train do_eval do_predict do_sequence_prediction
    output_token_probabilities test_mode compute_weighted_denotation_accuracy
    always_continue_cells
"""
BOOLEAN = frozenset(_BOOLEAN.split())
"""Flags that may come without a value, or with `no` before the name."""

NAMES = frozenset({"restrict_attention_mode", *RENAMED, *KEYS, *WITHOUT_EFFECT, *ANSWERS})
"""All flags that this module reads, besides --mode and --task."""

_FLAG = re.compile(r"--?(\w+)(?:=(.*))?", re.DOTALL)
_ATTENTION_FLAGS = ("restrict_attention_mode", *(name for name in RENAMED if "attention" in name))


def translate(arguments: list[str]) -> list[str]:
    """Returns the arguments with flags of this program in place of those of google-research/tapas.

    Raises:
        InputError: a flag has no equivalent; the message says what to do instead.
    """
    translated, attention = [], {}
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            return [*translated, *_attention(attention), argument, *rest]
        name, value = _read(argument, rest)
        if name in _ATTENTION_FLAGS:
            attention[name] = value
        elif name is not None:
            translated += _one(name, value)
        else:
            translated.append(argument)
    return [*translated, *_attention(attention)]


def _read(argument: str, rest: Iterator[str]) -> tuple[str | None, str]:
    """Returns name and value of a flag, which may be the next argument; None for others."""
    match = _FLAG.fullmatch(argument)
    if not match:
        return None, ""
    name, value = match.groups()
    if name in ("mode", "task"):
        return (name, value) if value is not None else (None, "")
    if name.removeprefix("no") in BOOLEAN and name not in NAMES and value is None:
        return name.removeprefix("no"), "false"
    if name not in NAMES:
        return None, ""
    if value is None:
        value = "true" if name in BOOLEAN else next(rest, None)
    if value is None:
        raise InputError(f"--{name} needs a value")
    if name in BOOLEAN:
        value = {"1": "true", "0": "false"}.get(value, value.lower())
    return name, value


def _one(name: str, value: str) -> list[str]:
    """Returns the arguments for a flag that does not depend on others."""
    if name == "mode":
        value = value.lower()
    if (name, value) in ANSWERS_TO_VALUES:
        raise _answered(f"--{name}={value}", ANSWERS_TO_VALUES[name, value])
    if name in ("mode", "task"):
        return [f"--{name}={value}"]
    if name in RENAMED:
        return [f"--{RENAMED[name]}={value}"]
    if name in KEYS:
        return [_override(KEYS[name], value.split(",") if name in _LISTS else _parsed(value))]
    if name in WITHOUT_EFFECT and WITHOUT_EFFECT[name] in (None, value):
        return []
    if name in BOOLEAN and name not in WITHOUT_EFFECT and value == "false":
        return []
    raise _answered(f"--{name}", ANSWERS[name])


def _answered(flag: str, answer: str) -> InputError:
    return InputError(f"{flag} is a flag of google-research/tapas; here: {answer}")


def _attention(given: dict[str, str]) -> list[str]:
    """Returns the arguments for the flags of restricted attention, which depend on each other."""
    mode = given.get("restrict_attention_mode")
    if mode is not None and mode not in ATTENTION:
        raise InputError(f"--restrict_attention_mode={mode}: choose one of {', '.join(ATTENTION)}")
    sizes = {name: value for name, value in given.items() if name in RENAMED}
    bucket = _size(sizes.pop("restrict_attention_bucket_size", "0"))
    header = _size(sizes.pop("restrict_attention_header_size", str(bucket)))
    if mode == "headwise_efficient" and not bucket:
        raise InputError("--restrict_attention_mode=headwise_efficient needs a bucket size")
    headwise = mode is None or mode.startswith("headwise")
    arguments = [f"--attention={ATTENTION[mode]}"] if mode else []
    if headwise:
        arguments += [f"--{RENAMED[name]}={value}" for name, value in sizes.items()]
    if headwise and bucket:
        arguments += [f"--radius={bucket}"]
    if headwise and header and (bucket or mode is None):
        arguments += [f"--global_length={header}"]
    if mode == "headwise_same_colum_or_row" and bucket:
        arguments += [_override("task.model.encoder.attention.windowed", True)]
    return arguments


def _size(value: str) -> int:
    try:
        return int(value)
    except ValueError as error:
        raise InputError(f"a size of restricted attention is {value!r}, not a number") from error


def _parsed(value: str):
    """Returns a number, true, false or a text."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def _override(key: str, value) -> str:
    for part in reversed(key.split(".")):
        value = {part: value}
    return f"--params_override={json.dumps(value)}"
