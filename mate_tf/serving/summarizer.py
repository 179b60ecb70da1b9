"""Exports an encoder-decoder, and writes summaries with the export."""

import functools
from collections.abc import Iterable

import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.data.converters.tokenizer import CONTINUATION, Tokenizer
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.serving import export as saved_model
from mate_tf.serving import forks
from mate_tf.serving.export_files import read_settings
from mate_tf.serving.in_graph.word_pieces import WordPieces
from mate_tf.serving.served_model import load_signature
from mate_tf.serving.signatures import SERVING_DEFAULT

_WORD_PIECES = "word_pieces"


def export(model, export_dir: str, vocab_file: str, converter_options: dict, decoding: dict) -> str:
    """Writes a model as a SavedModel with the signature `serving_default`, from texts to texts.

    An earlier SavedModel in the same folder is replaced at the end.

    Args:
        model: an `EncoderDecoder`.
        export_dir: folder to write.
        vocab_file: WordPiece vocabulary the model was trained with.
        converter_options: keyword arguments of the converter that made its examples;
            `max_seq_length` is used.
        decoding: keyword arguments of `EncoderDecoder.generate`.

    Returns:
        export_dir.

    Raises:
        InputError: if export_dir exists, is not empty and is not a SavedModel, or the tokens are
            not word pieces.
    """
    tokens = converter_options.get("tokens", _WORD_PIECES)
    if tokens != _WORD_PIECES:
        raise InputError(f"conversion.tokens={tokens}: only models of word pieces can be exported")
    settings = {
        "converter": dict(converter_options),
        "decoding": dict(decoding),
        "reads_tables": False,
        "writes_text": True,
    }
    paths.check_no_pattern(export_dir, export_dir)
    with saved_model.new_saved_model(export_dir) as new:
        length = converter_options["max_seq_length"]
        module = TextServingModule(model, vocab_file, length, decoding)
        saved_model.write(module, model.encoder, new, vocab_file, settings)
    return export_dir


class Summarizer:
    """Writes summaries with an exported model.

        summarizer = mate_tf.serving.Summarizer("model/export")
        summarizer(["A long text. ..."])    # ["a summary."]

    Args:
        export_dir: folder of a SavedModel of a task that writes texts (--mode=export).
        batch_size: number of texts that are read at a time.

    Raises:
        InputError: if the folder has no SavedModel of mate-tf, its model does not write texts, or
            the process was forked after a model was loaded.
    """

    def __init__(self, export_dir: str, batch_size: int = 8):
        self._name = str(export_dir)
        forks.check(self._name)
        settings = read_settings(export_dir)
        if not settings.get("writes_text"):
            raise InputError(f"{export_dir}: the model does not write texts")
        if batch_size < 1:
            raise InputError(f"batch_size is {batch_size}, expected 1 or more")
        self._model, self._signature = load_signature(export_dir, SERVING_DEFAULT)
        self._batch_size = batch_size
        forks.note(self._name)

    def __call__(self, texts: Iterable[str]) -> list[str]:
        """Returns a summary of each text.

        Raises:
            InputError: if `texts` is one text instead of several, or the process was forked after
                the model was loaded.
        """
        forks.check(self._name)
        if isinstance(texts, str | bytes):
            raise InputError("texts: expected a list of texts, not one text")
        encoded = [text.encode("utf-8", "ignore") for text in texts]
        written = []
        for begin in range(0, len(encoded), self._batch_size):
            batch = tf.constant(encoded[begin : begin + self._batch_size], tf.string)
            summaries = self._signature(documents=batch)["summaries"].numpy()
            written += [summary.decode("utf-8") for summary in summaries]
        return written


class TextReader(tf.Module):
    """Turns texts into features, in TensorFlow operations: `SequenceConverter` of word pieces.

    Args:
        tokenizer: tokenizer with the vocabulary.
        max_seq_length: tokens of an example, with [CLS] and [SEP]. Longer texts are cut.
    """

    def __init__(self, tokenizer: Tokenizer, max_seq_length: int):
        super().__init__(name="text_reader")
        self._ends = [tokenizer.cls_id], [tokenizer.sep_id]
        self._room = max_seq_length - 2
        self._word_pieces = WordPieces(tokenizer, max_words=self._room)

    def __call__(self, texts):
        """Returns a dict of <int32>[batch, seq] of <string>[batch]; seq is that of the longest."""
        pieces = self._word_pieces(texts)[:, : self._room]
        cls, sep = (tf.fill([tf.size(texts), 1], of[0]) for of in self._ends)
        ragged = tf.concat([cls, pieces, sep], axis=1)
        ids = ragged.to_tensor()
        features = dict.fromkeys(
            feature_names.names(feature_names.MODEL_INPUTS), tf.zeros_like(ids)
        )
        return features | {
            "input_ids": ids,
            "input_mask": tf.ones_like(ragged).to_tensor(),
        }


