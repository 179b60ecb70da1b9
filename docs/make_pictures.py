"""Draws the pictures of README.md and docs/ into docs/img/, as compressed PNG files.

    mate-tf --config_file=configs/quickstart.yaml
    python docs/make_pictures.py

`row_and_column_heads`, `heat_map`, `answer` and `demo` need the model of the quickstart; `demo`
also needs gradio, selenium, chromium and chromedriver. `time`, `memory` and `flops` draw the
figures of docs/img/cost.json, or those of a profile.json of --mode=profile. `masks` needs nothing.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "img"
DPI = 110
QUESTION = "which city does Kenji Tanaka live in?"
"""About the example table of the quickstart."""

SHOWN_ROWS = 6
"""Rows of the example table that the pictures of heads show: as many as fit into a page."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PICTURES, default=list(PICTURES))
    parser.add_argument("--model_dir", default="out/quickstart/model", help="of the quickstart")
    parser.add_argument("--profile", type=pathlib.Path, default=IMAGES / "cost.json")
    parser.add_argument("--output", type=pathlib.Path, default=IMAGES)
    return parser.parse_args()


def main() -> None:
    """Draws what --only names."""
    from mate_tf.analysis.plots import style

    options = arguments()
    for name in options.only:
        path = options.output / f"{name}.png"
        save(style.styled(PICTURES[name])(options), path)
        print(f"drawn | {path} ({path.stat().st_size / 1024:.0f} KiB)", flush=True)


def save(picture, path: pathlib.Path) -> None:
    """Writes a matplotlib figure or the bytes of a PNG file with a palette of 256 colours."""
    from PIL import Image

    if not isinstance(picture, bytes):
        buffer = io.BytesIO()
        picture.savefig(buffer, format="png", dpi=DPI)
        picture = buffer.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(256).save(path, format="PNG", optimize=True)


def masks(options):
    """The masks of attention variants over one small table."""
    del options
    import numpy as np
    import tensorflow as tf

    from mate_tf import attention
    from mate_tf.analysis.plots import style
    from mate_tf.attention import abilities
    from mate_tf.layers.framework import keras
    from mate_tf.layers.shapes import build_child

    keras.utils.set_random_seed(0)
    context, names, starts = _small_table()
    heads, hidden = 2, 16
    length = context.input_mask.shape[1]
    x = tf.random.normal([1, length, hidden])
    figure = style.new_figure(12, 9.6)
    colours = style.mask_colours()
    panels = figure.subplots(3, 4)
    for axes, (title, head, config) in zip(panels.ravel(), PANELS, strict=True):
        config = attention.AttentionConfig(config)
        variant = attention.get(config.name)
        pattern = variant.pattern(config, heads)
        extended, seen = abilities.add_tokens(pattern, x, context)
        layer = variant.attention(config, heads, hidden_size=hidden)
        build_child(layer, extended.shape)
        if isinstance(layer, abilities.ChoosesPairs):
            mask = layer.mask(extended, pattern(seen))
        else:
            mask = pattern.mask(seen)
        size = extended.shape[1]
        mask = np.broadcast_to(mask[0], [mask.shape[1], size, size])
        mask = mask[min(head, len(mask) - 1)]
        axes.imshow(mask, cmap=colours, vmin=0, vmax=1, interpolation="nearest")
        axes.set_title(f"{title}\n{mask.mean():.0%} of the pairs", fontsize="medium")
        added = size - length
        ticks = [0, *(start + added for start in starts)] if added else starts
        labels = ["global", *names] if added else names
        axes.set_xticks(ticks, labels, rotation=90, fontsize="x-small")
        axes.set_yticks(ticks, labels, fontsize="x-small")
        for start in ticks[1:]:
            axes.axhline(start - 0.5, color="gray", linewidth=0.4)
            axes.axvline(start - 0.5, color="gray", linewidth=0.4)
    for axes in panels[-1]:
        axes.set_xlabel("key: the token that is attended to")
    for axes in panels[:, 0]:
        axes.set_ylabel("query: the token that attends")
    style.mask_legend(figure)
    return figure


