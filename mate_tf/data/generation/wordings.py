"""Wordings of generated questions, by what is asked and by what a column's name says.

Placeholders: {c} a column, {cs} its plural, {name} the cell that names a row, {other} another such
cell, {value} the text of a cell, {key} the column that names the rows, {keys} its plural, {one}
"who" or "which town", {all} "who" or "which towns", {when} " with the league premier", a condition.
"""

LOOKUP = (
    "what is the {c} of {name}?", "what is the {c} of {name}?", "what was the {c} of {name}?",
    "what is the {c} for {name}?", "what is {name}'s {c}?", "what was the {c} for {name}?",
    "what {c} does {name} have?", "which {c} does {name} have?", "what {c} is listed for {name}?",
    "{c} of {name}?", "tell me the {c} of {name}", "give the {c} for {name}",
    "for {name}, what is the {c}?", "what is the {c} in the row of {name}?",
)  # fmt: skip
CONDITION = (
    "what is the {c} when the {other} is {value}?", "which {c} has {value} as its {other}?",
    "what {c} has the {other} {value}?", "which {c} has a {other} of {value}?",
    "what is the {c} with {other} {value}?", "what is the {c} of the {other} {value}?",
    "name the {c} for {other} {value}", "which {c} is listed with {value}?",
    "in which {c} was {value}?", "what {c} belongs to {value}?",
)  # fmt: skip
FILTER = (
    "{all} have {value} as {c}?", "{all} have the {c} {value}?", "{one} has a {c} of {value}?",
    "{one} has {value} as the {c}?", "{one} is listed with {value}?",
    "list all {keys} with {c} {value}", "list the {keys} whose {c} is {value}",
    "what are the {keys} with the {c} {value}?", "{all} are listed under {value}?",
    "show me the {keys} where {c} is {value}", "{one} has {c} {value}?", "{one} is {value}?",
)  # fmt: skip
FILTER_PLACE = (
    "{all} are in {value}?", "{all} are from {value}?", "{one} is from {value}?",
    "{one} is in {value}?", "{one} comes from {value}?", "{one} was in {value}?",
    "list the {keys} in {value}",
)  # fmt: skip
FILTER_DATE = (
    "{one} was in {value}?", "{all} were in {value}?", "{one} took place in {value}?",
    "{one} was on {value}?",
)  # fmt: skip
HIGHEST = (
    "{one} has the highest {c}{when}?", "{one} has the most {c}{when}?",
    "{one} had the most {c}{when}?", "{one} has the largest {c}{when}?",
    "{one} has the greatest {c}{when}?", "{one} had the highest {c}{when}?",
    "{one} has the best {c}{when}?", "the {key} with the most {c}{when}?",
    "what is the {key} with the highest {c}{when}?", "{key} with the largest {c}{when}?",
    "{one} is at the top by {c}{when}?",
)  # fmt: skip
LOWEST = (
    "{one} has the lowest {c}{when}?", "{one} has the least {c}{when}?",
    "{one} had the least {c}{when}?", "{one} has the fewest {c}{when}?",
    "{one} has the smallest {c}{when}?", "{one} had the lowest {c}{when}?",
    "the {key} with the least {c}{when}?", "what is the {key} with the lowest {c}{when}?",
    "{key} with the smallest {c}{when}?",
)  # fmt: skip
LATEST = (
    "{one} has the latest {c}{when}?", "{one} has the most recent {c}{when}?",
    "{one} is the most recent{when}?", "{one} was the last{when} by {c}?",
    "{one} is the latest{when}?", "{one} is the newest{when}?",
)  # fmt: skip
EARLIEST = (
    "{one} has the earliest {c}{when}?", "{one} has the first {c}{when}?",
    "{one} was the earliest{when}?", "{one} was the first{when} by {c}?",
    "{one} is the oldest{when}?",
)  # fmt: skip
TOP = (
    "what is the highest {c}{when}?", "what is the largest {c}{when}?",
    "what was the highest {c}{when}?", "what is the maximum {c}{when}?", "the greatest {c}{when}?",
    "what is the most {c}{when}?",
)  # fmt: skip
BOTTOM = (
    "what is the lowest {c}{when}?", "what is the smallest {c}{when}?",
    "what was the lowest {c}{when}?", "what is the minimum {c}{when}?", "the least {c}{when}?",
)  # fmt: skip
TOP_DATE = ("what is the latest {c}{when}?", "what is the most recent {c}{when}?")
BOTTOM_DATE = ("what is the earliest {c}{when}?", "what is the first {c}{when}?")
MORE = (
    "{all} have more than {value} {c}?", "{all} had more than {value} {c}?",
    "{one} has more than {value} {c}?", "{all} have a {c} above {value}?",
    "{all} have a {c} over {value}?", "{all} have a {c} greater than {value}?",
    "{all} have a {c} higher than {value}?", "{all} have a {c} of more than {value}?",
    "list all {keys} with more than {value} {c}", "list the {keys} with a {c} over {value}",
)  # fmt: skip
LESS = (
    "{all} have less than {value} {c}?", "{all} had less than {value} {c}?",
    "{all} have fewer than {value} {c}?", "{one} has less than {value} {c}?",
    "{all} have a {c} below {value}?", "{all} have a {c} under {value}?",
    "{all} have a {c} lower than {value}?", "{all} have a {c} of less than {value}?",
    "list all {keys} with less than {value} {c}", "list the {keys} with a {c} under {value}",
)  # fmt: skip
AFTER = (
    "{all} were after {value}?", "{all} have a {c} after {value}?", "{all} are later than {value}?",
    "list all {keys} since {c} {value}", "list the {keys} after {value}",
)  # fmt: skip
BEFORE = (
    "{all} were before {value}?", "{all} have a {c} before {value}?",
    "{all} are earlier than {value}?", "list the {keys} before {value}",
)  # fmt: skip
COUNT_ALL = (
    "how many {keys} are there?", "how many {keys} are listed?",
    "how many {keys} are in the table?", "what is the total number of {keys}?",
    "what is the number of {keys}?", "how many {keys} in total?", "number of {keys} listed?",
)  # fmt: skip
COUNT_EQUAL = (
    "how many {keys} have {value} as {c}?", "how many {keys} have the {c} {value}?",
    "how many {keys} had a {c} of {value}?", "how many {keys} are {value}?",
    "how many {keys} have {c} {value}?", "how many {keys} were {value}?",
    "how many times is {value} listed as the {c}?", "how many times was the {c} {value}?",
    "how many times does {value} appear?", "what is the number of {keys} with {c} {value}?",
    "number of {keys} with {value}?", "what is the total number of {keys} with the {c} {value}?",
)  # fmt: skip
COUNT_PLACE = (
    "how many {keys} are in {value}?", "how many {keys} are from {value}?",
    "how many {keys} were in {value}?", "how many {keys} come from {value}?",
    "how many are from {value}?",
)  # fmt: skip
COUNT_MORE = (
    "how many {keys} have more than {value} {c}?", "how many {keys} had more than {value} {c}?",
    "how many {keys} have a {c} above {value}?", "how many {keys} have a {c} over {value}?",
    "how many {keys} had a {c} of more than {value}?",
    "what is the number of {keys} with more than {value} {c}?",
)  # fmt: skip
COUNT_LESS = (
    "how many {keys} have less than {value} {c}?", "how many {keys} had fewer than {value} {c}?",
    "how many {keys} have a {c} below {value}?", "how many {keys} have a {c} under {value}?",
    "how many {keys} had a {c} of less than {value}?",
    "what is the number of {keys} with less than {value} {c}?",
)  # fmt: skip
COUNT_AFTER = (
    "how many {keys} were after {value}?", "how many {keys} are later than {value}?",
    "how many {keys} have there been since {value}?",
)  # fmt: skip
COUNT_BEFORE = ("how many {keys} were before {value}?", "how many {keys} are earlier than {value}?")
SUM = (
    "what is the total {c}{when}?", "what is the total number of {c}{when}?",
    "what is the sum of {c}{when}?", "what is the sum of all {c}{when}?",
    "how many {c} are there in total{when}?", "how many total {c}{when}?",
    "how many {c} altogether{when}?", "total {c} of all {keys}{when}?",
    "what is the combined {c}{when}?", "how much {c} in total{when}?", "add up the {c}{when}",
)  # fmt: skip
SUM_PAIR = (
    "how many {c} do {name} and {other} have in total?",
    "what is the combined {c} of {name} and {other}?",
    "what is the total {c} of {name} and {other}?",
    "what is the sum of the {c} of {name} and {other}?",
    "how many {c} did {name} and {other} have together?",
)  # fmt: skip
AVERAGE = (
    "what is the average {c}{when}?", "what was the average {c}{when}?",
    "what is the mean {c}{when}?", "average {c}{when}?", "on average, how many {c}{when}?",
    "what is the average {c} of all {keys}{when}?", "what is the average number of {c}{when}?",
)  # fmt: skip
FIRST = (
    "what is the first {c} listed?", "what {c} is listed first?", "which {c} is first?",
    "what is the first {c}?", "which {c} is at the top of the table?", "name the first {c}",
    "which {c} was the first one?", "what {c} is at the top of the list?",
)  # fmt: skip
LAST = (
    "what is the last {c} listed?", "what {c} is listed last?", "which {c} is last?",
    "what is the last {c}?", "which {c} is at the bottom of the table?", "name the last {c}",
    "which {c} was the last one?", "what is the final {c}?",
)  # fmt: skip
NEXT = (
    "which {c} comes after {name}?", "what is the next {c} after {name}?",
    "what {c} is listed after {name}?", "which {c} is next after {name}?",
    "which {c} comes next after {name}?", "what {c} is listed below {name}?",
    "what {c} followed {name}?", "after {name}, which {c} is next?",
    "what is the {c} right after {name}?",
)  # fmt: skip
PREVIOUS = (
    "which {c} comes before {name}?", "what is the previous {c} before {name}?",
    "what {c} is listed before {name}?", "which {c} is right before {name}?",
    "what {c} is listed above {name}?", "what {c} preceded {name}?",
    "which {c} came just before {name}?", "before {name}, which {c} was it?",
)  # fmt: skip
PAIR_MORE = (
    "which has more {c}, {name} or {other}?", "who has more {c}, {name} or {other}?",
    "who had more {c}: {name} or {other}?", "which {key} has a higher {c}, {name} or {other}?",
    "which has a larger {c}, {name} or {other}?", "is the {c} of {name} or of {other} higher?",
    "did {name} or {other} have more {c}?", "of {name} and {other}, which has the most {c}?",
)  # fmt: skip
PAIR_LESS = (
    "which has less {c}, {name} or {other}?", "who has less {c}, {name} or {other}?",
    "who had fewer {c}: {name} or {other}?", "which {key} has a lower {c}, {name} or {other}?",
    "which has a smaller {c}, {name} or {other}?", "is the {c} of {name} or of {other} lower?",
    "did {name} or {other} have less {c}?",
)  # fmt: skip
PAIR_LATER = (
    "which was later, {name} or {other}?", "which came last, {name} or {other}?",
    "who was after the other, {name} or {other}?", "which has a later {c}, {name} or {other}?",
)  # fmt: skip
PAIR_EARLIER = (
    "which was first, {name} or {other}?", "which came first, {name} or {other}?",
    "who was earlier, {name} or {other}?", "which has an earlier {c}, {name} or {other}?",
)  # fmt: skip
WHEN = (
    " with the {c} {value}", " with {c} {value}", " when the {c} is {value}",
    " where the {c} is {value}", " of {value}", " for {value}", " in {value}", " with {value}",
    " among {value}",
)  # fmt: skip

