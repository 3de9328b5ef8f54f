"""The eight rules about a reduction (algorithms, section 5), one small check each.

``index`` of a breach counts the messages before the reduction, except for restored-equals-live: the live ones.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ctxlab.invariants.reductions import Reduction, size
from ctxlab.invariants.rules import Violation
from ctxlab.invariants.turns import role_of
from ctxlab.messages import Message, block_kind, blocks, pinned_indices, result_items, tool_result_ids, tool_use_ids


def routine_keeps_content(reduction: Reduction) -> Iterator[Violation]:
    """Yield each message that routine management kept and changed."""
    if not reduction.overflow:
        for index, _, _ in reduction.changed:
            yield Violation("routine-keeps-content", index, "truncated although nothing overflowed")


def strictly_smaller(reduction: Reduction) -> Iterator[Violation]:
    """Yield each kept message that did not get smaller by its change, and a reduction that saves nothing in all."""
    changed = [(index, size(old), size(new)) for index, old, new in reduction.changed]
    grown = [(index, before, after) for index, before, after in changed if after >= before]
    for index, before, after in grown:
        yield Violation("strictly-smaller", index, f"it went from {before:,} to {after:,} characters")
    if grown or not (reduction.dropped or reduction.added):
        return
    # A pin costs nothing and saves nothing: only content counts, and an empty message that is gone.
    gone = sum(before for _, before, _ in changed) + sum(size(reduction.before[index]) for index in reduction.dropped)
    come = sum(after for _, _, after in changed) + sum(map(size, reduction.added))
    fewer = len(reduction.after) < len(reduction.before)
    if come > gone or (come == gone and not fewer):
        index = next(iter(reduction.dropped), 0)
        yield Violation("strictly-smaller", index, f"all in all {gone:,} characters became {come:,}")


def largest_first(reduction: Reduction) -> Iterator[Violation]:
    """Yield the largest part that could have been cut, where messages were dropped that are all smaller (decided)."""
    if not reduction.overflow or not reduction.dropped or not reduction.reducible:
        return
    left = max(reduction.reducible, key=lambda part: part.size)
    largest_dropped = max(size(reduction.before[index]) for index in reduction.dropped)
    if left.size > largest_dropped:
        yield Violation(
            "largest-first",
            left.message,
            f"{len(reduction.dropped):,} messages of at most {largest_dropped:,} characters were dropped, although "
            f"{left.size:,} here could have been cut",
            left.block,
        )


def pins_kept(reduction: Reduction) -> Iterator[Violation]:
    """Yield each pinned message, or tool partner of one, that is gone, and each that changed its order."""
    kept = [origin for origin in reduction.came_from if origin is not None]
    survived = set(kept)
    pinned = pinned_indices(reduction.before)
    for index in sorted(pinned - survived):
        yield Violation("pins-kept", index, "it is pinned, and it is gone")
    order = [origin for origin in kept if origin in pinned]
    for earlier, later in pairwise(order):
        if later <= earlier:
            yield Violation("pins-kept", later, f"it is pinned, and it now stands behind message {earlier}")


def terminates(reduction: Reduction) -> Iterator[Violation]:
    """Yield a breach where reducing was given up: neither did the conversation fit, nor was it refused."""
    if not reduction.ended:
        yield Violation("terminates", 0, f"given up after {reduction.rounds:,} rounds: no fit and no refusal")


def shape_kept(reduction: Reduction) -> Iterator[Violation]:
    """Yield each kept message whose role, order, block count, ids or statuses changed."""
    previous = -1
    for origin, message in zip(reduction.came_from, reduction.after, strict=True):
        if origin is None:
            continue
        if origin <= previous:
            yield Violation("shape-kept", origin, f"it now stands behind message {previous}")
        previous = origin
        old = reduction.before[origin]
        if old is not message:
            for what, was, now in _differences(old, message):
                yield Violation("shape-kept", origin, f"{what} went from {was} to {now}")


def _differences(old: Message, new: Message) -> Iterator[tuple[str, object, object]]:
    if role_of(old) != role_of(new):
        yield "the role", role_of(old), role_of(new)
    if len(blocks(old)) != len(blocks(new)):
        yield "the number of blocks", len(blocks(old)), len(blocks(new))
        return
    if (tool_use_ids(old), tool_result_ids(old)) != (tool_use_ids(new), tool_result_ids(new)):
        yield "a tool id", tool_use_ids(old) + tool_result_ids(old), tool_use_ids(new) + tool_result_ids(new)
    for at, (was, now) in enumerate(zip(blocks(old), blocks(new), strict=True)):
        if was is now:
            continue
        if block_kind(was) != block_kind(now):
            yield f"the kind of block {at}", block_kind(was), block_kind(now)
        elif _status(was) != _status(now):
            yield f"the status of block {at}", _status(was), _status(now)
        elif len(result_items(was)) != len(result_items(now)):
            yield f"the number of items in block {at}", len(result_items(was)), len(result_items(now))


def _status(block: Any) -> object:
    result = block.get("toolResult") if isinstance(block, dict) else None
    return result.get("status") if isinstance(result, dict) else None


def restored_equals_live(reduction: Reduction) -> Iterator[Violation]:
    """Yield the first message at which what a restart loads differs from what was live."""
    live, restored = reduction.after, reduction.restored
    if restored is None:
        return
    both = zip(live, restored, strict=False)
    at = next((index for index, (one, other) in enumerate(both) if _said(one) != _said(other)), None)
    if at is None and len(live) == len(restored):
        return
    at = min(len(live), len(restored)) if at is None else at
    chars = sum(map(size, live)), sum(map(size, restored))
    yield Violation(
        "restored-equals-live",
        at,
        f"live are {len(live):,} messages of {chars[0]:,} characters, a restart loads {len(restored):,} messages of "
        f"{chars[1]:,}; they differ from message {at} on",
    )


def _said(message: Message) -> tuple[object, object]:
    return message.get("role"), message.get("content")


def no_op_when_fits(reduction: Reduction) -> Iterator[Violation]:
    """Yield the first message that is gone, changed or new although nothing was due."""
    if reduction.due or reduction.before == reduction.after:
        return
    gone = [index for index, _, _ in reduction.changed] + list(reduction.dropped)
    yield Violation("no-op-when-fits", min(gone, default=0), "the conversation changed although it fitted")
