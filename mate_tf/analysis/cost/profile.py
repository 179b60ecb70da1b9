"""Compares time, FLOPs and peak memory of attention variants (MATE paper, figures 4 to 6).

It measures the layers of the encoder only, with batch size 1. In each repetition all variants run
in turn, and medians are compared, so that a busy machine slows all variants equally. The rates of
the machine are measured in the same repetitions. Memory is measured in a new process.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator

from mate_tf import attention
from mate_tf.analysis.cost import encoder_layers, flops, gpu, hardware, profile_report
from mate_tf.analysis.cost.encoder_layers import Case
from mate_tf.analysis.cost.measuring_process import MeasurementFailed, Worker
from mate_tf.errors import InputError
from mate_tf.files.atomic import atomic_path, write_json
from mate_tf.layers.precision import PRECISIONS
from mate_tf.models.encoder_config import EncoderConfig

LENGTHS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
VARIANTS = ("full", "mate_efficient", "linformer", "table_etc")
"""Variants of figure 4 with different costs. The other variants cost as much as `full`."""

PASSES = ("forward", "training")
COMPILED = {"plain": (False,), "xla": (True,), "both": (False, True)}

TRAINING_MATMULS = 3
"""FLOPs of a training step relative to a forward pass: the backward pass has twice its matmuls."""

_PAUSE = 0.05  # seconds between runs, in which threads of the previous process go to sleep


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of the measurements.

    Attributes:
        config: sizes of the layers, and options of the attention.
        lengths: sequence lengths in tokens.
        variants: names of attention variants.
        precisions: any of "float32", "bfloat16" and "float16".
        compiled: a key of COMPILED.
        passes: values of PASSES.
        time: whether to measure time.
        memory: whether to measure peak memory, in a new process for each length and variant.
        threads: threads of each process.
        repeats: repetitions, after two calls that are not counted.
        peers: name -> command of a process that handles "prepare" and "run" like
            `encoder_worker`. Peers are measured in float32 without XLA only.
        variant_files: Python files that register some of `variants`.
    """

    config: EncoderConfig = dataclasses.field(
        default_factory=lambda: EncoderConfig(num_hidden_layers=2)
    )
    lengths: tuple[int, ...] = LENGTHS
    variants: tuple[str, ...] = VARIANTS
    precisions: tuple[str, ...] = ("float32",)
    compiled: str = "plain"
    passes: tuple[str, ...] = ("forward",)
    time: bool = True
    memory: bool = True
    threads: int = dataclasses.field(default_factory=lambda: os.cpu_count() or 1)
    repeats: int = 9
    peers: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    variant_files: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises InputError for settings that cannot be measured."""
        self.config.check()
        for name in self.variants:
            options = encoder_layers.variant_config(self.config, name).attention
            attention.get(name).pattern(options, self.config.num_attention_heads)
        for what, values, known in (
            ("precisions", self.precisions, PRECISIONS),
            ("compile", [self.compiled], COMPILED),
            ("passes", self.passes, PASSES),
        ):
            for value in values:
                if value not in known:
                    raise InputError(f"{what}: {value!r} is not one of {', '.join(known)}")
        for what in ("lengths", "variants", "precisions", "passes"):
            if not getattr(self, what):
                raise InputError(f"{what}: nothing to measure")
        if min(self.lengths) <= encoder_layers.QUESTION:
            raise InputError(
                f"lengths: {min(self.lengths)} tokens leave no room for a table after the "
                f"{encoder_layers.QUESTION} tokens of the question"
            )

    def cases(self, length: int, training: bool) -> list[Case]:
        """Returns the cases of one length and pass, without those of peers."""
        return [
            Case(variant, length, precision, xla, training)
            for precision in self.precisions
            for xla in COMPILED[self.compiled]
            for variant in self.variants
        ]

    def command(self) -> list[str]:
        """Returns the command of the process that measures variants."""
        settings = {
            "config": self.config.as_dict(),
            "threads": self.threads,
            "variants": list(self.variant_files),
        }
        module = "mate_tf.analysis.cost.encoder_worker"
        return [sys.executable, "-m", module, json.dumps(settings)]


def measure(
    settings: Settings, say: Callable[[str], None] = lambda text: None
) -> Iterator[list[dict]]:
    """Measures and yields the rows of each length and pass. Failed cases have a row too.

    A row has the fields of a `Case` and, if they are known:
        formula_flops, products, everything, bytes: cost of a forward pass (`flops`).
        seconds, processor_seconds: medians.
        matmul_rate, bandwidth: best rates of the machine in all turns, in FLOP/s for the case's
            precision and in bytes/s, with share_of_matmul_rate and share_of_bandwidth.
        memory_increment, memory_peak: bytes above weights and inputs, and bytes of the process.
        error: message of a failed case.

    Args:
        settings: settings of the measurements.
        say: function that is called with messages about the progress.

    Raises:
        InputError: for settings that cannot be measured.
    """
    settings.check()
    for length in settings.lengths:
        say(f"{length} tokens: FLOPs")
        counts = _counts(settings, length)
        for name in settings.passes:

            def say_here(text, here=f"{length} tokens, {name}"):
                say(f"{here}: {text}")

            yield _measure_length(settings, length, name == "training", counts, say_here)


def _measure_length(settings, length, training, counts, say) -> list[dict]:
    commands = dict.fromkeys(settings.cases(length, training), settings.command())
    for name, command in settings.peers.items():
        for precision in settings.precisions:
            commands[Case(name, length, precision, training=training)] = command
    rows = {case: dataclasses.asdict(case) | counts.get(case.variant, {}) for case in commands}
    if settings.memory:
        for case, row in rows.items():
            say(f"memory of {profile_report.name_of(row)}")
            with start(commands[case]) as worker:
                reply = _request(worker, "prepare", case, row) or {}
            row |= {f"memory_{name}": value for name, value in reply.items()}
    if settings.time:
        _time(settings, rows, commands, say)
    return list(rows.values())


def _counts(settings, length) -> dict[str, dict]:
    """Returns name of a variant -> its FLOPs and bytes, if they are known."""
    counts, worker = {}, None
    with contextlib.ExitStack() as stack:
        for name in settings.variants:
            config = encoder_layers.variant_config(settings.config, name, length)
            counts[name] = {"formula_flops": flops.formula(config, length)}
            if worker is None or not worker.alive:
                worker = stack.enter_context(start(settings.command()))
            with contextlib.suppress(MeasurementFailed):  # a graph with unknown FLOPs
                counts[name] |= worker.ask("flops", variant=name, length=length)
    return counts


def start(command) -> Worker:
    """Starts a worker that can import this package from any working directory."""
    package = str(pathlib.Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    return Worker(list(command), {"PYTHONPATH": path, **gpu.ENVIRONMENT})


def _time(settings, rows, commands, say) -> None:
    """Measures times and adds them to the rows; rows with an error are skipped."""
    own_command = tuple(settings.command())
    cases_of = {own_command: []}
    for case, row in rows.items():
        if "error" not in row:
            cases_of.setdefault(tuple(commands[case]), []).append(case)
    with contextlib.ExitStack() as stack:
        say(f"making layers of {sum(map(len, cases_of.values()))} cases")
        worker_of = {}
        for command, cases in cases_of.items():
            worker_of[command] = stack.enter_context(_prepared(command, cases, rows))
        times, rates = {case: [] for case in rows}, []
        for turn in range(settings.repeats):
            say(f"turn {turn + 1} of {settings.repeats}")
            with contextlib.suppress(MeasurementFailed):  # its cases raise the error again below
                rates.append(worker_of[own_command].ask("rates", precisions=settings.precisions))
            for command, cases in cases_of.items():
                for case in cases:
                    if "error" not in rows[case]:
                        time.sleep(_PAUSE)
                        times[case].append(_request(worker_of[command], "run", case, rows[case]))
    for case, row in rows.items():
        if "error" not in row:
            row["seconds"], row["processor_seconds"] = map(
                statistics.median, zip(*times[case], strict=True)
            )
            if rates:
                for name, best in (("matmul_rate", case.precision), ("bandwidth", "bandwidth")):
                    row[name] = max(rate[best] for rate in rates)
                _add_shares(case, row)


def _prepared(command, cases, rows) -> Worker:
    """Returns a worker with all cases prepared. Rows of cases that fail get an error."""
    while True:
        worker = start(command)
        for case in cases:
            if "error" not in rows[case] and not _request(worker, "prepare", case, rows[case]):
                if worker.alive:
                    continue
                break  # start another process for the other cases
        else:
            return worker
        worker.close()


def _request(worker, request, case, row):
    """Returns the reply to a request; None if it fails, with the error in the case's row."""
    try:
        return worker.ask(request, **dataclasses.asdict(case))
    except MeasurementFailed as error:
        row["error"] = str(error)


