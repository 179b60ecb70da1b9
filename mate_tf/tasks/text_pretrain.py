"""TEXT_PRETRAIN: masked words and next sentences, from plain text."""

import dataclasses

from mate_tf.attention import AttentionConfig
from mate_tf.data.converters import sequences
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.features import TOKEN_TYPES
from mate_tf.data.pretraining import documents
from mate_tf.data.pretraining.masking import MaskingConfig
from mate_tf.data.pretraining.sentence_pairs import Packer
from mate_tf.errors import InputError
from mate_tf.models.encoder import EncoderConfig
from mate_tf.models.pretrainer import PretrainerConfig
from mate_tf.tasks import configs, pretraining_task, registry, sequence


@dataclasses.dataclass
class TextPretrainTaskConfig(sequence.SequenceTaskConfig):
    """Pre-training on plain text. `model.next_sentence` says whether examples are pairs.

    Attributes:
        model: the encoder, and whether there are next sentences.
        masking: how much is masked.
        random_next_prob: share of the pairs whose second segment is from another document.
        short_seq_prob: share of the examples that are shorter than they might be.
        dupe_factor: how often the training text is made into examples, each time into others.
        packing_seed: of these choices.
        dev_share: of the documents that are for evaluation, where no folder says it.
        tables: of interactions, whether to read tables, not only passages.
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
    """BERT's pre-training (Devlin et al., 2019), as SparseBERT's (section 3.1.1).

    --input_dir is any folder with text, see `data.pretraining.documents`. Words are masked
    anew whenever an example is read, but always alike in evaluation. Unlike in BERT's first
    release, words are masked as a whole. Segments are embedded as in GLUE, and nothing of tables.
    """

    name = "TEXT_PRETRAIN"
    splits = documents.SPLITS

    def interactions(self, input_dir, split):
        return _Interactions(self.task_config, input_dir, split)

    def converter(self, vocab_file):
        options = self.task_config.conversion.converter_options()
        return sequences.SequenceConverter(vocab_file, **options)

    @classmethod
    def experiment(cls):
        """BERT's settings for sequences of 128 tokens, with full attention."""
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


class _Interactions:
    """One for each pair of segments, or segment, with `class_index` 1 for a random next one.

    Attributes:
        defects: as of `Documents`.
    """

    def __init__(self, config: TextPretrainTaskConfig, input_dir, split: str):
        self._config, self._split = config, split
        if config.dupe_factor < 1:
            raise InputError(f"task.dupe_factor={config.dupe_factor}: must be 1 or more")
        self._documents = documents.Documents(
            input_dir, split, dev_share=config.dev_share, tables=config.tables
        )
        self.defects = self._documents.defects

    def __iter__(self):
        config = self._config
        packer = Packer(
            self._documents,
            Tokenizer(config.conversion.bert_vocab_file),
            config.conversion.max_seq_length,
            next_sentence=config.model.next_sentence,
            random_next_prob=config.random_next_prob,
            short_seq_prob=config.short_seq_prob,
        )
        passes = config.dupe_factor if self._split == documents.TRAIN else 1
        number = 0
        for index in range(passes):
            for pair in packer.pairs(config.packing_seed + index):
                name = f"text_{self._split}_{number}"
                yield sequences.interaction(name, pair.texts, class_index=pair.label)
                number += 1
