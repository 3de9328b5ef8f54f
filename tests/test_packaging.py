"""The wheel: what a person gets who installs ctxlab without a checkout, built here and used from where it lies."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ctxlab.samples import notebooks, sample_sessions

PROJECT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the contents of the wheel, as pip would unpack them into site-packages."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    answer = subprocess.run(build, cwd=PROJECT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site-packages")
    return folder / "site-packages"


def python(installed: Path, *arguments: str) -> str:
    """What the interpreter prints for these arguments where ctxlab is the one from the wheel."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    run = subprocess.run(
        [sys.executable, *arguments], cwd=installed.parent, env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout


def files(folder: Path) -> set[Path]:
    return {file.relative_to(folder) for file in folder.rglob("*") if file.is_file()}


def test_the_wheel_is_what_is_imported_in_these_tests(installed: Path) -> None:
    assert Path(python(installed, "-c", "import ctxlab; print(ctxlab.__file__)").strip()).is_relative_to(installed)


def test_the_wheel_installs_ctxlab_alone(installed: Path) -> None:
    assert {entry.name.split("-")[0] for entry in installed.iterdir()} == {"ctxlab"}


def test_the_wheel_tells_type_checkers_that_it_has_types(installed: Path) -> None:
    assert (installed / "ctxlab" / "py.typed").is_file()


def test_the_wheel_carries_every_module_and_data_file_of_the_package(installed: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "ctxlab"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout
    missing = {Path(name) for name in tracked.split("\0") if name and (PROJECT / name).exists()} - files(installed)
    assert not missing


def test_the_wheel_carries_the_notebooks(installed: Path) -> None:
    names = {f"{name}.ipynb" for name in notebooks()}
    assert names
    assert {file.name for file in (installed / "ctxlab" / "notebooks").iterdir()} == names


def test_the_wheel_carries_every_file_of_every_sample_session(installed: Path) -> None:
    assert sample_sessions()
    for name, folder in sample_sessions().items():
        assert files(installed / "ctxlab" / "sample_sessions" / name / folder.name) == files(folder)


def test_the_wheel_carries_neither_tests_nor_the_recording_script(installed: Path) -> None:
    carried = files(installed / "ctxlab")
    assert not [file for file in carried if "sample_sessions" in file.parts and file.suffix == ".py"]
    assert not [file for file in carried if file.name.startswith("test_")]


def test_an_installed_ctxlab_finds_its_samples(installed: Path) -> None:
    script = "from ctxlab.samples import sample_sessions; print(*sample_sessions())"
    assert python(installed, "-c", script).split() == list(sample_sessions())


def test_an_installed_ctxlab_answers_on_the_command_line(installed: Path) -> None:
    assert "--no-browser" in python(installed, "-m", "ctxlab", "lab", "--help")
    assert python(installed, "-m", "ctxlab", "--version").startswith("ctxlab ")


def test_an_installed_ctxlab_makes_a_working_copy(installed: Path, tmp_path: Path) -> None:
    script = "from pathlib import Path; from ctxlab.samples import working_copy; working_copy(Path({!r}))"
    python(installed, "-c", script.format(str(tmp_path)))
    assert {file.stem for file in (tmp_path / "notebooks").iterdir()} == set(notebooks())
    for name, folder in sample_sessions().items():
        assert files(tmp_path / "sample_sessions" / name / folder.name) == files(folder)
