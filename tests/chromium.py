"""Headless Chromium for tests of pages: needs selenium, and Debian's chromium and
chromium-driver."""

import contextlib
import importlib.util
import os
import pathlib

import pytest

CHROMIUM, DRIVER = pathlib.Path("/usr/bin/chromium"), pathlib.Path("/usr/bin/chromedriver")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--window-size=1360,1300"),
)
PATIENCE = 240  # seconds, for machines on which others compute


def require(*modules: str) -> None:
    """Skips where the browser or a module is missing, fails where it must not be."""
    missing = [name for name in modules if not importlib.util.find_spec(name)]
    missing += [str(path) for path in (CHROMIUM, DRIVER) if not path.exists()]
    if missing and os.environ.get("MATE_TF_REQUIRE_BROWSER") == "1":
        pytest.fail(f"MATE_TF_REQUIRE_BROWSER=1 but there is no {', '.join(missing)}")
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")


@contextlib.contextmanager
def browser(profile: os.PathLike):
    """A selenium driver whose Chromium keeps what it stores in the folder `profile`."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService(str(DRIVER)))
    try:
        driver.set_page_load_timeout(PATIENCE)
        yield driver
    finally:
        driver.quit()
