"""The configuration reference explains every key."""

import dataclasses
import re

import pytest
import site_configuration
import site_tf_models

from mate_tf import attention, tasks
from mate_tf.models.classifier_config import ClassifierConfig
from mate_tf.models.encoder_config import EncoderConfig
from mate_tf.tasks.configs import TrainerConfig


@pytest.fixture(scope="module")
def page():
    return site_configuration.build_page()


@pytest.fixture(scope="module")
def classes():
    """Every class of which keys are shown."""
    found = [section.config for section in site_configuration.sections()]
    found = [each for each in found if each is not attention.AttentionConfig]
    return found + list(site_configuration.variants().values())


def test_every_key_has_a_meaning(classes):
    missing = []
    for config in classes:
        if config.__name__ not in site_tf_models.UNIMPLEMENTED:
            meanings = site_configuration.descriptions(config)
            keys = [field.name for field in dataclasses.fields(config)]
            missing += [f"{config.__name__}.{k}" for k in keys if not meanings.get(k, "").strip()]
    assert missing == []


def test_meanings_are_of_keys_that_exist():
    """What is written by hand about tf-models' keys is about keys that it has."""
    known = {}
    for section in site_configuration.sections():
        for cls in section.config.__mro__:
            if dataclasses.is_dataclass(cls):
                known.setdefault(cls.__name__, set()).update(
                    f.name for f in dataclasses.fields(cls)
                )
    for name, keys in site_tf_models.KEYS.items():
        assert keys.keys() <= known[name], name


def test_every_key_is_on_the_page(page, classes):
    for config in classes:
        if config.__name__ in site_tf_models.UNIMPLEMENTED:
            continue
        own = config.__annotations__ if config.__name__.startswith("Pointr") else None
        for field in dataclasses.fields(config):
            if own is None or field.name in own:
                assert f"| `{field.name}` |" in page, f"{config.__name__}.{field.name}"


def test_every_variant_and_task_has_a_section(page):
    for name in attention.names():
        assert f"{{ #attention.{name} }}" in page
    for name in tasks.names():
        assert f"\n### {name}\n" in page


def test_links_within_the_page(page):
    anchors = re.findall(r"^#+ .*\{ #(\S+) \}$", page, re.MULTILINE)
    assert len(anchors) == len(set(anchors))
    targets = set(re.findall(r"\]\(#([^)]+)\)", page)) - {"defaults-of-the-tasks"}
    assert targets <= set(anchors)


@pytest.mark.parametrize(
    ("config", "key", "row"),
    [
        (EncoderConfig, "hidden_size", ("`int` from 1 to 65536", "`768`")),
        (
            EncoderConfig,
            "query_key_initializer_range",
            ("`float | None` from 0 to 1000", "`null`"),
        ),
        (ClassifierConfig, "classification_hidden_sizes", ("`list[int]` from 1 to 65536", "`[]`")),
        (EncoderConfig, "disabled_features", ("`list[str]`", "`[]`")),
        (TrainerConfig, "max_to_keep", ("`int`", "`5`")),
    ],
)
def test_types_and_defaults(config, key, row, page):
    text = site_configuration.descriptions(config)[key]
    assert f"| `{key}` | {row[0]} | {row[1]} | {text} |" in page


def test_defaults_of_a_task(page):
    section = page.partition("\n### SQA\n")[2].partition("\n### ")[0]
    experiment = tasks.experiment("SQA")
    assert f"train_steps: {experiment.trainer.train_steps}\n" in section
    assert "hidden_size" not in section  # as in the class


def test_attributes():
    class Parent:
        """First line.

        Attributes:
            a, b: of both,
                on two lines.
            c (int): of one.

        Raises:
            ValueError: never.
        """

    expected = {"a": "of both, on two lines.", "b": "of both, on two lines.", "c": "of one."}
    assert (
        site_configuration._attributes(type("mate_tf", (), {"__doc__": Parent.__doc__})) == expected
    )
