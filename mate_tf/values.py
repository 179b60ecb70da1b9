"""Checks the values of configurations: their types, and the ranges of all numbers.

The types are those of the fields' annotations. The ranges are in one table, `RANGES`, by the names
of the fields, because most settings of the trainer are fields of tf-models.
"""

import dataclasses
import fnmatch
import functools
import math
import types
import typing

from mate_tf.errors import InputError

_INT = 2**31 - 1  # TensorFlow's indices and seeds
_FLOAT = 3.4e38  # the largest number of float32


class ValueRefusedError(InputError):
    """Error of a value of a configuration. The message begins with the file or flag, or the key."""


class Range(typing.NamedTuple):
    """Numbers that a field may have.

    Attributes:
        low: the least one.
        high: the greatest one.
        without: "low", "high" or "low high", the ends that do not belong to the range.
        also: single numbers outside of the range that mean something else, such as -1.
    """

    low: float = -_FLOAT
    high: float = _FLOAT
    without: str = ""
    also: tuple[int, ...] = ()

    def __contains__(self, value) -> bool:
        """Returns True for a number of the range. NaN and infinity are in none."""
        if value in self.also:
            return True
        ends = {name: getattr(self, name) for name in self.without.split()}
        return self.low <= value <= self.high and value not in ends.values()

    def __str__(self) -> str:
        """Returns the range in words, such as "from 1 to 64"."""
        above, below = "low" in self.without, "high" in self.without
        least = f"above {self.low}" if above else f"of {self.low} or more"
        most = f"below {self.high}" if below else f"of {self.high} or less"
        if self.high in (_INT, _FLOAT):
            text = "" if self.low == -_FLOAT else least
        elif self.low == -_FLOAT:
            text = most
        elif above or below:
            text = f"{least} and {most}"
        else:
            text = f"from {self.low} to {self.high}"
        return " ".join([text, *(f"or {value}" for value in self.also)]).strip()


_COUNT = Range(1, _INT)
_COUNT_OR_NONE = Range(0, _INT)
_POSITIVE = Range(0, without="low")
_NOT_NEGATIVE = Range(0)
_SHARE = Range(0, 1)
_BELOW_ONE = Range(0, 1, without="high")
_WIDTH = Range(1, 65_536)
_TOKENS = Range(1, 1_000_000)
_ANY = Range()


def _each(found: Range, names: str) -> dict[str, Range]:
    return dict.fromkeys(names.split(), found)


