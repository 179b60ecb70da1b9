"""A table encoder with heads: answers questions by choosing cells of the table."""

import dataclasses

import tensorflow as tf
from official.modeling.hyperparams import base_config

from mate_tf.attention.base import build_child
from mate_tf.errors import InputError
from mate_tf.layers.cells import Cells
from mate_tf.layers.keras_namespace import keras
from mate_tf.models import heads
from mate_tf.models.encoder import EncoderConfig, TableEncoder

_ENCODER_FLAGS = frozenset(
    {
        "restrict_attention_mode",
        "restrict_attention_bucket_size",
        "restrict_attention_header_size",
        "restrict_attention_row_heads_ratio",
        "restrict_attention_sort_after_projection",
        "reset_position_index_per_cell",
        "disable_position_embeddings",
        "disabled_features",
        "proj_value_length",
        "attention_bias_disabled",
        "attention_bias_use_relative_scalar_only",
    }
)
# Settings of the reference's training script, not of the model.
_TRAINING_FLAGS = frozenset(
    {
        "init_checkpoint",
        "learning_rate",
        "num_train_steps",
        "num_warmup_steps",
        "grad_clipping",
        "use_tpu",
        "reset_output_cls",
        "restrict_attention",
    }
)
# Heads that are not there yet: the value that means "without", per flag that switches one on.
_OTHER_HEADS = {
    "num_aggregation_labels": 0,
    "num_classification_labels": 0,
    "span_prediction": "none",
    "disable_per_token_loss": False,
}
# Details of those heads: without the head they have no effect.
_OTHER_HEADS_DETAILS = frozenset(
    {
        "aggregation_loss_importance",
        "use_answer_as_supervision",
        "answer_loss_importance",
        "use_normalized_answer_loss",
        "huber_loss_delta",
        "answer_loss_cutoff",
        "cell_select_pref",
        "agg_temperature",
        "use_gumbel_for_cells",
        "use_gumbel_for_agg",
        "average_approximation_function",
        "classification_label_weight",
    }
)


@dataclasses.dataclass
class ClassifierConfig(base_config.Config):
    """What a TableClassifier is made of; names and defaults are the reference's where it has them.

    Attributes:
        encoder: the encoder below the heads.
        temperature: divides the token logits.
        positive_weight: weight of the token loss (see `heads.TokenHead`).
        positive_weight_for_labelled_only: False: every token has that weight, as in the reference;
            True: only labelled tokens, the others 1.
        average_logits_per_cell: all tokens of a cell share their mean logit.
        select_one_column: choose a column first, then cells in it (`heads.ColumnAndCellHead`).
        allow_empty_column_selection: the chosen column may be none.
        cell_cross_entropy: softmax over the data cells (`heads.CellSoftmaxHead`).
        cell_cross_entropy_target: its target: "soft_em" (the paper's), "hard_em" or "uniform".
        cell_cross_entropy_hard_em: the reference's flag for the target "hard_em".
        cell_classification_threshold: a cell is chosen if the mean of its token probabilities is
            larger (all heads but the softmax).
        cell_selection_ratio: a cell is chosen if its probability is at least this share of the
            largest (softmax).
        mask_examples_without_labels: they add nothing to the loss, yet count in the mean.
        init_cell_selection_weights_to_zero: start the cell and column scorers at zero.
        max_num_rows: rows told apart by the heads, the header's included.
        max_num_columns: columns told apart, column 0 (outside the table) included.
        sequence_dropout_prob: dropout between encoder and heads.
    """

    encoder: EncoderConfig = dataclasses.field(default_factory=EncoderConfig)
    temperature: float = 1.0
    positive_weight: float = 10.0
    positive_weight_for_labelled_only: bool = False
    average_logits_per_cell: bool = False
    select_one_column: bool = False
    allow_empty_column_selection: bool = False
    cell_cross_entropy: bool = False
    cell_cross_entropy_target: str = heads.SOFT_EM
    cell_cross_entropy_hard_em: bool = False
    cell_classification_threshold: float = 0.5
    cell_selection_ratio: float = 0.5
    mask_examples_without_labels: bool = False
    init_cell_selection_weights_to_zero: bool = False
    max_num_rows: int = 64
    max_num_columns: int = 32
    sequence_dropout_prob: float = 0.1

    @classmethod
    def from_tapas(cls, bert_config, **flags):
        """From the reference's bert_config.json and the fields of its tapas_config.json.

        Args:
            bert_config: dict.
            **flags: fields of TapasClassifierConfig; those of training are left aside.

        Raises:
            InputError: for a flag the reference does not have, or one that asks for a head that is
                not there.
        """
        for name, absent in _OTHER_HEADS.items():
            if flags.get(name, absent) not in (absent, None):
                raise InputError(f"{name}={flags[name]!r}: there is no such head")
        fields = {field.name for field in dataclasses.fields(cls)} - {"encoder"}
        ignored = _TRAINING_FLAGS | _OTHER_HEADS_DETAILS | set(_OTHER_HEADS)
        for name in flags:
            if name not in fields | _ENCODER_FLAGS | ignored:
                raise InputError(f"{name!r} is not a field of the reference's classifier config")
        encoder_flags = {name: flags[name] for name in flags if name in _ENCODER_FLAGS}
        own = {name: flags[name] for name in flags if name in fields}
        return cls(encoder=EncoderConfig.from_tapas(bert_config, **encoder_flags), **own)


