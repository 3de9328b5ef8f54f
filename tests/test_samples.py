"""The working copy of notebooks and samples: it fills in what is missing and never touches what a person has."""

import os
from pathlib import Path

import pytest

from ctxlab.samples import notebooks, sample_sessions, working_copy


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_new_working_copy_has_every_notebook_and_sample(tmp_path: Path) -> None:
    copy = working_copy(tmp_path / "new" / "folder")
    assert {place.stem for place in copy.copied if place.parts[0] == "notebooks"} == set(notebooks()) != set()
    assert {place.parts[1] for place in copy.copied if len(place.parts) > 2} == set(sample_sessions()) != set()
    assert not copy.same
    assert not copy.kept
    assert all((copy.folder / place).is_file() for place in copy.copied)


def test_a_second_working_copy_changes_nothing(tmp_path: Path) -> None:
    first = working_copy(tmp_path)
    before = contents(tmp_path)
    second = working_copy(tmp_path)
    assert contents(tmp_path) == before
    assert second.same == first.copied
    assert not second.copied


def test_an_edited_notebook_is_kept_and_named(tmp_path: Path) -> None:
    place = working_copy(tmp_path).copied[0]
    (tmp_path / place).write_text("mine")
    assert working_copy(tmp_path).kept == (place,)
    assert (tmp_path / place).read_text() == "mine"


def test_a_deleted_notebook_comes_back(tmp_path: Path) -> None:
    place = working_copy(tmp_path).copied[0]
    (tmp_path / place).unlink()
    assert working_copy(tmp_path).copied == (place,)


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    place = working_copy(tmp_path / "copy").copied[0]
    target = tmp_path / "copy" / place
    target.unlink()
    target.symlink_to(tmp_path / "elsewhere")
    assert working_copy(tmp_path / "copy").kept == (place,)
    assert not (tmp_path / "elsewhere").exists()


def test_copied_files_can_be_edited(tmp_path: Path) -> None:
    copy = working_copy(tmp_path)
    assert all((tmp_path / place).stat().st_mode & 0o200 for place in copy.copied)


@pytest.mark.parametrize("kind", ["notebooks", "sample_sessions"])
def test_what_is_hidden_or_compiled_is_not_copied(tmp_path: Path, kind: str) -> None:
    copy = working_copy(tmp_path)
    mine = [place for place in copy.copied if place.parts[0] == kind]
    assert mine
    assert not [place for place in mine if any(part.startswith((".", "__")) for part in place.parts)]


def test_every_sample_is_a_session_folder_of_the_sdk() -> None:
    assert sample_sessions()
    assert all((folder / "session.json").is_file() for folder in sample_sessions().values())
    assert all(os.access(folder, os.R_OK) for folder in sample_sessions().values())
