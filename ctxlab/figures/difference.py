"""Where two policies part on the same conversation: the first edit that differs, in words, with the reason of each.

The reasons are those of the policies' own verdicts on the state in which they part. Nothing is drawn here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ctxlab.comparison import Policy
from ctxlab.edits import DropMessages, Edit, Summarize
from ctxlab.figures.history import local_place
from ctxlab.messages import Conversation
from ctxlab.reduction import Trace
from ctxlab.replay import replayed
from ctxlab.summarizing import Summarizing
from ctxlab.trimming import Rejection, split_rejection


@dataclass(frozen=True, slots=True)
class Side:
    """One policy with what it did. ``places``: the message of the start that each edit is about, edit by edit."""

    name: str
    policy: Policy
    trace: Trace = field(repr=False)
    places: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference in words, and the message of the start that it is about; None where there is none."""

    text: str
    message: int | None


def parting(mine: Sequence[Edit], theirs: Sequence[Edit]) -> int:
    """Return the first place at which two rows of edits differ; the end of the shorter one where they do not."""
    both = enumerate(zip(mine, theirs, strict=False))
    return next((at for at, (one, other) in both if one != other), min(len(mine), len(theirs)))


def first_difference(one: Side, other: Side, parted: int | None = None) -> Difference:
    """Return where ``other`` first does something else than ``one``, both from the same conversation.

    ``parted`` is the `parting` of longer rows of edits that begin with these, where it is known.
    """
    mine, theirs = one.trace.edits, other.trace.edits
    at = parting(mine, theirs) if parted is None else min(parted, len(mine), len(theirs))
    if at == len(mine) == len(theirs):
        same = (one.trace.outcome, one.trace.error) == (other.trace.outcome, other.trace.error)
        ends = "" if same else f", but at the end {_next(one, at)}, and {_next(other, at)}"
        return Difference(f"Does the same as {one.name}{ends}.", None)
    state = replayed(one.trace.start, mine[:at])
    said = [
        f"First difference, at edit {at + 1:,}: {_next(one, at)}; {_next(other, at)}.",
        *_reasons(one, other, at, state),
    ]
    place = next(side.places[at] for side in (other, one) if at < len(side.trace.edits))
    return Difference(" ".join(said), min(place, len(one.trace.start) - 1))


def _next(side: Side, at: int) -> str:
    """Say what a policy does at an edit, or how it ended before."""
    trace = side.trace
    if at < len(trace.edits):
        edit, place = trace.edits[at], side.places[at]
        counted = "" if local_place(edit) == place else f" (message {place:,} of the timeline)"
        return f"with {side.name}, {_clause(edit)}{counted}"
    if trace.outcome == "fits":
        return f"with {side.name}, it fits"
    said = f"says “{trace.error}”" if trace.outcome == "stuck" else f"gives up ({trace.error})"
    return f"{side.name} {said}"


def _clause(edit: Edit) -> str:
    """Return the sentence of an edit as part of another sentence."""
    sentence = edit.sentence.rstrip(".")
    return sentence[:1].lower() + sentence[1:]


def _reasons(one: Side, other: Side, at: int, state: Conversation) -> Iterator[str]:
    """Yield why a policy does not start at the message at which the other one starts."""
    for side, against in ((one, other), (other, one)):
        if at >= len(side.trace.edits):
            continue
        index = _cut(side.trace.edits[at])
        reason = None if index is None or index >= len(state) else _refusal(against.policy, state, index)
        if reason is not None:
            yield f"{against.name} refuses message {side.places[at]:,}: {reason.text}."


def _cut(edit: Edit) -> int | None:
    if isinstance(edit, DropMessages):
        return edit.trim_point
    return edit.split_point if isinstance(edit, Summarize) else None


def _refusal(policy: Policy, state: Conversation, index: int) -> Rejection | None:
    if isinstance(policy, Summarizing):
        return split_rejection(state, index)
    return policy.trim_points(state)[index].reason
