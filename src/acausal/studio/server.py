"""The server: the page's files, one socket for each page, files to take away. Everything else is in `studio.py`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
import socket
import time
import webbrowser
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from .client import Client
from .guard import Guard
from .studio import Studio

PAGE = Path(__file__).parent / "static"
MOST_PAGES = 32
MOST_CONNECTIONS = 256
SILENCE, MOST_SILENT = 10.0, 64  # seconds without a word, and from how many such on it is half of one
LARGEST = 1 << 20  # bytes of a question


def application(studio: Studio, token: str, hosts: set[str]) -> Guard:
    """The studio as an ASGI application, behind its guard."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        await studio.start()
        yield
        await studio.stop()

    async def talk(page: WebSocket) -> None:
        await _talk(studio, page)

    async def taken(request: Request) -> Response:
        return _file(studio, request.path_params["name"])

    routes = [
        WebSocketRoute("/socket", talk),
        Route("/files/{name}", taken),
        Mount("/", StaticFiles(directory=PAGE, html=True)),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), token, hosts)


def _file(studio: Studio, name: str) -> Response:
    """An export: its name is one that we made."""
    found = studio.folder / "exports" / name
    if not re.fullmatch(r"[\w. -]+", name) or name.startswith(".") or not found.is_file():
        return PlainTextResponse("There is no such file.", 404)
    return FileResponse(found, filename=name)


async def _talk(studio: Studio, page: WebSocket) -> None:
    if len(studio.clients) >= MOST_PAGES:
        await page.close(4429, f"There are {MOST_PAGES} pages open already.")
        return
    await page.accept()
    client = studio.enter()
    speaking = asyncio.create_task(_speak(client, page))
    try:
        while True:
            text = await page.receive_text()
            try:
                head = json.loads(text)
            except ValueError:
                continue
            if isinstance(head, dict):
                await studio.asked(client, head)
    except (WebSocketDisconnect, KeyError, RuntimeError):  # it went, or said something that is no text
        pass
    finally:
        speaking.cancel()
        studio.leave(client)


async def _speak(client: Client, page: WebSocket) -> None:
    """One place that writes; a page that cannot follow is let go and comes back."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while (frame := await client.queue.get()) is not None:
            await page.send_bytes(frame)
        await page.close(4408, "The page was too far behind.")


def free_socket(port: int) -> socket.socket:
    """A socket on this machine's own address; any free port for 0."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", port))
    found.listen(128)  # a browser that is quicker than we are waits, and is not refused
    return found


async def serve(studio: Studio, *, port: int = 0, token: str = "", open_browser: bool = True, say: Any = print) -> None:
    """Serve until Ctrl-C."""
    import uvicorn

    listening = free_socket(port)
    number = listening.getsockname()[1]
    token = token or secrets.token_urlsafe(24)
    hosts = {f"127.0.0.1:{number}", f"localhost:{number}"}
    address = f"http://127.0.0.1:{number}/?token={token}"
    say(address)
    config = uvicorn.Config(
        application(studio, token, hosts),
        log_level="error",  # who sends nonsense shall not fill the terminal
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        ws_max_size=LARGEST,
        ws_max_queue=32,
        ws_ping_interval=20.0,
        ws_ping_timeout=60.0,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
        ws="websockets-sansio",
    )
    if open_browser:
        webbrowser.open(address)
    server = uvicorn.Server(config)
    sweeping = asyncio.create_task(_sweep(server.server_state.connections))
    try:
        await server.serve(sockets=[listening])
    finally:
        sweeping.cancel()


async def _sweep(connections: set[Any]) -> None:
    """Whoever connects and says nothing is let go: sooner, the more of them there are. They would keep others out otherwise."""
    since: dict[Any, float] = {}
    while True:
        await asyncio.sleep(0.5)
        now = time.monotonic()
        silent = [c for c in list(connections) if getattr(c, "cycle", c) is None]
        since = {c: since.get(c, now) for c in silent}
        patience = SILENCE if len(silent) < MOST_SILENT else 0.5
        for connection in (c for c in silent if now - since[c] >= patience):
            connection.transport.close()
