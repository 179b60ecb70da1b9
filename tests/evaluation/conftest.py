"""What the reference says of predictions."""

import json

import pytest

from mate_tf.data import records
from mate_tf.evaluation import metrics, predictions


@pytest.fixture(scope="session")
def reference(goldens):
    """Interactions, predictions by question, and the reference's verdict on them."""
    folder = goldens / "metrics" / "open"
    return (
        list(records.read_interactions(folder / "denotation.interactions.tfrecord")),
        metrics.by_question(predictions.read_tsv(folder / "denotation.predictions.tsv")),
        json.loads((folder / "denotation.json").read_text()),
    )
