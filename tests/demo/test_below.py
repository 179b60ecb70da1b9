"""The page below a path, behind a proxy."""

import contextlib
import http.client
import http.server
import os
import socket
import threading

import pytest

from mate_tf.errors import InputError

from .. import chromium

if os.environ.get("MATE_TF_REQUIRE_BROWSER") != "1":  # there it must be installed
    pytest.importorskip("gradio")

from mate_tf.demo import below, page, server, session
from mate_tf.service import guard

pytestmark = pytest.mark.environment


@pytest.mark.parametrize(
    ("given", "root"),
    [
        ("", ""),
        ("/", ""),
        ("/tables", "/tables"),
        ("/a-b/c.d/", "/a-b/c.d"),
        ("https://example.org/tables/", "https://example.org/tables"),
        ("http://[::1]:80", "http://[::1]:80"),
    ],
)
def test_what_is_a_path(given, root):
    assert below.check(given) == root


@pytest.mark.parametrize(
    "given",
    [
        *("tables", "//evil.example", "/a//b", "/a?b", "/a b", "ftp://x/a", "/a#b", '/"', "/ä"),
        *("/a/../b", "/.", "/a/..", "http://[", "http://[1:2]/a", "https://a:99999", "http://a:0"),
    ],
)
def test_what_is_no_path(given):
    with pytest.raises(InputError, match=r"--root_path=.*: expected a path, such as /tables"):
        below.check(given)


class Proxy(http.server.BaseHTTPRequestHandler):
    """Passes on requests below /tables, without that path or with it; refuses others."""

    port, strips = 0, True

    def pass_on(self):
        if not self.path.startswith("/tables/"):
            self.send_error(404)
            return
        path = self.path.removeprefix("/tables") if self.strips else self.path
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        behind = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = dict(self.headers) | {"Connection": "close"}
        behind.request(self.command, path, body, headers)
        answer = behind.getresponse()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        with contextlib.suppress(OSError):
            while piece := answer.read1(2**16):
                self.wfile.write(piece)
                self.wfile.flush()
        behind.close()

    do_GET = do_POST = do_HEAD = pass_on

    def log_message(self, *_):
        """Says nothing."""


@contextlib.contextmanager
def proxied(folder, strips: bool, token: str = ""):
    """Yields the address of a page behind a proxy."""
    listening = socket.create_server(("127.0.0.1", 0))
    handler = type("Proxy", (Proxy,), {"port": listening.getsockname()[1], "strips": strips})
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    proxy.daemon_threads = True
    layers = page.middleware(guard.hosts("127.0.0.1"), token, str(folder), 2**20)
    app = page.application(session.Demo(None), page.below_path(layers, "/tables"), root="/tables")
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    with server.running(app, listening, guard.HEADERS):
        yield f"http://127.0.0.1:{proxy.server_address[1]}/tables/"
    proxy.shutdown()
    proxy.server_close()


@pytest.mark.parametrize("strips", [True, False])
def test_the_token_leads_to_the_page(tmp_path, strips):
    with proxied(tmp_path, strips, "secret") as address:
        connection = http.client.HTTPConnection(address.split("/")[2], timeout=60)
        connection.request("GET", "/tables/?token=secret")
        answer = connection.getresponse()
        assert (answer.status, answer.headers["location"]) == (303, "./")


@pytest.mark.slow
@pytest.mark.parametrize("strips", [True, False])
def test_a_visit_below_a_path(tmp_path, strips):
    """All that the page asks for is below its path: the proxy refuses the rest."""
    chromium.require("selenium")
    from selenium.webdriver.support.wait import WebDriverWait

    with (
        proxied(tmp_path / "uploads", strips, "secret") as address,
        chromium.browser(tmp_path / "profile") as browser,
    ):
        wait = WebDriverWait(browser, chromium.PATIENCE, poll_frequency=0.2)
        browser.get(f"{address}?token=secret")
        wait.until(lambda _: browser.find_elements("css selector", "#read"))
        assert browser.current_url == address
        wait.until(lambda _: browser.find_element("css selector", "#read").click() or True)
        wait.until(lambda _: browser.find_elements("css selector", "#table td"))
