"""Requests and their answers: all forms of tables, ids, previous answers, batches, refusals."""

import concurrent.futures
import gzip
import json
import math
import sqlite3
import time

import pytest

from mate_tf.errors import InputError
from mate_tf.service.settings import LARGEST_JSON
from mate_tf.tables.limits import Limits
from mate_tf.tables.table import Table

from .conftest import QUESTION, TABLE, ask, refusal

ROWS = [TABLE["columns"], *TABLE["rows"]]
FORMS = {
    "columns and rows": TABLE,
    "header and data": {"header": TABLE["columns"], "data": TABLE["rows"], "title": "people"},
    "rows": ROWS,
    "objects": [dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]],
    "columns": {"name": ["Ann", "Bob"], "age": [31, 45], "city": ["Bern", "Genf"]},
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_tables(client, model, form):
    answer = ask(client, table=FORMS[form])
    assert answer.status_code == 200, answer.text
    assert answer.json()["text"] == "Genf"
    assert model.asked == [((("Ann", "31", "Bern"), ("Bob", "45", "Genf")), QUESTION, None)]


def test_numbers_keep_their_spelling(client, model):
    body = '{"table": [["a"], [1.50], [1e3], [007.0]], "question": "q"}'.replace("007.0", "7.0")
    assert client.post("/v1/ask", content=body, headers=JSON).status_code == 200
    assert model.asked[0][0] == (("1.50",), ("1e3",), ("7.0",))


JSON = {"content-type": "application/json"}


def test_answers_of_the_preset_are_those_of_the_predictor(serving, mini):
    client = serving(mini)
    table = Table.from_rows(ROWS[0], ROWS[1:])
    first = mini.ask(table, "who lives in Bern?")
    second = mini.ask(table, "how old is she?", first)
    answer = ask(client, "who lives in Bern?").json()
    name = answer.pop("table_id")
    assert answer == json.loads(json.dumps(first.to_json()))
    follow = {"table_id": name, "question": "how old is she?", "previous": answer["cells"]}
    answer = client.post("/v1/ask", json=follow).json()
    assert answer.pop("table_id") == name
    assert answer == json.loads(json.dumps(second.to_json()))


def test_files(client, model, tmp_path):
    text = "name,age\nAnn,31\nBob,45\n"
    sent = {
        "table.csv": text.encode(),
        "table.csv.gz": gzip.compress(text.encode()),
        "table": "name;age\nAnn;31\nBob;45\n".encode("utf-16"),
        "../../table.json": b'{"columns": ["name", "age"], "rows": [["Ann", 31], ["Bob", 45]]}',
    }
    for name, content in sent.items():
        files = {"file": (name, content)}
        answer = client.post("/v1/ask", files=files, data={"question": QUESTION})
        assert answer.status_code == 200, (name, answer.text)
        assert model.asked[-1][0] == (("Ann", "31"), ("Bob", "45"))


def test_a_form_with_the_id_of_a_table_and_a_previous_answer(client, model):
    name = client.post("/v1/tables", files={"file": ("t.csv", b"a,b\n1,2\n")}).json()["table_id"]
    form = {"table_id": name, "question": "q", "previous": '[{"row": 0, "column": 1}]'}
    # A form without a file is multipart if all its fields are sent as files without a name.
    answer = client.post("/v1/ask", files={key: (None, value) for key, value in form.items()})
    assert answer.status_code == 200, answer.text
    assert model.asked == [((("1", "2"),), "q", [(0, 1)])]


def test_a_stored_table(client, model):
    stored = client.post("/v1/tables", json={"table": TABLE}).json()
    name = stored.pop("table_id")
    assert stored == {"rows": 2, "columns": TABLE["columns"], "unread": ""}
    # The id is that of the content.
    assert client.post("/v1/tables", json={"table": TABLE}).json()["table_id"] == name
    assert client.post("/v1/tables", json={"table": ROWS[:2]}).json()["table_id"] != name
    answer = client.post("/v1/ask", json={"table_id": name, "question": QUESTION})
    assert answer.json()["table_id"] == name
    assert answer.json()["text"] == "Genf"


TEXTS = [{"cell": "bob", "text": "Bob was born in Basel."}]


