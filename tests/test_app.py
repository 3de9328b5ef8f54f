"""`ctxlab app` as a person meets it, and as those who should not: a real server, its pages and its kernels.

It runs in a folder as somebody else's archive may have left it, on a file with a name that would like to be code.
"""

import json
import logging
import os
import re
import signal
import socket
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname
from uuid import uuid4

import pytest
from jupyter_server.base.websocket import WebSocketMixin
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from ctxlab.cli import main
from ctxlab.commands._app_page import _shown
from ctxlab.commands._app_server import SETTINGS, _Server
from tests.builders import assistant, tool_result, tool_use, user
from tests.conftest import need
from tests.test_cli import modules_after
from tests.test_lab import Server, started

HOSTILE_NAME = "it's \"a\" {session} $(touch ran) <b>\n'''; open('ran', 'w') #.json"
HOSTILE_TEXT = (
    "<img src=x onerror=\"document.title='acted upon'\"><script>document.title='acted upon'</script> "
    "[link](javascript:alert(1)) \x1b[31mred \u202eright to left"
)
TRAPS = ("voila.py", "jupyter_config.py", "ipykernel_launcher.py", "json.py", "ctxlab.py")


class App(Server):
    """A running `ctxlab app` on a file in the current folder, and its token, which it has told in the address."""

    # As the script `ctxlab` starts Python: not with the current folder as a place of modules.
    command = ("-P", "-m", "ctxlab", "app")

    def wait(self) -> None:
        super().wait()
        self.address = re.findall(r"http://\S+", self.log.read_text())[0]
        self.token = self.address.partition("token=")[2]


def write_session(folder: Path) -> str:
    """Write a session with texts that would like to act, and return the name of its file."""
    pairs = [part for n in range(6) for part in (tool_use(f"t{n}"), tool_result(f"t{n}", "words " * 300))]
    messages = [
        user(f"Please look. {HOSTILE_TEXT}"),
        *pairs,
        assistant("Done."),
        user("And now?"),
        assistant("Nothing."),
    ]
    (folder / HOSTILE_NAME).write_text(json.dumps(messages), encoding="utf-8")
    return HOSTILE_NAME


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    home = tmp_path_factory.mktemp("app")
    for trap in TRAPS:
        (home / trap).write_text("open('ran', 'w').close()")
    with started(App(home, write_session(home))) as running:
        yield running


@pytest.fixture(scope="module")
def page(app: App) -> str:
    """The page, loaded once: with that it has a kernel."""
    address, body = app.get("/")
    assert address.endswith(f":{app.port}/")
    return body.decode()


@pytest.fixture(scope="module")
def kernel(page: str) -> str:
    (found,) = re.findall(r'"kernelId": "([\w-]+)"', page)
    return str(found)


