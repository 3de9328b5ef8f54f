"""The records that the tuner draws: a tuning over its whole range, and the answers under one budget, ready for JSON.

The first is sent once a rule, the second once a budget; moving preserve_chars needs neither. Nothing is drawn here.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import Any

from ctxlab.escaping import one_line
from ctxlab.fallback import Setting
from ctxlab.messages import Conversation
from ctxlab.truncation import Truncation
from ctxlab.tuning import Answer, Tuning, text_lengths

BINS = 36
"""Bars of the histogram, evenly spread in ratio."""

BUDGETS = 20
"""Rows of the heatmap."""

LINES = 12
"""Sessions whose tokens are shown round by round; of more, the largest."""

NEVER = -1
"""Refused calls where a session never fits."""


def tuning_record(tuning: Tuning, sessions: Mapping[str, Conversation]) -> dict[str, Any]:
    """Return what does not change with the budget: the values, the sizes of texts, refused calls value by budget."""
    lengths = sorted(length for messages in sessions.values() for length in text_lengths(messages))
    highest = max(*tuning.values, *lengths[-1:], 2)
    edges = [round(highest ** (step / BINS)) for step in range(BINS + 1)]
    budgets = heat_budgets(tuning)
    calls = [[_calls(answer) for answer in tuning.answers(budget)] for budget in budgets]
    return {
        "version": 1,
        "rule": tuning.rule,
        "sessions": [one_line(name, 60) for name in tuning.sessions],
        "values": list(tuning.values),
        "start": {"tokens": tuning.start.tokens, "characters": tuning.start.characters},
        "texts": len(lengths),
        "histogram": {"edges": edges, "counts": _counts(lengths, edges)},
        "dead": [_dead_zone(value, lengths) for value in tuning.values],
        "heat": {"budgets": budgets, "calls": calls},
        "rounds": [[setting.tokens for setting in _largest(tuning.by_value[value])] for value in tuning.values],
    }


def answers_record(tuning: Tuning, budget: int, most_refused: int) -> dict[str, Any]:
    """Return what holds under one budget in tokens: an answer and a sentence a value, and the recommendation."""
    answers = tuning.answers(budget)
    recommendation = tuning.recommend(budget, most_refused)
    best = next((answer for answer in answers if answer.preserve_chars == recommendation.preserve_chars), None)
    return {
        "rule": tuning.rule,
        "budget": budget,
        "most_refused": most_refused,
        "calls": [_calls(answer) for answer in answers],
        "tokens": [answer.tokens for answer in answers],
        "characters": [answer.characters for answer in answers],
        "words": [sentence(answer, tuning) for answer in answers],
        "beside": [_beside(answer, best) for answer in answers],
        "best": recommendation.preserve_chars,
        "reason": recommendation.reason,
    }


def sentence(answer: Answer, tuning: Tuning) -> str:
    """Say what one preserve_chars comes to."""
    count = len(tuning.sessions)
    calls = "no refused call" if answer.refused_calls == 0 else f"{answer.refused_calls} refused calls"
    calls = "1 refused call" if answer.refused_calls == 1 else calls
    if answer.refused_calls is not None:
        every = "both" if count == 2 else f"all {count:,}"
        what = f"fits after {calls}" if count == 1 else f"{every} sessions fit after at most {calls}"
    else:
        what = "never fits" if count == 1 else f"{count - answer.fitting:,} of {count:,} sessions never fit"
    kept = _share(answer.characters, tuning.start.characters)
    return (
        f"{what}; {answer.characters:,} characters ({kept}) and {answer.tokens:,} tokens "
        f"({_share(answer.tokens, tuning.start.tokens)}) are left."
    )


def _beside(answer: Answer, best: Answer | None) -> str:
    """Say what the recommended value would change, empty where there is none or it is chosen."""
    if best is None or best is answer:
        return "That is the recommended value." if best else ""
    kept = best.characters - answer.characters
    what = f"{abs(kept):,} characters {'more' if kept >= 0 else 'fewer'} kept"
    if answer.refused_calls is None or best.refused_calls is None:
        return f"With the recommended {best.preserve_chars:,} it would fit."
    calls = best.refused_calls - answer.refused_calls
    if calls == 0:
        return f"With the recommended {best.preserve_chars:,}: as many refused calls, {what}."
    more = f"{abs(calls)} refused call{'' if abs(calls) == 1 else 's'} {'more' if calls > 0 else 'fewer'}"
    return f"With the recommended {best.preserve_chars:,}: {more}, {what}."


def _largest(settings: Sequence[Setting]) -> list[Setting]:
    return nlargest(LINES, settings, key=lambda setting: setting.tokens[0])


def heat_budgets(tuning: Tuning, count: int = BUDGETS) -> list[int]:
    """Return the budgets of the heatmap, descending: even parts of the largest session's tokens."""
    highest = max(setting.tokens[0] for setting in tuning.settings)
    return [max(1, highest * step // count) for step in range(count, 0, -1)]


def _calls(answer: Answer) -> int:
    return NEVER if answer.refused_calls is None else answer.refused_calls


def _counts(lengths: Sequence[int], edges: Sequence[int]) -> list[int]:
    ends = [bisect_right(lengths, edge) for edge in edges]
    return [last - first for first, last in zip([0, *ends[1:-1]], ends[1:], strict=True)]


def _dead_zone(value: int, lengths: Sequence[int]) -> tuple[int, int]:
    """Return how many texts are above preserve_chars and still not cut by the fixed rule of 1.63.0, and their size."""
    first, last = bisect_right(lengths, value), bisect_right(lengths, Truncation(value, "fixed").threshold)
    return last - first, sum(lengths[first:last])


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"