def _add_shares(case, row) -> None:
    matmuls = row.get("formula_flops") or row.get("products")
    if matmuls:
        work = matmuls * (TRAINING_MATMULS if case.training else 1)
        row["share_of_matmul_rate"] = work / row["seconds"] / row["matmul_rate"]
    if "bytes" in row and not case.training:
        row["share_of_bandwidth"] = row["bytes"] / row["seconds"] / row["bandwidth"]


def run(settings: Settings, folder: str, name: str = "profile") -> dict:
    """Measures, prints a table for each length, and writes <folder>/<name>.json and plots.

    The file is written again after each length, so that no result is lost.

    Returns:
        contents of the file: settings, machine, gpus, rows (see `measure`) and growth.

    Raises:
        InputError: for settings that cannot be measured, without matplotlib, or if the folder
            cannot be created.
    """
    profile_report.require_matplotlib()
    gpu.leave_to_workers()
    settings.check()
    rows, start = [], time.monotonic()
    machine, gpus = hardware.describe(), gpu.describe()
    report = {"settings": _described(settings), "machine": machine, "gpus": gpus, "rows": rows}
    print(profile_report.title(report), *gpus, sep="\n", flush=True)
    for of_length in measure(settings, lambda text: print(text, file=sys.stderr, flush=True)):
        rows += of_length
        print(f"\n{profile_report.table(of_length)}", flush=True)
        report["growth"] = profile_report.growth(rows)
        path = os.path.join(folder, f"{name}.json")
        write_json(path, report, indent=1)
    print(f"\n{profile_report.growth_table(report['growth'])}")
    print(f"\ncolumns:\n{profile_report.explanations()}")
    written = [path]
    title = profile_report.title(report)
    for cost in profile_report.COSTS:
        of_cost = _once(rows) if cost == "everything" else rows
        figure = profile_report.plot(of_cost, cost, title=title)
        if figure is not None:
            written.append(os.path.join(folder, f"{name}_{cost}.png"))
            with atomic_path(written[-1]) as temporary:
                figure.savefig(temporary, format="png", dpi=120)
    print(f"\nmeasured in {time.monotonic() - start:.0f} s | {', '.join(written)}")
    return report


def _once(rows) -> list[dict]:
    """Returns one row for each variant and length, because all its cases have the same FLOPs."""
    plain = {"precision": "float32", "xla": False, "training": False}
    return [*{(row["variant"], row["length"]): row | plain for row in rows}.values()]


def _described(settings) -> dict:
    described = {
        field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)
    }
    return described | {"config": settings.config.as_dict()}