class TextServingModule(tf.Module):
    """An encoder-decoder that reads and writes texts.

    Args:
        model: an `EncoderDecoder`.
        vocab_file: WordPiece vocabulary the model was trained with.
        max_seq_length: tokens of a document that the model reads.
        decoding: keyword arguments of `EncoderDecoder.generate`.
    """

    def __init__(self, model, vocab_file, max_seq_length: int, decoding: dict):
        super().__init__(name="mate_tf")
        tokenizer = Tokenizer(vocab_file)
        self._reader = TextReader(tokenizer, max_seq_length)
        self._texts = WrittenTexts(tokenizer)
        # A partial, not the model, as in `signatures.ServingModule`
        self._generate = functools.partial(model.generate, **decoding)
        self._weights = model.variables

    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.string, name="documents")], autograph=False
    )
    def serving_default(self, documents):
        """Writes a text for each document, such as its summary.

        Args:
            documents: <string>[batch], UTF-8; invalid bytes are dropped. Of long documents only
                the beginning is read.

        Returns:
            A dict:
            summaries: <string>[batch].
            scores: <float32>[batch], log-probability divided by the length penalty.
        """
        result = self._generate(self._reader(documents))
        return {"summaries": self._texts(result["ids"]), "scores": result["scores"]}

    def signatures(self):
        """Returns the signature by name, for `tf.saved_model.save`."""
        return {SERVING_DEFAULT: self.serving_default}


# RE2 has no look-around. So each piece gets a separate space on both sides, of which marks say
# that they go: _LEFT before a piece and the space of the piece before it, _RIGHT the other way.
_LEFT, _RIGHT = "\x01", "\x02"
_LETTER = r"[\pL\pN_]"
_IN_PAIRS = (  # twice: a letter between two matches belongs to both
    (rf"({_LETTER}) ([-'’/]) ({_LETTER})", r"\1\2\3"),
    (rf"({_LETTER}) (['’]) ?(s(?:[^\pL\pN_]|$))", r"\1\2\3"),
)
_JOINED = (
    (" ", "  "),
    (r"^(.*)$", r" \1 "),
    (r" ([.,;:!?%)\]}]) ", rf"{_LEFT}\1 "),
    (rf"[ {_LEFT}]([(\[{{]) ", rf" \1{_RIGHT}"),
    (rf"^[ {_LEFT}]|[ {_RIGHT}]$", ""),
    (rf"{_RIGHT}{_LEFT}|{_RIGHT} | {_LEFT}", ""),
    ("  ", " "),
)


class WrittenTexts(tf.Module):
    """Makes texts of the ids that a decoder generates, as `Detokenizer` does.

    Args:
        tokenizer: tokenizer with the vocabulary.
    """

    def __init__(self, tokenizer: Tokenizer):
        super().__init__(name="written_texts")
        self._pieces = tf.constant(tokenizer.pieces)
        self._end = tokenizer.sep_id
        self._left_out = [tokenizer.pad_id, tokenizer.cls_id]

    def __call__(self, ids: tf.Tensor) -> tf.Tensor:
        """Returns <string>[batch] of <int32>[batch, length]; a text ends at the first [SEP]."""
        ended = tf.cumsum(tf.cast(ids == self._end, tf.int32), axis=1) > 0
        kept = ~ended & tf.reduce_all(ids[..., None] != self._left_out, axis=-1)
        pieces = tf.ragged.boolean_mask(tf.gather(self._pieces, ids), kept)
        texts = tf.strings.reduce_join(pieces, axis=1, separator=" ")
        texts = tf.strings.regex_replace(texts, f"(^| ){CONTINUATION}", "")
        for pattern, replacement in (*(pair for pair in _IN_PAIRS for _ in range(2)), *_JOINED):
            texts = tf.strings.regex_replace(texts, pattern, replacement)
        return texts
