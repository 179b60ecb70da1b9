"""Mix-ins for what only some attention variants can do, next to the contract of all.

A layer (`TableAttention`) can be `HasTrees`, `ChoosesPairs` and `LogsValues`; a pattern
(`AttentionPattern`) `AddsTokens` and `LearnsMask`; both `ChangesForExport`. Who uses an ability
asks for it by isinstance, or by the functions of this module.
"""

import abc
import contextlib
import os
from collections.abc import Mapping

import tensorflow as tf

from mate_tf.attention.config import AttentionConfig
from mate_tf.attention.pattern import AttentionPattern
from mate_tf.attention.table_context import TableContext


class HasTrees(abc.ABC):
    """A layer with decision trees, which can be trained with fewer levels first (`bootstrap`)."""

    @classmethod
    @abc.abstractmethod
    def tree_height(cls, config: AttentionConfig) -> int:
        """Returns the levels of decisions in the trees of a layer."""

    @classmethod
    @abc.abstractmethod
    def with_tree_height(cls, config: AttentionConfig, height: int) -> AttentionConfig:
        """Returns the config of the same layer with the upper `height` levels of its trees."""

    @abc.abstractmethod
    def grown_variables(self) -> dict[str, dict[int, float]]:
        """Returns the variables that are longer on axis 1 than those of a smaller layer.

        A checkpoint of a smaller layer is loaded by this: its values go to the beginning of the
        variable, and the rest keeps its initial values.

        Returns:
            name, as in `checkpoint_variables` -> {length of axis 1 in a smaller layer: factor by
            which the stored values are multiplied}.
        """


class ChoosesPairs(abc.ABC):
    """A layer that chooses the pairs of queries and keys by its input."""

    @abc.abstractmethod
    def mask(self, x: tf.Tensor, pattern) -> tf.Tensor:
        """Computes the chosen pairs, <bool>[batch, heads, queries, keys].

        Args:
            x: <float>[batch, seq, hidden], the input of the layer.
            pattern: what its pattern computes.
        """


class LogsValues(abc.ABC):
    """A layer that adds to the log of the training (`training.layer_log`)."""

    @abc.abstractmethod
    def logged_variables(self) -> dict[str, list[tf.Variable]]:
        """Returns groups of variables whose gradient norms are logged, by the group's name."""

    @abc.abstractmethod
    def logged_values(self, x: tf.Tensor, real: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns numbers and vectors of this layer.

        Args:
            x: <float>[batch, seq, hidden], the input of the layer.
            real: <bool>[batch, seq], the padding mask.
        """


class AddsTokens(abc.ABC):
    """A pattern that puts tokens of its own before those of the input."""

    @classmethod
    @abc.abstractmethod
    def num_added_tokens(cls, config: AttentionConfig) -> int:
        """Returns how many tokens `add_tokens` puts before the others."""

    @abc.abstractmethod
    def add_tokens(self, embeddings: tf.Tensor, context: TableContext):
        """Adds the tokens.

        Args:
            embeddings: <float>[batch, seq, hidden].

        Returns:
            Both arguments, with the tokens added: <float>[batch, extended seq, hidden].
        """

    @abc.abstractmethod
    def remove_tokens(self, output: tf.Tensor) -> tf.Tensor:
        """Removes the tokens that `add_tokens` added.

        Args:
            output: <float>[batch, extended seq, hidden].

        Returns:
            <float>[batch, seq, hidden]
        """


class LearnsMask(abc.ABC):
    """A pattern that may learn a mask, which is written to a file after training."""

    @classmethod
    @abc.abstractmethod
    def saves_mask(cls, config: AttentionConfig) -> bool:
        """Returns whether training with these options ends with a mask."""

    @classmethod
    @abc.abstractmethod
    def restored(cls, config: AttentionConfig, variables: Mapping) -> "LearnsMask":
        """Makes a pattern with the variables of a checkpoint, name -> <float>[...]."""

    @abc.abstractmethod
    def save_mask(self, path: str | os.PathLike) -> None:
        """Writes the mask to a file."""


class ChangesForExport(abc.ABC):
    """A layer or pattern that computes less in an exported model."""

    @abc.abstractmethod
    def exporting(self) -> contextlib.AbstractContextManager:
        """Returns a context within which a model is exported."""


def num_added_tokens(pattern: type[AttentionPattern], config: AttentionConfig) -> int:
    """Returns how many tokens a class of patterns adds."""
    return pattern.num_added_tokens(config) if issubclass(pattern, AddsTokens) else 0


def add_tokens(pattern: AttentionPattern, embeddings: tf.Tensor, context: TableContext):
    """Adds the tokens of a pattern that has some.

    Args:
        embeddings: <float>[batch, seq, hidden].

    Returns:
        Both arguments: <float>[batch, extended seq, hidden].
    """
    if isinstance(pattern, AddsTokens):
        return pattern.add_tokens(embeddings, context)
    return embeddings, context


def remove_tokens(pattern: AttentionPattern, output: tf.Tensor) -> tf.Tensor:
    """Removes the tokens that `add_tokens` added.

    Args:
        output: <float>[batch, extended seq, hidden].

    Returns:
        <float>[batch, seq, hidden]
    """
    return pattern.remove_tokens(output) if isinstance(pattern, AddsTokens) else output
