"""What a policy will do before it is run for show: refused calls until it fits, or the proof that it never will.

The proof is the smallest conversation that the policy reaches and, block by block, what holds the rest. It is read off
the policy's own full trace; no rule is repeated here.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxlab.messages import Block, BlockKind, Conversation, Message, block_kind, blocks, is_pinned, result_items
from ctxlab.recovery import recover
from ctxlab.reduction import Trace
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import TokenCounter
from ctxlab.truncation import Truncation, shorten_result

NO_FALLBACK = "this release truncates nothing when summarizing fails"
NOT_TEXT = "it is not text, and no rule here shortens anything else"
NOT_A_RESULT = "the sliding window shortens tool results only"
SHORT_RESULT = "it is not longer than 400 characters, or was cut before"
PINNED = "its message is pinned"
OLDEST_ONLY = "only the oldest tool results are looked at (#4341)"
NOT_TRUNCATED = "truncating results is switched off"


@dataclass(frozen=True, slots=True)
class Held:
    """A text or other content that a policy cannot make smaller, with its tokens and the reason why not.

    ``message`` is its index in the smallest conversation; ``item`` is None unless it is an item of a toolResult.
    """

    message: int
    block: int
    item: int | None
    kind: BlockKind
    tokens: int
    why: str


@dataclass(frozen=True, slots=True)
class Forecast:
    """What to expect: ``refused_calls`` until the conversation fits, None where it never will.

    ``smallest`` is the fewest tokens that the policy reaches; ``held`` what is left there, most tokens first,
    empty where it fits. ``no_cut`` says why a sliding window that is stuck cuts nowhere, if that is the reason.
    """

    budget: int
    refused_calls: int | None
    smallest: int
    error: str | None
    held: tuple[Held, ...]
    no_cut: str | None = None

    @property
    def sentence(self) -> str:
        """The forecast in words."""
        if self.refused_calls == 0:
            return "It fits as it is: no model call will be refused."
        if self.refused_calls is not None:
            calls = "call" if self.refused_calls == 1 else "calls"
            return f"It will fit after {self.refused_calls:,} refused model {calls}."
        return (
            f"It will never fit: the smallest that this policy reaches is {self.smallest:,} tokens, "
            f"{self.smallest - self.budget:,} above the budget. {self.error}{self.reason}"
        )

    @property
    def reason(self) -> str:
        """Why nothing more can go, as it follows the error: no place to cut, or else what is held."""
        if self.no_cut:
            return f": {self.no_cut}."
        return f". The largest thing left: {_words(self.held[0])}." if self.held else "."


def full_trace(messages: Sequence[Message], manager: SlidingWindow | Summarizing, counter: TokenCounter) -> Trace:
    """Return all that a policy can do to a conversation: its rounds until it is stuck or has nothing left."""
    return recover(messages, manager, 0, counter)


def forecast(
    messages: Sequence[Message],
    manager: SlidingWindow | Summarizing,
    budget: int,
    counter: TokenCounter,
    trace: Trace | None = None,
) -> Forecast:
    """Return the forecast for a conversation under a policy and a budget in tokens.

    ``trace`` is the policy's `full_trace` where a caller has it already.
    """
    trace = trace or full_trace(messages, manager, counter)
    smallest = min(trace.tokens)
    if smallest <= budget:
        return Forecast(budget, trace.under(budget).refused_calls, smallest, None, ())
    held = tuple(sorted(_held(trace.final, manager, counter), key=lambda found: -found.tokens))
    no_cut = why_no_cut(trace.final, manager) if trace.outcome == "stuck" else None
    return Forecast(budget, None, smallest, (trace.error or "").rstrip(".!"), held, no_cut)


def why_no_cut(messages: Conversation, manager: SlidingWindow | Summarizing) -> str | None:
    """Say why a sliding window cuts a conversation nowhere, by the reasons it gives; None where it may."""
    if isinstance(manager, Summarizing):
        return None
    searched = manager.trim_points(messages)[manager.start(messages) :]
    if not searched or any(point.kind for point in searched):
        return None
    reasons = Counter(point.reason.text for point in searched if point.reason is not None)
    told = ", ".join(f"{count:,} ({reason})" for reason, count in reasons.most_common(3))
    where = "the last message" if len(searched) == 1 else f"each of the last {len(searched):,} messages"
    return f"no cut is possible, as {where}, where it may cut, is refused: {told}"


def _held(messages: Conversation, manager: SlidingWindow | Summarizing, counter: TokenCounter) -> Iterator[Held]:
    for index, message in enumerate(messages):
        pinned = is_pinned(messages, index)
        for at, block in enumerate(blocks(message)):
            parts: list[tuple[int | None, Block]] = list(enumerate(result_items(block)))
            # A broken block may be a toolResult and something else at once.
            own = {key: value for key, value in block.items() if key != "toolResult"} if parts else block
            for item_at, part in [(None, own), *parts]:
                # An item is counted as what it is: the content of a tool result.
                tokens = counter.block(part if item_at is None else {"toolResult": {"content": [part]}})
                if tokens:
                    why = PINNED if pinned else _why(part, item_at is not None, manager)
                    yield Held(index, at, item_at, block_kind(part), tokens, why)


def _why(part: object, in_result: bool, manager: SlidingWindow | Summarizing) -> str:
    text = part.get("text") if isinstance(part, dict) else None
    if not isinstance(text, str):
        return NOT_TEXT
    if isinstance(manager, SlidingWindow):
        return _why_window(text, in_result, manager)
    return _why_fallback(text, manager.truncation)


def _why_window(text: str, in_result: bool, manager: SlidingWindow) -> str:
    if not in_result:
        return NOT_A_RESULT
    if not manager.should_truncate_results:
        return NOT_TRUNCATED
    return OLDEST_ONLY if shorten_result(text, manager.is_careful) is not None else SHORT_RESULT


def _why_fallback(text: str, truncation: Truncation | None) -> str:
    if truncation is None:
        return NO_FALLBACK
    passed_over = truncation.passed_over(len(text))
    return passed_over.text if passed_over else "its turn never came"


def _words(held: Held) -> str:
    where = f"message {held.message}, block {held.block}" + (f", item {held.item}" if held.item is not None else "")
    return f"{where} ({held.kind}, {held.tokens:,} tokens): {held.why}"
