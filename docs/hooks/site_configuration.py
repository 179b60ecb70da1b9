"""Configuration reference, made from the configuration classes themselves.

Imports mate_tf: which keys there are, and their defaults, is what the tasks' experiments have.
"""

import collections
import dataclasses
import functools
import inspect
import re
import typing
from collections.abc import Iterator

import site_tf_models
import yaml
from official.modeling.hyperparams import base_config

from mate_tf import attention, field_types, tasks
from mate_tf.attention import config as attention_config
from mate_tf.pointr.config import PointrExperiment
from mate_tf.tasks.configs import TableTaskConfig

_ATTRIBUTES = re.compile(r"^Attributes:\n((?:[ \t]+\S.*\n?|\s*\n)*)", re.MULTILINE)
_TASK, _POINTR = "task", "POINTR"

_INTRODUCTION = """\
# Configuration reference { #configuration-reference }

Every key of the YAML files in `configs/`, of `--params_override` and of `params.yaml` in a model
folder. Keys are nested: `task.model.encoder.hidden_size` is the key `hidden_size` below `encoder`
below `model` below `task`.

A file needs to name only what differs from the defaults of its task. The tables give the default of
the class, and [the last section](#defaults-of-the-tasks) what each task changes. Flags override
the file, and `--params_override` overrides both. Unknown keys and values of another type are
refused with a message that names the key. "None" in a description is `null` in YAML.

A file with `base: other.yaml` starts from the values of the other file, which stands beside it or
in `configs/`; `configs/treeformer/kary.yaml` is an example.

```sh
mate-tf --config_file=configs/sqa_small.yaml \\
    --params_override=task.model.encoder.num_hidden_layers=4,trainer.train_steps=1000
```
"""


@dataclasses.dataclass
class Section:
    """A configuration class, and where it stands in a configuration.

    Attributes:
        config: the class.
        paths: keys that hold one, such as "task.train_data"; "" is the whole file.
        tasks: names of the tasks that have it.
    """

    config: type
    paths: list[str]
    tasks: list[str]


def sections() -> list[Section]:
    """Collects the configuration classes of all tasks and of POINTR, in the order of the keys."""
    found: dict[type, Section] = {}
    for name in tasks.names():
        for path, config in _nested(tasks.experiment(name)):
            section = found.setdefault(type(config), Section(type(config), [], []))
            section.paths += [path] if path not in section.paths else []
            section.tasks += [name] if name not in section.tasks else []
    paths = list(dict.fromkeys(path for section in found.values() for path in section.paths))
    order = sorted(
        found.values(),
        key=lambda each: (_rank(each.paths[0], paths), len(each.config.__mro__)),
    )
    pointr = PointrExperiment()
    own = [Section(type(pointr), [_POINTR], [_POINTR])]
    own.append(Section(type(pointr.task), [f"{_POINTR}.task"], [_POINTR]))
    return order + own


def variants() -> dict[str, type]:
    """The options class of each attention variant, by its name."""
    return {name: attention_config.options(name) for name in attention.names()}


def fields(config: type, inherited: bool = True) -> list[dataclasses.Field]:
    """The keys of a configuration class.

    Args:
        config: the class.
        inherited: False: only keys that TableTaskConfig does not have.
    """
    known = () if inherited else {field.name for field in dataclasses.fields(TableTaskConfig)}
    return [field for field in dataclasses.fields(config) if field.name not in known]


def descriptions(config: type) -> dict[str, str]:
    """Reads what the keys of a class mean.

    Taken from the `Attributes:` sections of the class and its parents; for keys of tf-models that
    have none from `site_tf_models`; for nested configurations from the first line of their class.

    Returns:
        dict from key to one paragraph of Markdown.
    """
    found = {}
    for cls in config.__mro__:
        found = _attributes(cls) | found
        found = site_tf_models.KEYS.get(cls.__name__, {}) | found
    for name, value in config().__dict__.items() if _is_config(config) else ():
        if isinstance(value, base_config.Config) and name not in found:
            found[name] = _first_line(type(value))
    return found


