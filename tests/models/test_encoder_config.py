"""Options of the encoder, ours and those of TAPAS."""

import pytest

from mate_tf.attention import AttentionConfig
from mate_tf.errors import InputError
from mate_tf.models.encoder import EncoderConfig, TableEncoder

from .tiny_encoder import tiny


def test_config_round_trip_with_a_list_of_variants():
    config = tiny(attention=[AttentionConfig(name="full"), AttentionConfig(radius=3)])
    assert EncoderConfig(config.as_dict()) == config
    assert TableEncoder.from_config(TableEncoder(config).get_config()).config == config
    config.override({"attention": {"name": "full"}})
    assert config.attention == AttentionConfig(name="full")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"num_attention_heads": 3}, "num_attention_heads"),
        ({"attention": [{"name": "full"}]}, "num_hidden_layers"),
        ({"type_vocab_sizes": [3]}, "type_vocab_sizes"),
        ({"disabled_features": ["ranks"]}, "'ranks'"),
        ({"hidden_act": "gelou"}, "gelou"),
        ({"key_initialization": "random"}, "key_initialization"),
        ({"pooling": "mean"}, "pooling"),
    ],
)
def test_contradictions_are_named(fields, named):
    with pytest.raises(InputError, match=named):
        TableEncoder(tiny(**fields))


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ({"restrict_attention_mode": "fool"}, "fool"),
        ({"restrict_attention_mode": "headwise_efficient"}, "restrict_attention_bucket_size"),
        (
            {"restrict_attention_mode": "same_colum_or_row", "proj_value_length": 16},
            "proj_value_length=16",
        ),
        (
            {
                "restrict_attention_mode": "table_attention",
                "attention_bias_use_relative_scalar_only": False,
            },
            "attention_bias_use_relative_scalar_only",
        ),
    ],
)
def test_tapas_flags_that_cannot_be(flags, named):
    with pytest.raises(InputError, match=named):
        EncoderConfig.from_tapas({"type_vocab_size": [3, 256, 256, 2, 256, 256, 10]}, **flags)
    with pytest.raises(InputError, match="type_vocab_size"):
        EncoderConfig.from_tapas({"type_vocab_size": 16})


def test_linformer_has_the_length_of_its_inputs():
    bert_config = {"type_vocab_size": [3, 256, 256, 2, 256, 256, 10]}
    config = EncoderConfig.from_tapas(bert_config, proj_value_length=16, max_seq_length=2048)
    assert config.attention == AttentionConfig(name="linformer", projected_length=16, length=2048)
    config = EncoderConfig.from_tapas(bert_config, proj_value_length=16)
    assert config.attention.length == 512
    assert EncoderConfig.from_tapas(bert_config, proj_value_length=-1).attention.name == "full"
