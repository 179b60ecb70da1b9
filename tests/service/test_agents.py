"""The tool `ask`: what it answers, what it reads, and what it refuses; over stdio as a command."""

import asyncio
import json
import os
import sys

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from mate_tf.errors import InputError
from mate_tf.service import agents
from mate_tf.serving.answer import Answer, AnswerCell
from mate_tf.tables.limits import Limits

CSV = "name,age\nAnn,31\nBob,45\n"


class Model:
    """Answers with the last cell; fails as a program does for the question "fail"."""

    def ask(self, table, question):
        if question == "fail":
            raise ZeroDivisionError("secret")
        if question == "slow":
            import time

            time.sleep(1)
        if question == "wrong":
            raise InputError("cannot be\nread")
        text = table.table.rows[-1][-1]
        cells = (AnswerCell(1, 1, text, 0.5),)
        return Answer(cells, "NONE", None, 0.5, text, ("a cut",), 0.4, True, ("a note",))


@pytest.fixture
def folder(tmp_path):
    """A folder of tables; secret.csv is beside it, links lead to it."""
    (tmp_path / "secret.csv").write_text("word,number\nsecret,1\n")
    top = tmp_path / "tables"
    (top / "deep").mkdir(parents=True)
    (top / "table.csv").write_text(CSV)
    (top / "deep" / "table.csv").write_text(CSV)
    (top / "link.csv").symlink_to(tmp_path / "secret.csv")
    (top / "out").symlink_to(tmp_path)
    os.mkfifo(top / "pipe.csv")
    return top


@pytest.fixture
def call(folder):
    """call(**arguments): result of the tool."""

    def run(timeout=10.0, limits=None, **arguments):
        async def answered():
            server = agents.server(Model(), str(folder), limits or Limits(), timeout)
            async with Client(server) as client:
                return await client.call_tool("ask", arguments)

        return asyncio.run(answered())

    return run


def test_the_tool(folder):
    async def listed():
        async with Client(agents.server(Model(), str(folder), Limits())) as client:
            return (await client.list_tools()).tools

    (tool,) = asyncio.run(listed())
    assert tool.name == "ask"
    assert tool.input_schema["required"] == ["table", "question"]
    assert "below the folder" in tool.description
    assert "texts" not in str(tool.input_schema) + tool.description


@pytest.mark.parametrize("table", [CSV, "table.csv", "deep/table.csv", "deep/../table.csv"])
def test_answers(call, table):
    result = call(table=table, question="how old is Bob?")
    assert not result.is_error
    assert result.structured_content == {
        "answer": "45 (unsure, confidence 40 %)",
        "text": "45",
        "cells": [{"row": 1, "column": 1, "text": "45", "probability": 0.5}],
        "confidence": 0.4,
        "answerable": True,
        "notes": ["a note"],
        "cuts": ["a cut"],
    }
    assert json.loads(result.content[0].text) == result.structured_content


class Reader:
    """Answers with the texts of the table."""

    def ask(self, table, question):
        text = "; ".join(text for _, text in table.table.texts)
        return Answer((), "NONE", None, 0.5, text)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([{"cell": "Ann", "text": "born in Basel"}], "born in Basel"),
        (None, ""),
        ([{"cell": "Zoe", "text": "born in Bonn"}], "none of the 1 texts is about a cell"),
        ([{"cell": "Ann", "text": " "}], "'text' is not a text"),
    ],
)
def test_texts_about_cells(folder, texts, said):
    server = agents.server(Reader(), str(folder), Limits(), reads_texts=True)

    async def answered():
        async with Client(server) as client:
            (tool,) = (await client.list_tools()).tools
            given = {"table": CSV, "question": "where was Ann born?", "texts": texts}
            return tool, await client.call_tool("ask", given)

    tool, result = asyncio.run(answered())
    assert tool.input_schema["required"] == ["table", "question"]
    assert "Ann was born in Basel" in tool.description
    assert "{" not in tool.description.replace('{"cell"', "")
    assert said in result.content[0].text.replace('\\"', "'").replace('"text" is', "'text' is")


@pytest.mark.parametrize(
    "table",
    [
        *("../secret.csv", "link.csv", "out/secret.csv", "absent.csv", "", " ", ".", "deep"),
        *("pipe.csv", "/etc/passwd", "table.csv\0", "x" * 5000, "sqlite:///table.csv"),
        *("table.csv#t", "~/secret.csv", "file:///etc/passwd", "deep/../../secret.csv"),
    ],
)
def test_other_files_are_not_read(call, table):
    result = call(table=table, question="q")
    assert result.is_error
    assert "no such file below" in result.content[0].text
    assert "secret,1" not in result.content[0].text


def test_an_absolute_path_below_the_folder(call, folder):
    assert not call(table=str(folder / "table.csv"), question="q").is_error


@pytest.mark.parametrize(
    ("question", "text"),
    [("", "question: is empty"), ("wrong", "cannot be read"), ("slow", "no answer within 0.5 s")],
)
def test_errors(call, question, text):
    result = call(timeout=0.5, table=CSV, question=question)
    assert result.is_error
    assert result.content[0].text == f"Error executing tool ask: {text}"


def test_an_error_of_the_program_is_not_shown(call):
    result = call(table=CSV, question="fail")
    assert result.is_error
    assert result.content[0].text == "Error executing tool ask"


def test_limits(call, folder):
    (folder / "wide.csv").write_text("a,b,c,d\n1,2,3,4\n")
    for table in ("wide.csv", "a,b,c,d\n1,2,3,4\n"):
        result = call(limits=Limits(max_table_columns=3), table=table, question="q")
        assert result.is_error
        assert "at most 3 are allowed (max_table_columns)" in result.content[0].text
        assert str(folder) not in result.content[0].text


def test_the_command(project, folder):
    """`mate-tf mcp` with the preset, over its standard input and output."""
    arguments = [str(project / "run_task_main.py"), "mcp", f"--folder={folder}"]
    command = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))

    async def answered():
        async with Client(stdio_client(command)) as client:
            results = []
            for table in ("table.csv", CSV, "../secret.csv"):
                arguments = {"table": table, "question": "how old is Bob?"}
                results.append(await client.call_tool("ask", arguments))
            return results

    *found, refused = asyncio.run(answered())
    for result in found:
        content = result.structured_content
        assert content["text"] == "45"
        assert [(cell["row"], cell["column"]) for cell in content["cells"]] == [(1, 1)]
        assert 0 < content["confidence"] < 1
    assert refused.is_error
