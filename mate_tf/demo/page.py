"""The web page, made with gradio. It sends no requests to other machines."""

import dataclasses
import os
import secrets
from collections.abc import Sequence
from importlib import resources
from typing import Any

# Gradio reads these when it is imported: no telemetry, no requests to the Hugging Face Hub.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

import gradio as gr
from fastapi import FastAPI
from starlette.middleware import Middleware

from mate_tf.analysis.attention import flow as attention_flow
from mate_tf.demo import (
    below,
    events,
    examples,
    mounted,
    reading,
    rendering,
    server,
    session,
    speed,
    uploads,
)
from mate_tf.demo.sizes import Sizes
from mate_tf.service import guard
from mate_tf.tables import cell_texts, html
from mate_tf.tables.limits import MIB, Limits

TITLE = "mate-tf: ask a table"
HOST = "127.0.0.1"
MAX_UPLOAD = 128
"""Largest upload, in MiB."""

SESSIONS, WAITING = 100, 100
"""Visitors whose tables are kept, and questions that wait for their turn."""

_AS_IT_IS = "as it is"
_NO_MODEL = (
    "To see attention and speed, start the page with --model_dir, the folder of a trained model."
)


def serve(
    demo: session.Demo,
    port: int,
    host: str = HOST,
    allowed_hosts: Sequence[str] = (),
    max_upload: int = MAX_UPLOAD,
    limits: Limits | None = None,
    root_path: str = "",
) -> None:
    """Prints the address and serves the page until the process is interrupted.

    Uploads are removed at the end, however it comes.

    Args:
        demo: the model.
        port: the port.
        host: the address to serve. If other machines reach it, visitors need the token in the
            address that is printed.
        allowed_hosts: names by which browsers may ask for the page, besides the obvious ones.
        max_upload: largest upload, in MiB.
        limits: limits of tables; by default `Limits()`.
        root_path: path or address of the page behind a proxy, such as "/tables".

    Raises:
        InputError: if `root_path` is neither a path nor an address.
        OSError: if the port is in use, or the address is not one of this machine's.
    """
    root = below.check(root_path)
    token = "" if guard.is_local(host) else secrets.token_urlsafe(32)
    with guard.listening(host, port) as listening, uploads.folder() as folder:
        layers = middleware(guard.hosts(host, allowed_hosts), token, folder, max_upload * MIB)
        app = application(demo, below_path(layers, root), limits, root)
        address = f"http://{guard.shown(host)}:{port}"
        address = root if "://" in root else f"{address}{root}"
        address += f"/?token={token}" if token else ""
        with server.running(app, listening, guard.HEADERS) as thread:
            print(f"demo | {address}", flush=True)
            while thread.is_alive():
                thread.join(1)


def middleware(
    names: Sequence[str], token: str, folder: str, largest_upload: int
) -> list[Middleware]:
    """Returns what a request passes through before it reaches the page.

    Args:
        names: hosts by which browsers may ask for it, from `guard.hosts`.
        token: what visitors must know; "" for none.
        folder: folder of the uploads.
        largest_upload: in bytes.
    """
    sizes = Middleware(Sizes, folder=folder, largest_upload=largest_upload)
    return [*guard.middleware(names, token), sizes]


def below_path(layers: Sequence[Middleware], root: str) -> list[Middleware]:
    """Returns what a request passes through if the page is below a path, from `below.check`."""
    return [Middleware(below.Below, root=root), *layers]


def application(
    demo: session.Demo, middleware: Sequence, limits: Limits | None = None, root: str = ""
) -> FastAPI:
    """Returns the page as an application, behind what requests must pass through.

    `root` is the path or address that browsers have it below, from `below.check`.
    """
    blocks = page(demo, limits)
    blocks.queue(max_size=WAITING)
    blocks.state_session_capacity = SESSIONS
    blocks.has_launched = True  # otherwise gradio lets an event name any file as its upload
    app = FastAPI(middleware=list(middleware), docs_url=None, redoc_url=None, openapi_url=None)
    return mounted.mount(
        app,
        blocks,
        root_path=root,
        app_kwargs={"docs_url": None, "redoc_url": None, "openapi_url": None},
        footer_links=[],
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        mcp_server=False,
        show_error=False,
        theme=gr.themes.Base(  # pyright: ignore[reportPrivateImportUsage]  public in its docs
            font=["system-ui", "sans-serif"], font_mono=["monospace"]
        ),
        css=(resources.files("mate_tf.demo") / "page.css").read_text("utf-8") + html.style(),
    )


