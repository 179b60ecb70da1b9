"""Config of an encoder that is small enough for any test."""

from mate_tf.models.encoder_config import EncoderConfig


def tiny(**fields) -> EncoderConfig:
    """Returns the config of two layers of width 8, with other values for `fields`."""
    return EncoderConfig(
        **{
            "vocab_size": 30,
            "hidden_size": 8,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 16,
            "max_position_embeddings": 16,
        }
        | fields
    )