def status(app: App, path: str, token: str = "", method: str = "GET", **headers: str) -> int:
    """What a request is answered with, redirects followed; without ``token`` as a stranger would ask."""
    allowed = {"Authorization": f"token {token}"} if token else {}
    address = f"http://127.0.0.1:{app.port}{path}"
    request = urllib.request.Request(address, headers={**headers, **allowed}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return 302 if "/login" in answer.url else int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def channel(app: App, kernel: str, origin: str | None = None, **headers: str) -> ClientConnection:
    """The channel on which a page and its kernel talk."""
    address = f"ws://127.0.0.1:{app.port}/api/kernels/{kernel}/channels"
    return connect(
        address, origin=Origin(origin) if origin else None, additional_headers=headers, max_size=None, proxy=None
    )


def test_the_page_is_the_explorer_and_shows_no_code(page: str) -> None:
    assert "vnd.voila.cell-output" in page
    assert "Explorer(children" in page
    assert "_app_page" not in page


def test_a_name_that_would_like_to_be_code_is_a_name(app: App, page: str) -> None:
    assert "<b>" not in page.partition("</title>")[0]
    assert "session" in page.partition("</title>")[0]
    assert not (app.home / "ran").exists()


def test_nothing_that_lies_in_the_current_folder_is_run(app: App, page: str) -> None:
    assert all((app.home / trap).exists() for trap in TRAPS)
    assert not (app.home / "ran").exists()


def test_the_page_names_no_address_outside(page: str) -> None:
    assert set(re.findall(r"(?:src|href)=\"(.*?)\"", page)) > {"/voila/static/voila.js"}
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", page)


@pytest.mark.parametrize("token", ["", "wrong"])
def test_without_the_token_there_is_no_page(app: App, token: str) -> None:
    assert status(app, "/", token) == 302
    assert status(app, f"/?token={token}") == 302
    assert status(app, "/explorer.ipynb", token) == 302


def test_whoever_leaves_is_told_so_and_has_to_bring_the_token_again(app: App) -> None:
    assert status(app, "/logout", app.token) == 200
    assert status(app, "/logout") in (200, 302)


def test_without_the_token_there_is_no_kernel(app: App, kernel: str) -> None:
    assert status(app, f"/api/kernels/{kernel}", app.token) == 200
    assert status(app, f"/api/kernels/{kernel}") == 403
    with pytest.raises(InvalidStatus, match="403"):
        channel(app, kernel)
    with pytest.raises(InvalidStatus, match="403"):
        channel(app, kernel, Authorization="token wrong")
    with channel(app, kernel, Authorization=f"token {app.token}"):
        pass
    assert status(app, f"/api/kernels/{kernel}", method="DELETE") == 403
    assert status(app, f"/voila/api/shutdown/{kernel}", method="POST") == 403
    assert status(app, f"/api/kernels/{kernel}", app.token) == 200


def test_a_page_from_elsewhere_cannot_use_the_cookie_of_its_visitor(app: App, kernel: str) -> None:
    here = f"http://127.0.0.1:{app.port}"
    login = f"{here}/login?token={app.token}&next=/voila/static/voila.js"
    jar = CookieJar()
    urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar)).open(login).close()
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)
    with channel(app, kernel, here, Cookie=cookies):
        pass
    with pytest.raises(InvalidStatus, match="403"):
        channel(app, kernel, "http://elsewhere.example", Cookie=cookies)
    assert status(app, "/voila/api/shutdown/" + kernel, method="POST", Cookie=cookies) in (403, 404)
    assert status(app, f"/api/kernels/{kernel}", app.token) == 200


def test_a_name_from_elsewhere_that_leads_here_is_not_answered(app: App) -> None:
    assert status(app, "/", app.token, Host="elsewhere.example") == 403


@pytest.mark.parametrize(
    "path",
    [
        "/voila/files/explorer.ipynb",
        "/voila/files/index.html.j2",
        f"/voila/files/{quote(HOSTILE_NAME)}",
        "/static/..%2f__init__.py",
        "/voila/static/..%2f..%2fapp.py",
        "/voila/templates/lab/static/..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/voila/templates/..%2f..%2fstatic/x",
        "/voila/labextensions/..%2f..%2fexplorer.ipynb",
        "/api/contents",
        "/api/terminals",
        "/api/sessions",
        "/api/kernels",
        "/tree",
        "/voila/tree",
    ],
)
def test_not_even_the_token_opens_files_terminals_or_lists(app: App, path: str) -> None:
    assert status(app, path, app.token) in (403, 404, 500)
    assert status(app, path, app.token, method="POST") in (403, 404, 405)


def test_the_kernel_of_a_page_runs_no_code_that_comes_from_a_page(app: App, kernel: str) -> None:
    heard: list[str] = []
    with channel(app, kernel, Authorization=f"token {app.token}") as socket:
        execute = {"code": "print('ran')", "silent": False, "store_history": False, "user_expressions": {}}
        for kind, content in (("execute_request", execute), ("kernel_info_request", {})):
            header = {"msg_id": uuid4().hex, "msg_type": kind, "username": "", "session": "s", "version": "5.3"}
            told = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
            socket.send(json.dumps(told))
        # Requests are answered in turn, so the answer to the first would be here before that to the second.
        while "kernel_info_reply" not in heard:
            heard.append(json.loads(socket.recv(timeout=60))["msg_type"])
    assert not {"execute_reply", "stream", "error"} & set(heard)


def test_only_this_computer_is_listened_to(app: App) -> None:
    # 127.0.0.2 is this machine as well: a server on all addresses would answer there.
    with pytest.raises(OSError, match=r"refused|assign"):
        socket.create_connection(("127.0.0.2", app.port), timeout=5)


def test_the_token_is_on_no_command_line_and_in_no_kernel(app: App, kernel: str) -> None:
    need(Path("/proc/self/cmdline").exists(), "only /proc tells what other processes were started with")
    processes = [Path("/proc") / str(pid) for pid in (app.process.pid, *children(app.process.pid))]
    assert any(kernel in (process / "cmdline").read_text() for process in processes)
    for told in ((process / what).read_bytes() for process in processes for what in ("cmdline", "environ")):
        assert len(told) > 20
        assert app.token.encode() not in told


