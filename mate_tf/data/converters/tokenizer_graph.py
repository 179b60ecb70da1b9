"""The tokenizer as a graph of TensorFlow, for strings inside SavedModels; see `tokenizer`.

The BERT tokenizers of tensorflow_text fold case with NFKC, which differs for fractions, full-width
forms, ligatures and more. So clean-up, lower case and the split into words are implemented here.
Only the split of words into pieces is done by tensorflow_text.
"""

import tensorflow as tf
import tensorflow_text as tf_text

from mate_tf.data.converters.tokenizer import CONTINUATION, MAX_WORD_CHARACTERS, UNK, Tokenizer

_REPLACEMENT_CHARACTER = "\ufffd"
_SPACES = r"[\t\n\r\pZ]"
_INVISIBLE = r"[\p{Cc}\p{Cf}]"
_ACCENTS = r"\p{Mn}"
_IDEOGRAPHS = (
    r"\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{F900}-\x{FAFF}"
    r"\x{20000}-\x{2A6DF}\x{2A700}-\x{2CEAF}\x{2F800}-\x{2FA1F}"
)
_WORDS_BY_THEMSELVES = rf"([\pP!-/:-@\[-`{{-~{_IDEOGRAPHS}])"
_HAS_CONTENT = r"(?s).*[\pL\pN].*"
_NOT_AVAILABLE = r"(?i)[\s\v\x1c-\x1f\x{85}\pZ]*n/a[\s\v\x1c-\x1f\x{85}\pZ]*"


class TokenizerGraph(tf.Module):
    """Splits texts into word pieces, with the ids of a `Tokenizer`.

    ```
    graph = TokenizerGraph(Tokenizer("vocab.txt"))
    graph.to_ids(tf.constant(["Losing team", "?"]))    # ragged, also inside a SavedModel
    ```

    The ids may differ for characters that are newer than the Unicode tables of TensorFlow (13).

    Args:
        tokenizer: has the vocabulary.
    """

    def __init__(self, tokenizer: Tokenizer):
        super().__init__(name="tokenizer")
        self._empty_piece = tokenizer.empty_piece
        self._wordpiece = tf_text.FastWordpieceTokenizer(
            list(tokenizer.pieces),
            suffix_indicator=CONTINUATION,
            max_bytes_per_word=4 * MAX_WORD_CHARACTERS,
            token_out_type=tf.int32,
            unknown_token=UNK,
            no_pretokenization=True,
        )

    # AutoGraph has nothing to convert here and would make tracing slow.
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
    def to_ids(self, texts):
        """Tokenizes texts in TensorFlow.

        Args:
            texts: <string>[num_texts], UTF-8; invalid bytes are dropped.

        Returns:
            <int32>[num_texts, (pieces)], ragged ids, at least one piece for each text.
        """
        words = split_words(texts, self._empty_piece)
        too_long = tf.strings.length(words.flat_values, "UTF8_CHAR") > MAX_WORD_CHARACTERS
        words = words.with_flat_values(tf.where(too_long, UNK, words.flat_values))
        pieces = self._wordpiece.tokenize(words.flat_values)
        return tf.RaggedTensor.from_row_splits(
            pieces.flat_values, tf.gather(pieces.row_splits, words.row_splits), validate=False
        )


def split_words(texts, empty_piece: str, decompose=None):
    """Cleans texts and splits them into words.

    Brackets are separate words, so no word of a text equals a special piece. [EMPTY] and [UNK] can
    therefore be put among the words, and they keep their ids.

    Args:
        texts: <string>[num_texts], UTF-8; invalid bytes are dropped.
        empty_piece: the only word of empty texts.
        decompose: as for `clean`.

    Returns:
        <string>[num_texts, (words)], ragged.
    """
    texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="ignore")
    cleaned = clean(texts, decompose) if decompose else clean(texts)
    return tf.strings.split(tf.where(is_empty(texts), empty_piece, separate_words(cleaned)))


def decompose(texts):
    """Decomposes letters with accents (NFD), <string>[...]: accents become separate characters."""
    return tf_text.normalize_utf8(texts, "NFD")


def clean(texts, decompose=decompose):
    """Normalizes white space to spaces, removes control characters and accents, lower-cases.

    Args:
        texts: <string>[...], UTF-8.
        decompose: function that separates accents from their letters; it may also remove them.
    """
    texts = tf.strings.regex_replace(texts, _REPLACEMENT_CHARACTER, "")
    texts = tf.strings.regex_replace(texts, _SPACES, " ")
    texts = tf.strings.regex_replace(texts, _INVISIBLE, "")
    texts = tf.strings.lower(texts, encoding="utf-8")
    return without_accents(decompose(texts))


def without_accents(texts):
    """Removes accents that are separate characters from <string>[...]."""
    return tf.strings.regex_replace(texts, _ACCENTS, "")


def separate_words(texts):
    """Puts spaces around each punctuation mark and each ideograph of <string>[...]."""
    return tf.strings.regex_replace(texts, _WORDS_BY_THEMSELVES, r" \1 ")


def is_empty(texts):
    """Returns <bool>[...], true for texts without letters and digits and for "n/a".

    These are the texts for which `tables.text.format_text` returns EMPTY.
    """
    return tf.logical_or(
        tf.logical_not(tf.strings.regex_full_match(texts, _HAS_CONTENT)),
        tf.strings.regex_full_match(texts, _NOT_AVAILABLE),
    )
