"""What reducing a conversation did, as a record: a `Round` of edits answers one overflow, a `Trace` is all of them.

States are never stored but derived by replaying the edits, so that a trace of ten thousand rounds stays small and no
picture can disagree with the algorithm. No policy lives here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from ctxlab.edits import DropMessages, Edit, Summarize, edit_kind, touched
from ctxlab.messages import Conversation
from ctxlab.replay import apply, carried, replayed

if TYPE_CHECKING:
    import pandas as pd

Outcome = Literal["fits", "stuck", "gave up"]


class ContextWindowOverflow(Exception):  # noqa: N818  the name is the public face
    """A reduction step that cannot reduce, in the SDK's own words.

    ``round`` is what the step did before it found out: the SDK leaves such changes (pins) in place.
    """

    def __init__(self, message: str, round: "Round | None" = None) -> None:
        super().__init__(message)
        self.round = round


@dataclass(frozen=True, slots=True)
class Round:
    """One answer to one overflow: the edits of one call of a manager's reduce step, in order.

    ``before`` is what the round started from: a conversation, or the round before it. ``warning`` is what routine
    management says where it finds nothing to do; ``notes`` say where ctxlab went on although the release crashes.
    """

    number: int
    before: "Conversation | Round" = field(repr=False, compare=False)
    edits: tuple[Edit, ...] = ()
    warning: str | None = None
    notes: tuple[str, ...] = ()

    def plus(self, *edits: Edit) -> "Round":
        """Return the round with more edits at its end."""
        return replace(self, edits=(*self.edits, *edits))

    @property
    def messages(self) -> Conversation:
        """The conversation after this round, replayed from the nearest stored one."""
        chain = []
        link: Conversation | Round = self
        while isinstance(link, Round):
            chain.append(link)
            link = link.before
        return replayed(link, (edit for round in reversed(chain) for edit in round.edits))

    @property
    def removed(self) -> int:
        """Messages that are gone: dropped, or taken into a summary (which itself is not subtracted)."""
        return sum(len(edit.indices) for edit in self.edits if isinstance(edit, DropMessages | Summarize))


@dataclass(frozen=True, slots=True)
class Step:
    """The conversation after one edit of a trace, with where each message was at the start (None: a summary)."""

    round: int
    edit: Edit
    messages: Conversation
    origins: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """All that recovering did: from ``start`` over ``rounds`` to ``outcome``, under ``budget`` tokens.

    ``tokens`` holds the tokens at the start and after each round (length: rounds + 1), counted by ``counter``.
    ``error`` is what the SDK says where the outcome is "stuck", or why it is "gave up". A round that raised is among
    ``rounds`` if it changed something before (pins do).
    """

    start: Conversation
    rounds: tuple[Round, ...]
    outcome: Outcome
    error: str | None
    budget: int
    refused_calls: int
    tokens: tuple[int, ...]
    counter: str

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Every edit of every round, in order."""
        return tuple(edit for round in self.rounds for edit in round.edits)

    @property
    def notes(self) -> tuple[str, ...]:
        """Where ctxlab went on although the release itself crashes on the input, each said once."""
        return tuple(dict.fromkeys(note for round in self.rounds for note in round.notes))

    @property
    def final(self) -> Conversation:
        """The conversation at the end."""
        return replayed(self.start, self.edits)

    def states(self) -> Iterator[Conversation]:
        """Yield the conversation at the start and after each edit."""
        yield self.start
        for step in self.steps():
            yield step.messages

    def steps(self) -> Iterator[Step]:
        """Yield each edit with the conversation after it and the origins of its messages."""
        messages = self.start
        origins: tuple[int | None, ...] = tuple(range(len(messages)))
        for round in self.rounds:
            for edit in round.edits:
                origins = tuple(carried(origins, edit))
                messages = apply(messages, edit)
                yield Step(round.number, edit, messages, origins)

    def under(self, budget: int) -> "Trace":
        """Return what happens under a larger budget than this trace's: its rounds up to the first state that fits.

        The rounds of a policy do not depend on the budget, only their end does. Raises ValueError for a smaller
        budget where this trace already fits, because what would follow was never computed.
        """
        fitting = next((at for at, tokens in enumerate(self.tokens) if tokens <= budget), None)
        if fitting is not None:
            reached = self.tokens[: fitting + 1]
            return Trace(self.start, self.rounds[:fitting], "fits", None, budget, fitting, reached, self.counter)
        if self.outcome == "fits":
            raise ValueError(f"budget {budget:,} is below what this trace reached, {self.tokens[-1]:,} tokens")
        return replace(self, budget=budget)

    def to_frame(self) -> "pd.DataFrame":
        """Return one row an edit: round, kind, messages touched (of the conversation before it), tokens, sentence."""
        import pandas as pd

        columns = ["round", "kind", "messages", "tokens_before", "tokens_after", "sentence"]
        rows = [
            (
                round.number,
                edit_kind(edit),
                touched(edit),
                edit.tokens.before if edit.tokens else None,
                edit.tokens.after if edit.tokens else None,
                edit.sentence,
            )
            for round in self.rounds
            for edit in round.edits
        ]
        return pd.DataFrame(rows, columns=columns)
