"""Configs of Hugging Face's models: what is read from them, and written as them."""

import json

import pytest

from mate_tf.errors import InputError
from mate_tf.models import huggingface
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.encoder import EncoderConfig

TAPAS = {
    "model_type": "tapas",
    "architectures": ["TapasForQuestionAnswering"],
    "hidden_act": "gelu",
    "type_vocab_sizes": [3, 16, 32, 2, 16, 16, 10],
    "layer_norm_eps": 1e-6,
    "hidden_dropout_prob": 0.07,
    "num_aggregation_labels": 4,
    "aggregation_temperature": 0.5,
    "aggregation_loss_weight": 2.0,
    "cell_selection_preference": 0.3,
    "use_gumbel_for_aggregation": True,
    "answer_loss_cutoff": None,
    "huber_loss_delta": None,
    "use_answer_as_supervision": None,
    "average_approximation_function": "first_order",
    "temperature": 0.8,
    "positive_label_weight": 5.0,
    "transformers_version": "5",
    "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
}


def test_question_answering():
    config = ClassifierConfig.from_huggingface(TAPAS)
    encoder = config.encoder
    assert encoder.hidden_act == "gelu_exact"
    assert encoder.type_vocab_sizes == TAPAS["type_vocab_sizes"]
    assert encoder.layer_norm_epsilon == 1e-6
    # defaults of theirs that are not ours
    assert (encoder.max_position_embeddings, encoder.reset_position_index_per_cell) == (1024, True)
    assert config.select_one_column
    assert encoder.attention.name == "full"
    assert (config.num_aggregation_labels, config.num_classification_labels) == (4, 0)
    assert (config.agg_temperature, config.aggregation_loss_importance) == (0.5, 2.0)
    assert (config.cell_select_pref, config.use_gumbel_for_agg) == (0.3, True)
    assert (config.temperature, config.positive_weight) == (0.8, 5.0)
    assert config.positive_weight_for_labelled_only
    assert config.average_approximation_function == "first_order"
    assert config.sequence_dropout_prob == encoder.hidden_dropout_prob == 0.07
    # null means the default
    assert (config.answer_loss_cutoff, config.huber_loss_delta) == (None, 25.0)
    assert config.use_answer_as_supervision is False


@pytest.mark.parametrize("labels", [2, 3])
def test_classification(labels):
    names = {} if labels == 2 else {"id2label": {str(i): f"LABEL_{i}" for i in range(labels)}}
    config = {key: value for key, value in TAPAS.items() if key != "id2label"} | names
    config["architectures"] = ["TapasForSequenceClassification"]
    config = ClassifierConfig.from_huggingface(config)
    assert (config.num_classification_labels, config.num_aggregation_labels) == (labels, 0)
    assert config.disable_per_token_loss
    assert not config.select_one_column


def test_bert_and_fields_to_set_otherwise():
    bert = {"model_type": "bert", "hidden_size": 384, "num_hidden_layers": 6, "type_vocab_size": 2}
    attention = {"name": "mate_efficient", "radius": 9}
    config = ClassifierConfig.from_huggingface(bert, attention=attention)
    assert config.as_dict() == ClassifierConfig(encoder=config.encoder).as_dict()
    assert (config.encoder.hidden_size, config.encoder.num_hidden_layers) == (384, 6)
    assert config.encoder.attention.radius == 9
    assert config.encoder.type_vocab_sizes == EncoderConfig().type_vocab_sizes
    assert (config.encoder.max_position_embeddings, config.encoder.hidden_act) == (
        512,
        "gelu_exact",
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model_type": "roberta"}, "model_type 'roberta': only tapas and bert"),
        ({"model_type": None}, "model_type None"),
        ({"hidden_act": "silu"}, "hidden_act 'silu' is not one of gelu, gelu_new"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type 'relative_key'"),
    ],
)
def test_what_cannot_be_read(fields, message):
    with pytest.raises(InputError, match=message):
        EncoderConfig.from_huggingface(TAPAS | fields)


@pytest.mark.parametrize(
    ("ours", "theirs"), [("gelu", "gelu_new"), ("gelu_exact", "gelu"), ("relu", "relu")]
)
def test_round_trip_by_json(ours, theirs):
    encoder = EncoderConfig(hidden_act=ours, type_vocab_sizes=[3, 8, 8, 2, 8, 8, 4])
    config = ClassifierConfig(
        encoder=encoder,
        select_one_column=True,
        num_aggregation_labels=4,
        answer_loss_cutoff=100.0,
        use_answer_as_supervision=True,
        positive_weight_for_labelled_only=True,
        temperature=0.6,
        max_num_columns=20,
    )
    written = json.loads(json.dumps(huggingface.to_huggingface(encoder, config)))
    assert written["hidden_act"] == theirs
    assert written["aggregation_labels"]["2"] == "AVERAGE"
    assert ClassifierConfig.from_huggingface(written).as_dict() == config.as_dict()
    assert "architectures" in huggingface.to_huggingface(encoder)
