"""TEXT_PRETRAIN: masked words and next sentences, on plain text."""

import dataclasses

from mate_tf.attention import AttentionConfig
from mate_tf.data import padding
from mate_tf.data.converters import sequences
from mate_tf.data.features import TOKEN_TYPES
from mate_tf.data.pretraining import documents
from mate_tf.data.pretraining.masking import MaskingConfig
from mate_tf.data.pretraining.sentence_pairs import Packer
from mate_tf.models.encoder import EncoderConfig
from mate_tf.models.pretrainer import PretrainerConfig
from mate_tf.tasks import configs, packed_text, pretraining_task, registry, sequence


@dataclasses.dataclass
class TextPretrainTaskConfig(sequence.SequenceTaskConfig):
    """Config of pre-training on plain text. Examples are pairs if `model.next_sentence` is true.

    Attributes:
        model: the encoder, and whether it has the next sentence head.
        masking: shares of masked words.
        random_next_prob: share of the pairs with a second segment from another document.
        short_seq_prob: share of the examples with a random shorter length.
        dupe_factor: number of passes over the training text, each with other random choices.
        packing_seed: seed of these choices.
        dev_share: share of the documents for evaluation, if the folders have no dev split.
        tables: whether to read the tables of interactions too, or only their passages.
    """

    model: PretrainerConfig = dataclasses.field(default_factory=PretrainerConfig)
    masking: MaskingConfig = dataclasses.field(default_factory=MaskingConfig)
    random_next_prob: float = 0.5
    short_seq_prob: float = 0.1
    dupe_factor: int = 1
    packing_seed: int = 0
    dev_share: float = 0.05
    tables: bool = True


@registry.register
class TextPretrainTask(pretraining_task.PretrainTask):
    """BERT's pre-training (Devlin et al., 2019), as in SparseBERT (section 3.1.1).

    --input_dir is any folder with text, see `data.pretraining.documents`. In training, other words
    are masked each time an example is read; in evaluation the masks are always the same. Words are
    masked as a whole, unlike in BERT's first release. Segment ids are embedded as in GLUE; no other
    token types are.
    """

    name = "TEXT_PRETRAIN"
    splits = documents.SPLITS

    def interactions(self, input_dir, split):
        return _Interactions(self.task_config, input_dir, split)

    def converter(self, vocab_file):
        options = self.task_config.conversion.converter_options()
        return sequences.SequenceConverter(vocab_file, **options)

    def example_mask(self, features):
        """Returns <bool>[batch], true for examples with text, false for padding examples.

        Args:
            features: `input_mask` <int32>[batch, seq] is read.
        """
        return padding.example_mask(features)

    @classmethod
    def experiment(cls):
        """Returns BERT's settings for sequences of 128 tokens, with full attention."""
        return configs.fine_tuning(
            TextPretrainTaskConfig(
                name=cls.name,
                conversion=sequence.SequenceConversionConfig(max_seq_length=128),
                model=PretrainerConfig(
                    encoder=EncoderConfig(
                        attention=AttentionConfig(name="full"),
                        disabled_features=list(TOKEN_TYPES[1:]),
                    )
                ),
            ),
            train_steps=1_000_000,
            batch_size=256,
            learning_rate=1e-4,
            warmup_ratio=0.01,
            grad_clipping=None,
        )


class _Interactions(packed_text.PackedText):
    """Interactions, one for each segment or pair; class 1 is a random second segment."""

    prefix = "text"

    def packer(self, found, tokenizer):
        config = self._config
        packer = Packer(
            found,
            tokenizer,
            config.conversion.max_seq_length,
            next_sentence=config.model.next_sentence,
            random_next_prob=config.random_next_prob,
            short_seq_prob=config.short_seq_prob,
        )
        return packer.pairs
