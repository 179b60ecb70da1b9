"""English words for names of columns in other languages."""

import pytest

from mate_tf.serving.prepared import PreparedTable
from mate_tf.tables.foreign_headers import with_english


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            ["Datum", "Filiale", "Umsatz (EUR)", "Xyz"],
            ["Datum / date", "Filiale / branch", "Umsatz / revenue (EUR)", "Xyz"],
        ),
        (
            ["Rechnungsdatum", "Gesamtbetrag €", "Größe", "Strasse"],
            [
                "Rechnungsdatum / invoice date",
                "Gesamtbetrag / total amount €",
                "Größe / height size",
                "Strasse / street",
            ],
        ),
        (
            ["Fecha inscripción", "Parada autobús", "Edad"],
            [
                "Fecha inscripción / registered date",
                "Parada autobús / bus stop",
                "Edad / age",
            ],
        ),
        (
            ["Prénom", "Âge", "Prix au litre"],
            ["Prénom / first name", "Âge / age", "Prix au litre / price"],
        ),
        (
            ["Huurprijs (EUR)", "Adres", "Woningnr"],
            ["Huurprijs / rent price (EUR)", "Adres / address", "Woningnr / number"],
        ),
        (
            ["Quantita (t)", "Costo", "Data"],
            ["Quantita / quantity (t)", "Costo / cost", "Data / date"],
        ),
    ],
)
def test_with_english(names, expected):
    assert with_english(names) == tuple(expected)


def test_abbreviations_are_spelled_out():
    names = ["acct_id", "Qty", "Temp (°C)", "Cat", "quantity qty"]
    assert with_english(names) == (
        "acct_id / account",
        "Qty / quantity",
        "Temp / temperature (°C)",
        "Cat",
        "quantity qty",
    )


@pytest.mark.parametrize(
    "names",
    [
        ["Date", "Land", "Kind", "Note", "Data", "Auto"],  # English words of other languages too
        ["Employee", "City", "Salary"],
        [
            "Name",
            "Preis",
            "City",
            "Age",
            "Job",
            "Team",
            "Goals",
            "Notes",
        ],  # one column does not tell
        ["日付", "値段"],
        [""],
    ],
)
def test_other_headers_stay(names):
    assert with_english(names) == tuple(names)


def test_a_table_is_asked_in_english():
    table = PreparedTable({"Kunde": ["Ann", "Bo"], "Umsatz": ["3", "4"], "Bezahlt": ["ja", "nein"]})
    assert table.names == ("Kunde / customer", "Umsatz / revenue", "Bezahlt / paid")
    assert table.table.columns == ("Kunde", "Umsatz", "Bezahlt")  # answers show these
