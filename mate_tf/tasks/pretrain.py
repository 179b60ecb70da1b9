"""PRETRAIN: masked words and swapped tables, with the texts and tables of other tasks."""

import dataclasses
from typing import Annotated

import tensorflow as tf

from mate_tf.data import pretraining
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.pretraining.masking import Masking, MaskingConfig
from mate_tf.errors import InputError
from mate_tf.field_types import CountOrZero, Range, Share
from mate_tf.layers.framework import keras
from mate_tf.models.pretrainer import PretrainerConfig, TablePretrainer
from mate_tf.tasks import base, configs, registry
from mate_tf.tasks.head_metrics import CLASS

METRICS = ("masked_lm_accuracy", "masked_lm_loss", "next_sentence_accuracy", "next_sentence_loss")


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
        heads = METRICS if self.task_config.model.next_sentence else METRICS[:2]
        return [keras.metrics.Mean(name, dtype=tf.float32) for name in heads]

    def process_metrics(self, metrics, labels, model_outputs, **kwargs):
        """Updates the means over masked words and over examples that are not padding."""
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


@dataclasses.dataclass
class PretrainTaskConfig(configs.TableTaskConfig):
    """Config of the pre-training of a table encoder.

    Attributes:
        model: the encoder.
        masking: shares of masked words.
        text_sources: kinds of texts about a table to read (`TEXT_SOURCES`).
        random_table_prob: share of the texts that get the table of another text.
        random_table_seed: seed of the choice of these texts and tables.
        dev_share: share of the pages of a corpus for evaluation, if it has no folder `dev/`.
    """

    model: PretrainerConfig = dataclasses.field(default_factory=PretrainerConfig)
    masking: MaskingConfig = dataclasses.field(default_factory=MaskingConfig)
    text_sources: list[str] = dataclasses.field(
        default_factory=lambda: list(pretraining.TEXT_SOURCES)
    )
    random_table_prob: Share = 0.5
    random_table_seed: CountOrZero = 0
    dev_share: Annotated[float, Range(0, 1, without="low high")] = 0.05


@registry.register
class TablePretrainTask(PretrainTask):
    """TAPAS's pre-training (Herzig et al., 2020) with MATE's attention (paper, appendix A.1).

    Reads interactions that create_data wrote for other tasks: --input_dir is the output folder of
    one of these tasks, or a folder of such folders. Or it is a folder with TAPAS's corpus, HTML
    pages or CSV files, see `data.pretraining.table_folders`.
    """

    name = "PRETRAIN"
    splits = ("train", "dev")

    def converter(self, vocab_file):
        return ExampleConverter.from_config(vocab_file, self.task_config.conversion.frozen())

    def interactions(self, input_dir, split):
        config = self.task_config
        source = pretraining.read_dir(input_dir, split, config.dev_share)
        texts = pretraining.texts_with_tables(
            source,
            text_sources=config.text_sources,
            random_table_prob=config.random_table_prob,
            seed=config.random_table_seed,
        )
        return base.DerivedInteractions(lambda: texts, getattr(source, "defects", {}))

    @classmethod
    def experiment(cls):
        """Returns the paper's settings, with the learning rate of the reference's script."""
        return configs.fine_tuning(
            PretrainTaskConfig(
                name=cls.name,
                conversion=configs.ConversionConfig(
                    max_seq_length=128,
                    drop_rows_to_fit=True,
                    drop_columns_to_fit=True,
                    trim_question_to_fit=True,
                    trim_question_ids=True,
                ),
            ),
            train_steps=1_000_000,
            batch_size=512,
            learning_rate=5e-5,
            warmup_ratio=0.01,
            grad_clipping=None,
        )
