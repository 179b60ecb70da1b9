"""Time, FLOPs and peak memory of attention variants, side by side (MATE paper, figures 4 to 6).

Only the layers of the encoder, batch 1. Variants take turns within each repetition and medians are
compared, so that a busy machine slows all of them alike; what the machine could do at best is
measured in the same turns. Memory is that of a process which has done nothing else.
"""

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator

from mate_tf import attention
from mate_tf.analysis.cost import encoder_layers, flops, profile_report
from mate_tf.analysis.cost.encoder_layers import Case
from mate_tf.analysis.cost.workers import MeasurementFailed, Worker
from mate_tf.errors import InputError
from mate_tf.files.atomic import atomic_path, write_json
from mate_tf.models.encoder_config import EncoderConfig

LENGTHS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
VARIANTS = ("full", "mate_efficient", "linformer", "table_etc")
"""Those of figure 4 that differ in what is computed; the others cost what `full` does."""

PASSES = ("forward", "training")
COMPILED = {"plain": (False,), "xla": (True,), "both": (False, True)}

TRAINING_PRODUCTS = 3
"""A backward pass takes two products for each one of the forward pass."""

_PAUSE = 0.05  # seconds between turns, in which threads of the one before stop waiting for work


@dataclasses.dataclass(frozen=True)
class Settings:
    """What is measured.

    Attributes:
        config: sizes of the layers, and options of the attention.
        lengths: tokens.
        variants: names of attention variants.
        precisions: of "float32" and "bfloat16".
        compiled: a key of COMPILED.
        passes: of PASSES.
        time: whether to measure time.
        memory: whether to measure peak memory, which takes a process for each length and variant.
        threads: of each process.
        repeats: turns, after two calls that are not counted.
        peers: name -> command of a process that answers "prepare" and "run" as `encoder_worker`
            does; in float32 without XLA only.
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
        """Raises InputError for what cannot be measured, before anything is."""
        self.config.check()
        for name in self.variants:
            options = encoder_layers.of_variant(self.config, name).attention
            attention.get(name).pattern(options, self.config.num_attention_heads)
        for what, values, known in (
            ("precisions", self.precisions, encoder_layers.POLICIES),
            ("compile", [self.compiled], COMPILED),
            ("passes", self.passes, PASSES),
        ):
            for value in values:
                if value not in known:
                    raise InputError(f"{what}: {value!r} is none of {', '.join(known)}")
        for what in ("lengths", "variants", "precisions", "passes"):
            if not getattr(self, what):
                raise InputError(f"{what}: nothing to measure")
        if min(self.lengths) <= encoder_layers.QUESTION:
            raise InputError(
                f"lengths: {min(self.lengths)} tokens leave no table behind the "
                f"{encoder_layers.QUESTION} of the question"
            )

    def cases(self, length: int, training: bool) -> list[Case]:
        """Those of one length that take turns, without the peers'."""
        kinds = itertools.product(self.precisions, COMPILED[self.compiled], self.variants)
        return [Case(variant, length, kind, xla, training) for kind, xla, variant in kinds]

    def command(self) -> list[str]:
        """The process that measures variants."""
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
    """The rows of one length and pass after the other; what failed has a row that says why.

    Rows are those of a `Case` and, where they are known: of a forward pass formula_flops, products,
    everything and bytes (`flops`); seconds and processor_seconds, the medians; of the same turns
    matmul_rate in the precision of the case, bandwidth, and the shares of both; memory_increment,
    above weights, and memory_peak; error.

    Args:
        settings: what is measured.
        say: is told what is going on.

    Raises:
        InputError: settings that cannot be measured.
    """
    settings.check()
    for length in settings.lengths:
        say(f"{length} tokens: FLOPs")
        counts = _counts(settings, length)
        for name in settings.passes:

            def say_here(text, here=f"{length} tokens, {name}"):
                say(f"{here}: {text}")

            yield _of_length(settings, length, name == "training", counts, say_here)


def _of_length(settings, length, training, counts, say) -> list[dict]:
    commands = dict.fromkeys(settings.cases(length, training), settings.command())
    for name, command in settings.peers.items():
        commands[Case(name, length, training=training)] = command
    rows = {case: dataclasses.asdict(case) | counts.get(case.variant, {}) for case in commands}
    if settings.memory:
        for case, row in rows.items():
            say(f"memory of {profile_report.name_of(row)}")
            with start(commands[case]) as worker:
                found = _asked(worker, "prepare", case, row) or {}
            row |= {f"memory_{name}": value for name, value in found.items()}
    if settings.time:
        _time(settings, rows, commands, say)
    return list(rows.values())


