"""Domains of synthetic tables: kinds of rows, their columns, and templates of questions.

A domain has a key column with the name of each row, and further columns of text or numbers.
Questions are made from templates: `GENERIC` ones with the column's noun, and the column's own ones,
which may not mention its header ("who earns the most").

Placeholders: {name} the row's key, {noun} the column, {a_noun} with its article, {value} a number
or text, {one} "who" or "which town", {all} "who of them" or "which towns".
"""

import dataclasses

from mate_tf.data.synthetic import words


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


GENERIC = Templates(
    lookup=(
        "what is the {noun} of {name}?",
        "what {noun} does {name} have?",
        "tell me the {noun} of {name}",
        "{noun} of {name}?",
    ),
    highest=(
        "{one} has the highest {noun}?",
        "{one} has the largest {noun}?",
        "show me {one} has the highest {noun}",
    ),
    lowest=(
        "{one} has the lowest {noun}?",
        "{one} has the smallest {noun}?",
        "show me {one} has the lowest {noun}",
    ),
    top=("what is the highest {noun}?", "what is the largest {noun}?"),
    bottom=("what is the lowest {noun}?", "what is the smallest {noun}?"),
    more=(
        "{all} have {a_noun} of more than {value}?",
        "{all} have {a_noun} above {value}?",
        "list all with {a_noun} over {value}",
    ),
    less=(
        "{all} have {a_noun} of less than {value}?",
        "{all} have {a_noun} below {value}?",
        "list all with {a_noun} under {value}",
    ),
    at_least=("{all} have {a_noun} of at least {value}?",),
    equal=(
        "{all} have {value} as {noun}?",
        "list all with the {noun} {value}",
    ),
)


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
    low: int
    high: int
    step: int
    noun: str
    templates: Templates


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


def _text(header, values, lookup=(), equal=(), noun=None):
    """Makes a column of texts; the noun is by default the header in lower case."""
    return TextColumn(header, values, noun or header.lower(), Templates(lookup=lookup, equal=equal))


def _number(header, low, high, step=1, noun=None, **templates):
    """Makes a column of numbers; the noun is by default the header in lower case."""
    return NumberColumn(header, low, high, step, noun or header.lower(), Templates(**templates))


PEOPLE = Domain(
    name="people",
    headers=("Name", "Employee"),
    starts=words.FIRST_NAMES,
    ends=words.LAST_NAMES,
    one=("who", "which person"),
    all=("who of them", "which people"),
    columns=(
        _number(
            "Salary", 20000, 99000, 500,
            lookup=("how much does {name} earn?", "how much is {name} paid?"),
            highest=("who earns the most?", "who is paid best?"),
            lowest=("who earns the least?",),
            more=("who earns more than {value}?", "which people earn over {value}?"),
            less=("who earns less than {value}?", "which people earn under {value}?"),
            at_least=("who earns at least {value}?",),
        ),
        _number(
            "Age", 18, 79,
            lookup=("how old is {name}?",),
            highest=("who is the oldest?", "who is the oldest person?"),
            lowest=("who is the youngest?", "who is the youngest person?"),
            top=("how old is the oldest person?",),
            bottom=("how old is the youngest person?",),
            more=("who is older than {value}?", "which people are over {value} years old?"),
            less=("who is younger than {value}?", "which people are under {value} years old?"),
            at_least=("who is at least {value} years old?",),
        ),
        _number("Score", 1, 999, lookup=("how well did {name} score?",)),
        _text(
            "City", words.CITIES,
            lookup=("which city does {name} live in?", "where does {name} live?"),
            equal=("who lives in {value}?", "which people live in {value}?"),
        ),
        _text(
            "Country", words.COUNTRIES,
            lookup=("which country is {name} from?", "which country does {name} come from?"),
            equal=("who is from {value}?", "which people come from {value}?"),
        ),
        _text(
            "Job", words.JOBS,
            lookup=("what does {name} do for a living?", "what does {name} work as?"),
            equal=("who works as {value}?", "which people work as {value}?"),
        ),
    ),
)  # fmt: skip