def _small_table():
    """A question and a table of four columns as a TableContext, names of its parts, their starts.

    Returns:
        context: TableContext, <int32>[1, seq] each.
        names: "question", "header", "row 1", ...
        starts: the first token of each of these.
    """
    import numpy as np
    import tensorflow as tf

    from mate_tf.attention import TableContext

    tokens_of_cells = [1, 2, 1, 1]
    question, num_rows = 7, 7
    rows, columns = np.zeros(question, int), np.zeros(question, int)
    names, starts = ["question"], [0]
    for row in range(num_rows + 1):
        names.append(f"row {row}" if row else "header")
        starts.append(len(rows))
        columns = np.append(columns, np.repeat(np.arange(1, 5), tokens_of_cells))
        rows = np.append(rows, [row] * sum(tokens_of_cells))
    ids = (columns > 0, rows, columns, np.ones_like(rows))
    context = TableContext(*(tf.constant(np.asarray(part)[None], tf.int32) for part in ids))
    return context, names, starts


_MATE = {"global_length": 8, "radius": 6}
PANELS = (
    ("full, kernel, table_bias", 0, {"name": "full"}),
    ("same_row_or_column", 0, {"name": "same_row_or_column"}),
    ("mate_exact, row heads", 0, {"name": "mate_exact"}),
    ("mate_exact, column heads", 1, {"name": "mate_exact"}),
    ("mate_efficient, row heads, R = 6", 0, {"name": "mate_efficient", **_MATE}),
    ("mate_efficient, column heads, R = 6", 1, {"name": "mate_efficient", **_MATE}),
    ("structure_mask", 0, {"name": "structure_mask"}),
    ("tree_fine, height 2, random weights", 0, {"name": "tree_fine", "tree_height": 2}),
    ("table_etc", 0, {"name": "table_etc", "num_global": 8, "local_radius": 4}),
    ("bigbird, blocks of 4", 0, {"name": "bigbird", "block_size": 4, "num_random": 1}),
    ("static_mask: star", 0, {"name": "static_mask", "mask": "star"}),
    ("static_mask: longformer", 0, {"name": "static_mask", "mask": "longformer"}),
)
"""Title, head and AttentionConfig of each panel of `masks`."""


def row_and_column_heads(options):
    """Which cells a cell may attend to and does attend to, in row heads and in column heads."""
    from mate_tf.analysis.plots import tables as table_plots

    maps, title = _cell_maps(options), "mate_efficient, quickstart"
    return table_plots.table_maps(maps, title, sources=["cell"], by_layer=False)


def heat_map(options):
    """Which cells the question may attend to and does attend to, in each layer."""
    from mate_tf.analysis.plots import tables as table_plots

    maps, title = _cell_maps(options), "mate_efficient, quickstart"
    return table_plots.table_maps(maps, title, sources=["question"])


def _cell_maps(options):
    from mate_tf.analysis.attention import cell_maps
    from mate_tf.analysis.attention import flow as attention_flow
    from mate_tf.data.converters.tokenizer import read_vocabulary
    from mate_tf.serving.predictor import Predictor
    from mate_tf.training import experiments, trainer

    experiment = experiments.load(os.path.join(options.model_dir, experiments.PARAMS_FILE))
    model = trainer.load_model(experiment, options.model_dir)
    export_dir = os.path.join(options.model_dir, "export")
    example = Predictor(export_dir).example(_table(SHOWN_ROWS), QUESTION)
    pieces = read_vocabulary(os.path.join(export_dir, "assets.extra", "vocab.txt"))
    return cell_maps.measure(model.encoder, attention_flow.example_features(example), pieces)


