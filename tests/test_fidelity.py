"""The released SDKs against `as_of`: on thousands of conversations, the same messages and the same error or none.

Each release runs from its own wheel. There is no known difference. Where a release breaks down on malformed input
ctxlab goes on as if the field were there, and there is nothing to compare; these ways to break down are listed.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from ctxlab.releases import CHANGES, Change
from tests.sdk.encoding import encode
from tests.sdk.generator import sliding_case, summarizing_case
from tests.sdk.playing import Ours, manager_of, play
from tests.sdk.released import RELEASES, Answer, Case, ReleasedSdk, State
from tests.strategies import knows_pins

SLIDING = 1500
SUMMARIZING = 500
"""Conversations that each release is given."""

CRASHES = {
    "KeyError: 'content'": "a message without content, or up to 1.28.0 a toolResult without it",
    "KeyError: 'role'": "a message without a role, from 1.35.0, when roles began to count",
    "KeyError: 'status'": "a toolResult without status, up to 1.28.0",
    "TypeError: 'NoneType' object is not iterable": "content that is null",
    "TypeError: argument of type 'NoneType' is not": "a block, an item or a text that is null",
    "TypeError: 'NoneType' object is not subscriptable": "a toolResult that is null, up to 1.28.0",
    "TypeError: 'NoneType' object does not support item assignment": "metadata.custom that is null, with pin_first",
    "TypeError: string indices must be integers": "a toolResult or an item of it that is a plain string",
    "AttributeError: 'NoneType' object has no attribute 'get'": "null metadata, toolUse, toolResult or image",
    "AttributeError: 'str' object has no attribute 'get'": "a toolUse, a toolResult or a source that is a plain string",
}
"""How releases break down, by the start of the error, and what malformed input makes them."""


@dataclass
class Tally:
    """What came of a run: differences, shortest case first, and how much was compared."""

    differences: list[tuple[int, str]] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    def differs(self, case: Case, what: str) -> None:
        text = encode(case.messages)
        self.differences.append((len(text), f"{what}\n{case.options} {case.steps}\n{text}"))

    def report(self) -> str | None:
        """What to read where there are differences, None where there are none."""
        worst = "\n\n".join(text for _, text in sorted(self.differences)[:3])
        return f"{len(self.differences)} differences; the shortest:\n{worst}" if worst else None


@pytest.mark.parametrize("version", RELEASES)
def test_the_sliding_window_does_what_the_release_does(version: str, released: Callable[[str], ReleasedSdk]) -> None:
    tally = compare(released(version), [sliding_case(number, knows_pins(version)) for number in range(SLIDING)])
    assert tally.report() is None
    assert tally.seen["reduced"] > SLIDING / 2
    assert tally.seen["broke down"] < SLIDING / 10


@pytest.mark.parametrize("version", RELEASES)
def test_summarizing_does_what_the_release_does(version: str, released: Callable[[str], ReleasedSdk]) -> None:
    tally = compare(released(version), [summarizing_case(number, knows_pins(version)) for number in range(SUMMARIZING)])
    assert tally.report() is None
    assert tally.seen["reduced"] > SUMMARIZING / 2
    assert tally.seen["broke down"] < SUMMARIZING / 10


@pytest.mark.parametrize("change", CHANGES[1:], ids=lambda change: change.version)
def test_the_conversations_tell_a_release_from_the_one_before(change: Change) -> None:
    before = CHANGES[CHANGES.index(change) - 1].version
    made = [case for number in range(500) for case in (sliding_case(number, False), summarizing_case(number, False))]
    apart = sum(outcome(change.version, case) != outcome(before, case) for case in made)
    assert bool(apart) == bool(change.fields), f"{apart} of {len(made)} conversations"


def outcome(version: str, case: Case) -> list[Ours] | str:
    try:
        return list(play(manager_of(version, case), case))
    except ValueError as refusal:
        return str(refusal)


def compare(sdk: ReleasedSdk, cases: list[Case]) -> Tally:
    """Return how the release and ctxlab differ on these cases."""
    tally = Tally()
    for case, answer in zip(cases, sdk.answers(cases), strict=True):
        given = encode(case.messages)
        compare_one(tally, sdk.version, case, answer)
        if encode(case.messages) != given:
            tally.differs(case, "ctxlab changed its input")
    return tally


def compare_one(tally: Tally, version: str, case: Case, answer: Answer) -> None:
    try:
        manager = manager_of(version, case)
    except ValueError as refusal:
        if answer.refused != ("ValueError", str(refusal)):
            tally.differs(case, f"ctxlab refuses: {refusal}; the release answers {answer.refused}")
        return
    if answer.refused:
        tally.differs(case, f"the release refuses: {answer.refused}")
    for expected, found in zip(answer.states, play(manager, case), strict=False):
        if expected.crashed:
            tally.seen["broke down"] += 1
            if not expected.crashed.startswith(tuple(CRASHES)):
                tally.differs(case, f"breaks down in a way that is not listed: {expected.crashed}")
            return
        if problem := difference(expected, found):
            tally.differs(case, f"{problem}\nreleased: {expected}\nctxlab:   {found}")
            return
        tally.seen["raised" if expected.error else "warned" if expected.warnings else "reduced"] += 1


def difference(expected: State, found: Ours) -> str | None:
    """Return in what the release and ctxlab differ after a step, None where they do not."""
    if expected.messages != found.messages:
        return "messages"
    if (expected.error[1] if expected.error else None) != found.error:
        return "error"
    if expected.removed != found.removed:
        return f"removed count: {expected.removed} against {found.removed}"
    # With an error the SDK logs it too.
    if not expected.error and bool(expected.warnings) != bool(found.warning):
        return "warning"
    return None
