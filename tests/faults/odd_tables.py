"""Odd tables: sizes of cells in HTML, numbers, ends and depths of JSON, parts of workbooks."""

import io
import json
import zipfile

ROWS = [["ann", "30"], ["bob", "25"]]
_GOOD = json.dumps({"columns": ["name", "age"], "rows": ROWS})
_SPANS = ("0", "-1", "1e9", "99999999999999999999", "x", "", "1.5", "65534", "１", "0x2", " 2 ")

HTML = {
    **{f"rowspan={span!r}": f"<td rowspan='{span}'>ann<td>30" for span in _SPANS},
    **{f"colspan={span!r}": f"<td colspan='{span}'>ann<td>30" for span in _SPANS},
    "both spans": "<td rowspan=65534 colspan=1000>ann",
    "spans of every cell": "<td rowspan=3 colspan=3>ann<td rowspan=3 colspan=3>30",
    "a table in a table": "<td><table><tr><td>ann</table><td>30",
    "a thousand tables": "<td>" + "<table><tr><td>" * 1000,
    "a script": "<td><script>alert(1)</script><td>30",
    "a cell that does not end": "<td>ann<td title='",
    "references": "<td>&#0;&#xd800;&#x110000;&#99999999999;&amp<td>30",
    "a comment that does not end": "<td>ann<td><!-- 30",
    "a declaration": "<td>ann<td><![CDATA[30",
}

JSON = {
    "text behind the end": _GOOD + "x",
    "another value behind the end": _GOOD + _GOOD,
    "a NUL behind the end": _GOOD + "\0",
    "a bracket behind the end": _GOOD + "]",
    "a comment behind the end": _GOOD + " // a",
    "a comma behind the last row": _GOOD[:-2] + ",]}",
    "a key behind the rows": _GOOD[:-1] + ', "rows": 3}',
    "rows twice": _GOOD[:-1] + ', "rows": [["a", "b"]]}',
    "columns twice": _GOOD[:-1] + ', "columns": ["a"]}',
    "rows before columns": json.dumps({"rows": ROWS, "columns": ["name", "age"]}),
    "NaN": _GOOD.replace('"30"', "NaN"),
    "infinity": _GOOD.replace('"30"', "-Infinity"),
    "a number of 5,000 digits": _GOOD.replace('"30"', "9" * 5000),
    "a large exponent": _GOOD.replace('"30"', "1e999999"),
    "a lone surrogate": _GOOD.replace('"30"', '"\\ud800"'),
    "half an escape": _GOOD.replace('"30"', '"\\u12'),
    "an escape of nothing": _GOOD.replace('"30"', '"\\x"'),
    "a line break in text": _GOOD.replace("ann", "a\nnn"),
    "single quotes": _GOOD.replace('"', "'"),
    "a deep cell": _GOOD.replace('"30"', "[" * 10_000),
    "an object as a cell": _GOOD.replace('"30"', '{"a": [{}]}'),
    "truth as a column": _GOOD.replace('"age"', "true"),
    "null as a column": _GOOD.replace('"age"', "null"),
    "a column twice": _GOOD.replace('"age"', '"name"'),
    "no name of a column": _GOOD.replace('"age"', '""'),
    "objects with other keys": '[{"a": 1}, {"b": 2}, {"a": [1]}]',
    "objects and lists": '[{"a": 1}, [2]]',
    "empty objects": "[{}, {}]",
    "ends of lines only": "\r\n\r\n\r",
}

_BEHIND = ("x", "]", "\0", "{}", '"', "//", ",", "\xff")
_FEW = ("--max_table_cells=2",)


def _lines(*values: str) -> str:
    return "\n".join(values)


LINES = {
    "a line that is a number": _lines('{"a": 1}', "2"),
    "a line that is cut": _lines('{"a": 1}', '{"a": '),
    "a line with two values": _lines('{"a": 1}', '{"a": 2} {"a": 3}'),
    "a line of another kind": _lines('{"a": 1}', "[2]"),
    "a deep line": _lines('{"a": 1}', '{"a": ' * 5000),
    "a byte order mark in the middle": _lines('{"a": 1}', '\ufeff{"a": 2}'),
}


def _workbook(change=None, **members: str | None):
    """Returns a function that makes a workbook with changed members; None removes one."""

    def make() -> bytes:
        import openpyxl

        book, buffer = openpyxl.Workbook(), io.BytesIO()
        for row in (["name", "age"], *ROWS):
            book.active.append(row)
        if change is not None:
            change(book)
        book.save(buffer)
        kept = zipfile.ZipFile(buffer)
        changed = io.BytesIO()
        with zipfile.ZipFile(changed, "w") as archive:
            for name in kept.namelist():
                content = members.get(name.rpartition("/")[2].replace(".", "_"), kept.read(name))
                if content is not None:
                    archive.writestr(name, content)
        return changed.getvalue()

    return make


def _only_charts(book) -> None:
    book.create_chartsheet("chart")
    del book["Sheet"]


def _hidden(book) -> None:
    book.create_sheet("other")
    book["Sheet"].sheet_state = "veryHidden"


def _wide(book) -> None:
    book.active["XFD1048576"] = 1


def _styled(book) -> None:
    from openpyxl.styles import Font

    book.active["XFD1"].font = book.active["A1048576"].font = Font(bold=True)


def _error(book) -> None:
    book.active["B2"] = "#DIV/0!"
    book.active["B3"] = "=B3+1"


_SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    "<sheetData>{}</sheetData></worksheet>"
)
WORKBOOKS = {
    "charts only": _workbook(_only_charts),
    "a hidden sheet": _workbook(_hidden),
    "a cell at the last place": _workbook(_wide),
    "an empty cell at the last place": _workbook(_styled),
    "styles that are not XML": _workbook(styles_xml="x"),
    "a format without a number": _workbook(
        styles_xml='<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        '<numFmts><numFmt formatCode="0%"/></numFmts></styleSheet>'
    ),
    "a value in column ZZZZZZ": _workbook(
        sheet1_xml=_SHEET.format(
            '<row r="1"><c r="A1"><v>1</v></c><c r="ZZZZZZ1"><v>1</v></c></row>'
        )
    ),
    "a row of a large number": _workbook(
        sheet1_xml=_SHEET.format(
            '<row r="1"><c><v>1</v></c></row><row r="4294967295"><c><v>1</v></c></row>'
        )
    ),
    "errors and a circle": _workbook(_error),
    "no sheet": _workbook(sheet1_xml=None),
    "no workbook": _workbook(workbook_xml=None),
    "no types": _workbook(**{"[Content_Types]_xml": None}),
    "no relations": _workbook(workbook_xml_rels=None),
    "a sheet that is not XML": _workbook(sheet1_xml="x"),
    "a sheet that is cut": _workbook(sheet1_xml=_SHEET[:90]),
    "an entity": _workbook(
        sheet1_xml='<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>'
        + _SHEET.format('<row><c t="inlineStr"><is><t>&b;</t></is></c></row>')
    ),
    "entities of entities": _workbook(
        sheet1_xml="<!DOCTYPE a ["
        + '<!ENTITY b0 "ha">'
        + "".join(f'<!ENTITY b{n} "{f"&b{n - 1};" * 10}">' for n in range(1, 10))
        + "]>"
        + _SHEET.format('<row><c t="inlineStr"><is><t>&b9;</t></is></c></row>')
    ),
    "a cell of no column": _workbook(sheet1_xml=_SHEET.format('<row><c r="?"><v>1</v></c></row>')),
    "a row of no number": _workbook(sheet1_xml=_SHEET.format('<row r="x"><c><v>1</v></c></row>')),
    "a shared text of no number": _workbook(
        sheet1_xml=_SHEET.format('<row><c t="s"><v>x</v></c></row>')
    ),
    "a shared text that is absent": _workbook(
        sheet1_xml=_SHEET.format('<row><c t="s"><v>999999</v></c></row>')
    ),
    "a number of 5,000 digits": _workbook(
        sheet1_xml=_SHEET.format(f"<row><c><v>{'9' * 5000}</v></c></row>")
    ),
    "a style that is absent": _workbook(
        sheet1_xml=_SHEET.format('<row><c s="9999"><v>1</v></c></row>')
    ),
    "a date beyond time": _workbook(
        sheet1_xml=_SHEET.format('<row><c t="d"><v>99999-99-99</v></c></row>')
    ),
}

TEXTS = {
    "a thousand empty columns": ("," * 999 + "\n") * 2,
    "one quotation mark": '"',
    "quotation marks only": '""""""""\n""\n',
    "a NUL in every cell": "a\0,b\0\n1\0,2\0\n",
    "line ends of old machines": "name,age\rann,30\r",
    "mixed line ends": "name,age\r\nann,30\n\rbob,25\r",
    "another separator of lines": "name,age\u2028ann,30\u2029bob,25",
    "a header of digits": "1,2\n3,4\n",
    "a header twice": "a,a\n1,2\n",
    "marks of direction": "\u202ename,age\u202c\n\u2066ann,30\u2069\n",
    "a formula": "name,age\n=cmd|' /C calc'!A0,30\n",
    "a row of a million marks": "name,age\n" + "," * 1_000_000 + "\n",
}
BYTES = {
    "a lone surrogate in UTF-8": b"name,age\n\xed\xa0\x80,30\n",
    "overlong UTF-8": b"name,age\n\xc0\xaf,30\n",
    "UTF-7": b"name,age\n+ADw-,30\n",
    "UTF-32": "name,age\nann,30\n".encode("utf-32"),
    "half of UTF-16": "name,age\nann,30\n".encode("utf-16")[:-1],
    "every byte": bytes(range(256)) * 4,
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(64),
    "a PDF": b"%PDF-1.7\n" + bytes(64),
    "gzip in name only": b"\x1f\x8b",
}

_SURROGATES = "surrogatepass"
FILES = {
    **{
        f"{name}, HTML": ("t.html", f"<table><tr><th>name<th>age<tr>{text}".encode(), ())
        for name, text in HTML.items()
    },
    **{f"{name}, JSON": ("t.json", text.encode(), ()) for name, text in JSON.items()},
    **{
        f"{behind!r} behind a table beyond the limit": (
            "t.json",
            (_GOOD + behind).encode("latin-1"),
            _FEW,
        )
        for behind in _BEHIND
    },
    **{f"{name}, JSON lines": ("t.jsonl", text.encode(), ()) for name, text in LINES.items()},
    **{f"{name}, workbook": ("t.xlsx", make, ()) for name, make in WORKBOOKS.items()},
    **{f"{name}, CSV": ("t.csv", text.encode(), ()) for name, text in TEXTS.items()},
    **{f"{name}, bytes": ("t.csv", content, ()) for name, content in BYTES.items()},
}
"""What is odd -> name of the file; its content, or a function that makes it; further flags."""