def build_page() -> str:
    """Writes the page, as Markdown."""
    texts = [_INTRODUCTION]
    for section in sections():
        if section.config is attention.AttentionConfig:
            texts.append(_attention_section(section))
        elif section.config.__name__ not in site_tf_models.UNIMPLEMENTED:
            texts.append(_section(section))
    texts.append(_defaults())
    return "\n\n".join(texts) + "\n"


def _section(section: Section) -> str:
    config = section.config
    lines = [_heading(section), _first_line(config), _where(section)]
    extends = issubclass(config, TableTaskConfig) and config is not TableTaskConfig
    rows = fields(config, inherited=not extends)
    if section.tasks == [_POINTR]:
        # What it inherits of tf-models has no effect on two stages.
        rows = [field for field in rows if field.name in config.__annotations__]
    if extends:
        lines.append(f"All keys of [`task`](#{_TASK})" + (", and:" if rows else "."))
    if rows:
        lines.append(_table(config, rows))
    return "\n\n".join(line for line in lines if line)


def _attention_section(section: Section) -> str:
    texts = [
        _heading(section),
        "`name` selects the variant, the other keys are the options of that variant: "
        "`attention: {name: mate_efficient, global_length: 116, radius: 42}`. "
        "In `task.model.encoder` a list gives each layer a variant of its own.",
    ]
    for name, options in variants().items():
        texts.append(f"### attention: `{name}` {{ #attention.{name} }}")
        texts.append(_first_line(options))
        if dataclasses.fields(options):
            texts.append(_table(options, fields(options)))
    return "\n\n".join(texts)


def _table(config: type, rows: list[dataclasses.Field]) -> str:
    meaning, defaults = descriptions(config), config()
    types, ranged = typing.get_type_hints(config), field_types.annotations(config)
    lines = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for field in rows:
        value = getattr(defaults, field.name)
        nested = isinstance(value, base_config.Config) and type(value) is not base_config.Config
        kind = f"`{_type(types[field.name])}` {_range(ranged[field.name])}".strip()
        if type(value).__name__ in site_tf_models.UNIMPLEMENTED:
            kind = "none"
        elif nested:
            kind = f"[keys](#{_anchor(type(value))})"
        default = "" if nested else f"`{_yaml(value)}`"
        cells = (f"`{field.name}`", kind, default, meaning.get(field.name, ""))
        lines.append("| " + " | ".join(map(_escaped, cells)) + " |")
    return "\n".join(lines)


def _escaped(cell: str) -> str:
    """The text of a table cell; in code a bar needs no backslash."""
    return re.sub(r"`[^`]*`|\|", lambda m: m[0] if m[0] != "|" else r"\|", cell)


def _title(section: Section) -> str:
    if not section.paths[0]:
        return "The whole file"
    names = ", ".join(f"`{path}`" for path in section.paths)
    shared = section.config in (TableTaskConfig,) or len(section.tasks) == len(tasks.names())
    if shared or section.paths == [f"{_POINTR}.task"]:
        return names
    return f"{names}: {section.config.__name__}"


def _where(section: Section) -> str:
    every = len(section.tasks) == len(tasks.names())
    if every or section.tasks == [_POINTR] or section.config is TableTaskConfig:
        return ""
    return "Tasks: " + ", ".join(f"`{name}`" for name in section.tasks) + "."


def _defaults() -> str:
    texts = [
        "## Defaults of the tasks",
        "What the experiment of a task sets differently from the tables above.",
    ]
    for name in tasks.names():
        experiment = tasks.experiment(name)
        changed = yaml.safe_dump(
            _plain(_changes(experiment, type(experiment)())), sort_keys=False, width=90
        )
        texts.append(f"### {name}\n\n```yaml\n{changed}```")
    return "\n\n".join(texts)


