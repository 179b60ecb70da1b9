"""The page in headless Chromium, served by the command line with a tiny model.

Needs the extra `demo`, selenium, and Debian's chromium and chromium-driver.
"""

import os
import socket
import subprocess
import sys

import pytest

from .. import chromium

HOSTILE = '"<script>window.hacked=1</script><img src=x onerror=window.hacked=2> ${1+1} {{x}} ""q"""'
PASTED = f"name,city,age\nAnn,Rome,30\n{HOSTILE},Oslo,41\nCy,Bern,52\n"


pytestmark = pytest.mark.environment


@pytest.fixture(scope="module", autouse=True)
def browser_there():
    chromium.require("gradio", "selenium")


@pytest.fixture(scope="module")
def server(browser_there, project, trained_model, tmp_path_factory):
    """The address of the page, served by a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, project / "run_task_main.py", "--mode=demo"]
    flags = [f"--model_dir={trained_model}", f"--port={port}"]
    environment = os.environ | {"GRADIO_TEMP_DIR": str(tmp_path_factory.mktemp("uploads"))}
    errors = tmp_path_factory.mktemp("server") / "stderr.txt"
    with errors.open("w") as stderr:
        process = subprocess.Popen(
            [*command, *flags], stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
        )
    try:
        lines = iter(process.stdout.readline, "")
        ready = next((line for line in lines if line.startswith("demo | ")), None)
        assert ready, errors.read_text()
        yield ready.removeprefix("demo | ").strip()
        assert process.poll() is None
        assert "Traceback" not in errors.read_text()
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def browser(server, tmp_path_factory):
    """Chromium with the page open."""
    with chromium.browser(tmp_path_factory.mktemp("profile")) as driver:
        driver.get(server)
        yield driver


@pytest.fixture(scope="module")
def page(browser):
    return Page(browser)


class Page:
    """What a visitor does and sees."""

    def __init__(self, browser):
        from selenium.webdriver.support.wait import WebDriverWait

        self.browser = browser
        self.wait = WebDriverWait(browser, chromium.PATIENCE, poll_frequency=0.2)
        self.until(lambda: self.all("#ask"))

    def until(self, condition):
        """Waits for what `condition` gives to be true; elements may be drawn anew meanwhile."""
        from selenium.common.exceptions import WebDriverException

        def met(_):
            try:
                return condition()
            except WebDriverException:
                return None

        return self.wait.until(met)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def one(self, selector):
        return self.until(lambda: self.all(selector))[0]

    def text(self, selector):
        """What is read there, whether it is in view or not."""
        return "\n".join(
            element.get_attribute("textContent") for element in self.all(selector)
        ).strip()

    def click(self, selector):
        element = self.one(selector)
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        self.until(lambda: self.one(selector).click() or True)

    def write(self, selector, text):
        """Types over what is there, then leaves the field."""
        from selenium.webdriver.common.keys import Keys

        field = self.one(selector)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.DELETE)
        # All at once: typing a line break at a time takes seconds.
        self.browser.execute_cdp_cmd("Input.insertText", {"text": text}) if text else None
        assert self.one(selector).get_attribute("value") == text

    def paste(self, text):
        self.write("#pasted textarea", text)
        self.click("#read")

    def ask(self, question):
        self.write("#question textarea", question)
        self.click("#ask")

    def error(self):
        """The message, when it comes."""
        return self.until(lambda: self.text("#message .mate-error"))

    def choose(self, group, label):
        """Clicks the choice of a radio or check box group that has this label."""
        labels = f"{group} label"
        self.until(lambda: any(element.text.strip() == label for element in self.all(labels)))
        number = [element.text.strip() for element in self.all(labels)].index(label)
        self.until(lambda: self.all(labels)[number].click() or True)


def test_a_visit(page):
    """From a pasted table to an answer, its attention and the speed of two variants."""
    page.paste(PASTED)
    cells = page.until(lambda: page.all("#table td"))
    texts = [cell.get_attribute("textContent") for cell in cells]
    assert texts[:3] == ["Ann", "Rome", "30"]
    assert texts[3] == HOSTILE[1:-1].replace('""', '"')
    assert not page.all("#table td img, #table td script")

    page.ask("who is 41?")
    page.until(lambda: page.text("#answer .question") == "who is 41?")
    assert "probability" in page.text("#answer .facts")
    chosen = page.until(lambda: page.all("#table td.chosen"))
    assert all(cell.text.endswith(" %") for cell in chosen)
    assert len(page.all("#table.answer .shaded, #table .answer .shaded")) == len(chosen)

    page.click("#heat input")
    page.until(lambda: page.all("#table .mate-table.attention"))
    # all cells, and the header
    assert len(page.all("#table .attention .shaded")) == 12
    assert len(page.all("#table td.chosen")) == len(chosen)
    assert "mate_efficient, all layers, all heads" in page.text("#table .mate-below")
    coloured = sum(_shares(page))
    page.choose("#heads", "row heads")
    page.until(lambda: "all layers, row heads" in page.text("#table .mate-below"))
    assert sum(_shares(page)) != coloured
    page.choose("#source", "question")
    page.until(lambda: "from the question" in page.text("#table .legend"))

    page.click("#speed button")
    page.until(lambda: page.one("#compare").is_displayed())
    page.click("#compare")
    page.until(lambda: len(page.all("#timings tbody tr:not(.running)")) == 2)
    page.until(lambda: not page.all("#timings .running"))
    rows = [row.text.split() for row in page.all("#timings tbody tr")]
    assert [row[0] for row in rows] == ["full", "mate_efficient"]
    assert all(float(row[1]) > 0 and row[2] == "ms" for row in rows)
    assert len(page.all("#timings .bar i")) == 2
    assert not page.text("#message")


def _shares(page):
    styles = (cell.get_attribute("style") for cell in page.all("#table .shaded"))
    return [float(style.partition("--share:")[2].strip(" ;")) for style in styles]


def test_bad_input_is_told_on_the_page(page):
    page.paste("a,b\n1,2,3\n")
    assert page.error() == (
        "pasted table: row 1 (line 2) has 3 cells, but the header has 2 cells (separated by comma)"
    )
    page.paste(" ")
    page.until(lambda: page.error() == "paste a table first, or upload one")
    page.paste("name,age\nAnn,30\n")
    page.until(lambda: not page.text("#message"))
    page.ask(" ")
    page.until(lambda: page.error() == "type a question first")
    page.ask("how old is Ann?")
    page.until(lambda: page.text("#answer .question") == "how old is Ann?")
    assert not page.text("#message")
    page.paste("name,age\nBo,31\n")
    page.until(lambda: not page.one("#question textarea").get_attribute("value"))


def test_a_conversation_and_its_end(page):
    page.paste("name,age\nBob,41\n")
    page.until(lambda: not page.text("#answer"))
    page.ask("who is 41?")
    page.until(lambda: page.text("#answer .question") == "who is 41?")
    page.click("#follow-up input")
    page.ask("and how old?")
    page.until(lambda: page.text("#answer .question") == "and how old?")
    assert page.text("#answer ol.earlier").startswith("who is 41?")
    assert " %" not in page.text("#answer ol.earlier")  # there is no calibration
    page.click("#reset")
    page.until(lambda: not page.text("#answer"))
    assert "Bob" in page.text("#table")


def test_an_example_is_asked_by_a_click(page):
    """The model's name is on the page; a click shows the example's table and asks its question."""
    assert "/model/export (mate_efficient, 1 layer of width 16)" in page.text("#title .model")
    examples = page.until(lambda: page.all("#examples button"))
    *_, last = [example.text for example in examples]
    assert len(examples) == 7
    examples[-1].click()
    page.until(lambda: page.text("#answer .question") == last.partition(": ")[2])
    assert "probability" in page.text("#answer .facts")
    assert len(page.all("#table tbody tr")) >= 6


def test_a_narrow_window(page):
    """It does not scroll sideways, and shows the answer or the error after a question."""
    size = {"width": 420, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        width = "return document.documentElement.scrollWidth"
        page.until(lambda: page.browser.execute_script("return window.innerWidth") == 420)
        page.until(lambda: page.browser.execute_script(width) <= 420)
        page.paste("name,age\nDora,52\n")
        page.until(lambda: not page.text("#answer"))
        page.ask("who is 52?")
        page.until(lambda: page.text("#answer .question") == "who is 52?")
        page.until(lambda: _is_in_view(page, "#answer .mate-answer"))
        page.ask(" ")
        page.until(lambda: _is_in_view(page, "#message .mate-error"))
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def _is_in_view(page, selector):
    box = "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
    seen = "return box.height > 0 && box.top > -1 && box.bottom < window.innerHeight + 1"
    return page.browser.execute_script(box + seen, selector)


def test_an_uploaded_table(page, tmp_path):
    page.write("#question textarea", "an old question?")
    path = tmp_path / "mine.tsv"
    path.write_text("town\tyear\nBern\t1191\n")
    tabs = page.until(lambda: page.all("button[role=tab]"))
    next(tab for tab in tabs if tab.text.strip() == "Upload").click()
    page.one("#file input[type=file]").send_keys(str(path))
    page.until(lambda: "Bern" in page.text("#table"))
    page.until(lambda: not page.one("#question textarea").get_attribute("value"))
    page.ask("which year?")
    page.until(lambda: page.text("#answer .question") == "which year?")
    assert "Bern" in page.text("#table")


def test_no_script_ran_and_no_other_machine_was_asked(page, server):
    """Last, when all of the page has been used."""
    script = "return [window.hacked ?? null, performance.getEntries().map(entry => entry.name)]"
    hacked, names = page.browser.execute_script(script)
    assert hacked is None
    requested = [name for name in names if "://" in name]
    assert requested
    assert [name for name in requested if not name.startswith(server)] == []