RANGES = {
    # encoder
    "vocab_size": Range(1, 10_000_000),
    "hidden_size": _WIDTH,
    "intermediate_size": _WIDTH,
    **_each(Range(0, 1000), "num_hidden_layers *initializer_range word_embedding_scale"),
    "num_attention_heads": Range(1, 1024),
    "*_dropout_prob": _BELOW_ONE,
    "max_position_embeddings": _TOKENS,
    "type_vocab_sizes": _TOKENS,
    "layer_norm_epsilon": Range(0, 1, without="low"),
    "*temperature": _POSITIVE,
    # decoder
    "num_decoder_layers": Range(1, 1000),
    "max_target_positions": _TOKENS,
    "label_smoothing": _BELOW_ONE,
    "start_id": Range(0, 10_000_000),
    "end_id": Range(0, 10_000_000),
    # attention
    **_each(Range(0, 1_000_000), "global_length window attention.num_global num_random"),
    **_each(
        _TOKENS,
        "radius row_radius column_radius local_radius attention.length stride "
        "projected_length block_size random_within",
    ),
    "row_heads_ratio": _SHARE,
    "pack_share": Range(0, 1, "low"),
    "penalty": _POSITIVE,
    "initial_alpha": _ANY,
    "sparsity_weight": _NOT_NEGATIVE,
    "balancing_loss": _NOT_NEGATIVE,
    "temperature_steps": _COUNT_OR_NONE,
    "disabled_relation": _COUNT_OR_NONE,
    "tree_height": Range(0, 20),
    "branching": Range(2, 1_000_000),
    "num_trees": Range(1, 1024),
    "leaf_capacity": Range(0.01, 1_000_000),
    "max_distance": Range(1, 65_536),
    "num_random_features": _WIDTH,
    # heads
    **_each(_NOT_NEGATIVE, "positive_weight *_loss_importance answer_loss_cutoff"),
    **_each(_SHARE, "cell_classification_threshold cell_selection_ratio cell_select_pref"),
    "huber_loss_delta": _POSITIVE,
    "num_aggregation_labels": Range(0, 1000),
    "num_classification_labels": Range(0, 1_000_000),
    **_each(_WIDTH, "classification_hidden_sizes span_hidden_size max_num_rows max_num_columns"),
    "max_span_length": _TOKENS,
    "num_towers": Range(1, 2),
    # examples
    "max_seq_length": Range(8, 1_000_000),
    "max_column_id": _COUNT,
    "max_row_id": _COUNT,
    "cell_trim_length": Range(-1, _INT),
    **_each(
        _COUNT_OR_NONE,
        "entity_descriptions_sentence_limit max_batch_tokens curriculum_* shuffle_buffer_size "
        "skip_batches *seed",
    ),
    **_each(_TOKENS, "doc_stride max_question_length buckets"),
    "global_batch_size": Range(1, 1_000_000),
    # tasks
    **_each(_SHARE, "*_prob cut_share masked_share train_unanswerable"),
    "max_predictions_per_seq": _TOKENS,
    "generation.length": _TOKENS,
    **_each(
        _COUNT,
        "dupe_factor num_predictions_to_keep num_cells generation.num_train* questions_per_table",
    ),
    "dev_share": Range(0, 1, without="low high"),
    "null_score_diff_threshold": _ANY,
    "random_split": Range(1, 5),
    "max_target_length": Range(3, 1_000_000),
    "decoding.beam_size": Range(1, 1000),
    "noise.span_length": Range(1, 1000),
    **_each(_COUNT_OR_NONE, "decoding.* generation.num_* statements_per_table min_distance"),
    "generation.m??_*": _COUNT,
    # trainer
    **_each(
        _COUNT,
        "train_steps steps_per_loop summary_interval checkpoint_interval max_to_keep "
        "worker_timeout",
    ),
    **_each(
        _COUNT_OR_NONE,
        "validation_interval continuous_eval_timeout layer_log_interval recovery_begin_steps",
    ),
    "validation_steps": Range(1, _INT, also=(-1,)),
    "loss_upper_bound": _POSITIVE,
    "recovery_max_trials": Range(-1, _INT),
    "bootstrap.*": _COUNT_OR_NONE,
    # optimizers and learning rates
    "adafactor.decay_rate": _SHARE,
    "bert.decay_steps": _COUNT_OR_NONE,
    "bert.warmup_steps": Range(-1, _INT),
    "gradient_accumulation_steps": Range(1, 1_000_000),
    **_each(
        _NOT_NEGATIVE,
        "pattern_learning_rate_factor gradient_clip_norm weight_decay* sgd.decay "
        "initial_accumulator_value *learning_rate warmup.*.power",
    ),
    "beta_2_decay": Range(high=0),
    **_each(_BELOW_ONE, "beta* momentum rho"),
    **_each(_POSITIVE, "epsilon* clip* global_clipnorm ratio_clip_norm eeta decay_rate"),
    **_each(_COUNT, "min_dim_size_to_factor *decay_steps warmup_steps"),
    **_each(_COUNT_OR_NONE, "step_offset start_step offset boundaries"),
    **_each(_SHARE, "average_decay warmup_ratio cosine.alpha linear_decay_fraction"),
    "power": _ANY,
    "values": Range(0, 1_000_000),
    # runtime
    "num_gpus": Range(0, 1024),
    "per_gpu_thread_count": Range(0, 1024),
    "dataset_num_private_threads": Range(1, 1024),
    "num_packs": Range(1, 1024),
    "loss_scale": _POSITIVE,
    "task_index": Range(-1, 65_536),
    "num_cores_per_replica": Range(1, 65_536),
    "default_shard_dim": Range(-1, 1024),
}
"""Pattern of the last parts of a key -> range of its number, or of each number of its list.

The first pattern that matches counts. `null` is allowed where the annotation of the field has it.
"""


