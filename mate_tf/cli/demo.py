"""--mode=demo: a web page for questions about tables to a trained model."""

import errno
import importlib.util
import os
import socket

from mate_tf.cli.ask import export_dir_of
from mate_tf.cli.checks import check_export, limits, reading
from mate_tf.errors import InputError
from mate_tf.serving import source


def main(flags) -> None:
    """Serves the page until the process is interrupted."""
    if importlib.util.find_spec("gradio") is None:
        raise InputError("--mode=demo needs gradio: pip install -e '.[demo]'")
    _check_port(flags.host, flags.port)
    demo = _pretrained(flags) if flags.init_checkpoint else _exported(flags)
    from mate_tf.demo import page

    page.serve(
        demo, flags.port, flags.host, flags.allowed_hosts, flags.max_upload_mb, limits(flags)
    )


def _pretrained(flags):
    """Loads --init_checkpoint, before `demo.page` is imported: that turns the hub off."""
    from mate_tf.cli.pretrained import load_predictor

    predictor = load_predictor(flags)
    from mate_tf.demo import session

    conversational = source.find(flags.init_checkpoint).task == "SQA"
    return session.Demo(predictor, predictor.model, conversational, flags.init_checkpoint)


def _exported(flags):
    """Loads an export and its checkpoint, if there is one."""
    if not (flags.task or flags.config_file):
        export_dir = export_dir_of(flags)
        check_export(export_dir)  # raises before TensorFlow, which takes seconds to load
    from mate_tf.cli.job import Job
    from mate_tf.demo import session

    if flags.task or flags.config_file:
        job = Job.from_flags(flags)
        export_dir, model_dir = job.export_dir, job.model_dir
    else:
        model_dir = flags.model_dir or os.path.dirname(os.path.abspath(export_dir))
    if not flags.model_dir and not session.has_checkpoint(model_dir):
        model_dir = None
    return session.Demo.load(export_dir, model_dir, reading(flags))


def _check_port(host: str, port: int) -> None:
    """Raises InputError if --host is no address of this machine, or --port is in use."""
    host = host.strip("[]")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or error
            in_use = getattr(error, "errno", None) in (errno.EADDRINUSE, errno.EACCES)
            flag = f"--port={port}" if in_use else f"--host={host}"
            raise InputError(f"{flag}: cannot be used ({reason}); give another") from error
