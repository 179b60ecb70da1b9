"""Entry point: parses the flags, runs a mode, reports bad input in one line with exit code 2."""

import contextlib
import os
import sys

from absl import flags

from mate_tf import errors
from mate_tf.cli import checks, modes, signals, streams, tapas_flags
from mate_tf.cli import flags as flag_definitions

USAGE = """Table question answering with sparse attention (MATE).

  {program} --config_file=configs/quickstart.yaml
  {program} --task=SQA --mode=create_data --input_dir=data/sqa --bert_vocab_file=vocab.txt
  {program} ask my.csv "who ...?" --init_checkpoint=google/tapas-base-finetuned-wtq
  {program} ask my.csv "who ...?" --export_dir=out/quickstart/model/export

The mode may be the first word, without --mode=.

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


def parse(argv: list[str]):
    """Returns the values of the flags, with those that the short form stands for.

    Raises:
        flags.Error: a flag that is not there, or with a value that it does not take.
        InputError: words that are not the short form; a flag of google-research/tapas without an
            equivalent; a --flagfile that cannot be read.
    """
    if any(argument.lstrip("-").startswith("flagfile") for argument in argv):
        from mate_tf.cli import flag_files

        argv = [*argv[:1], *flag_files.expand(argv[1:])]
    for number, argument in enumerate(argv[1:], start=1):
        # Python keeps bytes that are not UTF-8 as surrogates.
        if any("\ud800" <= character <= "\udfff" for character in argument):
            raise errors.InputError(f"argument {number}: not UTF-8 text: {argument!a}")
    given = flag_definitions.FLAGS
    for flag in given.flags_by_module_dict()[flag_definitions.__name__]:
        flag.unparse()  # an earlier call in this process, as in a notebook, had its own
    given.set_gnu_getopt(True)  # flags may follow the words of the short form
    argv = [argv[0], *tapas_flags.translate(argv[1:])]
    _read_words(given, given(argv)[1:])
    return given


def _read_words(flags, words: list[str]) -> None:
    """Sets the flags that the short form `ask TABLE QUESTION…` or `MODE` stands for."""
    if not words:
        return
    mode, *words = words
    if mode not in flag_definitions.MODES:
        raise errors.InputError(
            f"unknown mode {mode!r}; {errors.suggestion(mode, flag_definitions.MODES)}"
        )
    if flags["mode"].present and flags.mode != mode:
        raise errors.InputError(f"the mode is given twice: {mode} and --mode={flags.mode}")
    flags.mode = mode
    if mode == "ask":
        if words and not flags.table:
            flags.table, *words = words
        flags.question = [*words, *flags.question]
    elif words:
        raise errors.InputError(f"arguments without a flag: {' '.join(words)}")


def _mode(flags):
    """Returns the function that runs --mode."""
    if checks.is_pointr(flags):
        if flags.mode == "ask":
            from mate_tf.cli import passages

            return passages.ask
        from mate_tf.cli import pointr

        return pointr.main
    return modes.MODES[flags.mode]


def run(argv: list[str] | None = None) -> None:
    """Runs the command line and exits: 0 done, 2 bad input, 128 + number of a signal.

    Args:
        argv: the program and its arguments; None for those of this process, which then ends by
            signals. A caller with its own arguments, such as a notebook, handles them itself.
    """
    is_own, argv = argv is None, list(argv or sys.argv)
    if is_own:
        streams.open_closed()
    program = os.path.basename(argv[0])
    handled = signals.handled if is_own else contextlib.nullcontext
    try:
        with handled(signals.Interruption(program)) as interruption:
            try:
                _run(program, argv)
            except KeyboardInterrupt:
                interruption.say()
                if interruption.number:  # TensorFlow's threads can delay an ordinary exit
                    interruption.end()
                sys.exit(interruption.exit_code)
    finally:
        if is_own:
            signals.end_at_once()


def _run(program: str, argv: list[str]) -> None:
    try:
        _run_mode(program, argv)
    finally:
        with contextlib.suppress(OSError):  # already reported, or minor next to an error
            streams.flush()


def _run_mode(program: str, argv: list[str]) -> None:
    try:
        if {"--help", "-h", "-help", "--helpfull"} & set(argv[1:]):
            print(_help(program), flush=True)
            sys.exit(0)
        given = parse(argv)
        checks.check_modes(given)
        checks.check(given)
        _mode(given)(given)
        streams.flush()
    except BrokenPipeError:  # the reader of the output, such as `head`, has ended
        sys.exit(0)
    except (errors.InputError, flags.Error, OSError) as error:
        streams.say(f"{program}: {errors.on_one_line(error)}")
        if isinstance(error, errors.LostWorkerError):
            with contextlib.suppress(OSError):
                streams.flush()
            os._exit(BAD_INPUT)
        sys.exit(BAD_INPUT)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package == "mate_tf":
            raise
        streams.say(f"{program}: needs {package}, which is not installed: pip install mate-tf")
        sys.exit(BAD_INPUT)
    except Exception as error:
        if not errors.is_of_files(error):
            raise
        streams.say(f"{program}: {errors.on_one_line(error)}")
        sys.exit(BAD_INPUT)
