"""A studio that really runs, and pages that talk to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from acausal.studio.protocol import unpacked

from .plant import PLANT

TOKEN = "a-token-for-tests"
PATIENCE = 180.0  # seconds for anything: far more than needed, so that a busy machine fails no test


@dataclass
class Server:
    process: subprocess.Popen[str]
    port: int
    file: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return f"{self.url}/?token={TOKEN}"

    def get(self, path: str = "/", **headers: str) -> tuple[int, str]:
        """Status and text of a request; `host`, `origin` and `cookie` as given."""
        request = urllib.request.Request(f"{self.url}{path}", headers={k.title(): v for k, v in headers.items()})
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    @property
    def cookie(self) -> str:
        return f"acausal-studio-{self.port}={TOKEN}"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass
class Page:
    """What a browser does, without one."""

    socket: Any
    client: int = 0
    count: int = 0
    notices: list[tuple[str, Any]] = field(default_factory=list)
    hello: dict[str, Any] = field(default_factory=dict)

    def hear(self) -> tuple[dict[str, Any], memoryview]:
        head, numbers = unpacked(self.socket.recv(timeout=PATIENCE))
        if "notice" in head:
            self.notices.append((head["notice"], head.get("data", head)))
        return head, numbers

    def wait(self, notice: str, fits: Any = lambda data: True) -> Any:
        """The first notice of a kind that fits, heard or yet to come."""
        seen = 0
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for kind, data in self.notices[seen:]:
                seen += 1
                if kind == notice and fits(data):
                    return data
            self.hear()
        raise AssertionError(f"no {notice} came")

    def ask(self, ask: str, **given: Any) -> dict[str, Any]:
        self.count += 1
        number = f"{self.client}-{self.count}"
        self.socket.send(json.dumps({"id": number, "ask": ask, **given}))
        while True:
            head, _ = self.hear()
            if head.get("id") == number:
                return head

    def run(self, **case: Any) -> dict[str, Any]:
        """Run a case to its end; the studio itself waits for a model that is still being loaded."""
        head = self.ask("run", case={"name": "", **case}, names=["room.T"], instead="")
        assert "answer" in head, head
        number = head["answer"]["id"]
        return self.wait("run", lambda r: r["id"] == number and r["state"] not in ("queued", "running"))


@pytest.fixture
def new_studio(tmp_path: Path) -> Iterator[Any]:
    """Starts studios; they end with the test."""
    yield from _studios(tmp_path)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One studio for all tests of a file."""
    makers = _studios(tmp_path_factory.mktemp("plant"))
    make = next(makers)
    yield make()
    next(makers, None)


def _studios(folder: Path) -> Iterator[Any]:
    started: list[subprocess.Popen[str]] = []

    def make(text: str | None = PLANT, *options: str, name: str = "house.py") -> Server:
        file = folder / name
        if text is not None:
            file.write_text(text)
        command = [sys.executable, "-m", "acausal.cli", "studio", name, "--no-browser", "--token", TOKEN, *options]
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.getcwd()}
        )
        started.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            if "http://127.0.0.1:" in line:
                return Server(process, int(line.split("127.0.0.1:")[1].split("/")[0]), file)
        raise AssertionError("the studio did not start")

    yield make
    for process in started:
        process.send_signal(signal.SIGINT)
    for process in started:
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def page(server: Server) -> Iterator[Page]:
    with opened(server) as found:
        yield found


@contextmanager
def opened(server: Server) -> Iterator[Page]:
    """A page that has heard the studio's hello."""
    from websockets.sync.client import connect

    where, headers = f"ws://127.0.0.1:{server.port}/socket", {"Cookie": server.cookie}
    with connect(where, origin=server.url, additional_headers=headers, max_size=None) as socket:
        found = Page(socket)
        head, _ = found.hear()
        found.hello, found.client = head["data"], head["data"]["client"]
        yield found


def ready(page: Page) -> dict[str, Any]:
    """The model, when it is there."""
    return page.hello["model"] or page.wait("model")
