"""Domains of synthetic tables: kinds of rows, their columns, and templates of questions.

A domain has a key column with the name of each row, and further columns of text or numbers. The
names are pairs of words (Anna Keller, Stone Harbor), so a new name still consists of known words.
Questions are made from templates: `GENERIC` ones with the column's noun, and the column's own ones,
which may not mention its header ("who earns the most"). All are data of `domains.yaml`.

Placeholders: {name} the row's key, {noun} the column, {a_noun} with its article, {value} a number
or text, {one} "who" or "which town", {all} "who of them" or "which towns".
"""

import dataclasses
import pathlib
from collections.abc import Iterator

import yaml


@dataclasses.dataclass(frozen=True)
class Templates:
    """Templates of questions about a column, by their answers.

    Attributes:
        lookup: the cell in the row of {name}.
        highest, lowest: the key of the row with the largest or smallest number.
        top, bottom: the largest or smallest number.
        more, less, at_least: the keys of the rows with numbers above, below or from {value} on.
        equal: the keys of the rows with the text {value}.
    """

    lookup: tuple[str, ...] = ()
    highest: tuple[str, ...] = ()
    lowest: tuple[str, ...] = ()
    top: tuple[str, ...] = ()
    bottom: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    less: tuple[str, ...] = ()
    at_least: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class TextColumn:
    """A column with texts of a list; rows may have equal texts."""

    header: str
    values: tuple[str, ...]
    noun: str
    templates: Templates


@dataclasses.dataclass(frozen=True)
class NumberColumn:
    """A column with integers from `low` to `high` in steps of `step`."""

    header: str
    noun: str
    templates: Templates
    low: int
    high: int
    step: int = 1


@dataclasses.dataclass(frozen=True)
class Domain:
    """A kind of table.

    Attributes:
        name: name in ids.
        headers: alternatives for the header of the key column.
        starts, ends: first and second words of the names of rows.
        one, all: texts for the placeholders, such as "which town" and "which towns".
        columns: all further columns; a table has some of them.
    """

    name: str
    headers: tuple[str, ...]
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    one: tuple[str, ...]
    all: tuple[str, ...]
    columns: tuple[TextColumn | NumberColumn, ...]


def _read_columns(columns: list[dict], words: dict) -> Iterator[TextColumn | NumberColumn]:
    """Yields columns; the noun is by default the header in lower case."""
    for column in columns:
        header, values = column.pop("header"), column.pop("values", None)
        noun, numbers = column.pop("noun", header.lower()), column.pop("numbers", None)
        if values:
            yield TextColumn(header, words[values], noun, _read_templates(column))
        else:
            yield NumberColumn(header, noun, _read_templates(column), *numbers)


def _read_templates(templates: dict) -> Templates:
    return Templates(**{use: tuple(texts) for use, texts in templates.items()})


def _read() -> tuple[Templates, tuple[Domain, ...]]:
    """Reads the generic templates and the domains of the data file."""
    content = yaml.safe_load(pathlib.Path(__file__).with_name("domains.yaml").read_text("utf-8"))
    words = {name: tuple(text.split()) for name, text in content["words"].items()}
    domains = (
        Domain(
            name=domain["name"],
            headers=tuple(domain["headers"]),
            starts=words[domain["starts"]],
            ends=words[domain["ends"]],
            one=tuple(domain["one"]),
            all=tuple(domain["all"]),
            columns=tuple(_read_columns(domain["columns"], words)),
        )
        for domain in content["domains"]
    )
    return _read_templates(content["generic"]), tuple(domains)


GENERIC, DOMAINS = _read()
