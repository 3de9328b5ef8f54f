"""The truncation fallback of one session at many settings: tokens and characters a round, and nothing twice.

What summarizing does before it lacks messages is the same for every setting and played once. From there on a round cuts
texts and drops no message, so that lengths are enough to choose, and cuts that settings have in common are shared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ctxlab.edits import TruncateText
from ctxlab.forecast import full_trace
from ctxlab.messages import Conversation, text_slots
from ctxlab.reduction import Outcome, Trace
from ctxlab.summarizing import INSUFFICIENT, Summarizing
from ctxlab.tokens import TokenCounter
from ctxlab.tokens.splicing import Spliced
from ctxlab.truncation import Rule, Truncation, longest, marker, reachable_texts, round_size


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

    def reached(self, budget: int) -> int:
        """Return the round at which the session fits ``budget`` tokens, and the last one where it never does."""
        rounds = self.rounds_to_fit(budget)
        return len(self.tokens) - 1 if rounds is None else rounds


class Shared:
    """One session and the parameters of summarizing, to be asked for one setting of the fallback after another."""

    def __init__(self, session: str, messages: Conversation, manager: Summarizing, counter: TokenCounter) -> None:
        self.session = session
        self.messages = messages
        self.manager = manager
        self.counter = counter
        self.before = full_trace(messages, replace(manager, truncation=None), counter)
        self.characters = tuple(characters(self.before))
        self._texts: tuple[Spliced, ...] | None = None

    def setting(self, truncation: Truncation) -> Setting:
        """Return what `measure` returns for this truncation."""
        if truncation.rule == "collapse":
            # It takes whole messages, of which there are few: nothing to share.
            return measure(self.session, self.messages, replace(self.manager, truncation=truncation), self.counter)
        tokens, texts = list(self.before.tokens), list(self.characters)
        # The fallback answers one refusal only; any other ends the episode with or without it.
        if self.before.error == INSUFFICIENT:
            for saved_tokens, saved_characters in self._rounds(truncation):
                tokens.append(tokens[-1] + saved_tokens)
                texts.append(texts[-1] + saved_characters)
        outcome, error = self.before.outcome, self.before.error
        return Setting(
            self.session, truncation.rule, truncation.preserve_chars, tuple(tokens), tuple(texts), outcome, error
        )

    def _rounds(self, truncation: Truncation) -> Iterator[tuple[int, int]]:
        """Yield by how much each round changes tokens and characters."""
        if self._texts is None:
            self._texts = tuple(Spliced.of(slot.text, self.counter) for slot in reachable_texts(self.before.final))
        now = list(self._texts)
        # Lengths repeat over texts and rounds, and asking is what a round would spend its time on.
        verdicts: dict[int, bool] = {}

        def qualifies(length: int) -> bool:
            if length not in verdicts:
                verdicts[length] = truncation.passed_over(length) is None
            return verdicts[length]

        qualifying = [at for at, text in enumerate(now) if qualifies(text.length)]
        number = len(self.before.rounds) + 1
        while qualifying:
            change_tokens = change_characters = 0
            for at in longest(qualifying, round_size(number), lambda at: now[at].length):
                kept = truncation.kept(now[at].length)
                shorter = now[at].cut(kept, marker(now[at].length - 2 * kept))
                change_tokens += shorter.tokens - now[at].tokens
                change_characters += shorter.length - now[at].length
                now[at] = shorter
            yield change_tokens, change_characters
            number += 1
            qualifying = [at for at in qualifying if qualifies(now[at].length)]


def measure(session: str, messages: Conversation, manager: Summarizing, counter: TokenCounter) -> Setting:
    """Return what one manager does to a session, from scratch. Raises ValueError for one without a fallback."""
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


def _text(messages: Conversation) -> int:
    return sum(len(slot.text) for message in messages for slot in text_slots(message))
