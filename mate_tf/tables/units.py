"""Units of measurement and currencies, as they are written in cells.

A unit belongs to a kind; units of one kind are converted into each other. Symbols are case
sensitive where case tells units apart (mW, MW), names are not.
"""

import re
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit.

    Attributes:
        symbol: how it is shown.
        kind: units of one kind are converted into each other; for units without others it is
            their symbol.
        factor: size in the kind's basic unit.
    """

    symbol: str
    kind: str
    factor: float = 1.0

    @property
    def is_currency(self) -> bool:
        """Returns whether it is a currency."""
        return self.kind.startswith("currency")

    @property
    def is_word(self) -> bool:
        """Returns whether it is just a word after a number, as in 5 players."""
        return self.kind.startswith("word")


_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0

# kind: lines of "factor symbol other spellings…"
_MEASURES = {
    "length": """
        0.001 mm millimetre millimeter millimetres millimeters
        0.01 cm centimetre centimeter centimetres centimeters
        1 m metre meter metres meters mtr
        1000 km kilometre kilometer kilometres kilometers kms
        0.0254 in inch inches ″
        0.3048 ft foot feet ′
        0.9144 yd yard yards
        1609.344 mi mile miles
        1852 nmi
    """,
    "mass": """
        0.000001 mg milligram milligrams milligramme
        0.001 g gram grams gramme grammes gr
        1 kg kilogram kilograms kilogramme kilogrammes kilo kilos kgs
        1000 t tonne tonnes ton tons
        0.028349523125 oz ounce ounces
        0.45359237 lb lbs pound pounds
    """,
    "duration": f"""
        0.001 ms millisecond milliseconds msec
        1 s sec secs second seconds sekunde sekunden
        {_MINUTE} min mins minute minutes minuten
        {_HOUR} h hr hrs hour hours std stunde stunden heure heures hora horas
        {_DAY} d day days tag tage jour jours dia dias
        {7 * _DAY} wk week weeks woche wochen
    """,
    "volume": """
        0.001 ml millilitre milliliter millilitres milliliters
        0.01 cl centilitre centiliter
        0.1 dl decilitre deciliter
        1 l L litre liter litres liters
        100 hl hectolitre hectoliter
        1000 m³ m3
        3.785411784 gal gallon gallons
    """,
    "area": """
        0.0001 cm² cm2
        1 m² m2 sqm
        10000 ha hectare hectares
        1000000 km² km2 sqkm
        4046.8564224 acre acres ac
        2589988.110336 mi² mi2 sqmi
        0.09290304 ft² ft2 sqft
    """,
    "speed": """
        1 m/s mps
        0.2777777777777778 km/h kmh kph
        0.44704 mph
        0.5144444444444445 kn knot knots kt kts
    """,
    "data": """
        1 B byte bytes
        1000 kB KB kilobyte kilobytes
        1000000 MB megabyte megabytes
        1000000000 GB gigabyte gigabytes
        1000000000000 TB terabyte terabytes
        1024 KiB
        1048576 MiB
        1073741824 GiB
        1099511627776 TiB
    """,
    "power": """
        0.001 mW
        1 W watt watts
        1000 kW kilowatt kilowatts
        1000000 MW megawatt megawatts
        1000000000 GW gigawatt gigawatts
        735.49875 PS
        745.6998715822702 hp bhp
    """,
    "energy": """
        1 J joule joules
        1000 kJ
        1000000 MJ
        4.184 cal
        4184 kcal
        3600 Wh
        3600000 kWh
        3600000000 MWh
        3600000000000 GWh
    """,
    "frequency": """
        1 Hz hertz
        1000 kHz
        1000000 MHz
        1000000000 GHz
    """,
    "voltage": """
        0.001 mV
        1 V volt volts
        1000 kV
    """,
    "pressure": """
        1 Pa
        100 hPa mbar
        1000 kPa
        100000 bar
    """,
}
# Each is a separate kind: "symbol other spellings…"
_SINGLE = """
    % percent percentage pct prozent pc
    ‰ permille
    °C celsius
    °F fahrenheit
    K kelvin
    ° degree degrees deg
    px pixel pixels
    pt pts point points
    dB
    ppm
    rpm
"""
_CURRENCIES = """
    $ usd us$ dollar dollars
    € eur euro euros
    £ gbp sterling
    ¥ jpy yen 円
    元 cny rmb yuan
    ₹ inr rs rs. rupee rupees
    CHF chf fr fr. sfr sfr. franken
    ₩ krw won
    ₽ rub
    ₺ try
    ₴ uah
    ₫ vnd
    ฿ thb
    ₱ php
    ₪ ils
    ₦ ngn
    zł pln
    kr sek nok dkk
    Kč czk
    Ft huf
    lei ron
    A$ aud au$
    C$ cad ca$
    NZ$ nzd
    HK$ hkd
    S$ sgd
    R$ brl
    MX$ mxn
    R zar
    ₿ btc
    aed
    sar
"""


def _lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


CURRENCIES: dict[str, Unit] = {
    word: Unit(symbol, f"currency {symbol}")
    for symbol, *others in _lines(_CURRENCIES)
    for word in (symbol.lower(), *others)
}
"""Symbols, codes and names in lower case."""

_BY_SYMBOL: dict[str, Unit] = {}
_BY_NAME: dict[str, Unit] = {}
for _kind, _text in _MEASURES.items():
    for _factor, _symbol, *_others in _lines(_text):
        for _word in (_symbol, *_others):
            _BY_SYMBOL[_word] = _BY_NAME[_word.lower()] = Unit(_symbol, _kind, float(_factor))
for _symbol, *_others in _lines(_SINGLE):
    for _word in (_symbol, *_others):
        _BY_SYMBOL[_word] = _BY_NAME[_word.lower()] = Unit(_symbol, _symbol)


def find(text: str) -> Unit | None:
    """Returns the unit or currency of a word or symbol; None for other texts."""
    word = text.strip().rstrip(".") if len(text) > 1 else text
    word = word.replace("sq ", "sq").replace("sq. ", "sq").replace("square ", "sq")
    lower = word.lower()
    return _BY_SYMBOL.get(word) or CURRENCIES.get(lower) or _BY_NAME.get(lower)


_TIMES = re.compile(
    r"(seconds|minutes|mins|hours|hrs|days|weeks|months|years)(?![^\W_])", re.IGNORECASE
)
_IN_NAME = re.compile(r"[(\[](?P<bracket>[^()\[\]]+)[)\]]\s*$|(?:^|[\s_])(?P<last>[^\W_]+)\s*$")


def find_in_name(name: str) -> str:
    """Returns the unit that the name of a column says, as "g" of "Weight (g)" and "s" of "wait s".

    "" if it says none. "Second" may be a place in an order, and a letter alone is not a unit.
    """
    if times := _TIMES.match(name):
        return _symbol_of(times[1])  # "Days to maturity"
    match = _IN_NAME.search(name)
    if match is None:
        return ""
    text = match["bracket"] or match["last"]
    is_whole = text.strip() == name.strip()
    is_other = is_whole and (len(text) < 2 or text.lower() in ("second", "min"))
    return "" if is_other else _symbol_of(text)


def _symbol_of(text: str) -> str:
    unit = find(text)
    return "" if unit is None else unit.symbol
