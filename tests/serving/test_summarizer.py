"""Export of an encoder-decoder: the same texts as by converter, model and detokenizer."""

import os
import re

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.data.converters import sequences
from mate_tf.data.converters.tokenizer import Detokenizer, Tokenizer
from mate_tf.data.features import MODEL_INPUTS, names
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.encoder_decoder import EncoderDecoder
from mate_tf.serving import Summarizer, summarizer
from mate_tf.serving.predictor import Predictor
from mate_tf.serving.summarizer import TextReader

from ..models import tiny_decoder

LENGTH = 12
DECODING = {"max_length": 6, "beam_size": 2, "min_length": 2}
PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[EMPTY]",
    "plane",
    "##s",
    "fly",
    "high",
    ".",
    "'",
    "a",
]
TEXTS = ["Planes fly high. A plane's ...", "", "strange", "fly " * 50, "High\u0301 \x00 PLANE"]


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text("\n".join(PIECES))
    return str(path)


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(2)
    return EncoderDecoder(tiny_decoder.tiny(start_id=2, end_id=3))


@pytest.fixture(scope="module")
def exported(model, vocabulary, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("export") / "saved")
    options = {"max_seq_length": LENGTH, "tokens": "word_pieces", "max_target_length": 6}
    assert summarizer.export(model, path, vocabulary, options, DECODING) == path
    return path


@pytest.fixture(scope="module")
def summarize(exported):
    return Summarizer(exported, batch_size=3)


@pytest.fixture(scope="module")
def converted(vocabulary):
    """Features of the texts, as examples have them."""
    converter = sequences.SequenceConverter(vocabulary, LENGTH)
    examples = [converter.convert(sequences.interaction("x", [text])) for text in TEXTS]
    values = [example.features.feature for example in examples]
    zeros = np.zeros([len(TEXTS), LENGTH], np.int32)
    return {
        name: np.array([of[name].int64_list.value for of in values], np.int32)
        if name in values[0]
        else zeros
        for name in names(MODEL_INPUTS)
    }


def test_reads_what_the_converter_reads(vocabulary, converted):
    features = TextReader(Tokenizer(vocabulary), LENGTH)(tf.constant(TEXTS))
    assert set(features) == set(converted)
    for name, values in converted.items():
        np.testing.assert_array_equal(features[name], values, err_msg=name)
    short = TextReader(Tokenizer(vocabulary), LENGTH)(tf.constant(["fly", "high fly"]))
    assert short["input_ids"].shape == (2, 4)


def test_writes_what_the_model_writes(exported, summarize, model, converted, vocabulary):
    found = model.generate({k: tf.constant(v) for k, v in converted.items()}, **DECODING)
    detokenize = Detokenizer(vocabulary)
    expected = [detokenize(ids) for ids in found["ids"].numpy()]
    assert len(set(expected)) > 2
    assert summarize(TEXTS) == expected
    assert summarize([]) == []
    outputs = summarize._signature(documents=tf.constant(TEXTS))
    assert [text.decode() for text in outputs["summaries"].numpy()] == expected
    np.testing.assert_allclose(outputs["scores"], found["scores"], rtol=1e-4)
    with open(os.path.join(exported, "saved_model.pb"), "rb") as file:
        assert not re.search(rb"TFText|NormalizeUTF8|Wordpiece", file.read())


def test_wrong_folders_and_texts(exported, summarize, saved_model, tmp_path):
    with pytest.raises(InputError, match="the model does not write texts"):
        Summarizer(saved_model)
    with pytest.raises(InputError, match=r"the model writes texts; load it with .*Summarizer"):
        Predictor(exported)
    with pytest.raises(InputError, match="no SavedModel here"):
        Summarizer(str(tmp_path))
    with pytest.raises(InputError, match="expected a list of texts, not one text"):
        summarize("one text")
    with pytest.raises(InputError, match="batch_size is 0, expected 1 or more"):
        Summarizer(exported, batch_size=0)


def test_a_forked_child_is_refused(exported, summarize, as_if_forked):
    as_if_forked()
    for use in (lambda: summarize(TEXTS), lambda: Summarizer(exported)):
        with pytest.raises(InputError, match=f"{exported}: was loaded before the process was f"):
            use()


def test_only_word_pieces_can_be_exported(model, vocabulary, tmp_path):
    options = {"max_seq_length": LENGTH, "tokens": "bytes"}
    with pytest.raises(InputError, match="tokens=bytes: only models of word pieces"):
        summarizer.export(model, str(tmp_path / "new"), vocabulary, options, DECODING)
    assert not os.listdir(tmp_path)