def test_texts_about_cells(serving, model, tmp_path):
    """With a question, with a stored table, in a form; other processes know them as well."""
    client = serving(model, reads_texts=True, folder=str(tmp_path))
    assert client.get("/v1/models").json()["models"][0]["reads_texts"] is True
    assert ask(client, texts=TEXTS).status_code == 200
    stored = [
        client.post("/v1/tables", json={"table": TABLE} | given).json()["table_id"]
        for given in ({"texts": TEXTS}, {})
    ]
    assert stored[0] != stored[1]
    form = {"question": QUESTION, "texts": json.dumps(TEXTS)}
    files = {"file": ("t.csv", b"name,age\nBob,45\n")}
    assert client.post("/v1/ask", files=files, data=form).status_code == 200
    other = serving(model, reads_texts=True, folder=str(tmp_path))
    for name in stored:
        answer = other.post("/v1/ask", json={"table_id": name, "question": QUESTION})
        assert answer.status_code == 200, answer.text
    expected = (("bob", "Bob was born in Basel."),)
    assert model.texts == [expected, expected, expected, ()]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"texts": "x"}, 'texts: expected a list of objects with "cell" and "text"'),
        ({"texts": [{"cell": "Bob"}]}, 'texts: number 1: "text" is not a text'),
        ({"texts": [{"cell": "Eve", "text": "x"}]}, "texts: none of the 1 texts is about a cell"),
        ({"texts": TEXTS, "table": None, "table_id": "x"}, "texts: post them with the table"),
    ],
)
def test_wrong_texts(serving, model, given, text):
    found = {"table": TABLE, "question": QUESTION} | given
    found = {name: value for name, value in found.items() if value is not None}
    client = serving(model, reads_texts=True)
    assert refusal(client.post("/v1/ask", json=found), 400).startswith(text)


def test_texts_for_a_model_that_reads_none(client):
    assert (
        refusal(ask(client, texts=TEXTS), 400) == "texts: a model does not read texts about cells"
    )
    assert ask(client, texts=None).status_code == 200


def test_the_oldest_tables_are_forgotten(serving, model):
    client = serving(model, max_tables=2)
    names = [
        client.post("/v1/tables", json={"table": [["a"], [text]]}).json()["table_id"]
        for text in "xyz"
    ]
    found = [client.post("/v1/ask", json={"table_id": n, "question": "q"}) for n in names]
    assert [each.status_code for each in found] == [404, 200, 200]
    text = refusal(found[0], 404)
    assert text == f"table_id: no table {names[0]!r}; post it again"


def test_a_batch(client):
    tables = [[["a"], [str(number)]] for number in range(20)]
    questions = [{"table": table, "question": "q"} for table in tables]
    answers = client.post("/v1/ask_batch", json=questions).json()
    assert [answer["text"] for answer in answers] == [str(number) for number in range(20)]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([], "expected a list of questions, each an object"),
        ({"table": TABLE, "question": "q"}, "expected a list of questions, each an object"),
        (
            [{"table": TABLE, "question": "q"}, {"table": TABLE}],
            'question 2: "question" is missing',
        ),
        ([{"table": TABLE, "qestion": "q"}], "question 1: unknown key 'qestion'; did you mean"),
        ([{"table": [["a"]], "question": "q"}], "question 1: table: there is a header but no rows"),
    ],
)
def test_wrong_batches(client, model, given, text):
    assert refusal(client.post("/v1/ask_batch", json=given), 400).startswith(text)
    assert not model.asked


def test_a_batch_that_is_too_long(serving, model):
    client = serving(model, waiting=2)
    given = [{"table": TABLE, "question": "q"}] * 3
    text = refusal(client.post("/v1/ask_batch", json=given), 413)
    assert text == "3 questions; at most 2 are allowed"


