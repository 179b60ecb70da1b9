"""AttentionConfig: options per variant, typed, overridable, through dicts and YAML."""

import copy
import dataclasses

import pytest
import yaml
from official.core import config_definitions
from official.modeling.hyperparams import params_dict

from mate_tf import attention
from mate_tf.attention import AttentionConfig
from mate_tf.errors import InputError


def test_defaults_are_the_papers():
    config = AttentionConfig()
    assert config.as_dict() == {
        "name": "mate_efficient",
        "global_length": 116,
        "radius": 42,
        "row_radius": None,
        "column_radius": None,
        "row_heads_ratio": 0.5,
        "diagonal": True,
    }


@pytest.mark.parametrize("name", attention.names())
def test_survives_dict_yaml_and_copy(name):
    config = AttentionConfig(name=name)
    assert AttentionConfig(config.as_dict()) == config
    assert AttentionConfig(yaml.safe_load(yaml.safe_dump(config.as_dict()))) == config
    assert copy.deepcopy(config) == config
    assert config.replace() == config


def test_overriding_the_name_switches_options_and_keeps_common_ones():
    config = AttentionConfig(name="mate_efficient", radius=7)
    config.override({"windowed": True, "name": "mate_exact"})
    assert config.as_dict()["windowed"] is True
    assert config.radius == 7
    config.override({"name": "full"})
    assert config.as_dict() == {"name": "full", "diagonal": True}
    config.name = "mate_efficient"
    assert config.radius == 42


def test_override_through_params_override_strings():
    config = params_dict.override_params_dict(
        AttentionConfig(), "name=mate_exact,radius=3,row_heads_ratio=1", is_strict=True
    )
    assert (config.name, config.radius, config.row_heads_ratio) == ("mate_exact", 3, 1.0)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"name": "mat"}, "'mat'"),
        ({"radios": 3}, "'radios'"),
        ({"name": "full", "radius": 3}, "'radius'"),
        ({"radius": "3"}, "attention.radius is '3', expected an integer from 1"),
        ({"name": ["full"]}, r"attention.name is \['full'\], expected one of .*, full, "),
        ({"name": {}}, r"attention.name is \{\}, expected one of "),
        ({"radius": None}, "attention.radius is None, expected an integer from 1"),
        ({"radius": 0}, "attention.radius is 0, expected an integer from 1"),
        ({"global_length": 1.5}, "attention.global_length is 1.5, expected an integer"),
        ({"global_length": True}, "attention.global_length is True, expected an integer"),
    ],
)
def test_bad_options_are_named(options, named):
    with pytest.raises(InputError, match=named):
        AttentionConfig(**options)
    with pytest.raises(InputError, match=named):
        AttentionConfig().override(options)


@pytest.mark.parametrize(
    ("name", "options", "named"),
    [
        ("bigbird", {"block_size": 0}, "block_size is 0, expected an integer"),
        ("bigbird", {"block_size": 2, "num_random": 0}, "num_random=0"),
        ("bigbird", {"block_size": 2, "random_within": 13}, "random_within=13 .* must be 14 or m"),
        ("kernel", {"num_random_features": 0}, "num_random_features is 0, expected an integer"),
        ("learned_mask", {"objective": "masks"}, "objective"),
        ("learned_mask", {"temperature": 0.0}, "temperature"),
        ("learned_mask", {"final_temperature": -0.1}, "final_temperature"),
        ("learned_mask", {"penalty": 0.0}, "penalty"),
        ("learned_mask", {"sparsity_weight": -1.0}, "sparsity_weight"),
        ("learned_mask", {"temperature_steps": -1}, "temperature_steps"),
        ("learned_mask", {"length": 2, "structured": True}, "length must be 3 or more"),
        ("linformer", {"length": 0}, "length is 0, expected an integer"),
        ("linformer", {"projected_length": 0}, "projected_length is 0, expected an integer"),
        ("mate_efficient", {"global_length": -1}, "global_length"),
        ("mate_efficient", {"row_heads_ratio": 1.5}, "row_heads_ratio"),
        ("mate_efficient", {"row_radius": -1}, "radius"),
        ("table_bias", {"disabled_relation": 13}, "between 0 and 12, not 13"),
        ("table_etc", {"local_radius": 0}, "local_radius is 0, expected an integer"),
        ("table_etc", {"max_distance": 0}, "max_distance is 0, expected an integer"),
        ("table_etc", {"num_global": 7}, "num_global must be even and positive, not 7"),
        ("table_etc", {"num_global": 0}, "num_global must be even and positive, not 0"),
        ("tree_fine", {"balancing_loss": -1.0}, "balancing_loss"),
        ("tree_fine", {"branching": [3, 1]}, "branching"),
        ("tree_fine", {"form": "fast"}, "form must be one of auto, masked, sorted, not 'fast'"),
        ("tree_fine", {"num_trees": 0}, "num_trees"),
        ("tree_fine", {"tree_height": -2}, "tree_height"),
    ],
)
def test_options_out_of_range(tables, name, options, named):
    with pytest.raises(InputError, match=named):
        tables.layer_pair(AttentionConfig(name=name, **options))


def test_unknown_keys_are_rejected_deep_inside_an_experiment():
    from mate_tf.models.encoder import EncoderConfig

    experiment = config_definitions.ExperimentConfig(
        task=config_definitions.TaskConfig(model=EncoderConfig())
    )
    experiment.override({"task": {"model": {"attention": {"name": "full"}}}})
    assert experiment.task.model.attention == AttentionConfig(name="full")
    with pytest.raises(InputError, match="'radius'"):
        experiment.override({"task": {"model": {"attention": {"radius": 3}}}})


def test_configs_differ_by_options():
    assert AttentionConfig(radius=3) != AttentionConfig(radius=4)
    assert len({AttentionConfig(radius=3), AttentionConfig(radius=3)}) == 1


def test_unregistered_variant():
    with pytest.raises(InputError, match="did you mean 'full'"):
        attention.get("fulll")


def test_an_option_without_a_range_is_not_registered():
    @dataclasses.dataclass(frozen=True)
    class Options:
        distances: list[int] | None = None

    with pytest.raises(TypeError, match="option 'distances' of attention 'near' has no range"):
        attention.register("near", None, None, Options)
    assert "near" not in attention.names()
