"""Decides which requests reach the page or the service: their host, origin and token."""

import contextlib
import hmac
import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOCAL = ("127.0.0.1", "localhost", "[::1]")
HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Content-Security-Policy", "frame-ancestors 'none'"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
)
"""Headers of every response: no other page shows this one in a frame or reads its files."""

_OF_PROXIES = (b"x-forwarded-", b"forwarded")
_TOKEN = "token"
_OF_VISITORS = "Open the address with the token that the program has printed."
_OF_PROGRAMS = "Send the token that the program has printed: Authorization: Bearer TOKEN"


def is_local(host: str) -> bool:
    """Returns whether an address is of this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def hosts(bound: str, allowed: Sequence[str] = ()) -> list[str]:
    """Returns the names and addresses by which a browser may ask for the page.

    Args:
        bound: the address that the page is bound to.
        allowed: further ones.
    """
    names = [*LOCAL, in_address(bound), *allowed]
    if not is_local(bound):
        names += [name := socket.gethostname(), socket.getfqdn()]
        with contextlib.suppress(OSError):  # the machine's name is nowhere known
            names += [in_address(str(each[4][0])) for each in socket.getaddrinfo(name, None)]
    return list(dict.fromkeys(each.lower() for each in names))


def in_address(host: str) -> str:
    """Returns a host as it is written in an address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def shown(host: str) -> str:
    """Returns a host by which a bound address is reached, as it is written in an address."""
    return socket.gethostname() if host in ("0.0.0.0", "::") else in_address(host)


def listening(host: str, port: int) -> socket.socket:
    """Returns a socket that listens at an address of this machine.

    Raises:
        OSError: if the port is in use, or the address is not one of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host.strip("[]"), port), family=family)
    # asyncio does this only for sockets that name the protocol. Without it the body of a reply
    # waits 40 ms until the client has acknowledged the headers.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def middleware(
    allowed_hosts: Sequence[str],
    token: str,
    of_programs: bool = False,
    without_token: Sequence[str] = (),
) -> list[Middleware]:
    """Returns what a request passes through before it reaches the application, in this order.

    Args:
        allowed_hosts: from `hosts`.
        token: what visitors must know; "" for none.
        of_programs: whether programs may send it in a header, as an API is used; see `Token`.
        without_token: paths that need no token.
    """
    layers = [
        Middleware(TrustedHostMiddleware, allowed_hosts=allowed_hosts, www_redirect=False),
        Middleware(SameOrigin),
    ]
    if token:
        layers.append(
            Middleware(Token, token=token, of_programs=of_programs, without_token=without_token)
        )
    return layers


class SameOrigin:
    """Refuses requests that a page of another origin makes a browser send.

    Only a link to the page is followed. Clients other than browsers send no such headers and pass:
    they could send any.

    Args:
        app: what the other requests reach.
    """

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses or passes on a request."""
        app = self.app
        if scope["type"] == "http":
            if not self._is_own(HTTPConnection(scope)):
                app = PlainTextResponse("This request comes from another site.", 403)
            # The page's links would lead to the host that these name.
            kept = [each for each in scope["headers"] if not each[0].startswith(_OF_PROXIES)]
            scope = {**scope, "headers": kept}
        await app(scope, receive, send)

    @staticmethod
    def _is_own(request: HTTPConnection) -> bool:
        headers = request.headers
        for origin in headers.getlist("origin"):
            if _host(origin) != headers["host"].lower():
                return False
        if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            return True
        return (
            request.scope["method"] in ("GET", "HEAD")
            and request.url.path == "/"
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest") == "document"
        )


def _host(origin: str) -> str:
    """Returns the host of an origin; "" for what is not an address."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


class Token:
    """Refuses requests without the token. The address with the token gives a browser its cookie.

    Args:
        app: what the other requests reach.
        token: the token.
        of_programs: whether the header `Authorization: Bearer TOKEN` is enough.
        without_token: paths that need no token.
    """

    def __init__(
        self, app: ASGIApp, token: str, of_programs: bool, without_token: Sequence[str] = ()
    ):
        self.app, self._token, self._of_programs = app, token.encode(), of_programs
        self._open = frozenset(without_token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses or passes on a request, or answers it with the cookie."""
        app = self.app
        if scope["type"] == "http" and scope["path"] not in self._open:
            request = HTTPConnection(scope)
            # Cookies are of all ports of a host.
            cookie = f"mate_tf_{_TOKEN}_{request.url.port or 80}"
            scheme, _, sent = request.headers.get("authorization", "").partition(" ")
            if self._of_programs and scheme.lower() == "bearer" and self._is(sent.strip()):
                pass
            elif self._is(request.query_params.get(_TOKEN)):
                # Out of the browser's history. Relative: a proxy may have the page below a path.
                app = RedirectResponse(f"./{scope['path'].rpartition('/')[2]}", 303)
                app.set_cookie(cookie, self._token.decode(), httponly=True, samesite="strict")
            elif not self._is(request.cookies.get(cookie)):
                app = PlainTextResponse(_OF_PROGRAMS if self._of_programs else _OF_VISITORS, 401)
        await app(scope, receive, send)

    def _is(self, given: str | None) -> bool:
        # In constant time: how long it takes says nothing about the token.
        return hmac.compare_digest((given or "").encode("utf-8", "surrogatepass"), self._token)