def page(demo: session.Demo, limits: Limits | None = None) -> gr.Blocks:
    """Returns the page of a model; `limits` are those of tables, by default `Limits()`."""
    with gr.Blocks(title=TITLE, analytics_enabled=False) as blocks:
        gr.HTML(rendering.title_html(TITLE, demo.description), elem_id="title")
        talk = gr.State(session.Conversation())
        with gr.Row(equal_height=False):
            with gr.Column(scale=2, min_width=320):
                inputs = _inputs(demo)
            with gr.Column(scale=5, min_width=320):
                message = gr.HTML(elem_id="message")
                answer = gr.HTML(elem_id="answer")
                view = _view_controls(demo)
                shown = gr.HTML(rendering.note_html("No table yet."), elem_id="table")
        _speed(demo, talk)
        _connect(demo, limits, talk, inputs, view, [talk, message, answer, shown])
    return blocks


def _inputs(demo) -> dict:
    """Adds the inputs for table and question. Returns name -> component."""
    shown = examples.for_task(demo.task)
    inputs: dict[str, Any] = {"examples": shown}
    with gr.Tabs():
        with gr.Tab("Paste"):
            inputs["text"] = gr.Textbox(
                shown[0].text,
                lines=8,
                max_lines=14,
                label="CSV or TSV, header first",
                elem_id="pasted",
            )
            inputs["read"] = gr.Button("Show the table", size="sm", elem_id="read")
        with gr.Tab("Upload"):
            inputs["file"] = gr.File(
                label="CSV, TSV, JSON or XLSX",
                file_types=[".csv", ".tsv", ".json", ".txt", ".xlsx"],
                type="filepath",
                height=160,
                elem_id="file",
            )
    if demo.reads_texts:
        inputs["texts"] = gr.File(
            label="Texts about cells: CELL.txt or JSON lines",
            file_count="multiple",
            file_types=[cell_texts.TEXT, cell_texts.LINES],
            type="filepath",
            height=120,
            elem_id="texts",
        )
    inputs["question"] = gr.Textbox(
        label="Question", placeholder="about the table", max_lines=4, elem_id="question"
    )
    inputs["follow_up"] = gr.Checkbox(
        demo.conversational,
        label="refers to the previous answer",
        visible=not demo.reads_texts,
        elem_id="follow-up",
    )
    with gr.Row():
        inputs["ask"] = gr.Button("Ask", variant="primary", elem_id="ask")
        inputs["reset"] = gr.Button("Reset", elem_id="reset")
    inputs["choice"] = gr.Dataset(
        components=[gr.Textbox(visible=False)],
        samples=[[f"{example.name}: {example.question}"] for example in shown],
        headers=["Examples"],
        label="Examples: click to ask",
        type="index",
        elem_id="examples",
    )
    return inputs


def _view_controls(demo) -> list:
    """Adds the controls of the attention heat map: on or off, source, heads, layer."""
    if not demo.has_model:
        if not demo.reads_texts:
            gr.HTML(rendering.note_html(_NO_MODEL))
        return []
    with gr.Row(elem_id="view"):
        return [
            gr.Checkbox(label="attention heat map", elem_id="heat", min_width=160),
            gr.Radio(
                [session.CHOSEN, session.QUESTION],
                value=session.CHOSEN,
                label="from the",
                elem_id="source",
            ),
            gr.Radio(
                demo.head_types, value=attention_flow.ALL_HEADS, label="heads", elem_id="heads"
            ),
            gr.Dropdown(
                demo.layers,
                value=session.ALL_LAYERS,
                label="layer",
                filterable=False,
                min_width=120,
                elem_id="layer",
            ),
        ]


