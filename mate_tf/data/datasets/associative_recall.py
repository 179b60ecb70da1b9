"""Associative recall: pairs of key and value among noise, then a key, whose value is the answer.

What is to be found stands far from where it is asked for, so that attention to neighbours does not
help, and where it stands differs from sequence to sequence. An item is one symbol, `k3=v1`, or with
`joined` off two, `k3 v1`, so that a model has to find what follows the key.
"""

import dataclasses
import itertools
import random
from collections.abc import Iterator

from mate_tf.data.converters.sequences.sequence import interaction
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2

_NOISE = 8  # symbols


@dataclasses.dataclass(frozen=True)
class Rules:
    """What sequences are drawn.

    Attributes:
        length: symbols of a sequence, the key that is asked for included.
        num_pairs: pairs of key and value in it, no key twice.
        num_keys, num_values: how many there are.
        min_distance: symbols, at least, from the pair that is asked for to the end.
        joined: whether key and value are one symbol.
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
            raise InputError(f"there are no sequences of associative recall by {self}")
        if not 0 <= self.min_distance <= self.length - self.width:
            raise InputError(f"min_distance={self.min_distance}: nothing is so far in {self}")

    @property
    def width(self) -> int:
        """Symbols of a pair."""
        return 1 if self.joined else 2


def symbols(rules: Rules) -> tuple[str, ...]:
    """The vocabulary."""
    keys = [f"k{key}" for key in range(rules.num_keys)]
    values = value_names(rules)
    pairs = [f"{key}={value}" for key in keys for value in values] if rules.joined else values
    return (*(f"n{noise}" for noise in range(_NOISE)), *keys, *pairs)


def value_names(rules: Rules) -> tuple[str, ...]:
    """The classes."""
    return tuple(f"v{value}" for value in range(rules.num_values))


def generate(
    seed: int, split: str, number: int, rules: Rules
) -> Iterator[interaction_pb2.Interaction]:
    """Interactions of one sequence each; the class is the value.

    Args:
        seed: the same gives the same sequences.
        split: splits have different ones.
        number: how many.
        rules: what they are like.
    """
    generator = random.Random(f"{seed} {split}")
    for index in range(number):
        sequence, value = _draw(generator, rules)
        yield interaction(f"recall_{split}_{index}", [" ".join(sequence)], class_index=value)


def _draw(generator: random.Random, rules: Rules) -> tuple[list[str], int]:
    """The symbols of a sequence, and the value that belongs to the last one."""
    keys = generator.sample(range(rules.num_keys), rules.num_pairs)
    values = [generator.randrange(rules.num_values) for _ in keys]
    asked, *others = (
        [f"k{key}=v{value}"] if rules.joined else [f"k{key}", f"v{value}"]
        for key, value in zip(keys, values, strict=True)
    )
    noise = rules.length - 1 - rules.num_pairs * rules.width
    others += [[f"n{generator.randrange(_NOISE)}"] for _ in range(noise)]
    generator.shuffle(others)
    # Where each of the others begins is where the one that is asked for could be put.
    begins = itertools.accumulate(map(len, others), initial=0)
    latest = rules.length - rules.width - rules.min_distance
    place = generator.randrange(sum(begin <= latest for begin in begins))
    parts = [*others[:place], asked, *others[place:], [f"k{keys[0]}"]]
    return [symbol for part in parts for symbol in part], values[0]
