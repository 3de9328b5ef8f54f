"""Which preserve_chars to choose: the whole range at once, for one session or many.

The rounds of a setting do not depend on the budget, so one full trace a setting answers every budget; what settings
share is done once (`fallback`). Nothing is drawn here and no rule is repeated.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxlab.fallback import Setting, Shared
from ctxlab.messages import Conversation, Message
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import TokenCounter
from ctxlab.truncation import Rule, Truncation, reachable_texts

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[int, int], object]
"""Called with the settings done and in all; it may raise to stop."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The preserve_chars to take under a budget, None where no setting will do, and why in words."""

    preserve_chars: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What one preserve_chars comes to over all sessions under a budget.

    ``refused_calls`` is the most that a session needs, None where one never fits; ``fitting`` counts the sessions that
    fit. ``tokens`` and ``characters`` are what is left in all when each fits, or at its smallest where it never does.
    """

    preserve_chars: int
    refused_calls: int | None
    fitting: int
    tokens: int
    characters: int


@dataclass(frozen=True, slots=True)
class Tuning:
    """Every setting of one rule over one or several sessions, by preserve_chars, ascending."""

    rule: Rule
    by_value: Mapping[int, tuple[Setting, ...]]

    @classmethod
    def of(cls, rule: Rule, settings: Sequence[Setting]) -> "Tuning":
        """Return the tuning that settings make, without a last value that not every session was asked for.

        Raises ValueError where there are none.
        """
        by_value: dict[int, list[Setting]] = {}
        for setting in settings:
            by_value.setdefault(setting.preserve_chars, []).append(setting)
        count = max(map(len, by_value.values()), default=0)
        complete = {value: tuple(by_value[value]) for value in sorted(by_value) if len(by_value[value]) == count}
        if not complete:
            raise ValueError("nothing was tried: there is no session, or no preserve_chars")
        return cls(rule, complete)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Every setting, by preserve_chars and session."""
        return tuple(setting for settings in self.by_value.values() for setting in settings)

    @property
    def values(self) -> tuple[int, ...]:
        """The preserve_chars that were tried, ascending."""
        return tuple(self.by_value)

    @property
    def sessions(self) -> tuple[str, ...]:
        """The names of the sessions, in order."""
        return tuple(setting.session for setting in next(iter(self.by_value.values())))

    @property
    def start(self) -> Answer:
        """What the sessions come to before anything is cut, as an answer of preserve_chars 0."""
        first = next(iter(self.by_value.values()))
        tokens = sum(setting.tokens[0] for setting in first)
        return Answer(0, None, 0, tokens, sum(setting.characters[0] for setting in first))

    def answer(self, preserve_chars: int, budget: int) -> Answer:
        """Return what a preserve_chars that was tried comes to under a budget in tokens."""
        settings = self.by_value[preserve_chars]
        needed = [setting.rounds_to_fit(budget) for setting in settings]
        known = [rounds for rounds in needed if rounds is not None]
        reached = [setting.reached(budget) for setting in settings]
        return Answer(
            preserve_chars,
            max(known) if len(known) == len(settings) else None,
            len(known),
            sum(setting.tokens[at] for setting, at in zip(settings, reached, strict=True)),
            sum(setting.characters[at] for setting, at in zip(settings, reached, strict=True)),
        )

    def answers(self, budget: int) -> tuple[Answer, ...]:
        """Return the answers of all values under a budget in tokens."""
        return tuple(self.answer(value, budget) for value in self.values)

    def recommend(self, budget: int, most_refused: int = 3) -> Recommendation:
        """Return the largest preserve_chars with which every session fits in at most ``most_refused`` refused calls.

        Where there is none: the largest that fits at all, and where there is none either, no value but the reason.
        """
        answers = self.answers(budget)
        fitting = [answer for answer in answers if answer.refused_calls is not None]
        every = {1: "the session fits", 2: "both sessions fit"}.get(
            len(self.sessions), f"all {len(self.sessions):,} sessions fit"
        )
        within = [answer for answer in fitting if (answer.refused_calls or 0) <= most_refused]
        if within:
            best = within[-1]
            return Recommendation(
                best.preserve_chars,
                f"{best.preserve_chars:,} is the largest preserve_chars tried with which {every} {budget:,} tokens in "
                f"at most {_calls(most_refused)} (it takes {best.refused_calls}).{_more_kept(within, best)}"
                f"{_no_matter(answers)}",
            )
        if fitting:
            fewest = min(answer.refused_calls or 0 for answer in fitting)
            best = next(answer for answer in reversed(fitting) if answer.refused_calls == fewest)
            return Recommendation(
                best.preserve_chars,
                f"No preserve_chars fits in {_calls(most_refused)}; with {best.preserve_chars:,} {every} {budget:,} "
                f"tokens after {fewest}, the fewest there are.",
            )
        smallest = max(min(map(min, (s.tokens for s in of))) for of in zip(*self.by_value.values(), strict=True))
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