def _speed(demo, talk) -> None:
    """Adds the comparison of the variants' speed on the last question."""
    if not demo.has_model:
        return
    with gr.Accordion("Compare speed", open=False, elem_id="speed"):
        with gr.Row():
            names = gr.CheckboxGroup(
                demo.variants, value=["full", "mate_efficient"], label="attention", scale=3
            )
            length = gr.Dropdown(
                [_AS_IT_IS, *map(str, speed.LENGTHS)],
                value=_AS_IT_IS,
                label="padded to tokens",
                filterable=False,
                elem_id="length",
            )
            compare = gr.Button("Compare", elem_id="compare")
        timings = gr.HTML(elem_id="timings")

    def run(talk, names, length):
        tokens = 0 if length == _AS_IT_IS else int(length)
        with events.Caught() as caught:
            for state in demo.compare(talk, names, tokens):
                yield rendering.timings_html(*state)
        if caught.message:
            yield rendering.error_html(caught.message)

    compare.click(run, [talk, names, length], timings, **events.EVENT)


def _connect(demo, limits, talk, inputs, view, outputs) -> None:
    """Connects the controls to their handlers. Every event updates answer and table."""

    def event(change):
        def run(talk, *values):
            own, switches = values[: len(values) - len(view)], values[len(values) - len(view) :]
            with events.Caught() as caught:
                talk = change(talk, *own)
            shown = ""
            with events.Caught() as caught_in_view:
                talk, shown = _shown(demo, talk, *switches)
            message = caught.message or caught_in_view.message
            turns = [(turn.question, turn.answer) for turn in talk.turns]
            return talk, rendering.error_html(message), rendering.answer_html(turns), shown

        return run

    def read(talk, text):
        return talk.about(reading.pasted(text, limits), text)

    def upload(talk, path):
        # Without a path the user has removed the file.
        table = reading.uploaded(path, limits) if path else None
        return talk.about(table)

    def add_texts(talk, paths):
        found = reading.texts(paths or ())
        if found and talk.table is not None:
            cell_texts.add(talk.table, found, "texts")  # raises if none is about a cell
        return dataclasses.replace(talk, texts=found, turns=())

    def ask(talk, text, question, follow_up):
        # Text pasted since the last event replaces the table, also without a click on "Show".
        if text.strip() and text != talk.pasted and (talk.pasted or talk.table is None):
            talk = read(talk, text)
        return demo.ask(talk, question, follow_up)

    def ask_example(talk, text, *of_question):
        if text != talk.pasted:
            talk = read(talk, text)
        return ask(talk, text, *of_question)

    def reset(talk):
        return talk.about(talk.table, talk.pasted)

    text, question = inputs["text"], [inputs["text"], inputs["question"], inputs["follow_up"]]
    texts = [(inputs["texts"].change, add_texts, [inputs["texts"]])] if demo.reads_texts else []
    for listen, change, values in (
        *texts,
        (inputs["read"].click, read, [text]),
        (inputs["file"].change, upload, [inputs["file"]]),
        (inputs["ask"].click, ask, question),
        (inputs["question"].submit, ask, question),
        (inputs["reset"].click, reset, []),
    ):
        listen(event(change), [talk, *values, *view], outputs, **events.EVENT).then(**events.SCROLL)
    for control in view:
        control.input(event(lambda talk: talk), [talk, *view], outputs, **events.EVENT)
    # The old question is not about the new table. It goes at once, before a new one is typed.
    gr.on(
        [inputs["read"].click, inputs["file"].change],
        lambda: "",
        None,
        inputs["question"],
        queue=False,
        api_visibility="private",
    )

    def choose(number):
        example = inputs["examples"][number]
        return example.text, example.question, False

    # A new table: its question does not refer to the answer before.
    chosen = inputs["choice"].click(choose, [inputs["choice"]], question, **events.EVENT)
    answered = chosen.then(event(ask_example), [talk, *question, *view], outputs, **events.EVENT)
    answered.then(**events.SCROLL)


def _shown(demo, talk, heat=False, *switches) -> tuple[session.Conversation, str]:
    """Returns the conversation, with attention if needed, and the table's HTML."""
    if talk.table is None:
        return talk, rendering.note_html("No table yet.")
    if not talk.turns:
        return talk, html.table_html(talk.table)
    if heat:
        talk = demo.attend(talk)
        shading = demo.attention_shading(talk.turns[-1], *switches)
    else:
        shading = rendering.answer_shading(talk.table, talk.turns[-1].answer)
    turn = talk.turns[-1]
    return talk, html.table_html(talk.table, turn.answer.coordinates, shading, read=turn.read)
