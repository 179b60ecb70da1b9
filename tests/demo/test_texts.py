"""The page of a model that reads texts about cells, without a browser."""

import os
import threading

import pytest

from mate_tf.demo import session
from mate_tf.serving.answer import Answer

from .. import chromium
from ..page_client import Visitor

pytestmark = pytest.mark.environment


class Reader:
    """Stands in for POINTR: answers with the texts of the table."""

    def ask(self, table, question, previous=None):
        return Answer((), "NONE", None, 0.5, "; ".join(text for _, text in table.texts))


@pytest.fixture(scope="module")
def port():
    chromium.require("gradio")
    from mate_tf.demo import page, server, uploads
    from mate_tf.service import guard

    demo = session.Demo(Reader(), None, "HYBRIDQA", "both stages", reads_texts=True)
    with guard.listening("127.0.0.1", 0) as listening, uploads.folder() as folder:
        number = listening.getsockname()[1]
        layers = page.middleware(guard.hosts("127.0.0.1", ()), "", folder, 2**20)
        app = page.application(demo, layers)
        with server.running(app, listening, guard.HEADERS) as thread:
            assert isinstance(thread, threading.Thread)
            yield number


def test_texts_stay_when_the_table_changes(port):
    visitor = Visitor(port)
    sent = visitor.upload("Ann.txt", b"Ann is a nurse.") + visitor.upload("Eve.txt", b"Eve sings.")
    files = [
        {"path": path, "meta": {"_type": "gradio.FileData"}, "orig_name": os.path.basename(path)}
        for path in sent
    ]
    visitor.event("texts", "change", {"texts": files})
    assert not any(os.path.exists(path) for path in sent)
    for name, text in (("Ann", "Ann is a nurse."), ("Eve", "Eve sings.")):
        given = {"pasted": f"name\n{name}\n", "question": "who?"}
        shown = visitor.event("ask", "click", given)
        assert text in shown["answer"], shown
    shown = visitor.event("ask", "click", {"pasted": "name\nBob\n", "question": "who?"})
    assert "none of the 2 texts is about a cell" in shown["message"]
    visitor.event("texts", "change", {"texts": None})
    shown = visitor.event("ask", "click", {"pasted": "name\nBob\n", "question": "who?"})
    assert "none of" not in shown["message"]
