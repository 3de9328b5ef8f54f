"""The floors of the house: which module may import which, what the pure ones must not touch, and how long they get.

The table is data. A module that is not in it fails the test until somebody decides where it belongs.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "ctxlab"

FLOORS: tuple[tuple[str, frozenset[str]], ...] = (
    ("floor 0", frozenset({"messages"})),
    ("floor 1", frozenset({"tokens", "invariants", "providers"})),
    ("floor 2", frozenset({"trimming", "truncation"})),
    ("floor 3", frozenset({"edits", "replay", "reduction", "survey"})),
    ("floor 4", frozenset({"managers", "releases", "sliding_window", "summarizing", "careful"})),
    (
        "floor 5",
        frozenset({"recovery", "forecast", "fallback", "turns", "tuning", "comparison", "checks", "repairs"})
        | frozenset({"audit", "verdict_matrix", "exercises", "calibration"})
        | frozenset({"expectations", "faults", "rights", "filler", "minimize", "redaction"}),
    ),
    ("edge", frozenset({"sessions", "vocabularies", "samples", "escaping", "strands", "takeaway"})),
    ("shell", frozenset({"figures", "explorers", "report", "commands", "cli", "__main__"})),
)
PURE_FLOORS = 6
FACE = "__init__"
"""`ctxlab/__init__.py`: it names what lies on any floor and imports it when asked, so it stands on none."""

# fmt: off
IMPURE = frozenset({
    "os", "pathlib", "io", "time", "random", "logging", "socket", "requests", "urllib", "http", "ssl", "subprocess",
    "shutil", "tempfile", "glob", "sys", "asyncio", "threading", "multiprocessing", "datetime", "secrets", "uuid",
    "sqlite3", "pickle", "shelve", "ctypes", "webbrowser", "warnings",
})
# fmt: on
IMPURE_CALLS = frozenset({"open", "print", "input", "eval", "exec", "compile", "__import__"})
DANGEROUS = frozenset({"pickle", "shelve", "marshal", "eval", "exec"})

LENGTH = 275
"""Lines: 'a core file that passes about 250 lines wants to be two'."""


def unit(name: str) -> str:
    """The part of the table that a module of ctxlab belongs to: `sessions` for `ctxlab.sessions.strands`."""
    return [*name.split("."), FACE][1]


FILES = {
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts): file for file in sorted(PACKAGE.rglob("*.py"))
}
HEIGHT = {name: height for height, (_, names) in enumerate(FLOORS) for name in names}
CORE = {name: file for name, file in FILES.items() if HEIGHT.get(unit(name), PURE_FLOORS) < PURE_FLOORS}


def imported(name: str) -> Iterator[str]:
    """Every module that a module of ctxlab imports, at the top, in a function or for its types alone."""
    package = name.split(".") if FILES[name].stem == FACE else name.split(".")[:-1]
    package = package[:-1] if package[-1] == FACE else package
    for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*start, *([node.module] if node.module else [])])
            # `from ctxlab import tokens` imports a module, `from ctxlab.tokens import counter` a name.
            yield from (f"{origin}.{alias.name}" if is_package(origin) else origin for alias in node.names)


def is_package(name: str) -> bool:
    return (PACKAGE.parent / Path(*name.split("."))).is_dir() and name.split(".")[0] == PACKAGE.name


def within(name: str) -> set[str]:
    """The parts of ctxlab that a module imports, without its own; FACE where it takes a name from ctxlab itself."""
    units = HEIGHT.keys() | {unit(other) for other in FILES}
    inside = {unit(other) for other in imported(name) if other.split(".")[0] == PACKAGE.name}
    return {part if part in units else FACE for part in inside} - {unit(name)}


def calls(file: Path) -> set[str]:
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def test_every_module_has_a_floor() -> None:
    homeless = {unit(name) for name in FILES} - {FACE} - HEIGHT.keys()
    assert not homeless, f"decide which floor these stand on, and add them to FLOORS: {sorted(homeless)}"


@pytest.mark.parametrize("name", [name for name in FILES if unit(name) in HEIGHT])
def test_a_module_imports_from_its_own_floor_or_below(name: str) -> None:
    height = HEIGHT[unit(name)]
    above = {other for other in within(name) if HEIGHT.get(other, -1) > height}
    assert not above, f"{name} stands on {FLOORS[height][0]} and imports from above: {sorted(above)}"


@pytest.mark.parametrize("name", [name for name, file in FILES.items() if HEIGHT.get(unit(name), 99) < len(FLOORS) - 1])
def test_below_the_shell_nothing_goes_through_the_face(name: str) -> None:
    # What comes through `import ctxlab` could be from any floor, and the table could not tell.
    assert FACE not in within(name), f"{name} imports ctxlab itself: import the module that the name lives in"


def test_modules_on_one_floor_do_not_import_each_other_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for name in FILES:
        if unit(name) != FACE:
            graph.setdefault(unit(name), set()).update(within(name) - {FACE})
    assert tuple(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("name", CORE)
def test_the_core_imports_nothing_that_reaches_the_world(name: str) -> None:
    impure = {other for other in imported(name) if other.split(".")[0] in IMPURE}
    assert not impure, f"{name} must be pure and imports {sorted(impure)}"


@pytest.mark.parametrize("name", CORE)
def test_the_core_opens_prints_and_evaluates_nothing(name: str) -> None:
    assert not calls(CORE[name]) & IMPURE_CALLS


@pytest.mark.parametrize("name", FILES)
def test_nothing_read_from_a_session_can_become_code(name: str) -> None:
    assert not {other.split(".")[0] for other in imported(name)} & DANGEROUS
    assert not calls(FILES[name]) & DANGEROUS


@pytest.mark.parametrize("name", CORE)
def test_a_core_file_has_one_purpose_and_so_stays_short(name: str) -> None:
    length = len(CORE[name].read_text(encoding="utf-8").splitlines())
    assert length <= LENGTH, f"{name} has {length} lines and wants to be two modules"


@pytest.mark.parametrize("name", FILES)
def test_a_module_says_what_lives_in_it(name: str) -> None:
    docstring = ast.get_docstring(ast.parse(FILES[name].read_text(encoding="utf-8")))
    assert docstring, f"{name} has no docstring"
    assert len(docstring.splitlines()) <= 8, f"the docstring of {name} is longer than eight lines"


def test_importing_ctxlab_stays_light() -> None:
    heavy = ("plotly", "ipywidgets", "pandas", "IPython", "numpy", "strands", "jupyterlab")
    script = f"import sys, ctxlab; print([name for name in {heavy} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
