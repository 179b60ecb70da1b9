"""Tasks whose model writes a text: their base class, and SUMMARIZE (Treeformer paper, B.3)."""

import dataclasses
import re
from typing import Annotated

import tensorflow as tf
from official.modeling.hyperparams import base_config

from mate_tf.data import padding
from mate_tf.data.converters import sequences
from mate_tf.data.converters.tokenizer import CLS, SEP, read_vocabulary
from mate_tf.data.datasets import summaries
from mate_tf.data.features import TARGET
from mate_tf.errors import InputError
from mate_tf.evaluation import rouge
from mate_tf.field_types import CountOrZero, NotNegative, Range
from mate_tf.layers.framework import keras
from mate_tf.models.encoder_decoder import EncoderDecoder
from mate_tf.models.encoder_decoder_config import EncoderDecoderConfig
from mate_tf.tasks import base, configs, registry, sequence

METRICS = ("target_accuracy", "target_loss")
"""Share of the tokens of the target that are the most probable ones, and their cross-entropy."""

_NUM_TRAIN = 119_924  # PubMed's
_EPOCHS, _BATCH_SIZE = 10, 32
_OF_DECODER = re.compile(r"(^|/)decoder/")


@dataclasses.dataclass
class TargetConversionConfig(sequence.SequenceConversionConfig):
    """Conversion of texts with a text to write: arguments of `TargetConverter`.

    Attributes:
        max_seq_length: tokens of the input.
        max_target_length: tokens of the text to write, with [CLS] and [SEP].
    """

    max_seq_length: Annotated[int, Range(8, 1_000_000)] = 3072
    max_target_length: Annotated[int, Range(3, 1_000_000)] = 256

    def converter_options(self):
        """Returns the keyword arguments of `TargetConverter` besides the vocabulary."""
        return super().converter_options() | {"max_target_length": self.max_target_length}


@dataclasses.dataclass
class DecodingConfig(base_config.Config):
    """Search for the text to write, when a trained model predicts (`EncoderDecoder.generate`).

    Attributes:
        beam_size: texts that are extended at a time; 1: greedy search.
        length_penalty: exponent of the length by which log-probabilities are divided.
        max_length: most tokens of a text, with [SEP]; 0: as many as the examples can have.
        min_length: least tokens before [SEP].
        no_repeat_ngram_size: no sequence of this many tokens is written twice; 0: any may be.
    """

    beam_size: Annotated[int, Range(1, 1_000)] = 4
    length_penalty: NotNegative = 0.6
    max_length: CountOrZero = 0
    min_length: CountOrZero = 0
    no_repeat_ngram_size: CountOrZero = 0


@dataclasses.dataclass
class TextToTextTaskConfig(configs.TableTaskConfig):
    """Config of a task whose model writes a text.

    Attributes:
        conversion: lengths of inputs and targets.
        model: encoder and decoder.
        decoding: search for the text.
    """

    conversion: TargetConversionConfig = dataclasses.field(default_factory=TargetConversionConfig)
    model: EncoderDecoderConfig = dataclasses.field(default_factory=EncoderDecoderConfig)
    decoding: DecodingConfig = dataclasses.field(default_factory=DecodingConfig)


class TextToTextTask(base.Task):
    """Writes a text for a text, with an `EncoderDecoder`.

    The ids of [CLS] and [SEP] are those of the vocabulary, whatever the config of the model says.
    """

    capabilities = base.Capabilities(reads_tables=False, writes_text=True)
    model_type = EncoderDecoder

    def converter(self, vocab_file):
        options = self.task_config.conversion.converter_options()
        return sequences.TargetConverter(vocab_file, **options)

    def model_config(self):
        """Returns the config of the model, with the ids of the vocabulary."""
        config, path = self.task_config.model, self.task_config.conversion.bert_vocab_file
        if not path:
            return config
        pieces = read_vocabulary(path)
        return config.replace(start_id=pieces.index(CLS), end_id=pieces.index(SEP))

    def _check_length(self):
        super()._check_length()
        config, there = self.task_config, self.task_config.model.max_target_positions
        lengths = {
            # [SEP] is written and never read.
            "conversion.max_target_length": (config.conversion.max_target_length, there + 1),
            "decoding.max_length": (config.decoding.max_length, there),
        }
        for key, (length, most) in lengths.items():
            if length > most:
                raise InputError(
                    f"task.{key}={length} is more than {most}, with "
                    f"task.model.max_target_positions={there}"
                )

    def initialize(self, model):
        """Loads `init_checkpoint`, see `Task.initialize`.

        With `start_decoder_from_encoder` the decoder then starts from the encoder's weights, unless
        the checkpoint has a decoder.
        """
        report = super().initialize(model)
        if report is None or not self.task_config.model.start_decoder_from_encoder:
            return report
        if not any(_OF_DECODER.search(name) for name in report.loaded):
            copied = model.start_decoder()
            print(f"initialized | decoder: {len(copied)} variables from the encoder", flush=True)
        return report

    def label_names(self):
        return [TARGET.name]

    def example_mask(self, features):
        return padding.example_mask(features)

    def build_metrics(self, training=True):
        """Returns a `Mean` for each of `METRICS`."""
        return [keras.metrics.Mean(name, dtype=tf.float32) for name in METRICS]

    def process_metrics(self, metrics, labels, model_outputs, **kwargs):
        """Updates the means over the tokens of the targets."""
        gold = labels[TARGET.name][:, 1:]
        values = {
            "target_accuracy": tf.equal(model_outputs["predictions"], gold),
            "target_loss": model_outputs["example_loss"],
        }
        weights = tf.cast(gold > 0, tf.float32)
        for metric in metrics:
            if metric.name in values:  # others are a layer's; the layer updates them
                metric.update_state(tf.cast(values[metric.name], tf.float32), weights)


@dataclasses.dataclass
class SummarizeTaskConfig(TextToTextTaskConfig):
    """Config of summarization.

    Attributes:
        section_names: put the name of each section before its text; for PubMed and arXiv.
    """

    section_names: bool = False


@registry.register
class SummarizeTask(TextToTextTask):
    """Writes summaries. --input_dir has the files of PubMed or arXiv, or other JSON lines.

    See `data.datasets.summaries` for the formats. Predictions are in <split>.jsonl; the metrics are
    ROUGE's, next to those of sentences of the document.
    """

    name = "SUMMARIZE"
    splits = summaries.SPLITS
    baselines = ("lead-1", "lead-3", "random sentence")

    def interactions(self, input_dir, split):
        return summaries.read(input_dir, split, self.task_config.section_names)

    def check_packages(self):
        rouge.require()

    def measure(self, interactions, predicted):
        """Computes ROUGE; see `evaluation.rouge`."""
        return {"ROUGE (F1)": rouge.evaluate(interactions, predicted)}

    def compare(self, interactions, systems):
        """Computes the differences in ROUGE to each baseline, with paired bootstrap intervals."""
        if not any(
            each.answer.answer_texts
            for interaction in interactions
            for each in interaction.questions
        ):
            return {}
        return {
            "model minus baseline, 95 % interval": {
                name: rouge.differences(interactions, systems["model"], interaction)
                for name, interaction in systems.items()
                if name != "model"
            }
        }

    @classmethod
    def experiment(cls):
        """Returns the paper's lengths and model; its steps and learning rate are not given."""
        return configs.fine_tuning(
            SummarizeTaskConfig(name=cls.name),
            train_steps=_NUM_TRAIN * _EPOCHS // _BATCH_SIZE,
            batch_size=_BATCH_SIZE,
            learning_rate=5e-5,
            warmup_ratio=0.1,
            grad_clipping=None,
        )
