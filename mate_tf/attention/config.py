"""AttentionConfig: the name of an attention variant and its options."""

import dataclasses
from collections.abc import Callable
from typing import Any

from official.modeling.hyperparams import base_config

from mate_tf import field_types
from mate_tf.errors import InputError, suggestion

_OPTIONS: dict[str, type] = {}
_ON_FIRST_USE: dict[str, Callable[[], None]] = {}  # name -> registers the variant


@dataclasses.dataclass(frozen=True)
class NoOptions:
    """Options of a variant without any."""


def register_options(name: str, options: type) -> None:
    """Registers the options of variant `name`, a frozen dataclass with typed defaults.

    Raises:
        TypeError: for a number without a range, because any value would be accepted.
    """
    for option, annotation in field_types.annotations(options).items():
        if not field_types.is_bounded(annotation):
            raise TypeError(
                f"option {option!r} of attention {name!r} has no range; annotate it, such as "
                "Annotated[int, values.Range(1, 100)]"
            )
    _OPTIONS[name] = options


def register_on_first_use(name: str, register: Callable[[], None]) -> None:
    """Makes variant `name` known. `register` imports and registers it when it is asked for."""
    _ON_FIRST_USE[name] = register


def names() -> list[str]:
    """Returns the names of all variants, sorted."""
    return sorted({*_OPTIONS, *_ON_FIRST_USE})


def options(name: str) -> type:
    """Returns the options of variant `name`: a dataclass with typed defaults.

    Raises:
        InputError: for an unknown name; the message lists the known names.
    """
    if not isinstance(name, str):
        raise field_types.refused("attention.name", name, f"one of {', '.join(names())}")
    if name not in _OPTIONS and name in _ON_FIRST_USE:
        _ON_FIRST_USE[name]()
    if name not in _OPTIONS:
        raise InputError(f"unknown attention {name!r}; {suggestion(name, names())}")
    return _OPTIONS[name]


def option_names(name: str) -> list[str]:
    """Returns the names of the options of variant `name`."""
    return [field.name for field in dataclasses.fields(options(name))]


class AttentionConfig(base_config.Config):
    """Name of an attention variant and its options, as a tf-models config.

    Options are attributes of the config, with the defaults and types of the variant. Overriding
    `name` switches to the options of the new variant and keeps the values that both have.

        AttentionConfig(name="mate_efficient", global_length=116, radius=42)
        AttentionConfig({"name": "full"})

    Raises:
        InputError: for an unknown name or option, or a value of a wrong type or range.
    """

    def __init__(self, default_params: Any = None, restrictions=None, **options):
        is_config = isinstance(default_params, base_config.Config)
        given = dict(default_params.as_dict() if is_config else default_params or {})
        self.__dict__.update(_locked=False, _restrictions=restrictions or [])
        self._select("mate_efficient")
        self._override(given | options)

    def _select(self, name: str) -> None:
        defaults = dataclasses.asdict(options(name)())
        kept = {key: self.__dict__[key] for key in defaults if key in self.__dict__}
        for key in list(self.as_dict()):
            del self.__dict__[key]
        self.__dict__.update({"name": name} | defaults | kept)

    def _set(self, k, v):
        if k == "name":
            self._select(v)
        elif k in self.RESERVED_ATTR:
            self.__dict__[k] = v
        elif k not in self.__dict__:
            known = ", ".join(option_names(self.name)) or "none"
            raise InputError(f"attention {self.name!r} has no option {k!r}; it has: {known}")
        else:
            field_types.check(f"attention.{k}", v, field_types.annotations(options(self.name))[k])
            was_float = isinstance(self.__dict__[k], float)
            self.__dict__[k] = float(v) if was_float and isinstance(v, int) else v

    def _override(self, override_dict, is_strict=True):
        if "name" in override_dict:
            self._select(override_dict["name"])
        for key, value in override_dict.items():
            self._set(key, value)

    def __eq__(self, other):
        return isinstance(other, AttentionConfig) and self.as_dict() == other.as_dict()

    def __hash__(self):
        return hash(repr(self))

    def __repr__(self):
        return f"AttentionConfig({', '.join(f'{k}={v!r}' for k, v in self.as_dict().items())})"
