"""Files of 400 to 5,000 rows with ten questions each; pandas computes the right answers."""

import random
from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

CITIES = ("Bern", "Zurich", "Geneva", "Basel", "Lugano")
PRODUCTS = ("lamp", "chair", "desk", "shelf", "sofa", "rug")
FIRST = ("Anna", "Ben", "Carla", "David", "Elena", "Felix", "Greta", "Hugo", "Ines", "Jonas")
LAST = ("Moser", "Keller", "Rossi", "Dubois", "Novak", "Silva", "Berg", "Costa", "Weber", "Lang")
DEPARTMENTS = ("Sales", "Finance", "Research", "Support", "Logistics")
AIRLINES = ("Swiss", "Lufthansa", "Iberia", "Finnair", "Vueling")
AIRPORTS = ("Oslo", "Madrid", "Vienna", "Lisbon", "Dublin", "Prague", "Athens")
BRANDS = ("Bosch", "Makita", "Stanley", "Hilti", "Metabo")
TOOLS = ("drill", "saw", "hammer", "sander", "wrench")
EXPENSES = {
    "Groceries": ("Migros", "Coop", "Aldi"),
    "Rent": ("Landlord",),
    "Transport": ("Railway", "Taxi", "Fuel"),
    "Restaurants": ("Pizzeria", "Cafe", "Sushi bar"),
    "Health": ("Pharmacy", "Dentist"),
}


class Asked(NamedTuple):
    """A question with its kind and its right answer, a number or the texts of cells."""

    kind: str
    question: str
    answer: float | list[str]


class LongFile(NamedTuple):
    """A table of texts, as it is written, and the questions about it."""

    name: str
    table: pd.DataFrame
    questions: list[Asked]


def dates(draw: random.Random, count: int, first: str, days: int) -> list[pd.Timestamp]:
    """Draws days without repetition as far as there are enough, in order."""
    offsets = [draw.randrange(days) for _ in range(count)]
    if count <= days:
        offsets = draw.sample(range(days), count)
    return sorted(pd.Timestamp(first) + pd.Timedelta(days=each) for each in offsets)


def single(draw: random.Random, count: int, low: float, high: float, decimals: int) -> list[float]:
    """Draws numbers of which the largest and the smallest one are there once."""
    found = [round(draw.uniform(low, high), decimals) for _ in range(count - 2)]
    found += [round(high * 1.07, decimals), round(low * 0.93, decimals)]
    draw.shuffle(found)
    return found