class TableClassifier(keras.Model):
    """Scores the cells of a table as answers to a question.

    Example:
        >>> model = TableClassifier(ClassifierConfig(select_one_column=True))
        >>> outputs = model(features)
        >>> outputs["probs"].shape, outputs["selected_tokens"].shape
        ([batch, seq], [batch, seq])

    Variables exist from construction on.

    Args:
        config: a ClassifierConfig.

    Raises:
        InputError: if options of the config contradict each other.
    """

    def __init__(self, config, name="table_classifier", **kwargs):
        # Without autocast: in bfloat16 a numeric value 1959 would become 1960.
        super().__init__(name=name, autocast=False, **kwargs)
        self._config = config
        self.encoder = TableEncoder(config.encoder, name="bert")
        self.dropout = keras.layers.Dropout(config.sequence_dropout_prob)
        self.heads = [heads.cell_selection_head(config)]
        self.build(None)

    @property
    def config(self):
        """The ClassifierConfig."""
        return self._config

    def build(self, input_shape=None):
        for head in self.heads:
            build_child(head, [None, None, self._config.encoder.hidden_size])
        self.built = True

    def get_config(self):
        return {"name": self.name, "config": self._config.as_dict()}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        del custom_objects
        return cls(ClassifierConfig(config["config"]), name=config["name"])

    def call(self, features, training=None):
        """Runs the encoder and the heads; computes losses if the features hold labels.

        Args:
            features: dict of the encoder's inputs, <int32>[batch, seq]; `label_ids` for losses.
            training: with dropout.

        Returns:
            dict: the encoder's outputs (sequence_output, pooled_output, encoder_outputs) and the
            heads', all <float32> (see `heads`): token_logits, logits, probs, selected_tokens and,
            with select_one_column, column_logits. With labels also total_loss <float32>[] and the
            heads' losses per example.
        """
        outputs = dict(self.encoder(features, training=training))
        x = self.dropout(outputs["sequence_output"], training=training)
        cells = Cells(
            features["row_ids"],
            features["column_ids"],
            features["input_mask"],
            self._config.max_num_rows,
            self._config.max_num_columns,
        )
        for head in self.heads:
            outputs.update(head(x, cells=cells, features=features))
        if "label_ids" in features:
            outputs.update(self._head_losses(outputs, cells, features))
        return outputs

    def _head_losses(self, outputs, cells, features):
        totals, parts = [], {}
        for head in self.heads:
            total, per_example = head.loss(outputs, cells=cells, features=features)
            totals.append(total)
            parts.update(per_example)
        return {**parts, "total_loss": tf.add_n(totals)}
