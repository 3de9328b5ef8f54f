"""The record that the animator plays: a trace as plain data for JSON, one step an edit, one tile a piece of content.

Everything is decided here or below; the player in the browser looks up what a tile is at a step, and decides nothing.
Texts are sent as excerpts around the places where they are cut. Nothing is drawn here.
"""

import json
import re
from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import accumulate
from typing import Any

from ctxlab.edits import TruncateText
from ctxlab.escaping import visible
from ctxlab.figures.tiles import Board, Change, Fate, Tile
from ctxlab.reduction import Round, Trace
from ctxlab.tokens import COST_KINDS, TokenCounter
from ctxlab.truncation import PassedOver, Truncation, round_size

VERSION = 1
"""The version of the record; a player refuses one that it does not know."""

TEXT_BUDGET = 400_000
"""Characters of session text that one record holds at most, shared among its tiles (more only for SHORTEST)."""

SHORTEST, LONGEST = 80, 900
"""Characters of one tile's text: sent in any case, and at most."""

MOST_TILES = 10_000
"""Tiles up to which each piece of content has its own; beyond it, runs of the smallest share one."""

REASONS = tuple(PassedOver)

_SURROGATES = re.compile("[\ud800-\udfff]")


def animation(
    trace: Trace,
    counter: TokenCounter,
    truncation: Truncation | None = None,
    words: Sequence[tuple[str, str, str]] = (),
    most_tiles: int = MOST_TILES,
    shown: Trace | None = None,
) -> dict[str, Any]:
    """Return the record of a trace, ready for JSON; lengths are characters, texts are not escaped for any markup.

    ``truncation`` is the policy's fallback and tells why blocks are passed over. ``words`` holds for the start and for
    each round (rounds + 1) a lead, what happens, and what is left after it. ``shown`` is the same trace in other words
    of equal lengths, such as a redacted one: its texts are sent, with the numbers of ``trace``. Raises ValueError for a
    counter other than the trace's.
    """
    board = Board(trace, counter, truncation)
    if shown is not None:
        board.reword(Board(shown, counter, truncation))
    order = sorted(range(len(board.groups)), key=lambda at: board.groups[at].order)
    position = {group: number for number, group in enumerate(order)}
    reading = sorted(range(len(board.tiles)), key=lambda at: (position[board.tiles[at].group], at))
    runs = _runs(board.tiles, reading, most_tiles)
    place = {run[0]: number for number, run in enumerate(runs) if len(run) == 1}
    changes = [change for change in board.changes if change.tile in place]
    middles = {text: number for number, text in enumerate(dict.fromkeys(_short(change.middle) for change in changes))}
    excerpts = _excerpts(board.tiles, changes, runs)
    groups = [board.groups[at] for at in order]
    return {
        "version": VERSION,
        "counter": trace.counter,
        "budget": trace.budget,
        "outcome": trace.outcome,
        "error": trace.error,
        "refused": trace.refused_calls,
        "categories": list(COST_KINDS),
        "reasons": [reason.text for reason in REASONS],
        "turn": PassedOver.NOT_ITS_TURN.text,
        "fallback": truncation is not None and truncation.rule != "collapse",
        "hidden": sum(len(run) for run in runs if len(run) > 1),
        "groups": {
            "message": [-1 if group.message is None else group.message for group in groups],
            "role": [group.role for group in groups],
            "pinned": [int(group.pinned) for group in groups],
        },
        "tiles": {**_columns(board.tiles, runs, position), "excerpt": excerpts},
        "changes": [_row(change, place[change.tile], middles[_short(change.middle)]) for change in changes],
        "middles": list(middles),
        "signs": _signs(excerpts, middles),
        "steps": {
            "round": board.rounds,
            "tokens": board.tokens,
            "characters": board.characters,
            "sentence": [None if isinstance(edit, TruncateText) else edit.sentence for edit in (shown or trace).edits],
        },
        "rounds": {
            "end": [0, *accumulate(len(round.edits) for round in trace.rounds)],
            "limit": [_limit(round, truncation) for round in trace.rounds],
            "qualifying": [_qualifying(round) for round in trace.rounds],
            "lead": [lead for lead, _, _ in words],
            "words": [what for _, what, _ in words],
            "after": [after for _, _, after in words],
        },
    }


