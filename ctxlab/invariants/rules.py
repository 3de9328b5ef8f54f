"""What a rule and a breach of it are: the records that every other file of this package fills.

No rule lives here, and nothing that knows a provider.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ctxlab.invariants.reductions import Reduction
from ctxlab.invariants.turns import Merging, View, look
from ctxlab.messages import Conversation, Message


@dataclass(frozen=True, slots=True)
class Violation:
    """One breach of a rule: the message at ``index`` (and its block at ``block``), in plain words.

    ``index`` counts messages of the conversation that was looked at; for a rule about a reduction, of the
    conversation before it. ``case`` names which case of the rule it is: providers draw the line inside a rule.
    """

    rule: str
    index: int
    detail: str
    block: int | None = None
    case: str = ""


@dataclass(frozen=True, slots=True)
class ConversationRule:
    """A rule about one conversation: id, one sentence, the numbers it comes from, its check, two minimal examples.

    ``check`` yields every breach; ``cases`` names the cases that its breaches fall into.
    """

    id: str
    sentence: str
    source: str
    check: Callable[[View], Iterator[Violation]]
    breaks: Conversation
    holds: Conversation
    cases: tuple[str, ...]

    def find(self, messages: Sequence[Message], merging: Merging = "none") -> tuple[Violation, ...]:
        """Return every breach of this rule in the conversation."""
        return tuple(self.check(look(messages, merging)))


@dataclass(frozen=True, slots=True)
class ReductionRule:
    """A rule about a reduction: id, one sentence, where it comes from, its check, two minimal examples."""

    id: str
    sentence: str
    source: str
    check: Callable[[Reduction], Iterator[Violation]]
    breaks: Reduction
    holds: Reduction

    def find(self, reduction: Reduction) -> tuple[Violation, ...]:
        """Return every breach of this rule in the reduction."""
        return tuple(self.check(reduction))


def quoted(identifier: str) -> str:
    """Return an id fit for a sentence: in quotes, control characters escaped, at most 40 characters."""
    return repr(identifier if len(identifier) <= 40 else identifier[:39] + "…")
