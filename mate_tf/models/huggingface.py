"""Converts configs from and to Hugging Face's TAPAS and BERT models."""

from mate_tf.attention import AttentionConfig
from mate_tf.errors import InputError
from mate_tf.models.pooling import FIRST

QUESTION_ANSWERING = "TapasForQuestionAnswering"
SEQUENCE_CLASSIFICATION = "TapasForSequenceClassification"

ACTIVATIONS = {
    "gelu": "gelu_exact",
    "gelu_new": "gelu",
    "gelu_pytorch_tanh": "gelu",
    "relu": "relu",
    "tanh": "tanh",
    "linear": "linear",
}
"""Hugging Face's `hidden_act` -> the value of `EncoderConfig.hidden_act`."""

_ENCODER_FIELDS = {
    "vocab_size": "vocab_size",
    "hidden_size": "hidden_size",
    "num_hidden_layers": "num_hidden_layers",
    "num_attention_heads": "num_attention_heads",
    "intermediate_size": "intermediate_size",
    "hidden_dropout_prob": "hidden_dropout_prob",
    "attention_probs_dropout_prob": "attention_probs_dropout_prob",
    "max_position_embeddings": "max_position_embeddings",
    "initializer_range": "initializer_range",
    "layer_norm_eps": "layer_norm_epsilon",
}
_TAPAS_FIELDS = {
    "type_vocab_sizes": "type_vocab_sizes",
    "reset_position_index_per_cell": "reset_position_index_per_cell",
}
_CLASSIFIER_FIELDS = {
    "temperature": "temperature",
    "positive_label_weight": "positive_weight",
    "average_logits_per_cell": "average_logits_per_cell",
    "select_one_column": "select_one_column",
    "allow_empty_column_selection": "allow_empty_column_selection",
    "disable_per_token_loss": "disable_per_token_loss",
    "init_cell_selection_weights_to_zero": "init_cell_selection_weights_to_zero",
    "num_aggregation_labels": "num_aggregation_labels",
    "aggregation_loss_weight": "aggregation_loss_importance",
    "use_answer_as_supervision": "use_answer_as_supervision",
    "answer_loss_importance": "answer_loss_importance",
    "use_normalized_answer_loss": "use_normalized_answer_loss",
    "huber_loss_delta": "huber_loss_delta",
    "answer_loss_cutoff": "answer_loss_cutoff",
    "cell_selection_preference": "cell_select_pref",
    "aggregation_temperature": "agg_temperature",
    "use_gumbel_for_cells": "use_gumbel_for_cells",
    "use_gumbel_for_aggregation": "use_gumbel_for_agg",
    "average_approximation_function": "average_approximation_function",
    "max_num_rows": "max_num_rows",
    "max_num_columns": "max_num_columns",
}
# Hugging Face's defaults that differ from ours. A config.json may omit keys with default values.
_TAPAS_DEFAULTS = {
    "max_position_embeddings": 1024,
    "reset_position_index_per_cell": True,
    "select_one_column": True,
}
_AGGREGATIONS = ("NONE", "SUM", "AVERAGE", "COUNT")
# Our key for the attention variant in a config.json; transformers ignores it.
_ATTENTION = "mate_tf_attention"


def encoder_fields(config: dict) -> dict:
    """Returns the fields of an EncoderConfig with the same outputs.

    A BERT model gets the default sizes of the seven token type tables.

    Args:
        config: contents of a config.json.

    Raises:
        InputError: for another kind of model, an unknown activation, or positions that are not
            absolute.
    """
    kind = config.get("model_type")
    if kind not in ("tapas", "bert"):
        raise InputError(f"model_type {kind!r}: only tapas and bert can be read")
    positions = config.get("position_embedding_type") or "absolute"
    if positions != "absolute":
        raise InputError(f"position_embedding_type {positions!r}: only absolute can be read")
    activation = config.get("hidden_act", "gelu")
    if activation not in ACTIVATIONS:
        raise InputError(f"hidden_act {activation!r} is not one of {', '.join(ACTIVATIONS)}")
    names = _ENCODER_FIELDS
    if kind == "tapas":
        names, config = names | _TAPAS_FIELDS, _TAPAS_DEFAULTS | config
    return _renamed(config, names) | {
        "hidden_act": ACTIVATIONS[activation],
        "attention": config.get(_ATTENTION, {"name": "full"}),
    }