CELL = {"row": 0, "column": 0}
WRONG = {
    "no JSON": (b"{", "the body is not valid JSON: "),
    "not UTF-8": (b'{"question": "\xff"}', "the body is not valid JSON: "),
    "nested": (b"[" * 100_000, "the body is not valid JSON: "),
    "a list": ([1], "expected an object with the keys table, table_id, question, previous"),
    "a misspelled key": ({"tabel": 1}, "unknown key 'tabel'; did you mean 'table'?"),
    "an unknown key": ({"x": 1}, "unknown key 'x'; known: table, table_id, question, previous"),
    "no table": ({"question": "q"}, 'give either "table" or "table_id"'),
    "two tables": (
        {"question": "q", "table": TABLE, "table_id": "x"},
        'give either "table" or "table_id"',
    ),
    "no question": ({"table": TABLE}, '"question" is missing'),
    "a number": ({"table": TABLE, "question": 5}, "question: expected a text"),
    "blank": ({"table": TABLE, "question": " "}, "question: is empty"),
    "long": ({"table": TABLE, "question": "q" * 10_001}, "question: 10,001 characters; at most"),
    "a surrogate": (
        b'{"table": [["a"], ["b"]], "question": "\\ud800"}',
        "question: has a character that UTF-8 cannot encode",
    ),
    "a path": ({"table": "/etc/passwd", "question": "q"}, "table: expected an object with"),
    "a URL": ({"table": "sqlite:////etc/x", "question": "q"}, "table: expected an object with"),
    "no rows": ({"table": [["a"]], "question": "q"}, "table: there is a header but no rows"),
    "a short row": (
        {"table": [["a", "b"], [1]], "question": "q"},
        "table: row 1 has 1 cell, but the header has 2",
    ),
    "a nested cell": (
        {"table": [["a"], [[1]]], "question": "q"},
        "table: row 1, column 1 holds a list",
    ),
    "a surrogate in a cell": (
        b'{"table": [["a"], ["\\ud800"]], "question": "q"}',
        "table: row 1",
    ),
    "an id that is none": ({"table_id": 5, "question": "q"}, "table_id: expected a text"),
    "previous, a text": (
        {"table": TABLE, "question": "q", "previous": "x"},
        'previous: expected the list "cells" of an answer',
    ),
    "previous, beyond": (
        {"table": TABLE, "question": "q", "previous": [CELL | {"row": 2}]},
        "previous: cell 1: the table has no row 2",
    ),
    "previous, negative": (
        {"table": TABLE, "question": "q", "previous": [CELL | {"column": -1}]},
        "previous: cell 1: column: expected a whole number of 0 or more",
    ),
    "previous, a misspelled key": (
        {"table": TABLE, "question": "q", "previous": [{"row": 0, "colum": 0}]},
        "previous: cell 1: unknown key 'colum'; did you mean 'column'?",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_requests(client, model, name):
    body, text = WRONG[name]
    content = body if isinstance(body, bytes) else json.dumps(body)
    found = refusal(client.post("/v1/ask", content=content, headers=JSON), 400)
    assert found.startswith(text)
    assert not model.asked


@pytest.mark.parametrize(
    ("data", "files", "text"),
    [
        (
            {"question": "q"},
            {"fil": ("a.csv", b"a\n1\n")},
            "unknown key 'fil'; did you mean 'file'?",
        ),
        ({"question": "q", "file": "a\n1\n"}, {"table_id": ("x", b"")}, ": expected a"),
        ({"question": ["q", "r"]}, {"file": ("a.csv", b"a\n1\n")}, "the form has a field twice"),
        ({"question": "q"}, {"file": ("a.csv", b"")}, "table.csv: "),
        (
            {"question": "q"},
            {"file": ("a.pdf", b"%PDF-1.7")},
            "table.pdf: is a PDF file, not a table",
        ),
        (
            {"question": "q", "previous": "["},
            {"file": ("a.csv", b"a\n1\n")},
            "previous is not valid",
        ),
    ],
)
def test_wrong_forms(client, model, data, files, text):
    assert text in refusal(client.post("/v1/ask", data=data, files=files), 400)
    assert not model.asked


def test_a_form_that_is_broken(client):
    headers = {"content-type": "multipart/form-data; boundary=x"}
    refusal(client.post("/v1/ask", content=b"--y\r\n", headers=headers), 400)
    refusal(
        client.post("/v1/ask", content=b"", headers={"content-type": "multipart/form-data"}), 400
    )


def test_databases_are_not_read(client, model, tmp_path):
    """A view in one could read other files, or never end."""
    path = tmp_path / "table.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table t as select 1 as a")
    content = path.read_bytes()
    for name, sent in (("a.db", content), ("a.csv.gz", gzip.compress(content))):
        response = client.post("/v1/ask", files={"file": (name, sent)}, data={"question": "q"})
        assert "is a database, which is not read here" in refusal(response, 400)
    assert not model.asked


def test_other_paths_methods_and_types(client):
    assert refusal(client.get("/v1/nothing"), 404) == "no such path; /docs lists them"
    refusal(client.get("/v1/ask"), 405)
    refusal(client.post("/healthz"), 405)
    text = refusal(client.post("/v1/ask", content="a,b", headers={"content-type": "text/csv"}), 415)
    assert text == ("Content-Type 'text/csv'; expected application/json or multipart/form-data")


def test_bodies_that_are_too_large(serving, model):
    client = serving(model, largest=2**20)
    text = refusal(client.post("/v1/ask", content=b" " * (2**21), headers=JSON), 413)
    assert text == "more than 1 MiB (--max_upload_mb)"
    files = {"file": ("a.csv", b"a\n" + b"1\n" * 2**20)}
    text = refusal(client.post("/v1/ask", files=files, data={"question": "q"}), 413)
    assert text == "more than 1 MiB (--max_upload_mb)"
    client = serving(model)
    text = refusal(client.post("/v1/ask", content=b" " * (LARGEST_JSON + 1), headers=JSON), 413)
    assert text.startswith("more than 16 MiB of JSON; send the table as a file")
    assert not model.asked


def test_limits_of_tables(serving, model):
    client = serving(model, limits=Limits(max_table_cells=6, max_table_columns=3))
    table = [["a", "b"], *([[str(number), "x"] for number in range(9)])]
    stored = client.post("/v1/tables", json={"table": table}).json()
    assert stored["rows"] == 2
    assert stored["unread"] == "all rows after row 2 not read: max_table_cells=6"
    text = refusal(client.post("/v1/tables", json={"table": [list("abcd"), list("abcd")]}), 400)
    assert "at most 3 are allowed (max_table_columns)" in text


@pytest.fixture
def busy(serving, model):
    """busy(number, **settings): a client of a service whose model is kept busy by as many questions
    as its queue holds, and the futures of their responses."""
    with concurrent.futures.ThreadPoolExecutor(16) as pool:

        def start(number, **settings):
            client = serving(model, **settings)
            model.open.clear()
            futures = [pool.submit(ask, client)]
            assert model.begun.wait(10)
            for waiting in range(1, number + 1):
                futures.append(pool.submit(ask, client))
                end = time.monotonic() + 10
                while f"waiting_questions {waiting}.0" not in client.get("/metrics").text:
                    assert time.monotonic() < end
                    time.sleep(0.01)
            return client, futures

        yield start
        model.open.set()


def test_a_full_queue(busy, model):
    client, futures = busy(2, waiting=2, most=1)
    response = ask(client)
    text = refusal(response, 429)
    assert response.headers["retry-after"] == "1"
    assert text.startswith("too many ")
    model.open.set()
    assert [future.result().status_code for future in futures] == [200, 200, 200]
    assert ask(client).status_code == 200


def test_a_batch_that_has_no_room_is_refused_as_a_whole(busy, model):
    client, futures = busy(2, waiting=3, most=8)
    given = [{"table": TABLE, "question": "other"}] * 2
    text = refusal(client.post("/v1/ask_batch", json=given), 429)
    assert text == "too many questions are waiting; try again later"
    model.open.set()
    concurrent.futures.wait(futures)
    assert len(model.asked) == 3


def test_what_has_not_begun_in_time_is_dropped(busy, model):
    client, futures = busy(1, timeout=0.5)
    responses = [future.result() for future in futures]
    for response in responses:
        assert refusal(response, 504) == "no answer within 0.5 s; try again later"
    model.open.set()
    assert ask(client, "after").status_code == 200
    # The question that was being computed, and the one after; not the one that waited.
    assert [question for _, question, _ in model.asked] == [QUESTION, "after"]


def test_a_wrong_question_spoils_no_other_of_its_batch(busy, model):
    model.error = InputError("cannot be\nbrought into the model's length")
    client, futures = busy(0)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        others = [pool.submit(ask, client, text) for text in ("a", "fail", "b")]
        end = time.monotonic() + 10
        while "waiting_questions 3.0" not in client.get("/metrics").text:
            assert time.monotonic() < end
        model.open.set()
        first, wrong, last = (other.result() for other in others)
    assert first.json()["text"] == last.json()["text"] == futures[0].result().json()["text"]
    assert refusal(wrong, 400) == "cannot be brought into the model's length"
    assert model.sizes[:2] == [1, 3]


def test_an_error_of_the_program_is_not_shown(client, model):
    model.error = ZeroDivisionError("secret")
    assert refusal(ask(client, "fail"), 500) == "internal error; see the server's log"
    assert ask(client).status_code == 200


def test_numbers_that_json_lacks(client, model):
    model.value = math.inf
    response = ask(client)
    assert response.json()["value"] is None
    assert response.json()["text"] == "Genf"


def test_the_model(client):
    (about,) = client.get("/v1/models").json()["models"]
    assert about["name"] == "a model"
    assert about["classes"] == []
    assert about["has_confidence"] is False
    assert about["limits"]["max_table_cells"] == Limits().max_table_cells


def test_health(client):
    assert client.get("/healthz").json() == {"status": "ok"}


def test_metrics(client):
    ask(client)
    client.post("/v1/ask", content=b"{", headers=JSON)
    for number in range(3):
        client.get(f"/{number}")
    text = client.get("/metrics").text
    for line in (
        'mate_tf_requests_total{path="/v1/ask",status="200"} 1.0',
        'mate_tf_requests_total{path="/v1/ask",status="400"} 1.0',
        'mate_tf_requests_total{path="other",status="404"} 3.0',
        'mate_tf_request_seconds_count{path="/v1/ask"} 2.0',
        'mate_tf_batch_questions_bucket{le="1.0"} 1.0',
        "mate_tf_waiting_questions 0.0",
    ):
        assert line in text.splitlines()
