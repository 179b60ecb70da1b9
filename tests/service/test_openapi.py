"""The OpenAPI document is valid, has all paths, and fits what the service takes and answers."""

import re

import jsonschema
import pytest
from openapi_spec_validator import validate

from mate_tf.service import openapi
from mate_tf.service.app import application
from mate_tf.service.settings import Settings

from .conftest import QUESTION, TABLE, ask
from .test_app import FORMS, WRONG


@pytest.fixture
def document(client):
    return client.get("/openapi.json").json()


@pytest.fixture
def fits(document):
    """fits(name, value): raises unless a value fits a schema of the document."""

    def check(name, value):
        components = {"components": document["components"]}
        schema = {"$ref": f"#/components/schemas/{name}", **components}
        jsonschema.validate(value, schema, jsonschema.Draft202012Validator)

    return check


def test_it_is_valid(document):
    validate(document)
    validate(openapi.document(Settings(load=None, name="x", token="y")))


def test_it_has_all_paths(document):
    app = application(Settings(load=None, name="x"))
    routes = {(route.path, method) for route in app.routes for method in route.methods}
    described = {
        (path, method.upper())
        for path, operations in document["paths"].items()
        for method in operations
    }
    assert {each for each in routes if each[1] != "HEAD"} == described


def test_responses_fit(client, fits):
    fits("Answer", ask(client).json())
    fits("StoredTable", client.post("/v1/tables", json={"table": TABLE}).json())
    fits("Models", client.get("/v1/models").json())
    fits("Health", client.get("/healthz").json())
    fits("Error", client.get("/nothing").json())


def test_the_answer_of_the_preset_fits(serving, mini, fits):
    answer = ask(serving(mini)).json()
    fits("Answer", answer)
    assert answer["confidence"] is not None


@pytest.mark.parametrize("form", FORMS)
def test_questions_fit(fits, form):
    fits("Question", {"table": FORMS[form], "question": QUESTION, "previous": None})
    fits("Question", {"table_id": "x", "question": "q", "previous": [{"row": 0, "column": 1}]})


@pytest.mark.parametrize(
    "name", ["a misspelled key", "no table", "two tables", "no question", "a number", "a path"]
)
def test_wrong_questions_do_not_fit(fits, name):
    with pytest.raises(jsonschema.ValidationError):
        fits("Question", WRONG[name][0])


def test_a_token_is_said(serving, model):
    client = serving(model, {"authorization": "Bearer x"}, token="x")
    assert client.get("/openapi.json").json()["security"] == [{"token": []}]


def test_the_page_loads_nothing(client, document):
    response = client.get("/docs")
    assert response.headers["content-type"].startswith("text/html")
    for path in document["paths"]:
        assert path in response.text
    links = re.findall(r'(?:src|href)="([^"]*)"', response.text)
    assert {link for link in links if not link.startswith("#")} == {"openapi.json"}
    assert not re.search(r"<(script|link|img|iframe)|url\(|@import", response.text)
    anchors = set(re.findall(r'id="(\w+)"', response.text))
    assert {link[1:] for link in links if link.startswith("#")} <= anchors
