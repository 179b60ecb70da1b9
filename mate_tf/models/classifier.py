"""A table encoder with heads: chooses cells, spans, aggregations and classes."""

import dataclasses

import tensorflow as tf
from official.modeling.hyperparams import base_config

from mate_tf.attention.base import build_child
from mate_tf.errors import InputError
from mate_tf.layers import replicas
from mate_tf.layers.cells import Cells
from mate_tf.layers.keras_namespace import keras
from mate_tf.models import aggregation, classification, heads, huggingface, reader, spans, towers
from mate_tf.models.configured import ConfiguredModel
from mate_tf.models.encoder import EncoderConfig, TableEncoder
from mate_tf.models.head import Head

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
        always_select_cell: choose the most probable data cell if none is above the threshold.
        cell_selection_ratio: a cell is chosen if its probability is at least this share of the
            largest (softmax).
        disable_per_token_loss: cells are scored, but nothing is learnt from label_ids.
        mask_examples_without_labels: they add nothing to the loss of the cells, yet count in its
            mean.
        init_cell_selection_weights_to_zero: start the cell and column scorers at zero.
        num_aggregation_labels: operations over the chosen cells (see `aggregation`),
            4 for NONE, SUM, AVERAGE and COUNT; 0: no such head.
        aggregation_loss_importance: weight of its loss.
        use_answer_as_supervision: learn the operation from the number that is the answer; False:
            from aggregation_function_id. No effect without operations.
        answer_loss_importance: weight of the loss of that number.
        use_normalized_answer_loss: compare number and answer relative to the larger of the two.
        huber_loss_delta: error up to which the loss is quadratic; it is linear beyond.
        answer_loss_cutoff: an example with a larger loss teaches no operation; None: all do.
        cell_select_pref: an answer that is a number and stands in a cell is to be computed only
            if the probability of any operation is larger than this.
        agg_temperature: divides the logits of operations when a number is computed.
        use_gumbel_for_cells: compute with cells drawn at random by their probabilities (a
            differentiable relaxation of it).
        use_gumbel_for_agg: the same for operations.
        average_approximation_function: how the expected average is computed: "ratio",
            "first_order" or "second_order" (see `aggregation`).
        num_classification_labels: classes (`classification.ClassificationHead`); 0: no such head;
            1: no class but a number (`classification.RegressionHead`).
        classification_hidden_sizes: widths of hidden layers before the class or number.
        classification_label_weight: weights of classes in the loss, such as "0:1.0,1:2.0".
        multiple_choice: the classes are choices (`classification.ChoiceHead`): a sequence has an
            equal part for each, which is encoded for itself (`towers`).
        span_prediction: "none", "span" or "boundary" (see `spans`), or "mlp" (see `reader`). With
            spans, they are what is learnt from label_ids.
        max_span_length: tokens of the longest span.
        allow_empty_span: no span may be the answer, which [CLS] stands for: it is labelled where
            there is none, and shares the distribution of the spans.
        span_hidden_size: width of the hidden layer of "mlp".
        span_activation: its activation, as the encoder's `hidden_act`.
        max_num_rows: rows told apart by the heads, the header's included.
        max_num_columns: columns told apart, column 0 (outside the table) included.
        sequence_dropout_prob: dropout between the encoder's sequence output and heads.
        num_towers: 2: the halves of a sequence are encoded each for itself (`towers`).
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
    always_select_cell: bool = False
    cell_selection_ratio: float = 0.5
    disable_per_token_loss: bool = False
    mask_examples_without_labels: bool = False
    init_cell_selection_weights_to_zero: bool = False
    num_aggregation_labels: int = 0
    aggregation_loss_importance: float = 1.0
    use_answer_as_supervision: bool = False
    answer_loss_importance: float = 1.0
    use_normalized_answer_loss: bool = False
    huber_loss_delta: float = 25.0
    answer_loss_cutoff: float | None = None
    cell_select_pref: float = 0.5
    agg_temperature: float = 1.0
    use_gumbel_for_cells: bool = False
    use_gumbel_for_agg: bool = False
    average_approximation_function: str = aggregation.RATIO
    num_classification_labels: int = 0
    classification_hidden_sizes: list[int] = dataclasses.field(default_factory=list)
    classification_label_weight: str = ""
    multiple_choice: bool = False
    span_prediction: str = spans.NO_SPANS
    max_span_length: int = 10
    allow_empty_span: bool = False
    span_hidden_size: int = 256
    span_activation: str = "gelu"
    max_num_rows: int = 64
    max_num_columns: int = 32
    sequence_dropout_prob: float = 0.1
    num_towers: int = 1

    def towers(self) -> towers.Towers:
        """How the encoder is applied to sequences.

        Raises:
            InputError: towers and choices contradict each other.
        """
        choices = self.num_classification_labels if self.multiple_choice else 1
        return towers.Towers(self.num_towers, choices)

    @classmethod
    def from_tapas(cls, bert_config, **flags):
        """From the reference's bert_config.json and the fields of its tapas_config.json.

        Args:
            bert_config: dict.
            **flags: fields of TapasClassifierConfig; None means the default. Those of training
                are left aside.

        Raises:
            InputError: for a flag the reference does not have, or a table pruning model.
        """
        if flags.pop("table_pruning_config_file", None):
            raise InputError("table_pruning_config_file: there are no table pruning models here")
        fields = {field.name for field in dataclasses.fields(cls)} - {"encoder"}
        for name in flags:
            if name not in fields | _ENCODER_FLAGS | _TRAINING_FLAGS:
                raise InputError(f"{name!r} is not a field of the reference's classifier config")
        encoder_flags = {name: flags[name] for name in flags if name in _ENCODER_FLAGS}
        own = {name: flags[name] for name in flags if name in fields and flags[name] is not None}
        weights = own.get("classification_label_weight")
        if isinstance(weights, dict):
            pairs = (f"{label}:{weight}" for label, weight in weights.items())
            own["classification_label_weight"] = ",".join(pairs)
        return cls(encoder=EncoderConfig.from_tapas(bert_config, **encoder_flags), **own)

    @classmethod
    def from_huggingface(cls, config: dict, **encoder_fields):
        """The config of a model that computes what Hugging Face's does.

        Args:
            config: contents of the config.json of a TAPAS or BERT model; BERT's says nothing about
                heads, which are as by default.
            **encoder_fields: fields of the encoder to set otherwise, such as `attention`.

        Raises:
            InputError: as `EncoderConfig.from_huggingface`.
        """
        encoder = EncoderConfig.from_huggingface(config, **encoder_fields)
        return cls(encoder=encoder, **huggingface.classifier_fields(config))


