"""Entry point: parses the flags, runs a mode, reports bad input in one line with exit code 2."""

import importlib
import os
import sys

from absl import flags

from mate_tf import errors
from mate_tf.cli import flags as flag_definitions
from mate_tf.cli import pipelines

USAGE = """Table question answering with sparse attention (MATE).

  {program} --config_file=configs/quickstart.yaml
  {program} --task=SQA --mode=create_data --input_dir=data/sqa --bert_vocab_file=vocab.txt
  {program} --mode=ask --export_dir=out/quickstart/model/export --table=my.csv --question="..."

Modes:
{modes}

Flags:
"""

BAD_INPUT = 2
INTERRUPTED = 130


def _help(program: str) -> str:
    modes = "\n".join(f"  {name:22}{text}" for name, text in flag_definitions.MODES.items())
    listing = flags.FLAGS.module_help(flag_definitions).partition("\n")[2]
    return USAGE.format(program=program, modes=modes) + listing


def _quiet_tensorflow() -> None:
    """Hides TensorFlow's start-up messages. Must run before TensorFlow is imported.

    They include an error on every machine without a GPU. Later errors are also raised as
    exceptions, so none is lost.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")


def _mode(flags):
    """Returns the function that runs --mode."""
    pipeline = pipelines.find(flags)
    module = pipeline.module if pipeline else f"mate_tf.cli.{flags.mode}"
    return importlib.import_module(module).main


def run(argv: list[str] | None = None) -> None:
    """Runs the command line and exits: 0 done, 2 bad input, 130 interrupted."""
    argv = list(sys.argv if argv is None else argv)
    program = os.path.basename(argv[0])
    try:
        if {"--help", "-h", "-help", "--helpfull"} & set(argv[1:]):
            print(_help(program), flush=True)
            sys.exit(0)
        for flag in flag_definitions.FLAGS.flags_by_module_dict()[flag_definitions.__name__]:
            flag.unparse()  # clears the values of an earlier call, as in a notebook
        extra = flag_definitions.FLAGS(argv)[1:]
        if extra:
            raise errors.InputError(f"arguments without a flag: {' '.join(extra)}")
        _quiet_tensorflow()
        _mode(flag_definitions.FLAGS)(flag_definitions.FLAGS)
    except BrokenPipeError:  # the reader of the output, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (errors.InputError, flags.Error, OSError) as error:
        print(f"{program}: {errors.on_one_line(error)}", file=sys.stderr, flush=True)
        if isinstance(error, errors.LostWorkerError):
            sys.stdout.flush()
            os._exit(BAD_INPUT)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        print(f"{program}: interrupted; run the same command to resume", file=sys.stderr)
        sys.exit(INTERRUPTED)
