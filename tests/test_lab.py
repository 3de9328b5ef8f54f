"""`ctxlab lab` as a person meets it: a real server, in a folder that is theirs, on the first notebook."""

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ctxlab.cli import main
from ctxlab.commands import lab
from ctxlab.samples import notebooks

TOKEN = "only-for-this-test"


class Server:
    """A running `ctxlab lab`, in an empty folder and with none of the user's own Jupyter settings."""

    command: tuple[str, ...] = ("-m", "ctxlab", "lab")
    token = TOKEN

    def __init__(self, home: Path, *arguments: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR")
        self.home = home
        self.log = home / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self.command, "--no-browser", "--port", str(self.port), *arguments],
                cwd=home,
                env={**os.environ, **{place: str(home / place.lower()) for place in places}},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def get(self, path: str) -> tuple[str, bytes]:
        """The address it ended at, and the body."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", headers={"Authorization": f"token {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.url, answer.read()

    def json(self, path: str) -> Any:
        return json.loads(self.get(path)[1])

    def wait(self) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                self.get("/api/status")
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                assert self.process.poll() is None, self.log.read_text()
                assert time.monotonic() < deadline, self.log.read_text()
                time.sleep(0.1)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


Running = TypeVar("Running", bound=Server)


@contextmanager
def started(server: Running) -> Iterator[Running]:
    """The server once it answers; afterwards, and where it never does, it is stopped."""
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with started(Server(tmp_path_factory.mktemp("lab"), f"--IdentityProvider.token={TOKEN}")) as running:
        yield running


def test_the_server_is_up(server: Server) -> None:
    assert "started" in server.json("/api/status")


def test_every_notebook_is_served_from_the_working_copy(server: Server) -> None:
    served = server.json("/api/contents/notebooks")["content"]
    assert {entry["name"] for entry in served} == {f"{name}.ipynb" for name in notebooks()} != set()
    assert (server.home / "ctxlab-notebooks" / "notebooks").is_dir()


def test_it_opens_on_the_first_notebook(server: Server) -> None:
    first = next(iter(notebooks()))
    address, page = server.get("/")
    assert re.search(rf"/lab/workspaces/ctxlab-[0-9a-f]{{12}}/tree/notebooks/{first}\.ipynb$", address)
    assert b"JupyterLab" in page


def test_the_sample_sessions_lie_beside_the_notebooks(server: Server) -> None:
    names = {entry["name"] for entry in server.json("/api/contents")["content"]}
    assert {"notebooks", "sample_sessions"} <= names


def test_the_first_screen_asks_nothing(server: Server) -> None:
    notification = server.json("/lab/api/settings/@jupyterlab/apputils-extension:notification")
    defaults = {name: entry["default"] for name, entry in notification["schema"]["properties"].items()}
    assert defaults["fetchNews"] == "false"
    assert defaults["checkForUpdates"] is False


def test_the_server_listens_on_the_loopback_address_alone_and_wants_its_token(server: Server) -> None:
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"http://127.0.0.1:{server.port}/api/contents", timeout=10)
    # 127.0.0.2 is this machine as well: a server on all addresses would answer there.
    with pytest.raises(OSError, match=r"refused|assign"):
        socket.create_connection(("127.0.0.2", server.port), timeout=5)


def test_without_a_browser_the_address_is_printed_and_a_stop_is_clean(tmp_path: Path) -> None:
    running = Server(tmp_path, "--dir", str(tmp_path / "mine"))
    try:
        running.wait()
        pattern = rf"http://127\.0\.0\.1:{running.port}/lab/\S+\?token=\w+"
        deadline = time.monotonic() + 10
        while not re.search(pattern, running.log.read_text()) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert re.search(pattern, running.log.read_text())
        assert str(tmp_path / "mine") in running.log.read_text()
    finally:
        running.stop()
    assert "Traceback" not in running.log.read_text()
    assert not (tmp_path / "ctxlab-notebooks").exists()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", running.port), timeout=5)


def test_a_folder_that_cannot_be_made_is_one_clear_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    assert main(["lab", "--dir", str(tmp_path / "file" / "folder")]) == 2
    assert "cannot copy the notebooks" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["-1", "70000", "many"])
def test_a_port_that_is_none_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["lab", f"--port={port}"])
    assert ended.value.code == 2
    assert port in capsys.readouterr().err


def test_each_copy_opens_with_its_own_tabs(tmp_path: Path) -> None:
    asked = argparse.Namespace(port=None, no_browser=True, passed_on=[])
    pages = [lab._jupyter_arguments(asked, tmp_path / name)[1] for name in ("one", "other", "one")]
    assert pages[0] == pages[2] != pages[1]
