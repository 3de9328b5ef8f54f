"""The notebooks: clean as stored, small, and running top to bottom in a fresh copy, with no way to a network."""

import ast
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from ctxlab.samples import notebooks, working_copy

CODE_CELLS = 12
LINES = 15

# Runs in the kernel before anything else. The kernel's own sockets to Jupyter are not Python's and stay.
GUARD = '''
import socket

_connect, _look_up = socket.socket.connect, socket.getaddrinfo

def _local(host):
    return host in ("", None, "localhost", "::1") or str(host).startswith("127.")

def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and not _local(address[0]):
        raise OSError(f"no network in this test: {address}")
    return _connect(self, address)

def getaddrinfo(host, *arguments, **named):
    if not _local(host):
        raise OSError(f"no network in this test: {host}")
    return _look_up(host, *arguments, **named)

socket.socket.connect = socket.socket.connect_ex = connect
socket.getaddrinfo = getaddrinfo
'''


def cells(path: Path) -> list[Any]:
    return list(nbformat.read(path, as_version=4).cells)  # type: ignore[no-untyped-call]  # nbformat is untyped here


def code_cells(path: Path) -> list[Any]:
    return [cell for cell in cells(path) if cell.cell_type == "code"]


def run_offline(notebook: Any, folder: Path, scratch: Path) -> None:
    """Run the notebook in a kernel without a network and without a vocabulary that an earlier run has fetched."""
    (scratch / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
    (scratch / "vocabularies").mkdir()
    dead = "http://127.0.0.1:9"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(scratch), os.environ.get("PYTHONPATH")])),
        "TIKTOKEN_CACHE_DIR": str(scratch / "vocabularies"),
        "JUPYTER_RUNTIME_DIR": str(scratch / "runtime"),
        "IPYTHONDIR": str(scratch / "ipython"),
        **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), dead),
    }
    client = NotebookClient(notebook, timeout=180, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment)


def test_there_are_notebooks() -> None:
    assert "01_step_through_a_failing_session" in notebooks()


@pytest.mark.parametrize("path", notebooks().values(), ids=notebooks())
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    assert all(not cell.outputs and cell.execution_count is None for cell in code_cells(path))
    assert "widgets" not in nbformat.read(path, as_version=4).metadata  # type: ignore[no-untyped-call]  # as above


@pytest.mark.parametrize("path", notebooks().values(), ids=notebooks())
def test_a_notebook_defines_nothing(path: Path) -> None:
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for cell in code_cells(path):
        found = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, definitions)]
        assert not found, f"logic belongs in the package: {cell.source}"


@pytest.mark.parametrize("path", notebooks().values(), ids=notebooks())
def test_a_notebook_is_at_most_a_dozen_short_cells(path: Path) -> None:
    assert 0 < len(code_cells(path)) <= CODE_CELLS
    assert max(len(cell.source.splitlines()) for cell in code_cells(path)) <= LINES


@pytest.mark.parametrize("path", notebooks().values(), ids=notebooks())
def test_a_notebook_begins_by_saying_what_it_asks(path: Path) -> None:
    first = cells(path)[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith("# ")


@pytest.mark.parametrize("name", notebooks())
def test_a_notebook_runs_top_to_bottom_without_a_network(name: str, tmp_path: Path) -> None:
    folder = working_copy(tmp_path / "copy").folder / "notebooks"
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]  # as above
    run_offline(notebook, folder, scratch)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip())


@pytest.mark.parametrize("host", ["192.0.2.1", "example.org"])
def test_a_notebook_that_reaches_for_the_network_would_fail(host: str, tmp_path: Path) -> None:
    source = f"import socket\nsocket.create_connection(({host!r}, 80), timeout=5)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])  # type: ignore[no-untyped-call]  # as above
    with pytest.raises(CellExecutionError, match="no network in this test"):
        run_offline(notebook, tmp_path, tmp_path)
