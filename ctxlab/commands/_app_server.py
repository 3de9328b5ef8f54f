"""The server of `ctxlab app`: Voilà, cut down to one page, on the loopback address and behind a token.

Voilà runs alone, not as an extension of Jupyter Server: alone it has no contents API, no terminals, and no way to start
a kernel but the page, whose kernel takes messages of widgets and never code. As an extension all of that would have to
be turned off, and it would read a `voila.py` from the current folder, which may be somebody else's session.
"""

import os
import secrets
import socket
import threading
import webbrowser
from html import escape
from pathlib import Path
from typing import Any

import zmq
from jupyter_server import DEFAULT_STATIC_FILES_PATH
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from traitlets.config import Config
from voila.app import Voila
from voila.tornado.handler import TornadoVoilaHandler

from ctxlab.commands._app_page import asking

PAGE = Path(__file__).with_name("app_page")

# Scripts of widgets come as text and are run from there (blob:). Nothing is fetched from, or sent to, anywhere else.
_POLICY = "; ".join(
    (
        "default-src 'self' data: blob:",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "object-src 'none'",
    )
)
_LARGEST_UPLOAD = 512 * 1024 * 1024

SETTINGS = {
    "allow_remote_access": False,
    "headers": {"Content-Security-Policy": _POLICY},
    "websocket_max_message_size": _LARGEST_UPLOAD,
    # Nothing between a page and this computer forgets a silent connection. With pings, Jupyter Server closes one whose
    # answer took as long as Tornado lets it take at most, which is until the next ping: every one, that is.
    "ws_ping_interval": 0,
    # The pages that say what is not there show an icon from here.
    "static_path": DEFAULT_STATIC_FILES_PATH,
}
"""What Tornado is told."""


def serve(
    listening: socket.socket, file: str, format: str | None, name: str, theme: str, *, open_browser: bool
) -> None:
    """Serve the explorer on a listening socket until interrupted or terminated; its kernels end with it.

    ``name`` is what the page is called, ``theme`` is "light", "dark" or "auto": what the browser prefers.
    """
    # Kernels inherit both. The second keeps them from importing what lies in the current folder.
    os.environ.update(asking(file, format), PYTHONSAFEPATH="1")
    server = _Server(
        listening=listening,
        notebook_path=str(PAGE / "explorer.ipynb"),
        # No settings from outside: Voilà would also look for them in the current folder, and run them.
        config_file_paths=[],
        token=secrets.token_hex(24),
        open_browser=open_browser,
        # Its warning that nobody has signed our notebook helps no one.
        log_level="ERROR",
        config=_config(name, theme),
        tornado_settings=SETTINGS,
    )
    server.initialize([])
    server.start()


def _config(name: str, theme: str) -> Config:
    return Config(
        {
            "VoilaConfiguration": {
                "theme": "dark" if theme == "dark" else "light",
                "resources": {"ctxlab": {"name": name, "theme": theme}},
                "allow_template_override": "NO",
                "allow_theme_override": "NO",
                "extension_allowlist": [
                    "@voila-dashboards/widgets-manager8",
                    "@jupyter-widgets/jupyterlab-manager",
                    "anywidget",
                ],
                "file_allowlist": [],
                "show_tracebacks": True,
            },
            "PasswordIdentityProvider": {"allow_password_change": False},
            "MappingKernelManager": {
                "root_dir": str(Path.cwd()),
                # A page that is closed ends its kernel. Where it could not (a crash), the kernel ends a little later.
                "cull_idle_timeout": 300,
                "cull_interval": 60,
            },
            # Other users of this computer could listen to what a kernel says on its local ports.
            "KernelManager": {"transport_encryption": "auto"} if zmq.has("curve") else {},
            "ZMQChannelsWebsocketConnection": {"limit_rate": False},
        }
    )


class _PageHandler(TornadoVoilaHandler):  # type: ignore[misc]  # Voilà has no types
    async def prepare(self) -> None:
        await super().prepare()
        # Sets the cookie whose value a page has to send when it closes; without it Voilà keeps the kernel running.
        self.xsrf_token  # noqa: B018  # reading it is what sets the cookie


class _Server(Voila):  # type: ignore[misc]  # Voilà has no types
    """Voilà with our page, on our socket, with the token in the address."""

    def __init__(self, listening: socket.socket, **settings: Any) -> None:
        listening.setblocking(False)
        self.listening = listening
        super().__init__(**settings)
        self.ip, self.port = listening.getsockname()

    @property
    def address(self) -> str:
        """Where to go: the login takes the token, keeps it in a cookie, and leads to the page without it."""
        return f"http://{self.ip}:{self.port}/login?token={self.token}"

    def setup_template_dirs(self) -> None:
        super().setup_template_dirs()
        self.template_paths.insert(0, str(PAGE))

    def init_settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = super().init_settings()
        # The kernel of this very Python, whatever other kernel goes by its name.
        self.kernel_spec_manager.kernel_dirs = []
        return settings

    def init_handlers(self) -> list[tuple[Any, ...]]:
        # Without the token there are only the scripts and styles of Voilà and of the widgets, as pip installed them.
        ours = {TornadoVoilaHandler: _PageHandler}
        return [(path, ours.get(handler, handler), *rest) for path, handler, *rest in super().init_handlers()]

    def listen(self) -> None:
        HTTPServer(self.app, max_body_size=_LARGEST_UPLOAD).add_socket(self.listening)
        print(f"The explorer is at {self.address}\nCtrl-C ends it.", flush=True)
        if self.open_browser:
            self.launch_browser()
        self.ioloop = IOLoop.current()
        try:
            self.ioloop.start()
        except KeyboardInterrupt:
            pass
        finally:
            self.stop()

    def launch_browser(self) -> None:
        """Open the browser on a private file that leads on: everybody here can read the command line of a browser."""
        file = Path(self.connection_dir) / "open.html"
        file.write_text(f'<meta http-equiv="refresh" content="0;url={escape(self.address)}">', encoding="utf-8")
        threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
