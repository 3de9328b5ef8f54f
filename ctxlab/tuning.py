"""Which preserve_chars to choose: the whole range at once, for one session or many.

The rounds of a setting do not depend on the budget, so one full trace a setting answers every budget, and texts that
two settings cut alike are tokenized once. Nothing is drawn here and no rule is repeated.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxlab.edits import TruncateText
from ctxlab.forecast import full_trace
from ctxlab.messages import Conversation, Message, text_slots
from ctxlab.reduction import Outcome, Trace
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import TokenCounter
from ctxlab.truncation import Rule, Truncation, reachable_texts

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Setting:
    """What one preserve_chars does to one session: tokens and text characters at the start and after each round."""

    session: str
    rule: Rule
    preserve_chars: int
    tokens: tuple[int, ...]
    characters: tuple[int, ...]
    outcome: Outcome
    error: str | None

    def rounds_to_fit(self, budget: int) -> int | None:
        """Return after how many rounds (refused model calls) the session fits ``budget`` tokens, None for never."""
        return next((rounds for rounds, tokens in enumerate(self.tokens) if tokens <= budget), None)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The preserve_chars to take under a budget, None where no setting will do, and why in words."""

    preserve_chars: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Tuning:
    """Every setting of one rule over one or several sessions."""

    rule: Rule
    settings: tuple[Setting, ...]

    @property
    def values(self) -> tuple[int, ...]:
        """The preserve_chars that were tried, ascending."""
        return tuple(sorted({setting.preserve_chars for setting in self.settings}))

    @property
    def sessions(self) -> tuple[str, ...]:
        """The names of the sessions, in order."""
        return tuple(dict.fromkeys(setting.session for setting in self.settings))

    def rounds(self, preserve_chars: int, budget: int) -> int | None:
        """Return the refused calls of the session that needs most of them, None where one never fits."""
        needed = [
            setting.rounds_to_fit(budget) for setting in self.settings if setting.preserve_chars == preserve_chars
        ]
        known = [rounds for rounds in needed if rounds is not None]
        return max(known, default=None) if len(known) == len(needed) else None

    def recommend(self, budget: int, most_refused: int = 3) -> Recommendation:
        """Return the largest preserve_chars with which every session fits in at most ``most_refused`` refused calls.

        Where there is none: the largest that fits at all, and where there is none either, no value but the reason.
        """
        needed = {value: self.rounds(value, budget) for value in self.values}
        fitting = {value: rounds for value, rounds in needed.items() if rounds is not None}
        every = "the session fits" if len(self.sessions) == 1 else f"all {len(self.sessions):,} sessions fit"
        within = [value for value, rounds in fitting.items() if rounds <= most_refused]
        if within:
            best = max(within)
            return Recommendation(
                best,
                f"{best:,} is the largest preserve_chars with which {every} {budget:,} tokens in at most "
                f"{most_refused} refused calls (it takes {fitting[best]}).",
            )
        if fitting:
            fewest = min(fitting.values())
            best = max(value for value, rounds in fitting.items() if rounds == fewest)
            return Recommendation(
                best,
                f"No preserve_chars fits in {most_refused} refused calls; with {best:,} {every} {budget:,} tokens "
                f"after {fewest}, the fewest there are.",
            )
        smallest = max(min(min(s.tokens) for s in self.settings if s.session == session) for session in self.sessions)
        return Recommendation(
            None,
            f"No preserve_chars makes {'it' if len(self.sessions) == 1 else 'every session'} fit {budget:,} tokens "
            f"under the {self.rule} rule: the smallest reached is {smallest:,}. Raise the budget, or reduce what is "
            "no text or too short to cut.",
        )

    def to_frame(self, budget: int) -> "pd.DataFrame":
        """Return one row a setting: session, rule, preserve_chars, refused calls, and what is kept when it fits."""
        import pandas as pd

        return pd.DataFrame([_row(setting, budget) for setting in self.settings])


def preserve_grid(sessions: Sequence[Sequence[Message]], count: int = 100) -> tuple[int, ...]:
    """Return up to ``count`` values of preserve_chars, evenly spread in ratio from 50 to the longest text there is."""
    longest = max((len(slot.text) for messages in sessions for m in messages for slot in text_slots(m)), default=0)
    lowest, highest = 50, max(2000, longest)
    ratio = (highest / lowest) ** (1 / max(1, count - 1))
    return tuple(sorted({_rounded(lowest * ratio**step) for step in range(count)} | {2000}))


def tune(
    sessions: dict[str, Conversation],
    counter: TokenCounter,
    rule: Rule = "proportional",
    values: Sequence[int] | None = None,
    manager: Summarizing | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Try every preserve_chars of ``values`` on every session and return what each does.

    ``manager`` gives the other parameters of summarizing. ``progress`` is called with settings done and in all; it
    may raise to stop.
    """
    values = preserve_grid(list(sessions.values())) if values is None else values
    manager = manager or Summarizing()
    settings = []
    for name, messages in sessions.items():
        for value in values:
            settings.append(measure(name, messages, replace(manager, truncation=Truncation(value, rule)), counter))
            if progress is not None:
                progress(len(settings), len(values) * len(sessions))
    return Tuning(rule, tuple(settings))


def measure(session: str, messages: Conversation, manager: Summarizing, counter: TokenCounter) -> Setting:
    """Return what one manager with a truncation fallback does to a session. Raises ValueError without a fallback."""
    if manager.truncation is None:
        raise ValueError(f"a manager without a truncation fallback has no preserve_chars to tune: {manager!r}")
    trace = full_trace(messages, manager, counter)
    truncation = manager.truncation
    return Setting(
        session,
        truncation.rule,
        truncation.preserve_chars,
        trace.tokens,
        tuple(characters(trace)),
        trace.outcome,
        trace.error,
    )


def characters(trace: Trace) -> Iterator[int]:
    """Yield the text characters of the conversation at the start of a trace and after each of its rounds."""
    total = _text(trace.start)
    yield total
    for round in trace.rounds:
        cuts = [edit for edit in round.edits if isinstance(edit, TruncateText)]
        if len(cuts) == len(round.edits):
            total += sum(len(edit.after) - len(edit.before) for edit in cuts)
        else:
            total = _text(round.messages)
        yield total


def text_lengths(messages: Conversation) -> tuple[int, ...]:
    """Return the length in characters of every text that truncation may reach, in order, for a histogram."""
    return tuple(len(slot.text) for slot in reachable_texts(messages))


def _text(messages: Conversation) -> int:
    return sum(len(slot.text) for message in messages for slot in text_slots(message))


def _row(setting: Setting, budget: int) -> dict[str, object]:
    rounds = setting.rounds_to_fit(budget)
    reached = rounds if rounds is not None else len(setting.tokens) - 1
    return {
        "session": setting.session,
        "rule": setting.rule,
        "preserve_chars": setting.preserve_chars,
        "fits": rounds is not None,
        "refused_calls": rounds,
        "tokens": setting.tokens[reached],
        "characters": setting.characters[reached],
        "error": None if rounds is not None else setting.error,
    }


def _rounded(value: float) -> int:
    """Round to two digits that a person would type."""
    step = 10 ** max(0, len(str(int(value))) - 2)
    return max(1, round(value / step) * step)
