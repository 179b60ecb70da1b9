"""EncoderDecoderConfig: an encoder with any attention variant, and a Transformer decoder."""

import dataclasses
from typing import Annotated

from official.modeling.hyperparams import base_config

from mate_tf.attention import AttentionConfig
from mate_tf.data.features import TOKEN_TYPES
from mate_tf.errors import InputError
from mate_tf.field_types import BelowOne, Range, Tokens
from mate_tf.models.encoder_config import EncoderConfig


def text_encoder() -> EncoderConfig:
    """Returns BERT-base for plain text of up to 3,072 tokens, with decision trees in all layers.

    Checkpoints of BERT, which have 512 positions, may start it.
    """
    return EncoderConfig(
        attention=AttentionConfig(name="tree_fine"),
        max_position_embeddings=3072,
        repeat_positions=True,
        disabled_features=list(TOKEN_TYPES[1:]),  # segments stay, as in BERT
    )


@dataclasses.dataclass
class EncoderDecoderConfig(base_config.Config):
    """Settings of an `EncoderDecoder`. The defaults are Treeformer's for summaries (section B.3).

    The decoder has the encoder's width, heads, feed-forward size, activation and dropout.

    Attributes:
        encoder: the encoder, with any attention variant.
        num_decoder_layers: layers of the decoder.
        max_target_positions: number of the decoder's position embeddings, the largest length of a
            target without [CLS].
        share_embeddings: embed the target with the word embeddings of the encoder. False: the
            decoder has its own table. In both cases the same table gives the output logits.
        start_decoder_from_encoder: copy the weights of encoder layers, as the checkpoint has them,
            into the decoder (Rothe et al., 2020; `EncoderDecoder.start_decoder`). Cross-attention
            starts with random weights in any case.
        label_smoothing: share of each label's probability that is spread over the vocabulary.
        start_id: id of [CLS], the first input of the decoder.
        end_id: id of [SEP], which ends a target. Both defaults are those of BERT's vocabulary.
    """

    encoder: EncoderConfig = dataclasses.field(default_factory=text_encoder)
    num_decoder_layers: Annotated[int, Range(1, 1_000)] = 12
    max_target_positions: Tokens = 512
    share_embeddings: bool = True
    start_decoder_from_encoder: bool = False
    label_smoothing: BelowOne = 0.0
    start_id: Annotated[int, Range(0, 10_000_000)] = 101
    end_id: Annotated[int, Range(0, 10_000_000)] = 102

    def check(self) -> None:
        """Raises InputError if an id is not in the vocabulary, or both are the same or padding."""
        for name in ("start_id", "end_id"):
            given = getattr(self, name)
            if not 0 < given < self.encoder.vocab_size:
                raise InputError(
                    f"{name}={given} is not an id of a piece: encoder.vocab_size is "
                    f"{self.encoder.vocab_size}, and 0 is padding"
                )
        if self.start_id == self.end_id:
            raise InputError(f"start_id and end_id are both {self.start_id}")
