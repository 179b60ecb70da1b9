"""Attacks on the page by raw HTTP, against one server: none gets through, and it serves on.

Needs the extra `demo`. There is no model behind the page: no attack gets as far as a question.
"""

import collections
import contextlib
import functools
import json
import os
import pathlib
import socket
import threading
import time

import pytest

if os.environ.get("MATE_TF_REQUIRE_BROWSER") != "1":  # there it must be installed
    pytest.importorskip("gradio")

from mate_tf.demo import page, server, session, uploads
from mate_tf.service import connections, guard

from ..page_client import Visitor
from .attacks import ATTACKS, JOIN, LARGEST, SECRET, forged_events, form, post

pytestmark = pytest.mark.environment

HOSTILE = "<script>window.hacked=1</script><img src=x onerror=window.hacked=2>"


class Target:
    """The page that is attacked: its port, its uploads, and a file that must not be read."""

    def __init__(self, port, folder, secret):
        self.port, self.folder, self.secret = port, pathlib.Path(folder), secret

    def request(self, method, path, *headers, body=b"", host=None, version="1.1") -> bytes:
        """The bytes of a request with what a browser sends besides."""
        host = f"127.0.0.1:{self.port}" if host is None else host
        lines = [f"{method} {path} HTTP/{version}", *([f"Host: {host}"] if host else []), *headers]
        if body and not any(line.startswith(("Content-Length", "Transfer")) for line in headers):
            lines.append(f"Content-Length: {len(body)}")
        lines.append("Connection: close")
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body

    def send(self, *parts: bytes, pause: float = 0, timeout: float = 60) -> bytes:
        """What the server answers until it closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            answer = b""
            try:
                for part in parts:
                    connection.sendall(part)
                    time.sleep(pause)
            except OSError:  # the server has closed it; what it said before is read
                pass
            try:
                while piece := connection.recv(2**16):
                    answer += piece
            except ConnectionError:
                pass
            return answer


def served(token: str, folder: str):
    """The context of a server of the page, and its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    layers = page.middleware(guard.hosts("127.0.0.1"), token, folder, LARGEST)
    app = page.application(session.Demo(None), layers)
    return server.running(app, listening, guard.HEADERS), listening.getsockname()[1]


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """The page on a port of its own."""
    secret = tmp_path_factory.mktemp("other") / "secret.csv"
    secret.write_text(f"name,word\nit is,{SECRET}\n")
    parent = tmp_path_factory.mktemp("uploads")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(uploads.VARIABLE, str(parent))
        with uploads.folder() as folder:
            context, port = served("", folder)
            with context:
                yield Target(port, folder, secret)
        assert not os.path.exists(folder)


def test_there_are_enough():
    assert len(ATTACKS) >= 60


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack(target, name):
    build, allowed = ATTACKS[name]
    answer = target.send(build(target))
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    assert status in allowed, answer[:2000]
    assert SECRET.encode() not in answer
    assert b"root:" not in answer
    assert b"evil" not in body.lower()
    assert b"evil" not in head.lower()
    assert b"Traceback" not in answer
    assert b"ccess-control-allow-origin" not in head.lower()


def test_forged_events(target, capsys):
    """They are refused, or end as an event that fails; that the server fails is said of none."""
    statuses = collections.Counter()
    for path, body in forged_events():
        answer = target.send(post(path, body=json.dumps(body).encode())(target))
        status = int(answer.split()[1])
        assert 200 <= status < 500, (path, body, answer[:500])
        assert b"Traceback" not in answer
        statuses[status] += 1
    with capsys.disabled():
        print(f" {statuses.total()} forged events: {dict(statuses)}", end="")
    assert statuses.total() > 400


@pytest.mark.parametrize("path", ["{secret}", "/etc/passwd", "{folder}/../../{secret}"])
@pytest.mark.parametrize("field", ["path", "url"])
def test_a_forged_upload(target, path, field):
    """The page's own event with the path, or address, of a file that was not uploaded."""
    path = path.format(secret=target.secret, folder=target.folder)
    forged = {"path": path, "meta": {"_type": "gradio.FileData"}, "orig_name": "a.csv"}
    if field == "url":
        forged |= {"path": "a.csv", "url": f"file://{path}"}
    visitor = Visitor(target.port)
    with pytest.raises(AssertionError) as said:
        visitor.event("file", "change", {"file": forged})
    assert SECRET not in str(said.value)
    assert "root:" not in str(said.value)
    assert target.secret.exists()


