"""Reports of `profile`: tables, growth with the length, and plots like figures 4 to 6 of MATE."""

from collections.abc import Iterable
from typing import NamedTuple

from mate_tf.analysis.cost import speed
from mate_tf.analysis.plots import style

_WIDTH = 10  # characters of a column

BASELINE, REFERENCE = "full", "mate_efficient"
"""Variants that times are compared with: tables have speed relative to BASELINE, and time relative
to REFERENCE."""


class Cost(NamedTuple):
    """A cost that is fitted and plotted.

    Attributes:
        title: what is measured.
        label: name and unit on the axis.
        factor: factor from the value in a row to the unit.
    """

    title: str
    label: str
    factor: float


COSTS = {
    "seconds": Cost("Time of a call", "time of a call, ms", 1e3),
    "everything": Cost("Floating point operations of a forward pass", "GFLOP", 1e-9),
    "memory_increment": Cost("Peak memory", "memory above weights and inputs, MiB", 2**-20),
}
"""Key of a row -> the cost."""

HEADINGS = {
    "ms": "wall-clock time of a call, the median of all turns",
    "CPU ms": "processor time of all threads",
    f"x {BASELINE}": f"how many times as fast as {BASELINE} with the same precision and compiler",
    "x MATE": f"how many times the time of {REFERENCE} in float32",
    "GFLOP": "floating point operations of a forward pass, counted in the graph",
    "formula": "its matmuls by formula, GFLOP; a training step has three times as many",
    "product": "share of the rate of a large matmul, by the formula",
    "memory": "share of the memory bandwidth, for the bytes that operations read and write",
    "MiB": "peak memory above weights and inputs",
    "process": "peak memory of the whole process, MiB",
}
"""Heading of a column of the table -> its meaning."""


def series(row: dict) -> tuple:
    """Returns the key of a row's line in plots: all of its case but the length."""
    return row["training"], row["precision"], row["xla"], row["variant"]


def name_of(row: dict) -> str:
    """Returns the variant's name, with precision and XLA if they are not the defaults."""
    parts = [row["precision"] if row["precision"] != "float32" else "", "XLA" if row["xla"] else ""]
    parts = [part for part in parts if part]
    return row["variant"] + (f" ({', '.join(parts)})" if parts else "")


def table(rows: list[dict]) -> str:
    """Returns a text table of the rows of one length and pass, below the machine's rates."""
    first = rows[0]
    lines = [f"{first['length']} tokens, {'training step' if first['training'] else 'forward'}"]
    rates = {row["precision"]: row["matmul_rate"] for row in rows if "matmul_rate" in row}
    rates_shown = (f"; {name} matmul {v / 1e9:.0f} GFLOP/s" for name, v in sorted(rates.items()))
    lines[0] += "".join(rates_shown)
    bandwidth = next((row["bandwidth"] for row in rows if "bandwidth" in row), None)
    lines[0] += f"; memory {bandwidth / 1e9:.1f} GB/s" if bandwidth else ""
    width = max(len(name_of(row)) for row in rows)
    lines.append(" " * (width + 2) + "".join(f"{head:>{_WIDTH}}" for head in HEADINGS))
    lines += [f"  {name_of(row):{width}}" + _values(row, rows) for row in rows]
    return "\n".join(lines)


def _values(row, rows) -> str:
    baseline = _seconds(rows, variant=BASELINE, precision=row["precision"], xla=row["xla"])
    reference = _seconds(rows, variant=REFERENCE, precision="float32", xla=False)
    seconds = row.get("seconds")
    cells = [
        _cell(seconds, 1e3, ".1f"),
        _cell(row.get("processor_seconds"), 1e3, ".1f"),
        _cell(baseline / seconds if baseline and seconds else None, 1, ".2f"),
        _cell(seconds / reference if reference and seconds else None, 1, ".2f"),
        _cell(row.get("everything"), 1e-9, ".1f"),
        _cell(row.get("formula_flops"), 1e-9, ".1f"),
        _percent(row.get("share_of_matmul_rate")),
        _percent(row.get("share_of_bandwidth")),
        _cell(row.get("memory_increment"), 2**-20, ".0f"),
        _cell(row.get("memory_peak"), 2**-20, ".0f"),
    ]
    return "".join(cells) + (f"  failed: {row['error']}" if "error" in row else "")


def _seconds(rows, **wanted) -> float | None:
    matching = (row for row in rows if all(row[key] == value for key, value in wanted.items()))
    return next(matching, {}).get("seconds")