def to_json(record: dict[str, Any]) -> str:
    """Return a record as compact JSON that may also stand in a script element of a page."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _runs(tiles: Sequence[Tile], reading: Sequence[int], most: int) -> list[list[int]]:
    """Return the tiles in reading order, each alone; where there are too many, the smallest together in runs."""
    if len(tiles) <= most:
        return [[at] for at in reading]
    # Half of the room is for the runs: between two large tiles there is at most one.
    alone = set(nlargest(most // 2, reading, key=lambda at: tiles[at].length))
    runs: list[list[int]] = []
    for at in reading:
        if runs and at not in alone and runs[-1][0] not in alone:
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _columns(tiles: Sequence[Tile], runs: Sequence[Sequence[int]], position: dict[int, int]) -> dict[str, list[int]]:
    first = [tiles[run[0]] for run in runs]
    return {
        "group": [position[tile.group] for tile in first],
        "block": [tile.block for tile in first],
        "item": [-1 if tile.item is None else tile.item for tile in first],
        "kind": [tile.category for tile in first],
        "text": [int(tile.text is not None) for tile in first],
        "born": [int(tile.born) for tile in first],
        "why": [_reason(tile.why) for tile in first],
        "count": [len(run) for run in runs],
        "length": [sum(tiles[at].length for at in run) for run in runs],
        "tokens": [sum(tiles[at].tokens for at in run) for run in runs],
    }


def _row(change: Change, tile: int, middle: int) -> tuple[int, ...]:
    sizes = (change.head, change.tail, middle, change.length, change.lost, change.tokens)
    return (change.step, tile, int(change.fate), *sizes, _reason(change.why), change.rank)


def _reason(why: PassedOver | None) -> int:
    return -1 if why is None else REASONS.index(why)


def _limit(round: Round, truncation: Truncation | None) -> int | None:
    """Return how many blocks a round of the fallback may cut, None for a round that does something else."""
    counted = truncation is not None and truncation.rule != "collapse"
    return round_size(round.number) if counted and any(isinstance(e, TruncateText) for e in round.edits) else None


def _qualifying(round: Round) -> int | None:
    """Return how many blocks a round could have cut, None where that was not counted."""
    return next((edit.qualifying for edit in round.edits if isinstance(edit, TruncateText)), None)


def _excerpts(
    tiles: Sequence[Tile], changes: Iterable[Change], runs: Sequence[Sequence[int]]
) -> list[list[tuple[int, str]]]:
    """Return for each run the parts of its text that are sent, each with where it begins; none for several tiles."""
    edges: dict[int, set[int]] = {}
    for change in changes:
        if change.fate is Fate.CUT:
            length = tiles[change.tile].length
            edges.setdefault(change.tile, set()).update((change.head, length - change.tail))
    room = max(SHORTEST, min(LONGEST, TEXT_BUDGET // max(1, len(runs))))
    return [_excerpt(tiles[run[0]].text or "", edges.get(run[0], set()), room) if len(run) == 1 else [] for run in runs]


def _excerpt(text: str, edges: set[int], room: int) -> list[tuple[int, str]]:
    """Return at most ``room`` characters of a text: its ends, and what is on both sides of each edge."""
    if len(text) <= room:
        return [(0, _sendable(text))] if text else []
    half = max(1, room // (2 * len(edges) + 2))
    spans: list[list[int]] = []
    for edge in sorted({0, len(text), *edges}):
        first, last = max(0, edge - half), min(len(text), edge + half)
        if spans and first <= spans[-1][1]:
            spans[-1][1] = last
        else:
            spans.append([first, last])
    return [(first, _sendable(text[first:last])) for first, last in spans]


def _short(middle: str) -> str:
    """Return what stands in the middle of a tile, itself shortened where it is a whole preview."""
    shown = LONGEST // 2
    if len(middle) > 2 * shown:
        middle = f"{middle[:shown]} […{len(middle) - 2 * shown:,} characters not shown here…] {middle[-shown:]}"
    return _sendable(middle)


def _sendable(text: str) -> str:
    """Return the text with lone surrogates, which UTF-8 cannot carry, replaced one by one."""
    return _SURROGATES.sub("\ufffd", text)


def _signs(excerpts: Iterable[Iterable[tuple[int, str]]], middles: Iterable[str]) -> dict[str, str]:
    """Return how each character that nobody would see is shown, for those that occur."""
    seen = set().union(*(part for excerpt in excerpts for _, part in excerpt), *middles)
    return {char: visible(char) for char in sorted(seen) if visible(char) != char}
