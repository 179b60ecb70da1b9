"""Reports of `profile`: tables, growth with the length, and plots like figures 4 to 6 of MATE."""

from collections.abc import Iterable

from mate_tf.analysis.cost import speed
from mate_tf.errors import InputError

BASELINE, REFERENCE = "full", "mate_efficient"
"""Variants that times are compared with: tables have speed relative to BASELINE, and time relative
to REFERENCE."""

COSTS = {
    "seconds": "seconds",
    "everything": "floating point operations",
    "memory_increment": "bytes above the weights",
}
"""Key of a row that is fitted and plotted -> its unit."""


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
    lines[0] += "".join(f"; {k} matmul {v / 1e9:.0f} GFLOP/s" for k, v in sorted(rates.items()))
    bandwidth = next((row["bandwidth"] for row in rows if "bandwidth" in row), None)
    lines[0] += f"; memory {bandwidth / 1e9:.1f} GB/s" if bandwidth else ""
    width = max(len(name_of(row)) for row in rows)
    heads = ("ms", "processor", f"x {BASELINE}", "MATE x", "GFLOP", "formula", "matmul", "memory")
    heads += ("MiB", "MiB in all")
    lines.append(" " * (width + 2) + "".join(f"{head:>11}" for head in heads))
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
        _cell(row.get("share_of_matmul_rate"), 1, ".0%"),
        _cell(row.get("share_of_bandwidth"), 1, ".0%"),
        _cell(row.get("memory_increment"), 2**-20, ".0f"),
        _cell(row.get("memory_peak"), 2**-20, ".0f"),
    ]
    return "".join(cells) + (f"  failed: {row['error']}" if "error" in row else "")


def _seconds(rows, **wanted) -> float | None:
    found = (row for row in rows if all(row[key] == value for key, value in wanted.items()))
    return next(found, {}).get("seconds")


def _cell(value, factor, form) -> str:
    return f"{'-' if value is None else format(value * factor, form):>11}"


def growth(rows: Iterable[dict]) -> list[dict]:
    """Fits cost = c length^p for each series. Returns one dict per series with p for each cost."""
    of_series = {}
    for row in rows:
        of_series.setdefault(series(row), []).append(row)
    found = []
    for of_one in of_series.values():
        exponents = {
            cost: speed.growth_exponent({row["length"]: row[cost] for row in of_one if cost in row})
            for cost in COSTS
        }
        kind = {key: of_one[0][key] for key in ("variant", "precision", "xla", "training")}
        found.append(kind | exponents)
    return found


def growth_table(found: list[dict]) -> str:
    """Returns a text table of `growth`, one line for each series."""
    width = max(len(name_of(row)) for row in found)
    head = f"exponents of growth from {speed.GROWTH_FROM} tokens on, if two lengths are that long"
    lines = [head, " " * (width + 12) + "".join(f"{x:>11}" for x in ("time", "FLOP", "memory"))]
    for row in found:
        kind = "training" if row["training"] else "forward"
        values = "".join(_cell(row[cost], 1, ".2f") for cost in COSTS)
        lines.append(f"  {name_of(row):{width}}  {kind:8}{values}")
    return "\n".join(lines)


def plot(rows: list[dict], cost: str, label: str):
    """Plots a line for each series, with logarithmic axes.

    Args:
        rows: rows with length, variant and, if it was measured, `cost`; optionally the other fields
            of a `Case`.
        cost: key of the value.
        label: label of the value's axis.

    Returns:
        the figure, or None if no row has the value.

    Raises:
        InputError: if matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib.ticker
    from matplotlib.figure import Figure

    defaults = {"precision": "float32", "xla": False, "training": False}
    rows = [defaults | row for row in rows if row.get(cost) is not None]
    if not rows:
        return None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    for key in dict.fromkeys(map(series, rows)):
        of_one = [row for row in rows if series(row) == key]
        training, precision, xla, variant = key
        axes.plot(
            *zip(*((row["length"], row[cost]) for row in of_one), strict=True),
            linestyle={(False, False): "-", (False, True): "--", (True, False): ":"}.get(
                (precision != "float32", xla), "-."
            ),
            marker="s" if training else "o",
            color=f"C{variants.index(variant) % 10}",
            label=name_of(of_one[0]) + (", training" if training else ""),
        )
    axes.set(xscale="log", yscale="log", xlabel="tokens", ylabel=label)
    axes.set_xticks(sorted({row["length"] for row in rows}))
    axes.get_xaxis().set_major_formatter(matplotlib.ticker.ScalarFormatter())
    axes.get_xaxis().set_minor_formatter(matplotlib.ticker.NullFormatter())
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure


def require_matplotlib() -> None:
    """Raises InputError if matplotlib is not installed."""
    import importlib.util

    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("plots need matplotlib: pip install 'mate-tf[plots]'")