def _cell(value, factor, form) -> str:
    return f"{'-' if value is None else format(value * factor, form):>{_WIDTH}}"


def _percent(share) -> str:
    """Returns a share of a rate, at most 100 %: a rate is the best one of few measurements."""
    return f"{'-' if share is None else f'{100 * min(share, 1):.0f} %':>{_WIDTH}}"


def explanations() -> str:
    """Returns the meanings of the table's columns, one line for each."""
    return "\n".join(f"  {heading:8}  {meaning}" for heading, meaning in HEADINGS.items())


def title(report: dict) -> str:
    """Returns what was measured, on which device: two lines for the titles of plots.

    Args:
        report: contents of the JSON file, with `settings` and `machine`.
    """
    config, machine = report["settings"]["config"], report["machine"]
    layers, threads = config["num_hidden_layers"], report["settings"]["threads"]
    return (
        f"{layers} layer{'s' * (layers > 1)} of width {config['hidden_size']}, "
        f"{config['num_attention_heads']} heads, batch 1\n"
        f"{machine['device']}, {threads} thread{'s' * (threads > 1)}, "
        f"TensorFlow {machine['tensorflow']}"
    )


def growth(rows: Iterable[dict]) -> list[dict]:
    """Fits cost = c length^p for each series. Returns one dict per series with p for each cost."""
    of_series = {}
    for row in rows:
        of_series.setdefault(series(row), []).append(row)
    result = []
    for of_one in of_series.values():
        exponents = {
            cost: speed.growth_exponent({row["length"]: row[cost] for row in of_one if cost in row})
            for cost in COSTS
        }
        kind = {key: of_one[0][key] for key in ("variant", "precision", "xla", "training")}
        result.append(kind | exponents)
    return result


def growth_table(profiles: list[dict]) -> str:
    """Returns a text table of `growth`, one line for each series."""
    width = max(len(name_of(row)) for row in profiles)
    head = (
        f"growth: p of cost = c · tokens^p, from {speed.GROWTH_FROM} tokens on if two lengths are "
        "that long"
    )
    names = ("time", "FLOP", "memory")
    lines = [head, " " * (width + 12) + "".join(f"{name:>{_WIDTH}}" for name in names)]
    for row in profiles:
        kind = "training" if row["training"] else "forward"
        values = "".join(_cell(row[cost], 1, ".2f") for cost in COSTS)
        lines.append(f"  {name_of(row):{width}}  {kind:8}{values}")
    return "\n".join(lines)


@style.styled
def plot(rows: list[dict], cost: str, label: str = "", title: str = ""):
    """Plots a line for each series, with logarithmic axes.

    Args:
        rows: rows with length, variant and, if it was measured, `cost`; optionally the other fields
            of a `Case`.
        cost: key of the value.
        label: label of the value's axis; "": `cost` is in COSTS, which has the label and unit.
        title: text above the plot, below the title in COSTS if there is one.

    Returns:
        the figure, or None if no row has the value.

    Raises:
        InputError: if matplotlib is not installed.
    """
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    known = Cost("", label, 1.0) if label else COSTS[cost]
    defaults = {"precision": "float32", "xla": False, "training": False}
    rows = [defaults | row for row in rows if row.get(cost) is not None]
    if not rows:
        return None
    figure = style.new_figure(7, 4.2, "\n".join(filter(None, (known.title, title))))
    axes = figure.add_subplot()
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    for key in dict.fromkeys(map(series, rows)):
        of_one = [row for row in rows if series(row) == key]
        training, precision, xla, variant = key
        axes.plot(
            *zip(*((row["length"], row[cost] * known.factor) for row in of_one), strict=True),
            linestyle={(False, False): "-", (False, True): "--", (True, False): ":"}.get(
                (precision != "float32", xla), "-."
            ),
            marker="s" if training else "o",
            color=style.COLOURS[variants.index(variant) % len(style.COLOURS)],
            label=name_of(of_one[0]) + (", training" if training else ""),
        )
    axes.set(xscale="log", yscale="log", xlabel="tokens", ylabel=known.label)
    axes.set_xticks(sorted({row["length"] for row in rows}))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(ScalarFormatter())
        axis.set_minor_formatter(NullFormatter())
    axes.grid()
    axes.legend()
    return figure


def require_matplotlib() -> None:
    """Raises InputError if matplotlib is not installed."""
    style.require_matplotlib()
