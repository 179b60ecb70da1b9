"""ClassifierConfig: the heads of a TableClassifier and their options, in the reference's names."""

import dataclasses

from official.modeling.hyperparams import base_config

from mate_tf.errors import InputError
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
    """Settings of a TableClassifier; names and defaults are the reference's where it has them.

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
        num_aggregation_labels: operations over the chosen cells (see `heads.aggregation`),
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
            "first_order" or "second_order" (see `heads.aggregation`).
        num_classification_labels: classes (`heads.ClassificationHead`); 0: no such head;
            1: a number instead of a class (`heads.RegressionHead`).
        classification_hidden_sizes: widths of hidden layers before the class or number.
        classification_label_weight: weights of classes in the loss, such as "0:1.0,1:2.0".
        multiple_choice: the classes are choices (`heads.ChoiceHead`). A sequence
            has an equal part for each choice, and each part is encoded alone (`towers`).
        span_prediction: "none", "span" or "boundary" (`heads.spans`), or "mlp" (`heads.reader`).
            With spans, label_ids are the labels of the spans.
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
    cell_cross_entropy_target: str = cell_selection.SOFT_EM
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
        """Returns how the encoder is applied to sequences.

        Raises:
            InputError: towers and choices contradict each other.
        """
        choices = self.num_classification_labels if self.multiple_choice else 1
        return towers.Towers(self.num_towers, choices)

    @classmethod
    def from_tapas(cls, bert_config, **flags):
        """Makes a config of the reference's bert_config.json and tapas_config.json.

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