def orders(seed: int = 0, count: int = 400) -> LongFile:
    """Orders of furniture."""
    draw = random.Random(seed)
    t = pd.DataFrame(
        {
            "Order": [f"A-{1000 + number}" for number in range(count)],
            "City": draw.choices(CITIES, k=count),
            "Product": draw.choices(PRODUCTS, k=count),
            "Units": draw.choices(range(1, 21), k=count),
            "Price": single(draw, count, 20, 900, 2),
        }
    )
    named = t.iloc[count // 3]
    lamps, bern = t.Product == "lamp", t.City == "Bern"
    return LongFile(
        "orders",
        t,
        [
            Asked("look-up", f"What is the price of order {named.Order}?", named.Price),
            Asked("look-up", f"Which city is order {t.Order.iloc[-9]} from?", [t.City.iloc[-9]]),
            Asked("count", "How many orders are from Bern?", bern.sum()),
            Asked("count", "How many orders have a price above 500?", (t.Price > 500).sum()),
            Asked("sum", "What is the total number of units?", t.Units.sum()),
            Asked(
                "sum",
                "What is the total units of orders from Basel?",
                t.Units[t.City == "Basel"].sum(),
            ),
            Asked("average", "What is the average price of a lamp?", t.Price[lamps].mean()),
            Asked("largest", "Which order has the highest price?", [t.Order[t.Price.idxmax()]]),
            Asked("smallest", "Which order has the lowest price?", [t.Order[t.Price.idxmin()]]),
            Asked(
                "filter",
                "Which orders are from Lugano with the product rug?",
                list(t.Order[(t.City == "Lugano") & (t.Product == "rug")]),
            ),
        ],
    )


def bank(seed: int = 1, count: int = 600) -> LongFile:
    """A bank statement; expenses are positive."""
    draw = random.Random(seed)
    categories = draw.choices(list(EXPENSES), (9, 2, 5, 6, 3), k=count)
    days = dates(draw, count, "2024-01-01", 720)
    amounts = single(draw, count, 4, 800, 2)
    t = pd.DataFrame(
        {
            "Date": [f"{day:%d.%m.%Y}" for day in days],
            "Payee": [draw.choice(EXPENSES[each]) for each in categories],
            "Category": categories,
            "Amount": amounts,
            "Reference": [f"R{draw.randrange(10**6):06}-{number}" for number in range(count)],
        }
    )
    groceries = t.Category == "Groceries"
    named = t.iloc[count // 2]
    year = pd.Series([day.year for day in days])
    text = t.assign(Amount=[f"{amount:,.2f} €" for amount in amounts])
    return LongFile(
        "bank statement",
        text,
        [
            Asked(
                "look-up", f"What is the amount with the reference {named.Reference}?", named.Amount
            ),
            Asked(
                "look-up",
                f"Who is the payee of the reference {t.Reference.iloc[-3]}?",
                [t.Payee.iloc[-3]],
            ),
            Asked(
                "count",
                "How many payments are in the category Health?",
                (t.Category == "Health").sum(),
            ),
            Asked("count", "How many payments went to Migros?", (t.Payee == "Migros").sum()),
            Asked("sum", "How much did I spend on groceries?", t.Amount[groceries].sum()),
            Asked(
                "sum", "What is the total amount paid to Aldi?", t.Amount[t.Payee == "Aldi"].sum()
            ),
            Asked(
                "average",
                "What is the average amount in the category Restaurants?",
                t.Amount[t.Category == "Restaurants"].mean(),
            ),
            Asked("largest", "What is the largest amount?", t.Amount.max()),
            Asked(
                "smallest",
                "Which reference has the smallest amount?",
                [t.Reference[t.Amount.idxmin()]],
            ),
            Asked("date", "How many payments were made in 2025?", (year == 2025).sum()),
        ],
    )


def staff(seed: int = 2, count: int = 1000) -> LongFile:
    """Employees."""
    draw = random.Random(seed)
    names = draw.sample([f"{a} {b}-{c}" for a in FIRST for b in LAST for c in LAST if b != c], 810)
    names += [
        f"{draw.choice(FIRST)} {chr(65 + n // 26)}. {draw.choice(LAST)}{n}" for n in range(190)
    ]
    days = dates(draw, count, "2005-03-01", 7300)
    draw.shuffle(days)
    t = pd.DataFrame(
        {
            "Name": names[:count],
            "Department": draw.choices(DEPARTMENTS, k=count),
            "Office": draw.choices(CITIES, k=count),
            "Salary": [int(each) for each in single(draw, count, 48000, 140000, 0)],
            "Start date": [f"{day:%Y-%m-%d}" for day in days],
        }
    )
    named, other = t.iloc[count // 2], t.iloc[17]
    start = pd.Series(days)
    both = (t.Department == "Finance") & (t.Office == "Geneva")
    return LongFile(
        "staff",
        t,
        [
            Asked("look-up", f"What is the salary of {named.Name}?", named.Salary),
            Asked("look-up", f"In which department does {other.Name} work?", [other.Department]),
            Asked(
                "count", "How many employees work in Research?", (t.Department == "Research").sum()
            ),
            Asked("count", "How many people in Finance have the office Geneva?", both.sum()),
            Asked(
                "sum",
                "What is the sum of the salaries in Support?",
                t.Salary[t.Department == "Support"].sum(),
            ),
            Asked("average", "What is the average salary?", t.Salary.mean()),
            Asked(
                "average",
                "What is the average salary in the Zurich office?",
                t.Salary[t.Office == "Zurich"].mean(),
            ),
            Asked("largest", "Who has the highest salary?", [t.Name[t.Salary.idxmax()]]),
            Asked("date", "Who has the earliest start date?", [t.Name[start.idxmin()]]),
            Asked(
                "date",
                "How many employees have a start date after 2020?",
                (start.dt.year > 2020).sum(),
            ),
        ],
    )


def flights(seed: int = 3, count: int = 2000) -> LongFile:
    """Flights with delays."""
    draw = random.Random(seed)
    routes = [draw.sample(AIRPORTS, 2) for _ in range(count)]
    days = dates(draw, count, "2023-01-01", 1000)
    t = pd.DataFrame(
        {
            "Flight": [f"FL{3000 + number}" for number in range(count)],
            "Airline": draw.choices(AIRLINES, k=count),
            "From": [each[0] for each in routes],
            "To": [each[1] for each in routes],
            "Day": [f"{day.day} {day:%b %Y}" for day in days],
            "Passengers": [int(each) for each in single(draw, count, 40, 300, 0)],
            "Delay (min)": draw.choices(range(120), k=count),
        }
    )
    named = t.iloc[777]
    year = pd.Series([day.year for day in days])
    return LongFile(
        "flights",
        t,
        [
            Asked("look-up", f"Which airline operates flight {named.Flight}?", [named.Airline]),
            Asked(
                "look-up",
                f"How many passengers did flight {t.Flight.iloc[1500]} have?",
                t.Passengers.iloc[1500],
            ),
            Asked("count", "How many flights are by Finnair?", (t.Airline == "Finnair").sum()),
            Asked(
                "count",
                "How many flights have a delay of more than 60 minutes?",
                (t["Delay (min)"] > 60).sum(),
            ),
            Asked("sum", "What is the total number of passengers?", t.Passengers.sum()),
            Asked(
                "sum",
                "What is the total number of passengers of Iberia?",
                t.Passengers[t.Airline == "Iberia"].sum(),
            ),
            Asked(
                "average",
                "What is the average delay of Swiss flights?",
                t["Delay (min)"][t.Airline == "Swiss"].mean(),
            ),
            Asked(
                "largest",
                "Which flight had the most passengers?",
                [t.Flight[t.Passengers.idxmax()]],
            ),
            Asked(
                "smallest",
                "Which flight had the fewest passengers?",
                [t.Flight[t.Passengers.idxmin()]],
            ),
            Asked("date", "How many flights were in 2024?", (year == 2024).sum()),
        ],
    )


def stock(seed: int = 4, count: int = 5000) -> LongFile:
    """Articles of a hardware store."""
    draw = random.Random(seed)
    days = dates(draw, count, "2019-01-01", 2500)
    draw.shuffle(days)
    t = pd.DataFrame(
        {
            "Article": [
                f"{draw.choice('BDFGHKLMPRST')}{70000 + number}" for number in range(count)
            ],
            "Brand": draw.choices(BRANDS, k=count),
            "Category": draw.choices(TOOLS, k=count),
            "Stock": draw.choices(range(500), k=count),
            "Price": single(draw, count, 9, 450, 2),
            "Last sold": [f"{day:%d/%m/%Y}" for day in days],
        }
    )
    named = t.iloc[min(4321, count - 1)]
    sold = pd.Series(days)
    return LongFile(
        "stock",
        t,
        [
            Asked("look-up", f"How many {named.Article} are in stock?", named.Stock),
            Asked(
                "look-up", f"What is the brand of article {t.Article.iloc[99]}?", [t.Brand.iloc[99]]
            ),
            Asked("count", "How many articles are by Makita?", (t.Brand == "Makita").sum()),
            Asked(
                "count",
                "How many hammers have a price below 50?",
                ((t.Category == "hammer") & (t.Price < 50)).sum(),
            ),
            Asked("sum", "What is the total stock of Hilti?", t.Stock[t.Brand == "Hilti"].sum()),
            Asked(
                "average",
                "What is the average price of a saw?",
                t.Price[t.Category == "saw"].mean(),
            ),
            Asked("largest", "Which article has the highest price?", [t.Article[t.Price.idxmax()]]),
            Asked("smallest", "Which article is the cheapest?", [t.Article[t.Price.idxmin()]]),
            Asked(
                "date", "How many articles were last sold before 2020?", (sold.dt.year < 2020).sum()
            ),
            Asked(
                "date", "How many articles were last sold in 2023?", (sold.dt.year == 2023).sum()
            ),
        ],
    )


FILES: tuple[Callable[[], LongFile], ...] = (orders, bank, staff, flights, stock)


def is_right(asked: Asked, answer, prepared) -> bool:
    """Returns whether an `Answer` is right: the cells, or a number to a hundredth."""
    if isinstance(asked.answer, list):
        return answer.aggregation == "NONE" and [c.text for c in answer.cells] == asked.answer
    value = answer.value
    if value is None and len(answer.cells) == 1:
        value = prepared.columns[answer.cells[0].column].values[answer.cells[0].row]
    return isinstance(value, float) and abs(value - float(asked.answer)) <= 0.006
