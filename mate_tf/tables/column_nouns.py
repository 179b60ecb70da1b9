"""Wordings of generated questions that name a column by another word, as "who is older than 40?".

`wordings` returns those of a column, by what is asked. Placeholders are those of
`question_wordings`.
"""

import re
from collections.abc import Collection

from mate_tf.tables import pruning

_USES = ("lookup", "highest", "lowest", "more", "less")

# Words of a column's name -> wordings of a look-up, for the highest and the lowest value, and for
# values above and below another one.
_NOUNS = (
    (
        "age years",
        ("how old is {name}?", "what age is {name}?"),
        ("{one} is the oldest{when}?", "who is the oldest{when}?", "the oldest {key}{when}?"),
        ("{one} is the youngest{when}?", "who is the youngest{when}?"),
        ("{all} are older than {value}?", "who is older than {value}?", "who is over {value}?"),
        ("{all} are younger than {value}?", "who is younger than {value}?"),
    ),
    (
        "salary wage wages pay earnings income",
        ("how much does {name} earn?", "how much is {name} paid?", "what does {name} earn?"),
        ("{one} earns the most{when}?", "who is paid the most{when}?", "who makes the most money?"),
        ("{one} earns the least{when}?", "who is paid the least{when}?"),
        ("{all} earn more than {value}?", "who earns more than {value}?"),
        ("{all} earn less than {value}?", "who makes less than {value}?"),
    ),
    (
        "price cost fee rent amount value fare",
        ("how much is {name}?", "how much does {name} cost?", "what does {name} cost?"),
        ("{one} is the most expensive{when}?", "{one} costs the most{when}?"),
        ("{one} is the cheapest{when}?", "{one} costs the least{when}?"),
        ("{all} cost more than {value}?", "{one} costs more than {value}?"),
        ("{all} cost less than {value}?", "{one} is cheaper than {value}?"),
    ),
    (
        "height elevation altitude prominence",
        ("how tall is {name}?", "how high is {name}?"),
        ("{one} is the tallest{when}?", "{one} is the highest{when}?", "the tallest {key}{when}?"),
        ("{one} is the shortest{when}?", "{one} is the lowest{when}?"),
        ("{all} are taller than {value}?", "{all} are higher than {value}?"),
        ("{all} are shorter than {value}?", "{all} are lower than {value}?"),
    ),
    (
        "length distance duration runtime km miles minutes min hours span",
        ("how long is {name}?", "how long was {name}?"),
        ("{one} is the longest{when}?", "{one} was the longest{when}?"),
        ("{one} is the shortest{when}?", "{one} was the shortest{when}?"),
        ("{all} are longer than {value}?", "{one} is longer than {value}?"),
        ("{all} are shorter than {value}?", "{one} is shorter than {value}?"),
    ),
    (
        "population inhabitants residents people",
        ("how many people live in {name}?", "how many inhabitants does {name} have?"),
        ("{one} has the most people{when}?", "{one} is the most populous{when}?",
         "{one} has the most inhabitants{when}?"),
        ("{one} has the fewest people{when}?", "{one} is the least populous{when}?"),
        ("{all} have more than {value} people?", "{all} have more than {value} inhabitants?"),
        ("{all} have less than {value} people?", "{all} have fewer than {value} inhabitants?"),
    ),
    (
        "area size acres hectares capacity seats volume",
        ("how large is {name}?", "how big is {name}?"),
        ("{one} is the largest{when}?", "{one} is the biggest{when}?", "the largest {key}{when}?"),
        ("{one} is the smallest{when}?", "the smallest {key}{when}?"),
        ("{all} are larger than {value}?", "{all} are bigger than {value}?"),
        ("{all} are smaller than {value}?",),
    ),
    (
        "weight mass kg lbs",
        ("how heavy is {name}?", "how much does {name} weigh?"),
        ("{one} is the heaviest{when}?", "{one} weighs the most{when}?"),
        ("{one} is the lightest{when}?", "{one} weighs the least{when}?"),
        ("{all} are heavier than {value}?", "{all} weigh more than {value}?"),
        ("{all} are lighter than {value}?", "{all} weigh less than {value}?"),
    ),
    (
        "temperature temp",
        ("how hot is {name}?", "how cold was {name}?"),
        ("{one} is the warmest{when}?", "{one} is the hottest{when}?"),
        ("{one} is the coldest{when}?", "{one} is the coolest{when}?"),
        ("{all} are warmer than {value}?",),
        ("{all} are colder than {value}?",),
    ),
    (
        "speed mph kmh",
        ("how fast is {name}?",),
        ("{one} is the fastest{when}?",),
        ("{one} is the slowest{when}?",),
        ("{all} are faster than {value}?",),
        ("{all} are slower than {value}?",),
    ),
    (
        "points score goals pts runs scored",
        ("how many points did {name} score?", "how many did {name} score?",
         "what did {name} score?"),
        ("{one} scored the most{when}?", "who scored the most points{when}?"),
        ("{one} scored the least{when}?", "who scored the fewest points{when}?"),
        ("{all} scored more than {value}?", "who scored over {value} {c}?"),
        ("{all} scored less than {value}?", "who scored under {value} {c}?"),
    ),
    (
        "wins won win victories",
        ("how many times did {name} win?", "how many did {name} win?"),
        ("{one} won the most{when}?", "{one} won the most often{when}?"),
        ("{one} won the least{when}?",),
        ("{all} won more than {value}?", "{all} won more than {value} times?"),
        ("{all} won less than {value}?",),
    ),
    (
        "founded established built opened opening completed construction founding built",
        ("when was {name} founded?", "when was {name} built?", "when was {name} opened?",
         "when did {name} open?", "in what year was {name} established?"),
        ("{one} is the newest{when}?", "{one} was built last{when}?", "the newest {key}{when}?"),
        ("{one} is the oldest{when}?", "{one} was built first{when}?", "the oldest {key}{when}?"),
        ("{all} were founded after {value}?", "{all} were built after {value}?",
         "{all} opened after {value}?"),
        ("{all} were founded before {value}?", "{all} were built before {value}?",
         "{all} opened before {value}?"),
    ),
    (
        "released release published publication",
        ("when was {name} released?", "when did {name} come out?", "when was {name} published?"),
        ("{one} is the newest{when}?", "{one} was released last{when}?"),
        ("{one} is the oldest{when}?", "{one} was released first{when}?"),
        ("{all} were released after {value}?", "{all} came out after {value}?"),
        ("{all} were released before {value}?", "{all} came out before {value}?"),
    ),
    (
        "born birth birthday",
        ("when was {name} born?", "what is the birthday of {name}?"),
        ("{one} is the youngest{when}?", "{one} was born last{when}?"),
        ("{one} is the oldest{when}?", "{one} was born first{when}?"),
        ("{all} were born after {value}?",),
        ("{all} were born before {value}?",),
    ),
    (
        "attendance crowd spectators viewers visitors",
        ("how many people attended {name}?", "how many people were at {name}?"),
        ("{one} had the most people{when}?", "{one} was attended by the most people{when}?"),
        ("{one} had the fewest people{when}?", "{one} was the least attended{when}?"),
        ("{all} had more than {value} people?", "{one} was attended by more than {value}?"),
        ("{all} had less than {value} people?", "{one} was attended by less than {value}?"),
    ),
    (
        "year season date",
        ("when was {name}?", "in what year was {name}?", "what year was {name}?",
         "when did {name} take place?", "in which year was {name}?"),
        ("{one} is the most recent{when}?", "{one} is the latest{when}?", "the last {key}{when}?"),
        ("{one} is the oldest{when}?", "{one} was the earliest{when}?"),
        ("{all} were after {value}?", "{one} was after {value}?"),
        ("{all} were before {value}?", "{one} was before {value}?"),
    ),
    (
        "director directed",
        ("who directed {name}?", "who was the director of {name}?"), (), (), (), (),
    ),
    (
        "author writer written wrote",
        ("who wrote {name}?", "who is the author of {name}?"), (), (), (), (),
    ),
    (
        "artist singer performer artists",
        ("who sang {name}?", "who performed {name}?"), (), (), (), (),
    ),
    (
        "winner champion champions gold",
        ("who won {name}?", "who was the winner of {name}?", "who won in {name}?"), (), (), (), (),
    ),
    (
        "location city venue place site country town hometown home stadium nationality state",
        ("where is {name}?", "where was {name}?", "where is {name} from?", "where was {name} held?",
         "where does {name} come from?", "where does {name} live?"), (), (), (), (),
    ),
    (
        "job occupation profession position role title post",
        ("what does {name} do?", "what does {name} work as?", "what is the job of {name}?"),
        (), (), (), (),
    ),
    (
        "team club school college university employer company",
        ("who does {name} play for?", "where did {name} go?", "who does {name} work for?"),
        (), (), (), (),
    ),
)  # fmt: skip

