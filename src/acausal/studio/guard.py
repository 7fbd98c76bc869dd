"""Who may come in: the browser that was given the address with the token, on this machine, from a page of ours. Nobody else.

The Host is checked (a foreign name that resolves to this machine is refused), the Origin too (a page of another site may not speak
to us, neither by HTTP nor by a socket), and the token: it comes in the address once, becomes a cookie that scripts cannot read, and
leaves the address bar.
"""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import parse_qsl, urlencode

COOKIE = "acausal-studio"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
]
_REFUSED = (
    "This studio opens only with the address that it printed in the terminal, with its token, on the machine it runs on. "
    "Copy that address into the browser."
)


class Guard:
    """An ASGI application in front of another one."""

    def __init__(self, app: Any, token: str, hosts: set[str]) -> None:
        self.app, self.token, self.hosts = app, token, hosts
        self.origins = {f"http://{host}" for host in hosts} | {f"https://{host}" for host in hosts}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        if not self._at_home(headers, scope["type"] == "websocket"):
            await self._refuse(scope, send)
        elif self._known(headers):
            await self.app(scope, receive, _with_headers(send) if scope["type"] == "http" else send)
        elif scope["type"] == "http" and scope["method"] == "GET" and self._has_token(scope):
            await self._welcome(scope, send)
        else:
            await self._refuse(scope, send)

    def _at_home(self, headers: dict[str, str], socket: bool) -> bool:
        origin = headers.get("origin")
        return headers.get("host", "") in self.hosts and (origin in self.origins if origin is not None or socket else True)

    def _known(self, headers: dict[str, str]) -> bool:
        """Other programs on this machine leave cookies too, in any form (http.cookies gives up at the first odd one)."""
        pairs = [pair.strip().partition("=") for pair in headers.get("cookie", "").split(";")]
        given = [value.encode() for name, _, value in pairs if name == self._cookie]
        return any(secrets.compare_digest(value, self.token.encode()) for value in given)

    @property
    def _cookie(self) -> str:
        """Cookies do not know ports: two studios on one machine must not take each other's."""
        return f"{COOKIE}-{min(self.hosts).rpartition(':')[2]}"

    def _has_token(self, scope: Any) -> bool:
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "")
        return secrets.compare_digest(given.encode(), self.token.encode())

    async def _welcome(self, scope: Any, send: Any) -> None:
        rest = [(k, v) for k, v in parse_qsl(scope["query_string"].decode("latin-1")) if k != "token"]
        where = "/" + (f"?{urlencode(rest)}" if rest else "")
        cookie = f"{self._cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"location", where.encode()), (b"set-cookie", cookie.encode()), (b"content-length", b"0"), *_HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def _refuse(self, scope: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403})
            return
        body = _REFUSED.encode()
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()), *_HEADERS]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _with_headers(send: Any) -> Any:
    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            own = {key for key, _ in _HEADERS}
            message = {**message, "headers": [*(h for h in message["headers"] if h[0].lower() not in own), *_HEADERS]}
        await send(message)

    return sent
