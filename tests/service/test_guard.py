"""Hosts, origins and tokens of the service. tests/faults/test_page.py attacks the page's."""

import socket

import pytest

from mate_tf.service import connections, guard

from .conftest import ask, refusal

TOKEN = "a-long-token"


@pytest.fixture
def guarded(serving, model):
    """A client of a service with a token."""
    return serving(model, token=TOKEN)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "169.254.169.254", ""])
def test_other_hosts(client, model, host):
    response = ask_with(client, {"host": host})
    assert refusal(response, 400) == "Invalid host header"
    assert not model.asked


def ask_with(client, headers):
    return client.post("/v1/ask", json={"table": [["a"], ["b"]], "question": "q"}, headers=headers)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_pages_of_other_sites(client, model, headers):
    assert refusal(ask_with(client, headers), 403) == "This request comes from another site."
    assert not model.asked


def test_pages_of_its_own_and_programs(client):
    assert ask_with(client, {"origin": "http://localhost"}).status_code == 200
    assert ask_with(client, {"sec-fetch-site": "same-origin"}).status_code == 200
    assert ask(client).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": "Bearer "},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": TOKEN},
        {"cookie": f"mate_tf_token_81={TOKEN}"},
    ],
)
def test_without_the_token(guarded, model, headers):
    text = refusal(ask_with(guarded, headers), 401)
    assert text.endswith("Authorization: Bearer TOKEN")
    assert refusal(guarded.get("/metrics", headers=headers), 401)
    assert guarded.get("/healthz", headers=headers).status_code == 200
    assert not model.asked


def test_with_the_token(guarded):
    assert ask_with(guarded, {"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert ask_with(guarded, {"authorization": f"bearer  {TOKEN}"}).status_code == 200


def test_a_browser_with_the_token(guarded):
    response = guarded.get(f"/docs?token={TOKEN}", follow_redirects=False)
    assert response.status_code == 303
    assert response.headers["location"] == "./docs"
    assert "HttpOnly" in response.headers["set-cookie"]
    assert guarded.get("/docs").status_code == 200


def test_addresses():
    assert guard.is_local("127.0.0.2")
    assert guard.is_local("[::1]")
    assert not guard.is_local("0.0.0.0")
    assert not guard.is_local("example.org")
    assert guard.hosts("127.0.0.1", ["Table.Example"]) == [*guard.LOCAL, "table.example"]
    assert guard.shown("::1") == "[::1]"
    assert guard.shown("192.0.2.1") == "192.0.2.1"
    with guard.listening("127.0.0.1", 0) as one, pytest.raises(OSError, match="in use"):
        guard.listening("127.0.0.1", one.getsockname()[1])


def test_slow_clients_have_time_limits():
    """The page's attacks measure them."""
    assert set(connections.PATIENCE.values()) == {10, 120}
    assert issubclass(connections.TimedProtocol, connections.H11Protocol)


def test_connections_do_not_wait_for_acknowledgements():
    """Asked of an accepted connection: with Nagle's algorithm each reply takes 40 ms more."""
    with (
        guard.listening("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
    ):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
