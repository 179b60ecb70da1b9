"""Interactions of a folder with text: its sentences packed into examples, in several passes."""

import abc
import itertools
from collections.abc import Iterator
from typing import Any

from mate_tf.data.converters import sequences
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.pretraining import documents
from mate_tf.errors import InputError


class PackedText(abc.ABC):
    """Interactions, one for each example; every pass over the training text has its own seed.

    Args:
        config: config of the task, with `dupe_factor`, `packing_seed`, `dev_share` and `tables`, as
            `text_pretrain.TextPretrainTaskConfig` has them.
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
    def packer(self, found: documents.Documents, tokenizer: Tokenizer):
        """Returns a function that yields the examples of one pass with a seed <int>.

        An example is a pair of its texts, in order, and its class; None without classes.
        """