def _no_matter(answers: Sequence[Answer]) -> str:
    """Say where the choice changes nothing: a summary alone does it, or there is nothing to cut."""
    same = {(answer.refused_calls, answer.tokens, answer.characters) for answer in answers}
    if len(answers) > 1 and len(same) == 1:
        return " Every value does the same here: no text is cut on the way, summarizing alone decides."
    return ""


def _more_kept(within: Sequence[Answer], best: Answer) -> str:
    """Say which value keeps more text than the largest one: a smaller one may need fewer rounds and so cut less."""
    most = max(within, key=lambda answer: answer.characters)
    if most.characters <= best.characters:
        return ""
    return (
        f" {most.preserve_chars:,} would keep more text, {most.characters:,} characters instead of "
        f"{best.characters:,}, and takes {most.refused_calls}."
    )


def preserve_grid(sessions: Sequence[Sequence[Message]], count: int = 100) -> tuple[int, ...]:
    """Return about ``count`` values of preserve_chars, evenly spread in ratio from 50 to the longest text there is.

    Round numbers that a person would try first are among them, and the default.
    """
    longest = max((length for messages in sessions for length in text_lengths(tuple(messages))), default=0)
    lowest, highest = 50, max(2000, longest)
    ratio = (highest / lowest) ** (1 / max(1, count - 1))
    round_ones = {digit * 10**power for power in range(2, 7) for digit in (1, 2, 5)}
    spread = {_rounded(lowest * ratio**step) for step in range(count)}
    return tuple(sorted(spread | {value for value in round_ones if value <= highest}))


def coarse_first(values: Sequence[int]) -> tuple[int, ...]:
    """Return the values in an order in which every beginning is spread over all of them: every 16th, every 8th, …"""
    order: dict[int, None] = {}
    for step in (16, 8, 4, 2, 1):
        order |= dict.fromkeys(values[::step])
    return tuple(order)


def settings(
    sessions: Mapping[str, Conversation],
    counter: TokenCounter,
    rule: Rule = "proportional",
    values: Sequence[int] | None = None,
    manager: Summarizing | None = None,
) -> Iterator[Setting]:
    """Yield what each preserve_chars of ``values``, in that order, does to every session.

    ``manager`` gives the other parameters of summarizing. Whoever stops asking stops the work.
    """
    values = preserve_grid(list(sessions.values())) if values is None else values
    shared = [Shared(name, messages, manager or Summarizing(), counter) for name, messages in sessions.items()]
    for value in values:
        for session in shared:
            yield session.setting(Truncation(value, rule))


def tune(
    sessions: Mapping[str, Conversation],
    counter: TokenCounter,
    rule: Rule = "proportional",
    values: Sequence[int] | None = None,
    manager: Summarizing | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Return what every preserve_chars of ``values`` (default: `preserve_grid`) does to every session.

    Raises ValueError where there is no session or no value.
    """
    values = preserve_grid(list(sessions.values())) if values is None else values
    found: list[Setting] = []
    for setting in settings(sessions, counter, rule, values, manager):
        found.append(setting)
        if progress is not None:
            progress(len(found), len(values) * len(sessions))
    return Tuning.of(rule, found)


def text_lengths(messages: Conversation) -> tuple[int, ...]:
    """Return the length in characters of every text that truncation may reach, in order, for a histogram."""
    return tuple(len(slot.text) for slot in reachable_texts(messages))


def _row(setting: Setting, budget: int) -> dict[str, object]:
    rounds, reached = setting.rounds_to_fit(budget), setting.reached(budget)
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
    step: int = 10 ** max(0, len(str(int(value))) - 2)
    return max(1, round(value / step) * step)


def _calls(count: int) -> str:
    return f"{count:,} refused call{'' if count == 1 else 's'}"
