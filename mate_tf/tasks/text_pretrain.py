"""TEXT_PRETRAIN: masked words and next sentences, on plain text."""

import abc
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

from mate_tf.attention import AttentionConfig
from mate_tf.data import padding
from mate_tf.data.converters import sequences
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.features import TOKEN_TYPES
from mate_tf.data.pretraining import documents
from mate_tf.data.pretraining.masking import MaskingConfig
from mate_tf.data.pretraining.sentence_pairs import Packer
from mate_tf.errors import InputError
from mate_tf.field_types import Count, CountOrZero, Range, Share
from mate_tf.models.encoder import EncoderConfig
from mate_tf.models.pretrainer import PretrainerConfig
from mate_tf.tasks import configs, pretrain, registry, sequence


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
    random_next_prob: Share = 0.5
    short_seq_prob: Share = 0.1
    dupe_factor: Count = 1
    packing_seed: CountOrZero = 0
    dev_share: Annotated[float, Range(0, 1, without="low high")] = 0.05
    tables: bool = True


@registry.register
class TextPretrainTask(pretrain.PretrainTask):
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


class PackedText(abc.ABC):
    """Interactions, one for each example; every pass over the training text has its own seed.

    Args:
        config: config of the task, with `dupe_factor`, `packing_seed`, `dev_share` and `tables`, as
            `TextPretrainTaskConfig` has them.
        input_dir, split: see `documents.Documents`.

    Attributes:
        defects: defects of the files, see `Documents`.

    Raises:
        InputError: if `dupe_factor` is below 1, or the files cannot be used.
    """

    prefix: str
    """Begin of the ids of interactions."""

    def __init__(self, config: Any, input_dir, split: str):
        self._config, self._split = config, split
        if config.dupe_factor < 1:
            raise InputError(f"task.dupe_factor={config.dupe_factor}: must be 1 or more")
        self._documents = documents.Documents(
            input_dir, split, dev_share=config.dev_share, tables=config.tables
        )
        self.defects = self._documents.defects

    def __iter__(self) -> Iterator:
        config = self._config
        pack = self.packer(self._documents, Tokenizer(config.conversion.bert_vocab_file))
        passes = config.dupe_factor if self._split == documents.TRAIN else 1
        seeds = range(config.packing_seed, config.packing_seed + passes)
        examples = itertools.chain.from_iterable(map(pack, seeds))
        for number, (texts, class_index) in enumerate(examples):
            name = f"{self.prefix}_{self._split}_{number}"
            yield sequences.interaction(name, texts, class_index=class_index)

    @abc.abstractmethod
    def packer(
        self, texts: documents.Documents, tokenizer: Tokenizer
    ) -> Callable[[int], Iterable[tuple]]:
        """Returns a function that yields the examples of one pass with a seed <int>.

        An example is a pair of its texts, in order, and its class; None if there are no classes.
        """


class _Interactions(PackedText):
    """Interactions, one for each segment or pair; class 1 is a random second segment."""

    prefix = "text"

    def packer(self, texts, tokenizer):
        config = self._config
        packer = Packer(
            texts,
            tokenizer,
            config.conversion.max_seq_length,
            next_sentence=config.model.next_sentence,
            random_next_prob=config.random_next_prob,
            short_seq_prob=config.short_seq_prob,
        )
        return packer.pairs
