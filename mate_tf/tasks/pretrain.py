"""PRETRAIN: masked words and random tables, from the texts and tables of other tasks."""

import dataclasses

import tensorflow as tf

from mate_tf.attention import AttentionConfig
from mate_tf.data import pretraining
from mate_tf.data.masking import Masking, MaskingConfig
from mate_tf.errors import InputError
from mate_tf.layers.keras_namespace import keras
from mate_tf.models.encoder import EncoderConfig
from mate_tf.models.pretrainer import PretrainerConfig, TablePretrainer
from mate_tf.tasks import base, configs, registry

METRICS = (
    "masked_lm_accuracy",
    "masked_lm_loss",
    "next_sentence_accuracy",
    "next_sentence_loss",
)


@dataclasses.dataclass
class PretrainTaskConfig(configs.TableTaskConfig):
    """Pre-training of a table encoder.

    Attributes:
        model: the encoder.
        masking: how much is masked.
        text_sources: which texts about a table there are (`data.pretraining.TEXT_SOURCES`).
        random_table_prob: share of the texts that get another text's table.
        random_table_seed: of that choice.
    """

    model: PretrainerConfig = dataclasses.field(default_factory=PretrainerConfig)
    masking: MaskingConfig = dataclasses.field(default_factory=MaskingConfig)
    text_sources: list[str] = dataclasses.field(
        default_factory=lambda: list(pretraining.TEXT_SOURCES)
    )
    random_table_prob: float = 0.5
    random_table_seed: int = 0


@registry.register
class PretrainTask(base.TableTask):
    """Pre-training as TAPAS's (Herzig et al., 2020) with MATE's attention (paper, appendix A.1).

    Reads the interactions that create_data of other tasks wrote: --input_dir is the output folder
    of one of them, or a folder of such folders. Words are masked anew whenever an example is read,
    but always alike in evaluation.
    """

    name_in_tapas = "PRETRAIN"
    splits = ("train", "dev")
    answers_questions = False
    model_type = TablePretrainer
    baselines = ()

    def interactions(self, input_dir, split):
        config = self.task_config
        return pretraining.texts_with_tables(
            pretraining.read_dir(input_dir, split),
            text_sources=config.text_sources,
            random_table_prob=config.random_table_prob,
            seed=config.random_table_seed,
        )

    def label_names(self):
        return [base.CLASS]

    def global_batches(self, params, multiple_of=1):
        """Batches of the model's inputs with words masked, and what stood there."""
        vocab_file = self.task_config.conversion.bert_vocab_file
        if not vocab_file:
            raise InputError("task.conversion.bert_vocab_file is empty: which piece is [MASK]?")
        masking = Masking(vocab_file, self.task_config.masking)
        seed = params.seed
        if seed is None:
            # Evaluation must not change from one time to the next.
            seed = int(tf.random.uniform([], 0, 2**31 - 1, tf.int32)) if params.is_training else 0

        def mask(batch, number):
            labels = {"next_sentence_labels": batch.pop(base.CLASS)}
            return masking(batch, tf.stack([seed, number]), self.asked(batch)) | labels

        batches = super().global_batches(params, multiple_of)
        numbered = tf.data.Dataset.zip(batches, tf.data.Dataset.counter())
        return numbered.map(mask, num_parallel_calls=tf.data.AUTOTUNE)

    def build_metrics(self, training=True):
        """Accuracy and loss of each head."""
        del training
        heads = METRICS if self.task_config.model.next_sentence else METRICS[:2]
        return [keras.metrics.Mean(name, dtype=tf.float32) for name in heads]

    def process_metrics(self, metrics, labels, model_outputs, **kwargs):
        """Means over masked words and over examples that do not only fill up a batch."""
        del kwargs
        weights = {
            "masked_lm": labels["masked_lm_weights"],
            "next_sentence": self.asked(labels),
        }
        gold = {
            "masked_lm": labels["masked_lm_ids"],
            "next_sentence": labels["next_sentence_labels"],
        }
        for metric in metrics:
            if metric.name not in METRICS:
                continue  # of a layer, which keeps it itself
            head, _, what = metric.name.rpartition("_")
            if what == "loss":
                values = model_outputs[f"{head}_example_loss"]
            else:
                predicted = model_outputs[f"{head}_predictions"]
                values = tf.equal(predicted, tf.reshape(gold[head], [-1]))
            metric.update_state(
                tf.cast(values, tf.float32), tf.cast(tf.reshape(weights[head], [-1]), tf.float32)
            )

    @classmethod
    def experiment(cls):
        """The paper's settings; the learning rate is that of the reference's script."""
        return configs.fine_tuning(
            PretrainTaskConfig(
                name=cls.name_in_tapas,
                conversion=configs.ConversionConfig(
                    max_seq_length=128,
                    drop_rows_to_fit=True,
                    drop_columns_to_fit=True,
                    trim_question_to_fit=True,
                    trim_question_ids=True,
                ),
                model=PretrainerConfig(
                    encoder=EncoderConfig(
                        attention=AttentionConfig(
                            name="mate_efficient", global_length=32, radius=16
                        )
                    )
                ),
            ),
            train_steps=1_000_000,
            batch_size=512,
            learning_rate=5e-5,
            warmup_ratio=0.01,
            grad_clipping=None,
        )
