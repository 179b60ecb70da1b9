"""Options of the classifier, ours and those of TAPAS."""

import pytest

from mate_tf.errors import InputError
from mate_tf.models.classifier import ClassifierConfig, TableClassifier, label_features

WEAK = {"num_aggregation_labels": 4, "use_answer_as_supervision": True}


CLASSES = {"num_classification_labels": 2, "disable_per_token_loss": True}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"disable_per_token_loss": True}, "the model has no loss"),
        ({"num_classification_labels": -1}, "num_classification_labels is -1, expected .* 0 to"),
        ({"num_aggregation_labels": -1}, "num_aggregation_labels is -1, expected .* 0 to"),
        ({**WEAK, "num_aggregation_labels": 3}, "num_aggregation_labels: 3"),
        ({**WEAK, "average_approximation_function": "mean"}, "average_.*'mean'"),
        ({**WEAK, "cell_cross_entropy": True}, "exclude each other"),
        ({**CLASSES, "classification_label_weight": "2:1.0"}, "no class 2"),
        ({**CLASSES, "classification_label_weight": "0=1.0"}, "'0=1.0'"),
        ({"cells_or_class": True}, "cells_or_class needs num_classification_labels"),
        ({**CLASSES, "cells_or_class": True}, "cells_or_class needs .* a loss of cells"),
        ({**WEAK, "num_classification_labels": 2, "cells_or_class": True}, "exclude each other"),
        ({"span_prediction": "spans"}, "'spans'"),
        ({"span_prediction": "span", "max_span_length": 0}, "max_span_length"),
        ({"span_prediction": "mlp", "span_hidden_size": 0}, "span_hidden_size is 0"),
        ({"span_prediction": "mlp", "span_activation": "sine"}, "span_activation: 'sine'"),
        ({**CLASSES, "num_towers": 3}, "num_towers is 3, expected an integer from 1 to 2"),
        ({"disable_per_token_loss": True, "multiple_choice": True}, "0 classes, must be 2 or more"),
    ],
)
def test_contradicting_options(small_config, options, message):
    with pytest.raises(InputError, match=message):
        label_features(small_config(**options))
    with pytest.raises(InputError, match=message):
        TableClassifier(small_config(**options))


BERT_CONFIG = {"type_vocab_size": [3, 256, 256, 2, 256, 256, 10]}


def test_from_tapas_reads_all_fields():
    flags = {
        "num_aggregation_labels": 4,
        "huber_loss_delta": None,
        "answer_loss_cutoff": 0.5,
        "classification_label_weight": {"0": 0.3, "1": 2.0},
        "span_prediction": "boundary",
        "table_pruning_config_file": None,
        "learning_rate": 5e-5,
    }
    config = ClassifierConfig.from_tapas(BERT_CONFIG, **flags)
    assert config.num_aggregation_labels == 4
    assert config.huber_loss_delta == 25  # as by default
    assert config.answer_loss_cutoff == 0.5
    assert config.classification_label_weight == "0:0.3,1:2.0"
    assert config.span_prediction == "boundary"


@pytest.mark.parametrize("flags", [{"temprature": 1.0}, {"table_pruning_config_file": "a.json"}])
def test_from_tapas_names_what_it_cannot_do(flags):
    with pytest.raises(InputError, match=next(iter(flags))):
        ClassifierConfig.from_tapas(BERT_CONFIG, **flags)