_BRACKETS = re.compile(r"[(\[{].*?[)\]}]")

_WORDINGS: dict[str, dict[str, tuple[str, ...]]] = {
    noun: dict(zip(_USES, wordings, strict=True))
    for nouns, *wordings in _NOUNS
    for noun in nouns.split()
}


def wordings(name: str, use: str) -> tuple[str, ...]:
    """Returns the wordings for a column that name it by another word; often none.

    `use` is "lookup", "highest", "lowest", "more" or "less".
    """
    nouns = [_WORDINGS[word][use] for word in reversed(name.split()) if word in _WORDINGS]
    return nouns[0] if nouns else ()


_GENERAL = frozenset(
    word
    for line in (
        "is are was were be the a an in of by at and who what which when where how did does do has",
        "have had most least more less than many much people money highest lowest fewer fewest",
        "over under before after first last times time",
    )
    for word in line.split()
)


_KINDS = {
    "title": "book film movie song track album single episode game show story poem play",
    "name": "who person player member employee student",
    "track": "song",
    "song": "track",
    "delay": "late",
}


def answers(name: str, asked: Collection[str]) -> bool:
    """Returns whether a column has what a question asks for, as "Title" has a book.

    Args:
        name: name of the column.
        asked: words after "which" and the like, in the singular, and "who".
    """
    own = set(pruning.words(name))
    return bool(own & set(asked)) or any(
        word in own and set(kinds.split()) & set(asked) for word, kinds in _KINDS.items()
    )


def words(name: str, use: str | None = None) -> frozenset[str]:
    """Returns words that name a column in questions, such as "cheapest" for a price.

    Args:
        name: name of the column.
        use: as for `wordings`; None: all uses.
    """
    noun = name.lower().replace("km/h", "kmh")
    for text in (_BRACKETS.sub(" ", noun), noun):  # a unit tells what no other word does
        nouns = " ".join(re.findall(r"[a-z]+", text))
        texts = [text for each in ([use] if use else _USES) for text in wordings(nouns, each)]
        if any(wordings(nouns, each) for each in _USES):
            break
    said = re.findall(r"[a-z]+", re.sub(r"\{\w+\}", " ", " ".join(texts)))
    return frozenset(pruning.words(" ".join(said))) - _GENERAL
