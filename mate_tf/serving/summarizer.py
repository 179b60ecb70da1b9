"""Exports an encoder-decoder, and writes summaries with the export."""

from collections.abc import Iterable

import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.serving import export as saved_model
from mate_tf.serving.exported import load_signature, read_settings
from mate_tf.serving.signatures import SERVING_DEFAULT
from mate_tf.serving.text_signatures import TextServingModule

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
        InputError: if export_dir exists, is not empty and is no SavedModel, or the tokens are not
            word pieces.
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
        InputError: if the folder has no SavedModel of mate-tf, or its model writes no texts.
    """

    def __init__(self, export_dir: str, batch_size: int = 8):
        settings = read_settings(export_dir)
        if not settings.get("writes_text"):
            raise InputError(f"{export_dir}: its model writes no texts")
        if batch_size < 1:
            raise InputError(f"batch_size is {batch_size}, expected 1 or more")
        self._model, self._signature = load_signature(export_dir, SERVING_DEFAULT)
        self._batch_size = batch_size

    def __call__(self, texts: Iterable[str]) -> list[str]:
        """Returns a summary of each text.

        Raises:
            InputError: if `texts` is one text instead of several.
        """
        if isinstance(texts, str | bytes):
            raise InputError("texts: expected a list of texts, not one text")
        encoded = [text.encode("utf-8", "ignore") for text in texts]
        found = []
        for begin in range(0, len(encoded), self._batch_size):
            batch = tf.constant(encoded[begin : begin + self._batch_size], tf.string)
            summaries = self._signature(documents=batch)["summaries"].numpy()
            found += [summary.decode("utf-8") for summary in summaries]
        return found