def _changes(config: base_config.Config, reference: base_config.Config) -> dict:
    """Nested dict of the values that differ from those of a configuration of the same class."""
    changed = {}
    for key, value in _items(config):
        default = getattr(reference, key)
        if isinstance(value, attention.AttentionConfig):
            base = attention.AttentionConfig(name=value.name)
            options = {
                name: each
                for name, each in value.as_dict().items()
                if name != "name" and each != getattr(base, name)
            }
            if value != default:
                changed[key] = {"name": value.name} | options
        elif isinstance(value, base_config.Config):
            same = type(value) is type(default)
            if inner := _changes(value, default if same else type(value)()):
                changed[key] = inner
        elif value != default:
            changed[key] = value
    return changed


def _nested(config: base_config.Config, path: str = "") -> Iterator[tuple[str, base_config.Config]]:
    yield path, config
    if isinstance(config, attention.AttentionConfig):
        return
    for key, value in _items(config):
        if isinstance(value, base_config.Config) and type(value) is not base_config.Config:
            yield from _nested(value, f"{path}.{key}" if path else key)


def _items(config):
    return [
        (key, value) for key, value in config.__dict__.items() if key not in config.RESERVED_ATTR
    ]


def _rank(path: str, paths: list[str]) -> list[int]:
    """Sorts a key behind the key that holds it and before the next of that level."""
    parts = path.split(".")
    return [paths.index(".".join(parts[:end])) for end in range(1, len(parts) + 1)]


def _attributes(cls: type) -> dict[str, str]:
    """The `Attributes:` section of a class's own docstring; "a, b: text" stands for both."""
    match = _ATTRIBUTES.search(inspect.cleandoc(cls.__dict__.get("__doc__") or "") + "\n")
    found, current = {}, []
    if match is None:
        return found
    lines = [line for line in match[1].splitlines() if line.strip()]
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    for line in lines:
        entry = re.match(rf" {{{indent}}}(\w+(?:, \w+)*)(?: \(.*?\))?: ?(.*)", line)
        if entry:
            current = entry[1].split(", ")
            found |= dict.fromkeys(current, entry[2])
        else:
            found |= {name: f"{found[name]} {line.strip()}" for name in current}
    if not cls.__module__.startswith("mate_tf."):  # not written as Markdown
        found = {name: re.sub(r"([\[\]<>*_])", r"\\\1", text) for name, text in found.items()}
    return found


def _first_line(cls: type) -> str:
    return (inspect.cleandoc(cls.__doc__ or "")).partition("\n\n")[0].replace("\n", " ")


def _is_config(cls: type) -> bool:
    return issubclass(cls, base_config.Config)


def _range(annotation) -> str:
    """The range of the numbers of an annotation in words, or nothing."""
    if found := field_types.declared_range(annotation):
        return str(found)
    return next(filter(None, map(_range, typing.get_args(annotation))), "")


def _type(annotation) -> str:
    """An annotation in today's notation: `int | None`, `list[int]`."""
    text = (
        annotation.__name__
        if isinstance(annotation, type) and not hasattr(annotation, "__args__")
        else str(annotation)
    )
    text = re.sub(r"\btyping\.|\b(?:\w+\.)+(?=\w)", "", text)
    text = re.sub(r"Optional\[((?:[^\[\]]|\[[^\]]*\])*)\]", r"\1 | None", text)
    text = re.sub(r"Union\[([^\]]*)\]", lambda m: m[1].replace(", ", " | "), text)
    return text.replace("List[", "list[").replace("NoneType", "None")


def _yaml(value) -> str:
    text = yaml.safe_dump(_plain(value), default_flow_style=True, width=1000).strip()
    return text.removesuffix("...").strip()


def _plain(value):
    if isinstance(value, base_config.Config):
        return _plain(value.as_dict())
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


@functools.cache
def _anchors() -> dict[type, str]:
    """The id of each class's section: its path, and the class where several share the path."""
    found = sections()
    alone = collections.Counter(section.paths[0] for section in found)
    return {
        each.config: each.paths[0]
        if alone[each.paths[0]] == 1 or each.config is TableTaskConfig
        else f"{each.paths[0]}.{each.config.__name__}"
        for each in found
    }


def _anchor(config: type) -> str:
    return _anchors()[config] or "file"


def _heading(section: Section) -> str:
    return f"## {_title(section)} {{ #{_anchor(section.config)} }}"
