"""Asks mini for the event with the latest or earliest date in 20 generated tables.

    python benchmarks/latest_dates.py

The dates are of 2017 to 2026, in five spellings. It prints the right answers of four wordings, and
in how many tables the ranks that mini reads are right.
"""

import datetime
import random

import common

from mate_tf.serving.predictor import Predictor
from mate_tf.tables import columns

SPELLINGS = ("%Y-%m-%d", "%d/%m/%Y", "%B %d, %Y", "%d %b %Y", "%d.%m.%Y")
EVENTS = ("fair", "race", "feast", "concert", "market", "parade", "gala", "opening", "lecture")
WORDINGS = (
    ("which event has the latest date?", "which event has the earliest date?"),
    ("which event was the latest?", "which event was the earliest?"),
    ("which event was last?", "which event was first?"),
    ("what event has the most recent date?", "which event has the oldest date?"),
)


def tables(count: int = 20):
    """Yields the rows of each table, and the dates of its second column."""
    draw = random.Random(1)
    for number in range(count):
        days = [
            datetime.date(2017, 1, 1) + datetime.timedelta(day)
            for day in draw.sample(range(3650), draw.randint(4, 9))
        ]
        spelling = SPELLINGS[number % len(SPELLINGS)]
        rows = [
            [event, day.strftime(spelling), str(draw.randint(20, 60))]
            for event, day in zip(EVENTS, days, strict=False)
        ]
        yield rows, days


def arguments():
    return common.parser(__doc__).parse_args()


def main() -> None:
    options = arguments()
    predictor = Predictor.from_preset("mini")
    ordered = 0
    right = dict.fromkeys(WORDINGS, 0)
    for number, (rows, days) in enumerate(tables()):
        column = columns.read(["Date"], [[row[1] for row in rows]])[0]
        ranks, _ = columns.ranks(column)
        ordered += ranks == [1 + sorted(days).index(day) for day in days]
        gold = EVENTS[days.index((min, max)[number % 2](days))]
        for wording in WORDINGS:
            table = [["Event", "Date", "Visitors"], *rows]
            right[wording] += predictor.ask(table, wording[1 - number % 2]).text == gold
    print(f"tables in the right order  {ordered} of 20")
    for (wording, _), count in right.items():
        print(f"{wording:<40}  {count} of 20")
    counts = {wording: count for (wording, _), count in right.items()}
    common.write(options, "latest_dates", {"ordered": ordered, "right": counts})


if __name__ == "__main__":
    main()
