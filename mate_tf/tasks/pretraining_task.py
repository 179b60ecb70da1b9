"""Base class of pre-training tasks: masked words and next sentences."""

import tensorflow as tf

from mate_tf.data.pretraining.masking import Masking
from mate_tf.errors import InputError
from mate_tf.layers.keras_namespace import keras
from mate_tf.models.pretrainer import TablePretrainer
from mate_tf.tasks import base
from mate_tf.tasks.head_metrics import CLASS

METRICS = (
    "masked_lm_accuracy",
    "masked_lm_loss",
    "next_sentence_accuracy",
    "next_sentence_loss",
)


class PretrainTask(base.Task):
    """Learns to predict masked words, and whether the second part of an input is the true one.

    In training, other words are masked each time an example is read. In evaluation the masks are
    always the same. The config has a `PretrainerConfig` as `model` and a `MaskingConfig` as
    `masking`.
    """

    capabilities = base.Capabilities(answers_questions=False, reads_tables=False)
    model_type = TablePretrainer

    def label_names(self):
        return [CLASS]

    def global_batches(self, params, multiple_of=1):
        """Returns batches of the model's inputs with masked words, and the words as labels."""
        vocab_file = self.task_config.conversion.bert_vocab_file
        if not vocab_file:
            raise InputError(
                "task.conversion.bert_vocab_file is empty: the id of [MASK] is unknown"
            )
        masking = Masking(vocab_file, self.task_config.masking)
        seed = params.seed
        if seed is None:
            # All evaluations must have the same masks.
            seed = int(tf.random.uniform([], 0, 2**31 - 1, tf.int32)) if params.is_training else 0

        def mask(batch, number):
            labels = {"next_sentence_labels": batch.pop(CLASS)}
            return masking(batch, tf.stack([seed, number]), self.example_mask(batch)) | labels

        batches = super().global_batches(params, multiple_of)
        numbered = tf.data.Dataset.zip(batches, tf.data.Dataset.counter(params.skip_batches))
        return numbered.map(mask, num_parallel_calls=tf.data.AUTOTUNE)

    def build_metrics(self, training=True):
        """Returns a `Mean` for the accuracy and the loss of each head."""
        del training
        heads = METRICS if self.task_config.model.next_sentence else METRICS[:2]
        return [keras.metrics.Mean(name, dtype=tf.float32) for name in heads]

    def process_metrics(self, metrics, labels, model_outputs, **kwargs):
        """Updates the means over masked words and over examples that are not padding."""
        del kwargs
        weights = {
            "masked_lm": labels["masked_lm_weights"],
            "next_sentence": self.example_mask(labels),
        }
        gold = {
            "masked_lm": labels["masked_lm_ids"],
            "next_sentence": labels["next_sentence_labels"],
        }
        for metric in metrics:
            if metric.name not in METRICS:
                continue  # a layer's metric; the layer updates it
            head, _, what = metric.name.rpartition("_")
            if what == "loss":
                values = model_outputs[f"{head}_example_loss"]
            else:
                predicted = model_outputs[f"{head}_predictions"]
                values = tf.equal(predicted, tf.reshape(gold[head], [-1]))
            metric.update_state(
                tf.cast(values, tf.float32), tf.cast(tf.reshape(weights[head], [-1]), tf.float32)
            )