def make_heads(config: ClassifierConfig) -> dict[str, Head]:
    """The heads that a config asks for, by name, without variables yet.

    Cell selection is last: which examples it learns from, the aggregation says.

    Raises:
        InputError: if options contradict each other, or there is nothing to learn.
    """
    made = []
    if config.num_aggregation_labels:
        made.append(aggregation.aggregation_head(config))
    if config.num_classification_labels or config.multiple_choice:
        made.append(classification.class_head(config))
    if config.span_prediction != spans.NO_SPANS:
        made.append(reader.span_head(config))
    made.append(heads.cell_selection_head(config))
    if not any(head.labels for head in made):
        raise InputError("disable_per_token_loss, and no other head: there is nothing to learn")
    return {head.name: head for head in made}


def label_features(config: ClassifierConfig) -> list[str]:
    """Names of the features (data/features.py) that the losses of such a model read.

    Raises:
        InputError: as `make_heads`.
    """
    names = (name for head in make_heads(config).values() for name in head.labels)
    return list(dict.fromkeys(names))


class TableClassifier(ConfiguredModel):
    """Scores the cells of a table as answers to a question; aggregates and classifies.

    Examples:
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

    config_type = ClassifierConfig

    def __init__(self, config, name="table_classifier", **kwargs):
        super().__init__(config, name, **kwargs)
        self.encoder = TableEncoder(config.encoder, name="bert")
        self.towers = config.towers()
        self.dropout = keras.layers.Dropout(config.sequence_dropout_prob)
        self._labels = label_features(config)
        # By name, so that checkpoints of models with other heads besides fit.
        self.heads = make_heads(config)
        self.build(None)

    def build(self, input_shape=None):
        hidden = self._config.encoder.hidden_size
        widths = {"sequence_output": hidden, "pooled_output": hidden * self.towers.pooled_width}
        for head in self.heads.values():
            build_child(head, [None, None, widths[head.reads]])
        self.built = True

    def call(self, features, training=None):
        """Runs the encoder and the heads; computes losses if the features hold the labels.

        Args:
            features: dict of the encoder's inputs, <int32>[batch, seq]; for losses all of
                `label_features`: label_ids <int32>[batch, seq], numeric_values and
                numeric_values_scale <float32>[batch, seq], answer <float32>[batch, 1],
                aggregation_function_id and classification_class_index <int32>[batch, 1].
            training: with dropout.

        Returns:
            dict: the encoder's outputs (sequence_output, pooled_output, encoder_outputs) and the
            heads', all <float32> or <int32>: token_logits, logits, probs, selected_tokens (see
            `heads`) and, with the options for them, column_logits, logits_aggregation, pred_aggr
            (`aggregation`), logits_cls, probs_cls, pred_cls (`classification`), span_logits,
            span_indexes, pred_span, span_log_prob, empty_span_log_prob (`spans`). With labels also
            total_loss <float32>[], a mean over the batch, and what it is made of, <float32>[batch]
            each.
        """
        outputs = self.towers.encode(self.encoder, features, training)
        read = {
            "sequence_output": self.dropout(outputs["sequence_output"], training=training),
            "pooled_output": outputs["pooled_output"],
        }
        cells = Cells(
            features["row_ids"],
            features["column_ids"],
            features["input_mask"],
            self._config.max_num_rows,
            self._config.max_num_columns,
        )
        for head in self.heads.values():
            outputs.update(head(read[head.reads], cells=cells, features=features))
        if all(name in features for name in self._labels):
            outputs["total_loss"] = self._total_loss(outputs, cells, features)
        return outputs

    def _total_loss(self, outputs, cells, features):
        """The sum of the heads' losses <float32>[]; adds what they are made of to `outputs`."""
        losses = []
        for head in self.heads.values():
            if head.labels:
                per_example, parts = head.loss(outputs, cells=cells, features=features)
                losses.append(per_example)
                outputs.update(parts)
        per_example = tf.add_n(losses)
        if replicas.number() == 1:
            return tf.reduce_mean(per_example)
        # Examples that only fill a batch up for the replicas have one token
        # (`data.records.padding`).
        real = tf.cast(tf.reduce_sum(features["input_mask"], axis=1) > 1, tf.float32)
        return replicas.weighted_mean(per_example, real)