def test_another_address_is_not_asked(target):
    """What a forged file names as its address is fetched by nobody."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0.5)
        address = f"http://127.0.0.1:{other.getsockname()[1]}/t.csv"
        forged = {"path": address, "url": address, "meta": {"_type": "gradio.FileData"}}
        with pytest.raises(AssertionError):
            Visitor(target.port).event("file", "change", {"file": forged})
        with pytest.raises(TimeoutError):
            other.accept()


@pytest.mark.parametrize("name", ["../../../evil.csv", "/tmp/evil.csv", "..\\..\\evil.csv", "a\0b"])
def test_names_that_lead_out_of_the_folder(target, name):
    answer = target.send(form(name)(target))
    status = int(answer.split()[1])
    if status == 200:
        (path,) = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert pathlib.Path(path).resolve().is_relative_to(target.folder.resolve())
    assert not list(target.folder.parent.glob("**/../evil*"))


def test_what_is_shown_is_escaped(target):
    visitor = Visitor(target.port)
    for pasted in (f"a,b\n{HOSTILE},1\n", f"{HOSTILE},b\n1,2\n", f"a,b\n1,2,{HOSTILE}\n"):
        shown = visitor.event("read", "click", {"pasted": pasted})
        assert "<script" not in shown["table"] + shown["message"]
        assert "<img" not in shown["table"] + shown["message"]
    (path,) = visitor.upload("<img src=x onerror=hacked>.csv", b"a,b\n1\n")
    file = {"path": path, "orig_name": HOSTILE, "meta": {"_type": "gradio.FileData"}}
    shown = visitor.event("file", "change", {"file": file})
    assert "row 1 (line 2) has 1 cell" in shown["message"]
    assert "<img" not in shown["message"]


def test_an_upload_is_removed_when_it_is_read(target):
    visitor = Visitor(target.port)
    (path,) = visitor.upload("town.csv", b"town,year\nBern,1191\n")
    assert os.path.exists(path)
    assert pathlib.Path(path).is_relative_to(target.folder)
    file = {"path": path, "orig_name": "town.csv", "meta": {"_type": "gradio.FileData"}}
    assert "Bern" in visitor.event("file", "change", {"file": file})["table"]
    assert not os.path.exists(path)


def test_uploads_that_nobody_reads_do_not_fill_the_disk(target):
    content = bytes(LARGEST - 2**12)
    files = [form(f"{number}.csv", content + bytes([number])) for number in range(12)]
    statuses = [int(target.send(file(target)).split()[1]) for file in files]
    assert set(statuses) == {200, 507}
    for path in target.folder.rglob("*.csv"):
        os.utime(path, (0, 0))
    assert target.send(form("a.csv")(target)).startswith(b"HTTP/1.1 200")


def test_slow_clients_are_cut_off(target, monkeypatch):
    """Nothing, half of the headers byte by byte, half of a body, and a response nobody reads."""
    monkeypatch.setattr(connections, "PATIENCE", dict.fromkeys(connections.PATIENCE, 1.0))
    whole = target.request("GET", "/")
    drip = [whole[i : i + 1] for i in range(30)]
    half = post(JOIN, "Content-Length: 1000", body=b'{"data"')(target)
    slow = [
        functools.partial(target.send),
        functools.partial(target.send, *drip, pause=0.1),
        functools.partial(target.send, half),
        functools.partial(target.send, whole.replace(b"close", b"keep-alive") + b"GET / HT"),
    ]
    ended = []
    threads = [threading.Thread(target=lambda each=each: ended.append(each())) for each in slow]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(50)
    assert len(ended) == len(slow)
    monkeypatch.setattr(connections, "STALLED", 1.0)
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", target.port))
        reader.settimeout(30)
        reader.sendall(whole.replace(b"close", b"keep-alive") * 1000)
        time.sleep(10)
        responses = 0
        with contextlib.suppress(ConnectionError):
            while piece := reader.recv(2**16):
                responses += piece.count(b"HTTP/1.1 200")
        assert 0 < responses < 1000


def test_the_page_serves_on(target):
    """Last, after all attacks."""
    visitor = Visitor(target.port)
    assert "Rome" in visitor.event("read", "click", {"pasted": "name,city\nAnn,Rome\n"})["table"]
    answer = target.send(target.request("GET", "/"))
    head = answer.partition(b"\r\n\r\n")[0].lower()
    assert b"200 ok" in head
    for name, value in guard.HEADERS:
        assert f"{name}: {value}".lower().encode() in head
    assert b"server:" not in head


def test_a_token(tmp_path, monkeypatch):
    """Every address needs it, a browser gets it as a cookie, and it is not left in the address."""
    token = "the-token"
    context, port = served(token, str(tmp_path))
    target = Target(port, tmp_path, None)
    with context:
        for path in ("/", "/config", "/?token=wrong", "/?token=", "/gradio_api/heartbeat/a"):
            assert target.send(target.request("GET", path)).startswith(b"HTTP/1.1 401"), path
        wrong = f"Cookie: mate_tf_token_{port}=wrong"
        other = f"Cookie: mate_tf_token_{port + 1}={token}"
        for line in (wrong, other, f"Authorization: Bearer {token}"):
            assert target.send(target.request("GET", "/", line)).startswith(b"HTTP/1.1 401")
        assert target.send(post(JOIN)(target)).startswith(b"HTTP/1.1 401")
        head = target.send(target.request("GET", f"/?token={token}")).decode().lower()
        assert head.startswith("http/1.1 303")
        assert "location: ./\r\n" in head
        assert f"mate_tf_token_{port}={token}; httponly; path=/; samesite=strict" in head
        cookie = f"Cookie: mate_tf_token_{port}={token}"
        assert target.send(target.request("GET", "/config", cookie)).startswith(b"HTTP/1.1 200")
