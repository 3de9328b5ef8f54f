"""The table of releases: data that says what changed when, and is right between its entries too."""

import pytest

from ctxlab.releases import CHANGES, NEWEST, Change, behaviour, latest_change, parse
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import LAST_KNOWN, Summarizing
from tests.builders import review


def test_the_changes_stand_in_order_and_each_release_once() -> None:
    versions = [parse(change.version) for change in CHANGES]
    assert versions == sorted(set(versions))
    assert CHANGES[0].version == "1.0.0"


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.version)
def test_a_change_names_fields_of_a_behaviour_and_changes_them(change: Change) -> None:
    after = behaviour(change.version, LAST_KNOWN)
    assert {name: getattr(after, name) for name in change.fields} == change.fields
    if change.fields:
        before = behaviour(CHANGES[CHANGES.index(change) - 1].version, LAST_KNOWN)
        assert all(getattr(before, name) != value for name, value in change.fields.items())


@pytest.mark.parametrize(
    ("version", "same_as"),
    [("1.6.0", "1.0.0"), ("1.28.0", "1.7.0"), ("1.34.1", "1.29.0"), ("1.36.0", "1.35.0"), ("1.39.0", "1.38.0")],
)
def test_between_two_entries_nothing_changes(version: str, same_as: str) -> None:
    assert behaviour(version) == behaviour(same_as)
    assert latest_change(version).version == same_as


def test_1_9_0_comes_before_1_10_0() -> None:
    assert parse("1.9.0") < parse("1.10.0")


@pytest.mark.parametrize("version", ["1.35", "1.35.0.1", "1.35.x", "", "v1.35.0", "1.-5.0", "١.٠.٠"])
def test_what_is_no_version_is_refused_and_quoted(version: str) -> None:
    with pytest.raises(ValueError, match="a release is written like") as refusal:
        SlidingWindow.as_of(version)
    assert repr(version) in str(refusal.value)


@pytest.mark.parametrize("version", ["0.9.0", "1.63.0", "2.0.0"])
def test_the_sliding_window_knows_1_0_0_to_the_newest_release(version: str) -> None:
    with pytest.raises(ValueError, match=rf"from 1\.0\.0 to {NEWEST}, got '{version}'"):
        SlidingWindow.as_of(version)


@pytest.mark.parametrize("version", ["0.9.0", "1.64.0"])
def test_summarizing_knows_the_release_that_cannot_be_installed_too(version: str) -> None:
    with pytest.raises(ValueError, match=rf"from 1\.0\.0 to {LAST_KNOWN}, got '{version}'"):
        Summarizing.as_of(version)
    assert Summarizing.as_of(LAST_KNOWN).truncation is not None
    assert Summarizing.as_of(NEWEST).truncation is None


@pytest.mark.parametrize("manager", [SlidingWindow, Summarizing])
def test_pin_first_needs_a_release_that_knows_pins(manager: type[SlidingWindow] | type[Summarizing]) -> None:
    with pytest.raises(ValueError, match=r"pin_first needs release 1\.43\.0 or later, got release '1\.42\.0'"):
        manager.as_of("1.42.0", pin_first=1)
    assert manager.as_of("1.43.0", pin_first=1).pin_first == 1


def test_a_negative_window_is_an_error_from_1_38_0_on_in_the_words_of_the_release() -> None:
    assert SlidingWindow.as_of("1.37.0", -3).window_size == -3
    with pytest.raises(ValueError, match="window_size must be a non-negative integer, got -3"):
        SlidingWindow.as_of("1.38.0", -3)


@pytest.mark.parametrize("window", [2.5, "4", None])
def test_a_window_is_a_whole_number_of_messages(window: int) -> None:
    with pytest.raises(ValueError, match=f"got {window!r}"):
        SlidingWindow(window)


def test_built_directly_a_sliding_window_is_the_newest_release() -> None:
    assert SlidingWindow(4) == SlidingWindow.as_of(NEWEST, 4)
    assert SlidingWindow(4).reduce(review(), overflow=False).edits == (
        SlidingWindow.as_of(NEWEST, 4).reduce(review(), overflow=False).edits
    )


@pytest.mark.parametrize(
    ("manager", "name"),
    [
        (SlidingWindow.as_of("1.35.0"), "Strands 1.35.0"),
        (SlidingWindow.careful(), "careful"),
        (Summarizing.as_of("1.62.0"), "summarizing 1.62.0"),
        (Summarizing.as_of("1.63.0"), "summarizing 1.63.0"),
        (Summarizing(), "summarizing, proportional fallback"),
    ],
)
def test_a_policy_has_a_name_for_tables(manager: SlidingWindow | Summarizing, name: str) -> None:
    assert manager.name == name
