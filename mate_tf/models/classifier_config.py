"""ClassifierConfig: heads of a TableClassifier and their options, named as in the reference."""

import dataclasses
from typing import Annotated

from official.modeling.hyperparams import base_config

from mate_tf.errors import InputError
from mate_tf.field_types import BelowOne, NotNegative, Positive, Range, Share, Size, Tokens
from mate_tf.models import huggingface, towers
from mate_tf.models.encoder_config import EncoderConfig
from mate_tf.models.heads import aggregation, cell_selection, spans

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
# Flags of the reference's training script, which are not settings of the model.
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
    """Settings of a TableClassifier. Names and defaults are the reference's, if it has the setting.

    Attributes:
        encoder: the encoder below the heads.
        temperature: divisor of the token logits.
        positive_weight: weight of the token loss (see `heads.TokenHead`).
        positive_weight_for_labelled_only: apply `positive_weight` to labelled tokens only; others
            have weight 1. False: apply it to every token, as the reference does.
        average_logits_per_cell: use the mean logit of a cell for all its tokens.
        select_one_column: select a column first, then cells in it (`heads.ColumnAndCellHead`).
        allow_empty_column_selection: allow the selection of no column; with `cell_cross_entropy`,
            of no cell.
        cell_cross_entropy: use a softmax over the data cells (`heads.CellSoftmaxHead`).
        cell_cross_entropy_target: target of the softmax: "soft_em" (as in the paper), "hard_em" or
            "uniform".
        cell_cross_entropy_hard_em: the reference's flag for the target "hard_em".
        cell_classification_threshold: a cell is selected if the mean probability of its tokens is
            larger than this (all heads but the softmax).
        always_select_cell: select the most probable data cell if no cell is above the threshold.
        cell_selection_ratio: a cell is selected if its probability is at least this share of the
            largest one (softmax only).
        disable_per_token_loss: score cells, but compute no loss from label_ids.
        mask_examples_without_labels: give examples without labelled tokens a cell loss of 0. The
            mean still includes them.
        cells_or_class: an example is labelled with either cells, with their operation, or a class.
            Examples with labelled tokens add no loss of the class, others only that loss. Needs
            both heads, and labels of the operations (no `use_answer_as_supervision`). The mean over
            the batch still includes all examples.
        init_cell_selection_weights_to_zero: initialize the cell and column scorers with zeros.
        num_aggregation_labels: number of operations over the selected cells (see
            `heads.aggregation`), 4 for NONE, SUM, AVERAGE and COUNT; 0: no such head.
        aggregation_loss_importance: weight of the loss of the operation.
        use_answer_as_supervision: learn the operation from the number that is the answer; False:
            from aggregation_function_id. No effect without operations.
        answer_loss_importance: weight of the loss of that number.
        use_normalized_answer_loss: divide the error of the number by the larger of result and
            answer.
        huber_loss_delta: error up to which the loss is quadratic; beyond it is linear.
        answer_loss_cutoff: examples with a larger loss of the number add no loss of operation and
            number; None: all examples do.
        cell_select_pref: an answer that is a number and occurs in a cell counts as computed only
            if the probability of all operations but NONE is larger than this.
        agg_temperature: divisor of the logits of operations when the expected result is computed.
        use_gumbel_for_cells: compute the result with cells drawn by their probabilities (a
            differentiable relaxation).
        use_gumbel_for_agg: draw operations in the same way.
        average_approximation_function: approximation of the expected average: "ratio",
            "first_order" or "second_order" (see `heads.aggregation`).
        num_classification_labels: number of classes (`heads.ClassificationHead`); 0: no such head;
            1: a number instead of a class (`heads.RegressionHead`).
        classification_hidden_sizes: widths of hidden layers before the class or number.
        classification_label_weight: weights of classes in the loss, such as "0:1.0,1:2.0".
        multiple_choice: the classes are choices (`heads.ChoiceHead`). A sequence has an equal part
            for each choice, and each part is encoded on its own (`towers`).
        span_prediction: "none", "span" or "boundary" (`heads.spans`), or "mlp" (`heads.reader`).
            With spans, label_ids are the labels of the spans.
        max_span_length: longest span in tokens.
        allow_empty_span: add the empty span, represented by [CLS], to the distribution over spans.
            The label of an example without an answer is [CLS].
        span_hidden_size: width of the hidden layer of "mlp".
        span_activation: activation of the hidden layer of "mlp", a value of `hidden_act`.
        max_num_rows: largest number of rows in the heads, header included. Rows beyond it count as
            the last one.
        max_num_columns: largest number of columns in the heads, including column 0 (outside the
            table). Columns beyond it count as the last one.
        sequence_dropout_prob: dropout between the encoder's sequence output and heads.
        num_towers: 2: each half of a sequence is encoded on its own (`towers`).
    """

    encoder: EncoderConfig = dataclasses.field(default_factory=EncoderConfig)
    temperature: Positive = 1.0
    positive_weight: NotNegative = 10.0
    positive_weight_for_labelled_only: bool = False
    average_logits_per_cell: bool = False
    select_one_column: bool = False
    allow_empty_column_selection: bool = False
    cell_cross_entropy: bool = False
    cell_cross_entropy_target: str = cell_selection.SOFT_EM
    cell_cross_entropy_hard_em: bool = False
    cell_classification_threshold: Share = 0.5
    always_select_cell: bool = False
    cell_selection_ratio: Share = 0.5
    disable_per_token_loss: bool = False
    mask_examples_without_labels: bool = False
    cells_or_class: bool = False
    init_cell_selection_weights_to_zero: bool = False
    num_aggregation_labels: Annotated[int, Range(0, 1_000)] = 0
    aggregation_loss_importance: NotNegative = 1.0
    use_answer_as_supervision: bool = False
    answer_loss_importance: NotNegative = 1.0
    use_normalized_answer_loss: bool = False
    huber_loss_delta: Positive = 25.0
    answer_loss_cutoff: NotNegative | None = None
    cell_select_pref: Share = 0.5
    agg_temperature: Positive = 1.0
    use_gumbel_for_cells: bool = False
    use_gumbel_for_agg: bool = False
    average_approximation_function: str = aggregation.RATIO
    num_classification_labels: Annotated[int, Range(0, 1_000_000)] = 0
    classification_hidden_sizes: list[Size] = dataclasses.field(default_factory=list)
    classification_label_weight: str = ""
    multiple_choice: bool = False
    span_prediction: str = spans.NO_SPANS
    max_span_length: Tokens = 10
    allow_empty_span: bool = False
    span_hidden_size: Size = 256
    span_activation: str = "gelu"
    max_num_rows: Size = 64
    max_num_columns: Size = 32
    sequence_dropout_prob: BelowOne = 0.1
    num_towers: Annotated[int, Range(1, 2)] = 1

    def towers(self) -> towers.Towers:
        """Returns the `Towers` that apply the encoder to sequences.

        Raises:
            InputError: if `num_towers` and `multiple_choice` exclude each other.
        """
        choices = self.num_classification_labels if self.multiple_choice else 1
        return towers.Towers(self.num_towers, choices)

    @classmethod
    def from_tapas(cls, bert_config, **flags):
        """Returns the config for the reference's bert_config.json and tapas_config.json.

        Args:
            bert_config: contents of bert_config.json, a dict.
            **flags: fields of TapasClassifierConfig; None means the default. Fields of the training
                are ignored.

        Raises:
            InputError: for a flag that the reference does not have, or a table pruning model.
        """
        if flags.pop("table_pruning_config_file", None):
            raise InputError("table_pruning_config_file: table pruning models are not supported")
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
        """Returns the config of a model with the same outputs as a Hugging Face model.

        Args:
            config: contents of the config.json of a TAPAS or BERT model. BERT's has no heads, so
                the heads are the defaults.
            **encoder_fields: fields of the encoder to override, such as `attention`.

        Raises:
            InputError: see `EncoderConfig.from_huggingface`.
        """
        encoder = EncoderConfig.from_huggingface(config, **encoder_fields)
        return cls(encoder=encoder, **huggingface.classifier_fields(config))