PLACES = Domain(
    name="places",
    headers=("Town", "Place"),
    starts=words.PLACE_STARTS,
    ends=words.PLACE_ENDS,
    one=("which town", "which place"),
    all=("which towns", "which places"),
    columns=(
        _number(
            "Population", 1000, 99900, 100,
            lookup=("how many people live in {name}?", "how many inhabitants does {name} have?"),
            highest=("where do most people live?", "which town has the most inhabitants?"),
            lowest=("which town has the fewest inhabitants?",),
            more=("where do more than {value} people live?",
                  "which towns have over {value} inhabitants?"),
            less=("where do less than {value} people live?",
                  "which towns have under {value} inhabitants?"),
            at_least=("which towns have at least {value} inhabitants?",),
        ),
        _number(
            "Area", 5, 980,
            lookup=("how large is {name}?",),
            highest=("which town is the largest?", "which place covers the most area?"),
            lowest=("which town is the smallest?",),
            more=("which towns are larger than {value}?",),
            less=("which towns are smaller than {value}?",),
        ),
        _number(
            "Elevation", 1, 2990,
            lookup=("how high above the sea is {name}?",),
            highest=("which town lies highest above the sea?",),
            lowest=("which town lies lowest?",),
            more=("which towns lie higher than {value}?",),
            less=("which towns lie lower than {value}?",),
        ),
        _number(
            "Founded", 1701, 1999, noun="founding year",
            lookup=("when was {name} founded?", "which year was {name} founded in?"),
            highest=("which town is the newest?", "which town was founded last?"),
            lowest=("which town is the oldest?", "which place is the oldest?"),
            top=("when was the newest town founded?",),
            bottom=("when was the oldest town founded?",),
            more=("which towns were founded after {value}?",),
            less=("which towns were founded before {value}?",),
        ),
        _text(
            "Country", words.COUNTRIES,
            lookup=("which country is {name} in?", "where is {name}?"),
            equal=("which towns are in {value}?", "which places lie in {value}?"),
        ),
        _text(
            "Industry", words.INDUSTRIES,
            lookup=("what is {name} known for?", "what does {name} live on?"),
            equal=("which towns are known for {value}?", "which places live on {value}?"),
        ),
    ),
)  # fmt: skip

PRODUCTS = Domain(
    name="products",
    headers=("Product", "Item"),
    starts=words.PRODUCT_STARTS,
    ends=words.PRODUCT_ENDS,
    one=("which product", "which item"),
    all=("which products", "which items"),
    columns=(
        _number(
            "Price", 2, 989,
            lookup=("how much does the {name} cost?", "how expensive is the {name}?"),
            highest=("which product is the most expensive?", "which item costs the most?"),
            lowest=("which product is the cheapest?", "which item costs the least?"),
            top=("how much does the most expensive item cost?",),
            bottom=("how much does the cheapest item cost?",),
            more=("which products cost more than {value}?", "which items cost over {value}?"),
            less=("which products cost less than {value}?", "which items cost under {value}?"),
            at_least=("which products cost at least {value}?",),
        ),
        _number(
            "Stock", 1, 999,
            lookup=("how many {name} are in stock?", "how many of the {name} are left?"),
            more=("of which products are more than {value} in stock?",),
            less=("of which products are less than {value} in stock?",),
        ),
        _number(
            "Weight", 50, 9900, 10,
            lookup=("how much does the {name} weigh?", "how heavy is the {name}?"),
            highest=("which product is the heaviest?", "which item weighs the most?"),
            lowest=("which product is the lightest?", "which item weighs the least?"),
            more=("which products weigh more than {value}?", "what is heavier than {value}?"),
            less=("which products weigh less than {value}?", "what is lighter than {value}?"),
        ),
        _text(
            "Brand", words.BRANDS,
            lookup=("who makes the {name}?", "which company makes the {name}?"),
            equal=("which products are made by {value}?", "which items does {value} make?"),
        ),
        _text(
            "Origin", words.COUNTRIES,
            lookup=("where is the {name} from?", "which country is the {name} made in?"),
            equal=("which products are from {value}?", "which items are made in {value}?"),
        ),
        _text(
            "Color", words.COLORS,
            lookup=("which color is the {name}?",),
            equal=("which products are {value}?", "which {value} items are there?"),
        ),
    ),
)  # fmt: skip

