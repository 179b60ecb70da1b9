"""EncoderConfig: sizes and options of a TableEncoder, named as in BERT."""

import dataclasses
from typing import Annotated

from official.modeling.hyperparams import base_config

from mate_tf import field_types
from mate_tf.attention import AttentionConfig
from mate_tf.data import features
from mate_tf.errors import InputError
from mate_tf.field_types import BelowOne, Positive, Range, Size, Tokens
from mate_tf.models import huggingface
from mate_tf.models.pooling import FIRST, POOLINGS

BERT_FIELDS = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "hidden_act",
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "max_position_embeddings",
    "initializer_range",
    "softmax_temperature",
)
"""Keys of a bert_config.json, without type_vocab_size."""

KEY_INITIALIZATIONS = ("independent", "query")


@dataclasses.dataclass
class EncoderConfig(base_config.Config):
    """Settings of a TableEncoder. The defaults are BERT-base with TAPAS's embeddings.

    Attributes:
        vocab_size: number of word pieces.
        hidden_size: width of the layers, a multiple of `num_attention_heads`.
        num_hidden_layers: number of layers.
        num_attention_heads: heads in each layer.
        intermediate_size: width of the feed-forward networks.
        hidden_act: activation of the feed-forward networks. "gelu" is the tanh approximation, as in
            BERT and TAPAS; "gelu_exact" is the exact function, as in Hugging Face's models.
        hidden_dropout_prob: dropout of embeddings and layer outputs.
        attention_probs_dropout_prob: dropout of attention probabilities.
        max_position_embeddings: number of position embeddings. Also the largest length, except with
            `reset_position_index_per_cell`.
        repeat_positions: start position embeddings beyond those of a checkpoint as copies of its
            own, in the same order, again and again (Longformer; Beltagy et al., 2020). False: a
            checkpoint with fewer positions is refused.
        type_vocab_sizes: rows of the seven token type tables, in the order of features.TOKEN_TYPES.
        layer_norm_epsilon: number added to the variance in layer normalization.
        initializer_range: standard deviation of the truncated normal initialization.
        softmax_temperature: divisor of the attention scores.
        reset_position_index_per_cell: positions restart in each cell (MATE paper, section 3.2).
        disable_position_embeddings: use no position embeddings.
        disabled_features: token types without an embedding table.
        attention: AttentionConfig of all layers, or a list with one per layer.
        key_initialization: "independent", or "query": key kernels are initialized as a copy of the
            query kernels.
        query_key_initializer_range: standard deviation of the query and key kernels; None:
            initializer_range.
        word_embedding_scale: factor of initializer_range for word embeddings.
        pooling: input of the pooler (`models.pooling`): "first", the first token's output, as in
            BERT; "question" or "all", the mean of the question's or of all tokens; "max", the
            maximum of all tokens. The last three are for encoders that were not trained to
            represent the sequence in the first token.
        pack: pack several short examples of a batch into one sequence, separated by masks
            (`models.packing`). The outputs are the same, and less padding is computed. Only for
            variants that say so (`AttentionPattern.packs`).
        pack_share: within XLA, which needs to know the number of sequences: their share of the
            batch's examples. A batch that does not fit into them is computed as it is. 1 = nothing
            is packed within XLA. No effect elsewhere.
        recompute: keep only the inputs of the layers for the gradients, and compute each layer
            again when its gradients are computed (gradient checkpointing; Chen et al., 2016). Less
            memory and more time in training.
    """

    vocab_size: Annotated[int, Range(1, 10_000_000)] = 30522
    hidden_size: Size = 768
    num_hidden_layers: Annotated[int, Range(0, 1_000)] = 12
    num_attention_heads: Annotated[int, Range(1, 1_024)] = 12
    intermediate_size: Size = 3072
    hidden_act: str = "gelu"
    hidden_dropout_prob: BelowOne = 0.1
    attention_probs_dropout_prob: BelowOne = 0.1
    max_position_embeddings: Tokens = 512
    repeat_positions: bool = False
    type_vocab_sizes: list[Tokens] = dataclasses.field(
        default_factory=lambda: [3, 256, 256, 2, 256, 256, 10]
    )
    layer_norm_epsilon: Annotated[float, Range(0, 1, without="low")] = 1e-12
    initializer_range: Annotated[float, Range(0, 1_000)] = 0.02
    softmax_temperature: Positive = 1.0
    reset_position_index_per_cell: bool = False
    disable_position_embeddings: bool = False
    disabled_features: list[str] = dataclasses.field(default_factory=list)
    attention: AttentionConfig = dataclasses.field(default_factory=AttentionConfig)
    key_initialization: str = "independent"
    query_key_initializer_range: Annotated[float, Range(0, 1_000)] | None = None
    word_embedding_scale: Annotated[float, Range(0, 1_000)] = 1.0
    pooling: str = FIRST
    pack: bool = False
    pack_share: Annotated[float, Range(0, 1, without="low")] = 1.0
    recompute: bool = False

    def _set(self, k, v):
        if k == "attention":
            several = isinstance(v, list | tuple)
            v = [AttentionConfig(part) for part in v] if several else AttentionConfig(v)
            self.__dict__[k] = v
        else:
            super()._set(k, v)

    def attention_per_layer(self) -> list[AttentionConfig]:
        """Returns the AttentionConfig of each layer."""
        if isinstance(self.attention, AttentionConfig):
            return [self.attention] * self.num_hidden_layers
        return list(self.attention)

    def distinct_attention(self) -> list[AttentionConfig]:
        """Returns the distinct AttentionConfigs in the order of their first layers.

        Each has one pattern. Its index in this list is the number of the pattern.
        """
        return list(dict.fromkeys(self.attention_per_layer()))

    @staticmethod
    def pattern_name(number: int) -> str:
        """Returns the name of a pattern, as layers, files of masks and analyses have it.

        Args:
            number: index of its config in `distinct_attention`.
        """
        return f"patterns_{number}"

    def check(self) -> None:
        """Raises InputError with the name of a field out of range or in contradiction to others."""
        field_types.check_all(self)
        if self.hidden_size % self.num_attention_heads:
            raise InputError(
                f"hidden_size={self.hidden_size} is not a multiple of "
                f"num_attention_heads={self.num_attention_heads}"
            )
        if len(self.type_vocab_sizes) != len(features.TOKEN_TYPES):
            raise InputError(
                f"type_vocab_sizes needs {len(features.TOKEN_TYPES)} sizes "
                f"({', '.join(features.TOKEN_TYPES)}), not {self.type_vocab_sizes!r}"
            )
        for name in self.disabled_features:
            if name not in features.TOKEN_TYPES:
                raise InputError(
                    f"disabled_features: {name!r} is not one of {', '.join(features.TOKEN_TYPES)}"
                )
        if len(self.attention_per_layer()) != self.num_hidden_layers:
            raise InputError(
                f"attention lists {len(self.attention)} configs "
                f"for num_hidden_layers={self.num_hidden_layers}"
            )
        if self.key_initialization not in KEY_INITIALIZATIONS:
            raise InputError(
                f"key_initialization must be one of {', '.join(KEY_INITIALIZATIONS)}, "
                f"not {self.key_initialization!r}"
            )
        if self.pooling not in POOLINGS:
            raise InputError(f"pooling must be one of {', '.join(POOLINGS)}, not {self.pooling!r}")

    @classmethod
    def from_tapas(
        cls,
        bert_config: dict,
        restrict_attention_mode: str = "full",
        restrict_attention_bucket_size: int = 0,
        restrict_attention_header_size: int | None = None,
        restrict_attention_row_heads_ratio: float = 0.5,
        restrict_attention_sort_after_projection: bool = True,
        reset_position_index_per_cell: bool = False,
        disable_position_embeddings: bool = False,
        disabled_features: list[str] | None = None,
        proj_value_length: int | None = None,
        attention_bias_disabled: int = 0,
        attention_bias_use_relative_scalar_only: bool = True,
        max_seq_length: int | None = None,
    ):
        """Returns the config for a model of google-research/tapas.

        Args:
            bert_config: contents of the model's bert_config.json.
            restrict_attention_mode: full, same_colum_or_row, headwise_same_colum_or_row,
                headwise_efficient (the reference's spelling) or table_attention.
            restrict_attention_bucket_size: R; 0 in the headwise mode: no buckets.
            restrict_attention_header_size: G; None: R.
            restrict_attention_row_heads_ratio: share of row heads.
            restrict_attention_sort_after_projection: ignored; it does not change the outputs.
            reset_position_index_per_cell: see the attributes.
            disable_position_embeddings: see the attributes.
            disabled_features: see the attributes.
            proj_value_length: projected length of Linformer, for the mode full only; None or a
                negative number: no Linformer.
            attention_bias_disabled: number of a relation without bias, for table_attention only.
            attention_bias_use_relative_scalar_only: for table_attention. Must be True, because the
                reference's code for False does not run.
            max_seq_length: length of Linformer's inputs, which is the size of its variables; None:
                max_position_embeddings.

        Raises:
            InputError: for an unknown mode, flags that exclude each other, or an incomplete config.
        """
        type_vocab_sizes = bert_config.get("type_vocab_size")
        if not isinstance(type_vocab_sizes, list):
            raise InputError(
                "bert_config: type_vocab_size must list the sizes of the seven token type tables "
                f"(a TAPAS checkpoint's config does), not {type_vocab_sizes!r}"
            )
        bucket_size = restrict_attention_bucket_size
        header_size = restrict_attention_header_size
        config = cls(
            type_vocab_sizes=list(type_vocab_sizes),
            reset_position_index_per_cell=reset_position_index_per_cell,
            disable_position_embeddings=disable_position_embeddings,
            disabled_features=list(disabled_features or []),
            attention=_tapas_attention(
                restrict_attention_mode,
                bucket_size,
                bucket_size if header_size is None else header_size,
                restrict_attention_row_heads_ratio,
            ),
            **{name: bert_config[name] for name in BERT_FIELDS if name in bert_config},
        )
        if proj_value_length is not None and proj_value_length > 0:
            if restrict_attention_mode != "full":
                raise InputError(
                    f"proj_value_length={proj_value_length} (Linformer) goes with "
                    f"restrict_attention_mode full, not {restrict_attention_mode}"
                )
            length = max_seq_length or config.max_position_embeddings
            config.attention = AttentionConfig(
                name="linformer", projected_length=proj_value_length, length=length
            )
        if restrict_attention_mode == "table_attention":
            if not attention_bias_use_relative_scalar_only:
                raise InputError(
                    "attention_bias_use_relative_scalar_only must be true: false does not run in "
                    "google-research/tapas either"
                )
            config.attention.disabled_relation = attention_bias_disabled
        return config

    @classmethod
    def from_huggingface(cls, config: dict, **fields):
        """Returns the config of an encoder with the same outputs as a Hugging Face model.

        Args:
            config: contents of the config.json of a TAPAS or BERT model. BERT's has no sizes of
                the seven token type tables, so they are the defaults.
            **fields: fields to override, such as `attention`.

        Raises:
            InputError: for another kind of model, an unknown activation, or positions that are not
                absolute.
        """
        return cls(**huggingface.encoder_fields(config) | fields)


def _tapas_attention(mode: str, bucket_size: int, header_size: int, ratio: float):
    own_ratio = {"row_heads_ratio": float(ratio)}
    buckets = {"global_length": header_size, "radius": bucket_size}
    if mode == "full":
        return AttentionConfig(name="full")
    if mode == "same_colum_or_row":
        return AttentionConfig(name="same_row_or_column")
    if mode == "headwise_same_colum_or_row":
        if not bucket_size:
            return AttentionConfig(name="mate_exact", **own_ratio)
        return AttentionConfig(name="mate_exact", windowed=True, **buckets, **own_ratio)
    if mode == "headwise_efficient":
        if bucket_size < 1:
            raise InputError("headwise_efficient needs restrict_attention_bucket_size of 1 or more")
        return AttentionConfig(name="mate_efficient", **buckets, **own_ratio)
    if mode == "table_attention":
        return AttentionConfig(name="table_bias")
    raise InputError(
        f"unknown restrict_attention_mode {mode!r}; known are full, same_colum_or_row, "
        "headwise_same_colum_or_row, headwise_efficient, table_attention"
    )
