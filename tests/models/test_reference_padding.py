"""With the reference's padding emulated there is no exception left: padding is compared too."""

import json
import pathlib

import numpy as np
import pytest

from mate_tf import checkpoints
from mate_tf.models.encoder import EncoderConfig, TableEncoder

from .. import reference_padding
from .conftest import Golden

SETS = ["open", "open_maxpos", "open_long_question"]

ENCODERS = [
    *("open/efficient_b16_h32", "open/efficient_b16_h32_r0.25", "open/efficient_b16_h32_temp2"),
    *("open/efficient_b12_h20", "open/efficient_b10_h8"),
    "open_maxpos/efficient_b16_h32_reset_maxpos16",
    "open_long_question/efficient_b8_h16_longq",
]
"""Of three buckets and more: where there are fewer, the reference counts the same key several
times, which no mask tells."""

CLASSIFIERS = [
    *("sqa_allow_empty", "sqa_allow_empty_efficient", "sqa_efficient", "wikisql_supervised"),
    *("wtq_efficient_reset", "tabfact_efficient", "cells_avg_logits", "cells_avg_logits_temp"),
    "cells_small_limits",
]


def encoder_cases(goldens, name):
    """Each bucketed case of a set: its EncoderConfig and what is recorded."""
    folder = goldens / "encoder" / name
    stored = json.loads((folder / "config.json").read_text())
    for case, flags in stored["cases"].items():
        if flags.get("restrict_attention_mode") == "headwise_efficient":
            bert_config = dict(stored["bert_config"])
            if "softmax_temperature" in flags:
                bert_config["softmax_temperature"] = flags.pop("softmax_temperature")
            config = EncoderConfig.from_tapas(bert_config, **flags)
            yield case, config, dict(np.load(folder / f"{case}.npz"))


@pytest.mark.parametrize("name", SETS)
def test_mask_is_the_recorded_one(goldens, name):
    features = np.load(goldens / "encoder" / name / "features.npz")
    compared = 0
    for case, config, recorded in encoder_cases(goldens, name):
        got = reference_padding.visible(features, config.num_attention_heads, config.attention)
        want = np.unpackbits(recorded["layer0_attention_support_packed"], axis=-1)
        want = want[..., : recorded["layer0_attention_support_shape"][-1]]
        np.testing.assert_array_equal(got, want, err_msg=case)
        compared += 1
    assert compared


@pytest.mark.parametrize("name", ENCODERS)
def test_encoder_at_all_positions(goldens, monkeypatch, name):
    folder = goldens / "encoder" / pathlib.Path(name).parent
    features = dict(np.load(folder / "features.npz"))
    cases = {case: rest for case, *rest in encoder_cases(goldens, folder.name)}
    config, recorded = cases[pathlib.Path(name).name]
    reference_padding.emulate(monkeypatch, features)
    encoder = TableEncoder(config)
    assert not checkpoints.load(encoder, str(folder / "model.ckpt")).missing
    got = encoder(features)["sequence_output"]
    np.testing.assert_allclose(got, recorded["sequence_output"], rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifier_at_all_positions(goldens, monkeypatch, name):
    golden = Golden(goldens / "classifier" / "open", name)
    reference_padding.emulate(monkeypatch, golden.features)
    outputs = golden.outputs()
    shared = golden.want.keys() & outputs.keys()
    assert {"token_logits", "logits", "probs", "pooled_output", "total_loss"} <= shared
    for key in shared:
        atol = 0 if "loss" in key else 1e-4
        np.testing.assert_allclose(
            outputs[key], golden.want[key], rtol=1e-4, atol=atol, err_msg=key
        )
