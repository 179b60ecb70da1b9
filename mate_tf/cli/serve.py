"""--mode=serve and --mode=mcp: answers over HTTP, and as a tool of agents."""

import functools
import importlib.util
import os
import secrets
import types

from mate_tf.cli import ask, checks, signals
from mate_tf.errors import InputError
from mate_tf.tables.limits import MIB

TOKEN = "MATE_TF_TOKEN"
"""Environment variable with the token of the service; without it one is made where it is needed."""

_SERVE = ("starlette", "uvicorn", "h11", "prometheus_client", "python_multipart")


def serve(flags) -> None:
    """Serves answers over HTTP until the process is interrupted."""
    _require("serve", _SERVE)
    ask.check_port(flags.host, flags.port)
    load, name = _model(flags)
    from mate_tf.service import guard, server
    from mate_tf.service.settings import Settings

    token = os.environ.get(TOKEN, "")
    if not token and not guard.is_local(flags.host):
        token = secrets.token_urlsafe(32)
    settings = Settings(
        load=load,
        name=name,
        reads_texts=ask.reads_texts(flags),
        hosts=tuple(guard.hosts(flags.host, flags.allowed_hosts)),
        token=token,
        limits=checks.limits(flags),
        largest=flags.max_upload_mb * MIB,
        most=flags.max_batch,
        waiting=flags.max_waiting,
        timeout=flags.timeout,
        max_tables=flags.max_tables,
        max_tables_bytes=flags.max_tables_mb * MIB,
    )
    with signals.patient(settings.timeout + server.GRACE):
        server.serve(settings, flags.host, flags.port, flags.workers)


def mcp(flags) -> None:
    """Answers an agent that has started this process, over its standard input and output."""
    _require("mcp", ("mcp",))
    folder = flags.folder or os.getcwd()
    if not os.path.isdir(folder):
        raise InputError(f"--folder={folder}: no such folder")
    load, _ = _model(flags)
    from mate_tf.service import agents

    agents.run(load(), folder, checks.limits(flags), flags.timeout, ask.reads_texts(flags))


def _require(mode: str, modules: tuple[str, ...]) -> None:
    """Raises InputError if the extra of a mode is not installed."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"--mode={mode} needs {missing[0]}: pip install 'mate-tf[{mode}]'")


def _model(flags) -> tuple:
    """Returns a function that loads the model, which can be pickled, and the model's name.

    Raises:
        InputError: if no model is named, or an export is not there.
    """
    name = flags.init_checkpoint
    if not name:
        name = ask.export_dir_of(flags)
        checks.check_export(name)
    # Flags of absl cannot be pickled.
    values = types.SimpleNamespace(**{each: flags[each].value for each in flags})
    shown = os.path.basename(os.path.abspath(name)) if os.path.exists(name) else name
    return functools.partial(_load, values), shown


def _load(flags):
    """Loads the model, and answers questions until its graph is made, which takes seconds."""
    predictor, calls = ask.load(flags), 1
    if "tensorflow" in predictor.engine:
        from mate_tf.serving import served_model

        calls += served_model.EAGER_CALLS
    table = {"name": ["Ann", "Bob"], "age": ["31", "45"]}
    for _ in range(calls):
        predictor.ask(table, "how old is Bob?")
    return predictor
