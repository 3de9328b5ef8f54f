"""The command line as such: finding a subcommand, exit codes, staying quick. Each subcommand has its own tests."""

import re
import subprocess
import sys

import pytest

from ctxlab.cli import commands, main


def modules_after(script: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after this script."""
    ending = "\nimport sys; print('MODULES', *sys.modules)"
    answer = subprocess.run([sys.executable, "-c", script + ending], capture_output=True, text=True, check=True)
    return set(answer.stdout.rpartition("MODULES ")[2].split())


def test_no_arguments_print_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in commands())


@pytest.mark.parametrize("name", commands())
def test_every_command_has_a_line_that_describes_it(name: str) -> None:
    assert commands()[name].endswith(".")


@pytest.mark.parametrize("name", commands())
def test_every_command_has_a_help_page(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: ctxlab {name}" in capsys.readouterr().out


def test_the_version_is_that_of_the_installed_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.split()[0] == "ctxlab"


def test_an_unknown_command_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["no-such-command"])
    assert ended.value.code == 2
    assert "no-such-command" in capsys.readouterr().err


def test_the_help_imports_no_command_and_nothing_heavy() -> None:
    loaded = modules_after("from ctxlab.cli import main; main([])")
    assert not [name for name in loaded if name.startswith("ctxlab.commands.")]
    assert not loaded & {"jupyterlab", "plotly", "pandas", "ipywidgets", "rich", "tiktoken"}


def test_one_command_imports_no_other() -> None:
    script = "from ctxlab.cli import main\ntry: main(['lab', '--help'])\nexcept SystemExit: pass"
    loaded = modules_after(script)
    # A module with an underscore is no command, but what several of them share.
    assert set(filter(re.compile(r"ctxlab\.commands\.[^_]").match, loaded)) == {"ctxlab.commands.lab"}
    assert "jupyterlab" not in loaded


def test_a_reader_that_leaves_early_is_no_error() -> None:
    script = (
        "import sys, types, ctxlab.cli as cli\n"
        "def run(args):\n"
        "    for _ in range(100_000): print('x' * 100)\n"
        "    return 0\n"
        "sys.exit(cli._run(types.SimpleNamespace(run=run), None))"
    )
    writer = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stderr is not None
    writer.stdout.readline()
    writer.stdout.close()
    assert writer.wait(timeout=30) == 141
    assert writer.stderr.read() == b""
    writer.stderr.close()