# What a word of a column's name says about it.
_PEOPLE = frozenset(
    """
    actor actress artist athlete author captain candidate champion chairman client coach colleague
    commander composer customer cyclist director driver employee founder goalkeeper governor holder
    incumbent jockey judge king leader manager mayor member minister musician owner partner person
    pitcher player president producer representative rider runner scorer secretary senator singer
    skater student swimmer teacher winner wrestler writer
    """.split()  # noqa: SIM905
)
_PLACES = frozenset(
    """
    area arena birthplace borough campus city club college country county course department
    destination district ground headquarters home hometown location municipality nation nationality
    neighborhood office origin parish place province region site stadium state station street suburb
    town venue village
    """.split()  # noqa: SIM905
)


def is_person(words: str) -> bool:
    """Returns True if a column with this name has people."""
    return not _PEOPLE.isdisjoint(words.split())


def is_place(words: str) -> bool:
    """Returns True if a column with this name has places."""
    return not _PLACES.isdisjoint(words.split())


def plural(words: str) -> str:
    """Returns the plural of a name whose last word is a regular English noun."""
    if words.endswith("s"):
        return words
    if words.endswith("y") and len(words) > 2 and words[-2] not in "aeiou":
        return words[:-1] + "ies"
    if words.endswith(("x", "ch", "sh", "z")):
        return words + "es"
    return words + "s"