def _table(rows: int | None = None):
    from mate_tf.data.synthetic import EXAMPLE_TABLE
    from mate_tf.tables.table import Table

    table = Table.from_csv(EXAMPLE_TABLE)
    return Table.from_rows(table.columns, table.rows[:rows])


def answer(options):
    """The probabilities of the cells for a question, the selected cells framed."""
    import tensorflow as tf

    from mate_tf.analysis import plots

    table = _table()
    model = tf.saved_model.load(os.path.join(options.model_dir, "export"))
    found = model.signatures["serving_default"](
        question=tf.constant([QUESTION]),
        header=tf.constant([table.columns]),
        cells=tf.constant([table.rows]),
    )
    selected = [tuple(cell) for cell in tf.where(found["cells"][0]).numpy().tolist()]
    text = found["text"][0].numpy().decode()
    title = f"“{QUESTION}”: {text}"
    return plots.cell_heat_map(table, found["probabilities"][0].numpy(), selected, title=title)


def _cost(options, key: str):
    from mate_tf.analysis.cost import profile_report

    found = json.loads(options.profile.read_text(encoding="utf-8"))
    title = found.get("title") or profile_report.title(found)
    return profile_report.plot(found["rows"], key, title=title)


def seconds(options):
    """Time of a forward pass over the length."""
    return _cost(options, "seconds")


def memory(options):
    """Peak memory above the weights over the length."""
    return _cost(options, "memory_increment")


def flops(options):
    """Floating point operations of a forward pass over the length."""
    return _cost(options, "everything")


def demo(options):
    """The page of --mode=demo in a browser, with an answer and the attention behind it."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        browser = stack.enter_context(_browser(folder))
        browser.get(stack.enter_context(_server(options)))
        _write(browser, "#question textarea", QUESTION)
        _find(browser, "#ask").click()
        _find(browser, "#table td.chosen")
        _find(browser, "#heat input").click()
        _find(browser, "#table .mate-table.attention")
        _find(browser, "#heads label:nth-of-type(2)").click()
        time.sleep(3)  # until nothing fades in any more
        return browser.get_screenshot_as_png()


@contextlib.contextmanager
def _server(options):
    """The address of the page, served by another process."""
    command = [sys.executable, str(ROOT / "run_task_main.py"), "--mode=demo"]
    command += [f"--model_dir={options.model_dir}", "--port=7861"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            lines = iter(process.stdout.readline, "")
            ready = next((line for line in lines if line.startswith("demo | ")), None)
            if ready is None:
                raise SystemExit("demo: the page did not start")
            yield ready.removeprefix("demo | ").strip()
        finally:
            process.terminate()


@contextlib.contextmanager
def _browser(profile: str):
    from selenium import webdriver

    chrome = webdriver.ChromeOptions()
    chrome.binary_location = "/usr/bin/chromium"
    for flag in ("headless", "no-sandbox", "disable-gpu", "hide-scrollbars"):
        chrome.add_argument(f"--{flag}")
    chrome.add_argument(f"--user-data-dir={profile}")
    chrome.add_argument("--window-size=1280,1160")
    driver = webdriver.Chrome(chrome, webdriver.ChromeService("/usr/bin/chromedriver"))
    try:
        yield driver
    finally:
        driver.quit()


def _find(browser, selector: str):
    """The first element that a CSS selector finds, as soon as it can be clicked."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support import expected_conditions
    from selenium.webdriver.support.wait import WebDriverWait

    found = expected_conditions.element_to_be_clickable((By.CSS_SELECTOR, selector))
    return WebDriverWait(browser, 120).until(found)


def _write(browser, selector: str, text: str) -> None:
    _find(browser, selector).send_keys(text)


PICTURES = {
    "row_and_column_heads": row_and_column_heads,
    "masks": masks,
    "answer": answer,
    "heat_map": heat_map,
    "time": seconds,
    "memory": memory,
    "flops": flops,
    "demo": demo,
}
"""Name of the file, without ending -> what draws it."""

if __name__ == "__main__":
    main()