def children(pid: int) -> list[int]:
    found = []
    for status_file in Path("/proc").glob("[0-9]*/stat"):
        try:
            told = status_file.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(told[1]) == pid and told[0] != "Z":
            found.append(int(status_file.parent.name))
    return found


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while (Path("/proc") / str(pid)).exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    return not (Path("/proc") / str(pid)).exists()


def test_it_is_dark_where_asked_and_ends_quietly_and_takes_its_kernels_along(tmp_path: Path) -> None:
    need(Path("/proc/self/stat").exists(), "only /proc tells which processes there are")
    running = App(tmp_path, "--theme", "dark")
    running.wait()
    page = running.get("/")[1].decode()
    assert "const light = false;" in page
    assert "theme-light.css" not in page
    (kernel,) = children(running.process.pid)
    running.stop(signal.SIGINT)
    assert running.process.returncode == 0
    assert gone(kernel)
    assert running.log.read_text().splitlines() == [f"The explorer is at {running.address}", "Ctrl-C ends it."]
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", running.port), timeout=5)


def test_a_kernel_ends_where_its_server_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need(Path("/proc/self/stat").exists(), "only /proc tells which processes there are")
    # Killed, it cannot tidy up.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    running = App(tmp_path)
    running.wait()
    running.get("/")
    (kernel,) = children(running.process.pid)
    running.stop(signal.SIGKILL)
    assert gone(kernel)


def no_file(folder: Path) -> tuple[str, ...]:
    return (str(folder / "nowhere.json"),)


def no_session(folder: Path) -> tuple[str, ...]:
    (folder / "other.json").write_text('{"some": "thing"}')
    return (str(folder / "other.json"),)


def no_format(folder: Path) -> tuple[str, ...]:
    return (write_session(folder), "--format", "no-such-format")


@pytest.mark.parametrize("arguments", [no_file, no_session, no_format])
def test_what_cannot_be_read_is_said_before_anything_is_served(
    arguments: Callable[[Path], tuple[str, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = arguments(tmp_path)
    assert main(["app", *asked]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("ctxlab app: ")
    assert asked[-1].rpartition(os.sep)[2] in said.err
    assert not said.out


def test_a_port_that_is_taken_is_one_clear_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["app", "--port", str(port)]) == 2
    assert f"cannot serve on port {port}: " in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("--port=70000",), ("--port=many",), ("--theme=pink",), ("one", "two")])
def test_arguments_that_cannot_be_are_refused(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["app", *arguments])
    assert ended.value.code == 2
    assert re.split("=", arguments[-1])[-1] in capsys.readouterr().err


def test_a_file_that_has_gone_since_is_said_on_the_page(tmp_path: Path) -> None:
    instead = _shown(str(tmp_path / "<i>gone.json"), None)
    assert "ctxlab" in instead._dom_classes
    said = instead.children[0].value
    assert "That did not work." in said
    assert "&lt;i&gt;gone.json" in said
    assert "<i>" not in said


def test_the_browser_is_led_there_by_a_file_and_is_not_told_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Queue[str] = Queue()
    monkeypatch.setattr(webbrowser, "open", asked.put)
    server: Any = SimpleNamespace(connection_dir=str(tmp_path), address="http://127.0.0.1:1/login?token=abc")
    _Server.launch_browser(server)
    told = asked.get(timeout=20)
    assert "abc" not in told
    assert "url=http://127.0.0.1:1/login?token=abc" in Path(url2pathname(urlsplit(told).path)).read_text()


def test_no_connection_of_a_page_is_closed_because_of_a_ping() -> None:
    class Opened:
        def open(self) -> None:
            """Do what Tornado does."""

    class Connection(WebSocketMixin, Opened):
        settings = SETTINGS
        log = logging.getLogger(__name__)
        request = SimpleNamespace(path="/")

    connection = Connection()
    connection.open()
    assert connection.ping_callback is None


def test_asking_for_help_does_not_load_the_server() -> None:
    loaded = modules_after("from ctxlab.cli import main\ntry: main(['app', '--help'])\nexcept SystemExit: pass")
    assert "ctxlab.commands.app" in loaded
    assert not loaded & {"voila", "tornado", "ipywidgets"}
