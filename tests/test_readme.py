"""What the README promises is what happens: its commands, its Python and its table."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ctxlab.cli import commands

PROJECT = Path(__file__).parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    (found,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)
    return str(found)


def code(text: str, language: str) -> list[str]:
    return [block.strip() for block in re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]


SET_UP = code(section("Set up"), "bash")


def test_there_are_exactly_two_set_up_commands_of_one_line_each() -> None:
    assert len(SET_UP) == 2
    assert not any("\n" in command for command in SET_UP)


@pytest.mark.parametrize("command", SET_UP)
def test_a_set_up_command_makes_its_own_environment_and_uses_nothing_else(command: str) -> None:
    make, *steps = command.split(" && ")
    assert make == "python3 -m venv .venv"
    assert steps
    assert all(step.startswith(".venv/bin/") for step in steps)


def test_the_first_command_opens_the_explorer_and_the_second_runs_all_tests() -> None:
    explorer, tests = SET_UP
    assert explorer.endswith("/ctxlab lab")
    # Spread over the cores, a file to a process, and no file, folder or filter named: all tests.
    assert tests.endswith(" -m pytest -n auto --dist loadfile")


def test_continuous_integration_ends_with_the_test_command_of_the_readme() -> None:
    script = (PROJECT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert script[-1] == SET_UP[1]
    assert [line for line in script if "pytest" in line] == [SET_UP[1]]


@pytest.mark.parametrize("block", code(README, "python"))
def test_the_python_of_the_readme_runs(block: str) -> None:
    answer = subprocess.run([sys.executable, "-c", block], cwd=PROJECT, capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip()


def test_the_readme_has_some_python() -> None:
    assert code(README, "python")


def test_the_table_of_commands_is_complete() -> None:
    rows = re.findall(r"^\| `ctxlab (\w+)", section("From the command line"), re.MULTILINE)
    assert sorted(rows) == sorted(commands())


def test_every_file_that_the_readme_shows_or_names_is_there() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    paths = re.findall(r"`((?:ctxlab|tests|notebooks|sample_sessions)/[\w/.]+)`", README)
    assert paths
    assert not [name for name in [*links, *paths] if not (PROJECT / name).exists()]
