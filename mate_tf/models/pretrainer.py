"""An encoder with the heads of pre-training: masked words, and random tables or next sentences."""

import dataclasses

import tensorflow as tf
from official.modeling.hyperparams import base_config

from mate_tf.layers import replica_losses
from mate_tf.layers.shapes import build_child
from mate_tf.models.configured import ConfiguredModel
from mate_tf.models.encoder import EncoderConfig, TableEncoder
from mate_tf.models.heads.pretraining import MaskedWordHead, RandomTableHead

LABELS = (
    "masked_lm_positions",
    "masked_lm_ids",
    "masked_lm_weights",
    "next_sentence_labels",
)
"""Features that the losses read. `data.pretraining.masking` makes the first three."""

_NO_WORDS = 1e-5  # added to the number of masked words, to avoid a division by zero


@dataclasses.dataclass
class PretrainerConfig(base_config.Config):
    """Settings of a TablePretrainer.

    Attributes:
        encoder: the encoder below the heads, which is fine-tuned later.
        next_sentence: whether the model has the second head, which predicts whether a text and a
            table, or two texts, belong together.
    """

    encoder: EncoderConfig = dataclasses.field(default_factory=EncoderConfig)
    next_sentence: bool = True

    @classmethod
    def from_tapas(cls, bert_config, **flags):
        """Returns the config for the reference's bert_config.json, see `EncoderConfig`."""
        return cls(encoder=EncoderConfig.from_tapas(bert_config, **flags))


class TablePretrainer(ConfiguredModel):
    """Predicts masked words, and whether a text and a table belong together.

    This is the pre-training of google-research/tapas, with any attention (MATE paper, section 3.2
    and appendix A.1). Classifiers load their encoder from a checkpoint of this model.

    Examples:
        >>> model = TablePretrainer(PretrainerConfig())
        >>> model(features)["total_loss"].shape
        []

    Variables exist from construction on.
    """

    config_type = PretrainerConfig

    def __init__(self, config, name="table_pretrainer", **kwargs):
        super().__init__(config, name, **kwargs)
        self.encoder = TableEncoder(config.encoder, name="bert")
        self.masked_words = MaskedWordHead(config.encoder, name="masked_words")
        self.random_table = None
        if config.next_sentence:
            self.random_table = RandomTableHead(config.encoder, name="random_table")
        self.build(None)

    def build(self, input_shape=None):
        """Creates the variables of the heads."""
        for head in (self.masked_words, self.random_table):
            if head is not None:
                build_child(head, [None, self._config.encoder.hidden_size])
        self.built = True

    def checkpoint_variables(self):
        """Returns name in TF1 checkpoints -> variable, of the encoder and the heads."""
        variables = self.encoder.checkpoint_variables()
        for head in (self.masked_words, self.random_table):
            if head is not None:
                variables |= head.checkpoint_variables()
        return variables

    def call(self, features, training=None):
        """Runs the encoder and both heads, and computes the losses.

        Args:
            features: dict of the encoder's inputs, <int32>[batch, seq], and the labels:
                masked_lm_positions <int32>[batch, masked]: positions of masked words;
                masked_lm_ids <int32>[batch, masked]: ids of the original words;
                masked_lm_weights <float32>[batch, masked]: 1 for masked words, 0 for padding;
                next_sentence_labels <int32>[batch, 1]: 1 for a random table, else 0. Only for
                models with that head.
            training: whether dropout is on. In training there are no log probabilities, to save
                time.

        Returns:
            dict with the encoder's outputs (sequence_output, pooled_output, encoder_outputs,
            embedding_output) and
            total_loss: <float32>[], the sum of the next two.
            masked_lm_loss: <float32>[], mean over the masked words.
            next_sentence_loss: <float32>[], mean over the batch.
            masked_lm_example_loss: <float32>[batch * masked].
            next_sentence_example_loss: <float32>[batch].
            masked_lm_predictions: <int32>[batch * masked], the most probable words.
            next_sentence_predictions: <int32>[batch], the more probable class.
            masked_lm_log_probs: <float32>[batch * masked, vocab], not in training.
            next_sentence_log_probs: <float32>[batch, 2], not in training.
            Without the second head there are no outputs of next_sentence.
        """
        encoded = self.encoder(features, training=training)
        # [batch, seq, hidden], [batch, masked] -> [batch, masked, hidden]
        masked = tf.gather(
            encoded["sequence_output"], features["masked_lm_positions"], axis=1, batch_dims=1
        )
        # [batch * masked, hidden], [vocab, hidden] -> [batch * masked, vocab]
        word_logits = self.masked_words(
            tf.reshape(masked, [-1, self._config.encoder.hidden_size]),
            self.encoder.embeddings.word_embeddings,
        )
        words = _classification(word_logits, features["masked_lm_ids"], training)
        weights = tf.reshape(tf.cast(features["masked_lm_weights"], tf.float32), [-1])
        words["loss"] = replica_losses.weighted_mean(words["example_loss"], weights, _NO_WORDS)
        outputs = encoded | {f"masked_lm_{name}": value for name, value in words.items()}
        if self.random_table is None:
            return outputs | {"total_loss": words["loss"]}
        table_logits = self.random_table(encoded["pooled_output"])
        tables = _classification(table_logits, features["next_sentence_labels"], training)
        tables["loss"] = tf.reduce_mean(tables["example_loss"])
        return outputs | {
            "total_loss": words["loss"] + tables["loss"],
            **{f"next_sentence_{name}": value for name, value in tables.items()},
        }


def _classification(logits, labels, training):
    """Returns losses, predictions and, unless training, log probabilities of a head's
    <float32>[examples, classes] and as many <int32> labels.
    """
    labels = tf.reshape(labels, [-1])
    outputs = {
        "example_loss": tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits),
        "predictions": tf.argmax(logits, axis=-1, output_type=tf.int32),
    }
    if not training:
        outputs["log_probs"] = tf.nn.log_softmax(logits)
    return outputs