@functools.cache
def range_of(key: str) -> Range | None:
    """Returns the range of a key, such as "trainer.train_steps", or None if it has none."""
    for pattern, found in RANGES.items():
        if fnmatch.fnmatchcase(f".{key}", f"*.{pattern}"):
            return found
    return None


def check(key: str, value, annotation, source: str = "") -> None:
    """Raises InputError unless a value has the type and the range of its key.

    Args:
        key: path of the field, such as "task.model.encoder.hidden_size".
        value: what is given for it: null, true or false, a number, text or a list of these.
        annotation: type of the field, such as `int | None` or `list[int]`.
        source: file or flag, for the message.
    """
    if not _is_allowed(key, value, annotation):
        allowed = _allowed(key, annotation)
        known = range_of(key)
        if isinstance(value, int) and known and value > known.high == _INT:
            allowed += f", at most {_INT}"  # which the words of the range leave out
        raise refused(key, value, allowed, source)


@functools.cache
def annotations(config_type: type) -> dict[str, typing.Any]:
    """Returns name -> type of the fields of a class of tf-models' configs."""
    hints = typing.get_type_hints(config_type)
    return {field.name: hints[field.name] for field in dataclasses.fields(config_type)}


def check_all(config, prefix: str = "") -> None:
    """Raises InputError for the first field of a config, or of a config in it, that is refused."""
    for name, annotation in annotations(type(config)).items():
        value = getattr(config, name)
        if dataclasses.is_dataclass(value):
            check_all(value, f"{prefix}{name}.")
        elif not _holds_configs(value):
            check(f"{prefix}{name}", value, annotation)


def _holds_configs(value) -> bool:
    """Returns True for lists of configs, as `attention` may be one."""
    return isinstance(value, list | tuple) and any(map(dataclasses.is_dataclass, value))


def refused(key: str, value, allowed: str, source: str = "") -> ValueRefusedError:
    """Returns the error of a value: its file or flag, its key, itself and what is allowed."""
    try:
        shown = repr(value)
    except ValueError:  # Python does not print more digits
        shown = "a number of more than 4,300 digits"
    except RecursionError:
        shown = "a value that is nested too deeply"
    shown = shown if len(shown) <= 100 else f"{shown[:100]}..."
    return ValueRefusedError(
        f"{source}{': ' if source else ''}{key} is {shown}, expected {allowed}"
    )


def _parts(annotation) -> tuple:
    """Returns the types of a union; of another type, itself."""
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        return typing.get_args(annotation)
    return (annotation,)


def _is_allowed(key, value, annotation) -> bool:
    return any(_is_of(key, value, part) for part in _parts(annotation))


def _is_of(key, value, kind) -> bool:
    if kind is typing.Any:
        return True
    if kind in (None, type(None)):
        return value is None
    origin, arguments = typing.get_origin(kind) or kind, typing.get_args(kind)
    if isinstance(origin, type) and issubclass(origin, list | tuple):
        of_element = arguments[0] if arguments else typing.Any
        return isinstance(value, list | tuple) and all(
            _is_allowed(key, element, of_element) for element in value
        )
    if origin not in (int, float):
        return isinstance(value, origin)
    numbers = (int, float) if origin is float else int
    if isinstance(value, bool) or not isinstance(value, numbers):
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return value in (range_of(key) or _ANY)


def _allowed(key, annotation) -> str:
    return " or ".join(_words(key, part) for part in _parts(annotation))


def _words(key, kind) -> str:
    if kind in (None, type(None)):
        return "null"
    origin, arguments = typing.get_origin(kind) or kind, typing.get_args(kind)
    if isinstance(origin, type) and issubclass(origin, list | tuple):
        if arguments and arguments[0] in (int, float):
            noun = "integers" if arguments[0] is int else "numbers"
            return f"a list of {noun} {range_of(key) or ''}".strip()
        return "a list"
    if origin in (int, float):
        noun = "an integer" if origin is int else "a number"
        return f"{noun} {range_of(key) or ''}".strip()
    return {bool: "true or false", str: "text"}.get(origin, "keys and values")
