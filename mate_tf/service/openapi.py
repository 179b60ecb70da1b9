"""The service's description: an OpenAPI document, and a page of plain HTML made of it."""

import html
import itertools
import json
from typing import Any

import mate_tf
from mate_tf.service import request_values
from mate_tf.service.settings import LARGEST_JSON, Settings
from mate_tf.tables.limits import MIB

_ERRORS = {
    "400": "The request is not understood, or the table cannot be read.",
    "401": "The token is missing.",
    "403": "A page of another site has sent the request.",
    "404": "There is no table with this id (any more).",
    "413": "The request is too large.",
    "415": "The body is neither JSON nor a form.",
    "429": "Too many questions are waiting.",
    "503": "The service is stopping.",
    "504": "There was no answer in time.",
}
_RETRIED = ("429", "503", "504")  # statuses with the header Retry-After


def _ref(name: str) -> dict:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(properties: dict, required: list[str] | None = None) -> dict:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required} if required else {})


_VALUE = {"type": ["string", "number", "boolean", "null"]}
_ROW = {"type": "array", "items": _VALUE}
_CELL = {
    "row": {"type": "integer", "minimum": 0, "description": "From 0; the header is not a row."},
    "column": {"type": "integer", "minimum": 0},
    "text": {"type": "string"},
    "probability": {"type": "number"},
}
_QUESTION = {
    "table_id": {"type": "string", "description": "Id of a table that was posted before."},
    "question": {"type": "string", "maxLength": request_values.LONGEST_QUESTION},
    "previous": {
        "type": ["array", "null"],
        "items": _object(_CELL, ["row", "column"]),
        "description": '"cells" of the answer that the question refers to.',
    },
}
_FILE = {
    "type": "string",
    "format": "binary",
    "description": (
        "CSV and other text, JSON, JSON lines, HTML, a workbook, Parquet, or one of them packed by "
        "gzip or zip. Databases are not read."
    ),
}
_ABOUT_CELLS = {
    "type": ["array", "null"],
    "items": _object({"cell": {"type": "string"}, "text": {"type": "string"}}, ["cell", "text"]),
    "description": "Texts about the cells that read so, for a model that reads them.",
}
_JSON_TEXT = {"type": "string", "description": "The same, JSON."}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_SCHEMAS = {
    "Table": {
        "description": (
            "Rows, the header first; objects, one per row; lists by the names of the columns; or "
            'an object with "columns" and "rows".'
        ),
        "anyOf": [
            {"type": "array", "items": _ROW, "minItems": 2},
            {
                "type": "array",
                "items": {"type": "object", "additionalProperties": _VALUE},
                "minItems": 1,
            },
            {
                "type": "object",
                "anyOf": [
                    {
                        "properties": {header: _ROW, rows: {"type": "array", "minItems": 1}},
                        "required": [header, rows],
                    }
                    for header, rows in itertools.product(("columns", "header"), ("rows", "data"))
                ],
            },
            {"type": "object", "additionalProperties": _ROW},
        ],
    },
    "Question": _object({"table": _ref("Table"), **_QUESTION, "texts": _ABOUT_CELLS}, ["question"])
    | {"oneOf": [{"required": ["table"]}, {"required": ["table_id"]}]},
    "QuestionForm": _object(
        {
            "file": _FILE,
            **_QUESTION,
            "previous": _JSON_TEXT,
            "texts": _JSON_TEXT,
        },
        ["question"],
    )
    | {"oneOf": [{"required": ["file"]}, {"required": ["table_id"]}]},
    "PostedTable": _object({"table": _ref("Table"), "texts": _ABOUT_CELLS}, ["table"]),
    "TableForm": _object({"file": _FILE, "texts": _JSON_TEXT}, ["file"]),
    "StoredTable": _object(
        {
            "table_id": {"type": "string"},
            "rows": {"type": "integer"},
            "columns": _TEXTS,
            "unread": {"type": "string", "description": "What the limits left out, in words."},
        },
        ["table_id", "rows", "columns", "unread"],
    ),
    "Answer": _object(
        {
            "text": {"type": "string", "description": "The answer in words."},
            "cells": {"type": "array", "items": _object(_CELL, list(_CELL))},
            "aggregation": {"enum": ["NONE", "SUM", "AVERAGE", "COUNT"]},
            "value": {"type": ["number", "null"]},
            "probability": {"type": ["number", "null"]},
            "confidence": {
                "type": ["number", "null"],
                "description": "Estimated share of right answers among those as sure as this one.",
            },
            "answerable": {"type": "boolean"},
            "notes": _TEXTS,
            "cuts": {**_TEXTS, "description": "What was not read."},
            "table_id": {"type": "string"},
        },
        ["text", "cells", "aggregation", "value", "answerable", "table_id"],
    ),
    "Models": _object(
        {
            "models": {
                "type": "array",
                "items": _object(
                    {
                        "name": {"type": "string"},
                        "classes": {**_TEXTS, "description": "Of a model that classifies."},
                        "reads_texts": {"type": "boolean"},
                        "has_confidence": {"type": "boolean"},
                        "limits": {
                            "type": "object",
                            "additionalProperties": {"type": "integer"},
                            "description": "Limits of tables.",
                        },
                    }
                ),
            }
        },
        ["models"],
    ),
    "Health": _object({"status": {"const": "ok"}}, ["status"]),
    "Error": _object({"error": {"type": "string"}}, ["error"]),
}