MATCHES = Domain(
    name="matches",
    headers=("Opponent", "Team"),
    starts=words.TEAM_STARTS,
    ends=words.TEAM_ENDS,
    one=("which opponent", "which team"),
    all=("which opponents", "which teams"),
    columns=(
        _number(
            "Points", 41, 149, noun="number of points",
            lookup=("how many points did we score against {name}?",),
            highest=("against which team did we score the most points?",),
            lowest=("against which team did we score the fewest points?",),
            more=("against which teams did we score more than {value} points?",),
            less=("against which teams did we score less than {value} points?",),
            at_least=("against which teams did we score at least {value} points?",),
        ),
        _number(
            "Attendance", 1000, 89000, 100,
            lookup=("how many people watched the match against {name}?",
                    "how many fans came to see {name}?"),
            highest=("which match did the most people watch?",),
            lowest=("which match did the fewest people watch?",),
            more=("which matches did more than {value} people watch?",),
            less=("which matches did less than {value} people watch?",),
        ),
        _number(
            "Fouls", 0, 99, noun="number of fouls",
            lookup=("how many fouls were there against {name}?",),
        ),
        _text(
            "City", words.CITIES,
            lookup=("where did we play against {name}?", "where was the match against {name}?"),
            equal=("which teams did we play in {value}?", "which matches were in {value}?"),
        ),
        _text(
            "Scorer", words.LAST_NAMES,
            lookup=("who scored against {name}?",),
            equal=("against which teams did {value} score?",),
        ),
        _text(
            "Referee", words.FIRST_NAMES,
            lookup=("who was the referee against {name}?",),
            equal=("which matches did {value} referee?",),
        ),
    ),
)  # fmt: skip

PLAYERS = Domain(
    name="players",
    headers=("Player", "Name"),
    starts=words.FIRST_NAMES,
    ends=words.LAST_NAMES,
    one=("who", "which player"),
    all=("who of them", "which players"),
    columns=(
        _number(
            "Points", 0, 480, noun="number of points",
            lookup=("how many points did {name} score?", "how many points does {name} have?"),
            highest=("who scored the most points?", "which player scored the most?"),
            lowest=("who scored the fewest points?", "which player scored the least?"),
            more=("which players scored more than {value}?", "who scored over {value} points?"),
            less=("which players scored less than {value}?", "who scored under {value} points?"),
            at_least=("who scored at least {value} points?",),
        ),
        _number(
            "Assists", 0, 120, noun="number of assists",
            lookup=("how many assists did {name} make?",),
            highest=("who made the most assists?",),
            lowest=("who made the fewest assists?",),
            more=("who made more than {value} assists?",),
            less=("who made less than {value} assists?",),
        ),
        _number(
            "Height", 160, 219,
            lookup=("how tall is {name}?",),
            highest=("who is the tallest?", "which player is the tallest?"),
            lowest=("who is the shortest?", "which player is the shortest?"),
            more=("who is taller than {value}?", "which players are over {value} tall?"),
            less=("who is shorter than {value}?", "which players are under {value} tall?"),
        ),
        _text(
            "Position", words.POSITIONS,
            lookup=("which position does {name} play?", "what does {name} play as?"),
            equal=("who plays as {value}?", "which players play as {value}?"),
        ),
        _text(
            "Club", words.TEAM_ENDS,
            lookup=("which club does {name} play for?", "who does {name} play for?"),
            equal=("who plays for the {value}?", "which players play for the {value}?"),
        ),
        _text(
            "Nationality", words.COUNTRIES,
            lookup=("where is {name} from?", "which country does {name} play for?"),
            equal=("which players are from {value}?", "who comes from {value}?"),
        ),
    ),
)  # fmt: skip

DOMAINS = (PEOPLE, PLACES, PRODUCTS, MATCHES, PLAYERS)
