"""The tool `ask` of agents, by the Model Context Protocol over standard input and output."""

import asyncio
import io
import pathlib
from collections.abc import Sequence
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

import mate_tf
from mate_tf.errors import InputError, on_one_line
from mate_tf.service import request_values
from mate_tf.service.batching import Batcher, Full, Question
from mate_tf.serving import answer_notes
from mate_tf.serving.prepared import PreparedTable
from mate_tf.tables.limits import Limits
from mate_tf.tables.table import Table

_INSTRUCTIONS = (
    "Answers questions about a table with a small model that runs on this machine. It selects "
    "cells, and counts, sums or averages them; no code is executed. An answer that is not "
    "answerable is a guess."
)
_TEXTS = """\
    texts: texts about cells of the table, in which the answer may be, each with the text of its
        cell: [{"cell": "Ann", "text": "Ann was born in Basel."}].
"""
_ASK = """Answers a question about one table.

Args:
    table: path of a file with the table (CSV, JSON, HTML, workbook, Parquet), below the folder of
        this server; or the table itself as CSV, with a line of column names and at least one row.
    question: a question in English about the table, such as "how many orders are from Bern?".
{texts}
Returns the answer as text, the selected cells (row and column from 0, without the header), the
confidence from 0 to 1, whether the table seems to have an answer, and remarks.
"""


def server(
    predictor, folder: str, limits: Limits, timeout: float = 30.0, reads_texts: bool = False
) -> MCPServer:
    """Returns a server with the tool `ask`.

    Args:
        predictor: a `Predictor`, or what answers as one.
        folder: tables are read from files below it only.
        limits: limits of tables.
        timeout: seconds for an answer.
        reads_texts: whether the tool takes texts about cells, as POINTR reads them.
    """
    made = MCPServer(
        "mate-tf",
        version=mate_tf.__version__,
        instructions=_INSTRUCTIONS,
        log_level="CRITICAL",
    )

    def answer(questions: Sequence[Question]) -> list[Any]:
        return [predictor.ask(each.table, each.text) for each in questions]

    batcher = Batcher(answer, most=1, waiting=16)

    def read(table: str, question: str, texts: list[dict[str, str]] | None) -> Question:
        text = request_values.question({"question": question})
        given = request_values.with_texts({"texts": texts}, table_of(table, folder, limits))
        prepared = PreparedTable(given)
        return Question(prepared, text, None, prepared.table.num_rows)

    async def ask_with_texts(
        table: str, question: str, texts: list[dict[str, str]] | None = None
    ) -> dict[str, Any]:
        try:
            async with asyncio.timeout(timeout):
                asked = await asyncio.to_thread(read, table, question, texts)
                (future,) = batcher.submit([asked])
                answer = await asyncio.wrap_future(future)
        except InputError as error:
            raise ToolError(on_one_line(error)) from None
        except Full:
            raise ToolError("too many questions are waiting; try again later") from None
        except TimeoutError:
            raise ToolError(f"no answer within {timeout:g} s") from None
        kept = ("text", "cells", "confidence", "answerable", "notes", "cuts")
        content = answer.to_json()
        return {"answer": answer_notes.in_words(answer), **{name: content[name] for name in kept}}

    async def ask(table: str, question: str) -> dict[str, Any]:
        return await ask_with_texts(table, question)

    # The arguments of the function are those that the agent sees.
    description = _ASK.replace("{texts}", _TEXTS if reads_texts else "")
    tool = made.tool(name="ask", description=description)
    tool(ask_with_texts if reads_texts else ask)
    return made


def run(predictor, folder: str, limits: Limits, timeout: float, reads_texts: bool) -> None:
    """Serves the tool until standard input ends; arguments as for `server`."""
    server(predictor, folder, limits, timeout, reads_texts).run("stdio")


def table_of(given: str, folder: str, limits: Limits) -> Table:
    """Returns the table that an agent names or writes.

    Args:
        given: CSV of several lines, or the path of a file.
        folder: the file must be below it, also after symbolic links are followed.
        limits: limits of the table.

    Raises:
        InputError: there is no such file, it is elsewhere, or cannot be read.
    """
    if "\n" in given.strip():
        return request_values.file(
            io.BytesIO(given.encode("utf-8", "surrogatepass")), "table.csv", limits
        )
    top = pathlib.Path(folder).resolve()
    try:
        path = (top / given).resolve()
        is_file = path.is_file()
    except (OSError, ValueError):  # too long, a NUL, a loop of links
        is_file = False
    if not given.strip() or not is_file or not path.is_relative_to(top):
        # The same words for both, so that nothing is said about files elsewhere.
        raise InputError(f"{given[:200]!r}: no such file below {top}; or give CSV text")
    return request_values.without_folder(path, limits)
