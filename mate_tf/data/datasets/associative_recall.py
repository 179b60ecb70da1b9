"""Associative recall: key-value pairs among noise, then a key; the answer is the value of this key.

The pair is far from the end of the sequence, at random positions, so local attention does not help.
A pair is one symbol, `k3=v1`, or with `joined` off two symbols, `k3 v1`; then a model has to find
the symbol after the key.
"""

import dataclasses
import itertools
import random
from collections.abc import Iterator

from mate_tf.data.converters.sequences import interaction
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2

_NOISE = 8  # symbols


@dataclasses.dataclass(frozen=True)
class Rules:
    """Rules of the generated sequences.

    Attributes:
        length: number of symbols of a sequence, with the key at the end.
        num_pairs: number of key-value pairs in a sequence; their keys are distinct.
        num_keys, num_values: numbers of keys and values.
        min_distance: smallest distance, in symbols, from the answer's pair to the end.
        joined: True if a pair is one symbol.
    """

    length: int = 512
    num_pairs: int = 16
    num_keys: int = 32
    num_values: int = 8
    min_distance: int = 256
    joined: bool = True

    def __post_init__(self):
        room = self.length - 1 - self.num_pairs * self.width
        if room < 0 or not 1 <= self.num_pairs <= self.num_keys or self.num_values < 2:
            raise InputError(f"no sequence of associative recall follows these rules: {self}")
        if not 0 <= self.min_distance <= self.length - self.width:
            largest = self.length - self.width
            raise InputError(f"min_distance={self.min_distance}: must be from 0 to {largest}")

    @property
    def width(self) -> int:
        """Number of symbols of a pair."""
        return 1 if self.joined else 2


def symbols(rules: Rules) -> tuple[str, ...]:
    """Returns the vocabulary."""
    keys = [f"k{key}" for key in range(rules.num_keys)]
    values = value_names(rules)
    pairs = [f"{key}={value}" for key in keys for value in values] if rules.joined else values
    return (*(f"n{noise}" for noise in range(_NOISE)), *keys, *pairs)


def value_names(rules: Rules) -> tuple[str, ...]:
    """Returns the names of the classes."""
    return tuple(f"v{value}" for value in range(rules.num_values))


def generate(
    seed: int, split: str, number: int, rules: Rules
) -> Iterator[interaction_pb2.Interaction]:
    """Generates interactions of one sequence each; the class is the value.

    Args:
        seed: seed; the same seed gives the same sequences.
        split: name of the split; splits have different sequences.
    """
    generator = random.Random(f"{seed} {split}")
    for index in range(number):
        sequence, value = _draw(generator, rules)
        yield interaction(f"recall_{split}_{index}", [" ".join(sequence)], class_index=value)


def _draw(generator: random.Random, rules: Rules) -> tuple[list[str], int]:
    """Returns the symbols of a sequence, and the value of the key at its end."""
    keys = generator.sample(range(rules.num_keys), rules.num_pairs)
    values = [generator.randrange(rules.num_values) for _ in keys]
    wanted, *others = (
        [f"k{key}=v{value}"] if rules.joined else [f"k{key}", f"v{value}"]
        for key, value in zip(keys, values, strict=True)
    )
    noise = rules.length - 1 - rules.num_pairs * rules.width
    others += [[f"n{generator.randrange(_NOISE)}"] for _ in range(noise)]
    generator.shuffle(others)
    # The wanted pair may be put in front of any other part, if that is far enough from the end.
    begins = itertools.accumulate(map(len, others), initial=0)
    latest = rules.length - rules.width - rules.min_distance
    index = generator.randrange(sum(begin <= latest for begin in begins))
    parts = [*others[:index], wanted, *others[index:], [f"k{keys[0]}"]]
    return [symbol for part in parts for symbol in part], values[0]