def classifier_fields(config: dict) -> dict:
    """Returns the fields, without `encoder`, of a ClassifierConfig with the same outputs.

    Args:
        config: contents of a config.json.
    """
    if config.get("model_type") != "tapas":
        return {}
    # Hugging Face's loss applies the weight to labelled tokens only.
    own = {"positive_weight_for_labelled_only": True}
    own["sequence_dropout_prob"] = config.get("hidden_dropout_prob", 0.1)
    own |= _renamed(_TAPAS_DEFAULTS | config, _CLASSIFIER_FIELDS)
    if SEQUENCE_CLASSIFICATION in (config.get("architectures") or ()):
        # The other keys of the config are for heads that this model does not have.
        return own | {
            "num_classification_labels": len(config.get("id2label") or "01"),
            "disable_per_token_loss": True,
            "select_one_column": False,
            "num_aggregation_labels": 0,
        }
    return own


def _renamed(config, names):
    """Returns our name -> value, for keys that are present and not null."""
    return {ours: config[name] for name, ours in names.items() if config.get(name) is not None}


def to_huggingface(encoder, classifier=None, class_names=()) -> dict:
    """Returns the contents of a config.json.

    Args:
        classifier: ClassifierConfig, or None for an encoder without heads.
        class_names: names of its classes; by default LABEL_0 and so on.

    Raises:
        InputError: if the model has options without a counterpart in Hugging Face's TAPAS.
    """
    if encoder.softmax_temperature != 1:
        raise _no_counterpart(f"softmax_temperature={encoder.softmax_temperature}")
    if encoder.pooling != FIRST:
        raise _no_counterpart(f"pooling={encoder.pooling}")
    theirs = {ours: name for name, ours in reversed(ACTIVATIONS.items())}
    config = {
        "architectures": ["TapasModel"],
        "model_type": "tapas",
        "dtype": "float32",
        "hidden_act": theirs[encoder.hidden_act],
    }
    fields = encoder.as_dict()
    config |= {name: fields[ours] for name, ours in (_ENCODER_FIELDS | _TAPAS_FIELDS).items()}
    if encoder.attention != AttentionConfig(name="full"):
        config[_ATTENTION] = fields["attention"]
    return config if classifier is None else config | _heads(classifier, class_names)


def _heads(classifier, class_names) -> dict:
    if classifier.cell_cross_entropy:
        raise _no_counterpart("cell_cross_entropy")
    if classifier.span_prediction != "none":
        raise _no_counterpart(f"span_prediction={classifier.span_prediction}")
    if classifier.num_towers > 1:
        raise _no_counterpart(f"num_towers={classifier.num_towers}")
    if classifier.multiple_choice:
        raise _no_counterpart("multiple_choice")
    if classifier.classification_hidden_sizes:
        raise _no_counterpart("classification_hidden_sizes")
    fields = classifier.as_dict()
    config = {name: fields[ours] for name, ours in _CLASSIFIER_FIELDS.items()}
    if not classifier.num_classification_labels:
        labels = dict(enumerate(_AGGREGATIONS))
        if classifier.num_aggregation_labels == len(labels):
            config |= {"aggregation_labels": labels, "no_aggregation_label_index": 0}
        return config | {"architectures": [QUESTION_ANSWERING]}
    if classifier.num_aggregation_labels:
        raise _no_counterpart("a model of classes and aggregation")
    if not classifier.disable_per_token_loss:
        raise _no_counterpart("a model of classes and cells (without disable_per_token_loss)")
    number = classifier.num_classification_labels
    names = list(class_names or (f"LABEL_{index}" for index in range(number)))
    if len(names) != number:
        raise InputError(f"{len(names)} names for {number} classes")
    return config | {
        "architectures": [SEQUENCE_CLASSIFICATION],
        "id2label": dict(enumerate(names)),
        "label2id": {name: index for index, name in enumerate(names)},
    }


def _no_counterpart(what: str) -> InputError:
    return InputError(f"{what} has no counterpart in Hugging Face's TAPAS")