def _json(schema: dict) -> dict:
    return {"application/json": {"schema": schema}}


def _operation(
    name: str, summary: str, answer: dict, bodies: dict | None = None, errors: str = ""
) -> dict[str, Any]:
    """Returns an operation; `errors` are its statuses besides 200."""
    responses = {"200": {"description": "The answer.", "content": answer}}
    for status in errors.split():
        responses[status] = {"description": _ERRORS[status], "content": _json(_ref("Error"))}
        if status in _RETRIED:
            header = {"description": "Seconds.", "schema": {"type": "integer"}}
            responses[status]["headers"] = {"Retry-After": header}
    operation = {"operationId": name, "summary": summary, "responses": responses}
    return operation | ({"requestBody": {"required": True, "content": bodies}} if bodies else {})


def _form(name: str) -> dict:
    return {"multipart/form-data": {"schema": _ref(name)}}


_TEXT = {"text/plain": {"schema": {"type": "string"}}}
_ALL = "400 401 403 404 413 415 429 503 504"
_GUARDED = "400 401 403"

PATHS = {
    "/v1/ask": {
        "post": _operation(
            "ask",
            "Answers a question about a table",
            _json(_ref("Answer")),
            _json(_ref("Question")) | _form("QuestionForm"),
            _ALL,
        )
    },
    "/v1/ask_batch": {
        "post": _operation(
            "ask_batch",
            "Answers several questions, in their order",
            _json({"type": "array", "items": _ref("Answer")}),
            _json({"type": "array", "items": _ref("Question"), "minItems": 1}),
            _ALL,
        )
    },
    "/v1/tables": {
        "post": _operation(
            "add_table",
            "Stores a table for questions that name its id",
            _json(_ref("StoredTable")),
            _json(_ref("PostedTable")) | _form("TableForm"),
            "400 401 403 413 415 429 503 504",
        )
    },
    "/v1/models": {
        "get": _operation("models", "Describes the model", _json(_ref("Models")), None, _GUARDED)
    },
    "/healthz": {
        "get": _operation(
            "health",
            "Says whether questions are answered; needs no token",
            _json(_ref("Health")),
            None,
            "400 403 503",
        )
    },
    "/metrics": {"get": _operation("metrics", "Counts, for Prometheus", _TEXT, None, _GUARDED)},
    "/openapi.json": {
        "get": _operation("openapi", "This document", _json({"type": "object"}), None, _GUARDED)
    },
    "/docs": {
        "get": _operation(
            "docs",
            "A page that lists all of this",
            {"text/html": {"schema": {"type": "string"}}},
            None,
            _GUARDED,
        )
    },
}
"""Path -> its operations."""

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}"
    "code,pre{background:#8882;border-radius:4px;padding:.1em .3em}pre{overflow:auto;padding:1em}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}"
)


def document(settings: Settings) -> dict[str, Any]:
    """Returns the OpenAPI document of a service."""
    described = {
        "openapi": "3.1.0",
        "info": {
            "title": "mate-tf",
            "version": mate_tf.__version__,
            "description": (
                f"Questions about tables, answered by {settings.name}. JSON has at most "
                f"{LARGEST_JSON // MIB} MiB, a file {settings.largest // MIB} MiB. Questions are "
                f"answered within {settings.timeout:g} s."
            ),
        },
        "paths": PATHS,
        "components": {"schemas": _SCHEMAS},
    }
    if settings.token:
        described["components"] = {
            **described["components"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        }
        described["security"] = [{"token": []}]
    return described


def page(settings: Settings) -> str:
    """Returns the document as HTML that loads nothing."""
    about = document(settings)
    parts = [f"<h1>mate-tf {html.escape(about['info']['version'])}</h1>"]
    parts.append(f"<p>{html.escape(about['info']['description'])}")
    parts.append(' The same as <a href="openapi.json">OpenAPI</a>.</p>')
    for path, operations in PATHS.items():
        for method, operation in operations.items():
            parts.append(f"<h2><code>{method.upper()} {path}</code></h2>")
            parts.append(f"<p>{html.escape(operation['summary'])}.</p>")
            bodies = operation.get("requestBody", {}).get("content", {})
            rows = [(f"body, {kind}", _shown(each["schema"])) for kind, each in bodies.items()]
            for status, response in operation["responses"].items():
                for kind, each in response["content"].items():
                    what = html.escape(response["description"])
                    shown = f"{kind} {_shown(each['schema'])}" if status == "200" else ""
                    rows.append((status, f"{what} {shown}"))
            items = "".join(f"<li><b>{name}</b>: {shown}</li>" for name, shown in rows)
            parts.append(f"<ul>{items}</ul>")
    for name, schema in _SCHEMAS.items():
        text = html.escape(json.dumps(schema, indent=2))
        parts.append(f'<h2 id="{name}">{name}</h2><pre>{text}</pre>')
    head = f'<meta charset="utf-8"><title>mate-tf</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>'


def _shown(schema: dict) -> str:
    """Returns a link to a schema, or its type."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{name}">{name}</a>'
    if schema["type"] == "array":
        return f"list of {_shown(schema['items'])}"
    return schema["type"]
