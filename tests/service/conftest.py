"""The preset behind the service, a model that a test controls, and clients without a network."""

import contextlib
import threading

import pytest

from mate_tf.service.settings import Settings
from mate_tf.serving.answer import Answer, AnswerCell

TABLE = {"columns": ["name", "age", "city"], "rows": [["Ann", 31, "Bern"], ["Bob", 45, "Genf"]]}
QUESTION = "how old is Bob?"


class Model:
    """Answers with the last cell of a table, when it may.

    Attributes:
        open: a test clears it to keep the model busy.
        begun: is set when a batch begins.
        asked: (rows of the table, question, cells of the previous answer) of all questions.
        texts: texts about the cells of the table, of all questions.
        error: is raised for questions with the word "fail".
    """

    class_names = ()
    calibration = None

    def __init__(self):
        self.open, self.begun = threading.Event(), threading.Event()
        self.open.set()
        self.asked, self.texts, self.sizes, self.error = [], [], [], None
        self.value = None

    def ask_batch(self, pairs, batch_size, previous):
        self.begun.set()
        assert self.open.wait(60)
        self.sizes.append(len(pairs))
        answers = []
        for (table, question), before in zip(pairs, previous, strict=True):
            self.asked.append((table.table.rows, question, before and before.coordinates))
            self.texts.append(table.table.texts)
            if self.error and "fail" in question:
                raise self.error
            row, column = table.table.num_rows - 1, table.table.num_columns - 1
            text = table.table.rows[row][column]
            cells = (AnswerCell(row, column, text, 0.5),)
            answers.append(Answer(cells, "NONE", self.value, 0.5, text))
        return answers


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def serving():
    """serving(predictor, **settings): a client of a service of its own."""
    from starlette.testclient import TestClient

    from mate_tf.service.app import application

    with contextlib.ExitStack() as stack:

        def start(predictor, headers=None, **settings):
            settings = Settings(load=lambda: predictor, name="a model", **settings)
            client = TestClient(
                application(settings),
                base_url="http://localhost",
                headers=headers,
                raise_server_exceptions=False,
            )
            return stack.enter_context(client)

        yield start


@pytest.fixture
def client(serving, model):
    """A client of a service with `model`."""
    return serving(model)


def ask(client, question=QUESTION, **given):
    """Posts a question about TABLE, or what is given."""
    return client.post("/v1/ask", json={"table": TABLE, "question": question} | given)


def refusal(response, status):
    """The error of a response with this status: one line of JSON and nothing else."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.text.count("\n") == 1
    assert response.text.endswith("}\n")
    (text,) = response.json().values()
    assert "Traceback" not in text
    assert list(response.json()) == ["error"]
    return text
