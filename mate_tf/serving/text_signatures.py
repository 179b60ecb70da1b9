"""Signature of an exported encoder-decoder: texts to texts. To use it only TensorFlow is needed."""

import functools

import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.serving.signatures import SERVING_DEFAULT
from mate_tf.serving.word_pieces import WordPieces
from mate_tf.serving.written_texts import WrittenTexts


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
        found = self._generate(self._reader(documents))
        return {"summaries": self._texts(found["ids"]), "scores": found["scores"]}

    def signatures(self):
        """Returns the signature by name, for `tf.saved_model.save`."""
        return {SERVING_DEFAULT: self.serving_default}
