"""What is said of one message or one group, the same on hover, in the table and in the text of the focus.

Plain text: whoever shows it escapes it. Nothing is drawn here, and reasons are those of the trim points.
"""

import textwrap
from collections.abc import Iterator

from ctxlab.escaping import one_line
from ctxlab.figures.grouping import Groups
from ctxlab.figures.history import NEVER
from ctxlab.figures.moment import Moment, Subject
from ctxlab.figures.palette import MARKS
from ctxlab.messages import Message, block_kind, blocks
from ctxlab.tokens import COST_KINDS

HOVER_WIDTH = 62
"""Characters in a line of a hover label."""


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 message``, ``2,000 messages``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def title(subject: Subject, index: int) -> str:
    """Name a message by index, role and what is in it."""
    message = subject.messages[index]
    return " · ".join([f"message {index:,}", role(message), contents(message)])


def role(message: Message) -> str:
    """Return the role of a message as it is written, on one line."""
    return one_line(str(message.get("role")), 20)


def contents(message: Message) -> str:
    """Name the kinds of a message's blocks, with their number where there are several."""
    kinds = [block_kind(block) for block in blocks(message)]
    named = [f"{kinds.count(kind)} × {kind}" if kinds.count(kind) > 1 else kind for kind in dict.fromkeys(kinds)]
    return " + ".join(named) or "empty"


def cost(subject: Subject, index: int) -> str:
    """Say what a message costs; media are there although they count as nothing."""
    tokens = subject.ledger.per_message[index]
    media = any(block_kind(block) in ("image", "document", "video") for block in blocks(subject.messages[index]))
    return plural(tokens, "token") + (", media counted as 0" if media else "")


def verdict(subject: Subject, index: int) -> str:
    """Return the verdict on a message in sign and words."""
    mark = MARKS[subject.points[index].kind]
    return f"{mark.sign} {mark.word}"


def reason(moment: Moment, index: int) -> str:
    """Say why a conversation may, or may not, start at a message; a refusal in the words of the trim point."""
    point = moment.subject.points[index]
    cut = moment.cut
    if cut is not None and cut.index == index:
        return _taken(moment, cut.start)
    if point.kind is None:
        said = point.reason.text if point.reason else ""
        return said
    if moment.is_before_start(index):
        return f"it could start here, but the search starts at {moment.start:,}"
    room = "what would stay fits the budget" if moment.fits(index) else "what would stay is above the budget"
    if point.kind == "tool_pair" and has_user_after(moment):
        return f"{room}; a plain user message wins over it"
    return room


def _taken(moment: Moment, start: int) -> str:
    cut = moment.cut
    if cut is not None and cut.kind == "summary":
        return "taken: the first place at which the conversation may split, and what is before it is summarized"
    what = {"user": "the first plain user message", "tool_pair": "the first tool pair"}
    kind = what.get(cut.kind or "", "the first place that is accepted") if cut else ""
    return f"taken: {kind} at or after {start:,}, where the search started"


def has_user_after(moment: Moment) -> bool:
    """Say whether a plain user message lies at or after the start of the search."""
    start = moment.start or 0
    return moment.subject.last_user >= start


def fate(moment: Moment, index: int) -> str:
    """Say what has become of a message at a moment."""
    history = moment.subject.history
    said = ["goes" if moment.gone[index] else "stays"]
    if moment.is_shortened and (lost := int(moment.lost[index].sum())):
        said.append(f"shortened by {lost:,} tokens" if lost > 0 else f"grown by {-lost:,} tokens")
    if moment.subject.pins and int(history.pinned_at[index]) <= moment.edit:
        said.append("pinned")
    return ", ".join(said)


def hover_message(subject: Subject, index: int) -> Iterator[str]:
    """Yield the lines about a message that hold at any moment."""
    yield title(subject, index)
    yield cost(subject, index)
    point = subject.points[index]
    said = f"{verdict(subject, index)}: {point.reason.text}" if point.reason else verdict(subject, index)
    yield from textwrap.wrap(said, HOVER_WIDTH)
    if subject.pins and int(subject.history.pinned_at[index]) < NEVER:
        yield "▼ pinned"


def hover_group(subject: Subject, groups: Groups, number: int) -> Iterator[str]:
    """Yield the lines about a group of messages that hold at any moment."""
    first, end = int(groups.starts[number]), int(groups.ends[number])
    if end - first == 1:
        yield from hover_message(subject, first)
        return
    costs = subject.ledger.per_message[first:end]
    largest = first + max(range(len(costs)), key=costs.__getitem__)
    yield f"messages {first:,} to {end - 1:,}"
    yield f"{plural(sum(costs), 'token')}, most in message {largest:,} ({subject.ledger.per_message[largest]:,})"
    for kind, mark in MARKS.items():
        found = [point.index for point in subject.points[first:end] if point.kind == kind]
        if found:
            where = f" ({', '.join(f'{index:,}' for index in found[:4])}{', …' if len(found) > 4 else ''})"
            yield f"{mark.sign} {mark.word}: {len(found):,}{where if kind else ''}"
    pinned = [i for i in range(first, end) if subject.pins and int(subject.history.pinned_at[i]) < NEVER]
    if pinned:
        yield f"▼ {len(pinned):,} pinned"


def kinds_in(subject: Subject, index: int) -> Iterator[str]:
    """Yield what each kind of content of a message costs."""
    for kind, tokens in zip(COST_KINDS, subject.ledger.kinds[index], strict=True):
        if tokens:
            yield f"{kind} {tokens:,}"


def about(moment: Moment, index: int) -> Iterator[str]:
    """Yield all that is said of the message in focus, in sentences."""
    subject = moment.subject
    kinds = ", ".join(kinds_in(subject, index))
    yield f"M{title(subject, index)[1:]}: {cost(subject, index)}{f' ({kinds})' if kinds else ''}."
    yield f"{verdict(subject, index)}: {reason(moment, index)}."
    room = "fits" if moment.fits(index) else "does not fit"
    yield (
        f"If the conversation started here it would cost {int(moment.suffix[index]):,} tokens, which {room} the "
        f"budget. This message {fate(moment, index)}."
    )