def _counts(settings, length) -> dict[str, dict]:
    """FLOPs and bytes of each variant, as far as they are known."""
    counts, worker = {}, None
    with contextlib.ExitStack() as stack:
        for name in settings.variants:
            config = encoder_layers.of_variant(settings.config, name, length)
            counts[name] = {"formula_flops": flops.formula(config, length)}
            if worker is None or not worker.alive:
                worker = stack.enter_context(start(settings.command()))
            with contextlib.suppress(MeasurementFailed):  # a graph that does not tell
                counts[name] |= worker.ask("flops", variant=name, length=length)
    return counts


def start(command) -> Worker:
    """A worker that finds this package, wherever it was started from."""
    package = str(pathlib.Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    return Worker(list(command), {"PYTHONPATH": path})


def _time(settings, rows, commands, say) -> None:
    """Adds to the rows what the turns give; those with an error take no part."""
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
            with contextlib.suppress(MeasurementFailed):  # which the cases in it tell
                rates.append(worker_of[own_command].ask("rates"))
            for command, cases in cases_of.items():
                for case in cases:
                    if "error" not in rows[case]:
                        time.sleep(_PAUSE)
                        times[case].append(_asked(worker_of[command], "run", case, rows[case]))
    for case, row in rows.items():
        if "error" not in row:
            row["seconds"], row["processor_seconds"] = map(
                statistics.median, zip(*times[case], strict=True)
            )
            if rates:
                for name, best in (("matmul_rate", case.precision), ("bandwidth", "bandwidth")):
                    row[name] = statistics.median(rate[best] for rate in rates)
                _add_shares(case, row)


def _prepared(command, cases, rows) -> Worker:
    """A worker in which all cases are prepared that can be; the others get an error."""
    while True:
        worker = start(command)
        for case in cases:
            if "error" not in rows[case] and not _asked(worker, "prepare", case, rows[case]):
                if worker.alive:
                    continue
                break  # another process, for the others
        else:
            return worker
        worker.close()


def _asked(worker, request, case, row):
    """The reply about a case; None, and an error in its row, if there is none."""
    try:
        return worker.ask(request, **dataclasses.asdict(case))
    except MeasurementFailed as error:
        row["error"] = str(error)


def _add_shares(case, row) -> None:
    products = row.get("formula_flops") or row.get("products")
    if products:
        work = products * (TRAINING_PRODUCTS if case.training else 1)
        row["share_of_matmul_rate"] = work / row["seconds"] / row["matmul_rate"]
    if "bytes" in row and not case.training:
        row["share_of_bandwidth"] = row["bytes"] / row["seconds"] / row["bandwidth"]


def run(settings: Settings, folder: str, name: str = "profile") -> dict:
    """Measures, prints a table of each length, and writes <folder>/<name>.json and plots.

    The file is written anew after each length, so that what is measured is never lost.

    Returns:
        what the file says: settings, rows (see `measure`) and growth.

    Raises:
        InputError: settings that cannot be measured; no matplotlib; a folder that cannot be made.
    """
    profile_report.require_matplotlib()
    settings.check()
    rows, start = [], time.monotonic()
    found = {"settings": _described(settings), "rows": rows}
    for of_length in measure(settings, lambda text: print(text, file=sys.stderr, flush=True)):
        rows += of_length
        print(f"\n{profile_report.table(of_length)}", flush=True)
        found["growth"] = profile_report.growth(rows)
        path = os.path.join(folder, f"{name}.json")
        write_json(path, found, indent=1)
    print(f"\n{profile_report.growth_table(found['growth'])}")
    written = [path]
    for cost, label in profile_report.COSTS.items():
        figure = profile_report.plot(_once(rows) if cost == "everything" else rows, cost, label)
        if figure is not None:
            written.append(os.path.join(folder, f"{name}_{cost}.png"))
            with atomic_path(written[-1]) as temporary:
                figure.savefig(temporary, format="png", dpi=120)
    print(f"\nmeasured in {time.monotonic() - start:.0f} s | {', '.join(written)}")
    return found


def _once(rows) -> list[dict]:
    """One row for each variant and length: FLOPs are those of all its cases."""
    plain = {"precision": "float32", "xla": False, "training": False}
    return [*{(row["variant"], row["length"]): row | plain for row in rows}.values()]


def _described(settings) -> dict:
    described = {
        field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)
    }
    return described | {"config": settings.config.as_dict()}
