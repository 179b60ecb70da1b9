"""A small WordPiece vocabulary that covers all generated text without [UNK]."""

import os
import re
import string
from collections.abc import Iterable

from mate_tf.data.synthetic.domains import DOMAINS, GENERIC, Domain, Templates, TextColumn
from mate_tf.data.synthetic.questions import EXAMPLE_QUESTIONS

SPECIAL = ("[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WORD = re.compile(r"[a-z]+")


def make_vocabulary(path: str | os.PathLike, extra_texts: Iterable[str] = ()) -> int:
    """Writes the vocabulary, one piece per line, and returns the number of pieces.

    A number of up to five digits is at most two pieces: 0 to 999 are pieces, and there are
    continuations `##` of one and two digits. A word of the generator is one piece. Other words in
    Latin letters are split into letters, so that no ASCII text contains [UNK].

    Args:
        path: the file; it is written atomically.
        extra_texts: further texts, with words that become whole pieces.
    """
    from mate_tf.files.atomic import write_text  # imports TensorFlow, which tables do not need

    pieces = vocabulary(extra_texts)
    write_text(path, "".join(f"{piece}\n" for piece in pieces))
    return len(pieces)


def vocabulary(extra_texts: Iterable[str] = ()) -> list[str]:
    """Returns the pieces, special ones first: [PAD] is 0 and [EMPTY] is 1, as in the reference."""
    letters = string.ascii_lowercase
    pieces = [
        *SPECIAL,
        *string.punctuation,
        *(str(number) for number in range(1000)),
        *(f"##{digit}" for digit in string.digits),
        *(f"##{number:02}" for number in range(100)),
        *letters,
        *(f"##{letter}" for letter in letters),
        *sorted({word for text in (*_texts(), *extra_texts) for word in _words(text)}),
    ]
    return list(dict.fromkeys(pieces))


def _words(text):
    """Returns the lower-cased words of a text, without {placeholders} of templates."""
    return _WORD.findall(re.sub(r"\{\w+\}", " ", text).lower())


def _texts():
    """Yields all texts that generated tables and questions are made of."""
    yield from _template_texts(GENERIC)
    for domain in DOMAINS:
        yield from _domain_texts(domain)
    yield from (question for question, _ in EXAMPLE_QUESTIONS)
    yield from ("a", "an")


def _domain_texts(domain: Domain):
    """Yields the texts of a domain."""
    yield from (*domain.headers, *domain.starts, *domain.ends, *domain.one, *domain.all)
    for column in domain.columns:
        yield from (column.header, column.noun)
        if isinstance(column, TextColumn):
            yield from column.values
        yield from _template_texts(column.templates)


def _template_texts(templates: Templates):
    """Yields all templates."""
    for texts in vars(templates).values():
        yield from texts
