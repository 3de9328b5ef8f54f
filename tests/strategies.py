"""Hypothesis strategies that the tests share: texts, well-formed conversations, malformed ones, and managers.

Well-formed means that every rule of a strict provider holds. Malformed ones start well-formed and are then damaged in
the ways that real sessions are.
"""

from collections.abc import Callable
from typing import Any, cast, get_args

from hypothesis import strategies as st

from ctxlab.messages import Block, Conversation, Message
from ctxlab.releases import CHANGES, NEWEST, PINS_FROM, parse
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing, stand_in
from ctxlab.truncation import Rule, Truncation
from ctxlab.vocabularies import counter
from tests.builders import assistant, image, message, pinned, result_block, use_block, user

QUOTED_MARKER = "the log says ... [truncated: 5 chars removed] ... and goes on "
"""A text that quotes the marker, which released managers take for a text that was cut before."""

BOUNDARIES = (1, 199, 200, 201, 400, 401, 446, 447, 448, 900, 2000, 2001, 5000, 6000, 6001, 8000)
"""Lengths in characters at which a rule changes its mind."""


def filled(pattern: str, length: int) -> str:
    """A text of exactly ``length`` characters that repeats ``pattern``."""
    return (pattern * (length // len(pattern) + 1))[:length]


# One draw from a list is far cheaper than a text of its own, and a conversation has dozens of texts.
TEXTS = (
    *("hi", "ok", "x", "0", "<b>bold</b>", "对话", "🧵🧵", "e\u0301", "\x1b[31mred", "\u202eright to left"),
    *(filled("log line\n", length) for length in BOUNDARIES),
    *(filled(pattern, length) for pattern in ("对话", "🧵", "e\u0301") for length in (401, 446, 448, 2001, 5000)),
    *(QUOTED_MARKER, QUOTED_MARKER * 10),
)


def texts() -> st.SearchStrategy[str]:
    """Texts of boundary lengths in several scripts, texts that quote the marker, and short ones of every kind."""
    return st.sampled_from(TEXTS)


ITEMS: tuple[Block, ...] = (
    *({"text": text} for text in TEXTS),
    *({"json": {"value": text}} for text in TEXTS[-20::4]),
    *(image(data, format) for data in (b"", b"\x89PNG\r\n") for format in ("png", "jpeg")),
    {"document": {"format": "pdf", "name": "report", "source": {"bytes": b"%PDF"}}},
)


def result_items() -> st.SearchStrategy[list[Block]]:
    """What a tool answers: mostly text, sometimes json, an image or a document, sometimes several."""
    return st.lists(st.sampled_from(ITEMS), min_size=1, max_size=3)


@st.composite
def well_formed_conversations(
    draw: st.DrawFn, max_turns: int = 5, max_calls: int = 3, pins: bool = False, min_turns: int = 1
) -> Conversation:
    """Turns of a question, tool pairs (one call or several in parallel) and an answer; every id is used once.

    The last turn may lack its answer. With ``pins`` some messages are pinned by their own flag.
    """
    messages: list[Message] = []
    ids = 0
    for _ in range(draw(st.integers(min_turns, max_turns))):
        messages.append(user(draw(texts())))
        for _ in range(draw(st.integers(0, max_calls))):
            called = [str(ids + number) for number in range(draw(st.sampled_from([1, 1, 2, 3])))]
            ids += len(called)
            argument = draw(texts())
            said = [{"text": argument}] if draw(st.booleans()) else []
            messages.append(message("assistant", *said, *(use_block(call, input={"q": argument}) for call in called)))
            status = draw(st.sampled_from(["success", "error"]))
            messages.append(message("user", *(result_block(call, draw(result_items()), status) for call in called)))
        messages.append(assistant(draw(texts())))
    if len(messages) > 1 and draw(st.booleans()):
        messages.pop()
    if pins and messages:
        flagged = set(draw(st.lists(st.integers(0, len(messages) - 1), max_size=4)))
        messages = [pinned(part) if index in flagged else part for index, part in enumerate(messages)]
    return tuple(messages)


def malformed_conversations(max_turns: int = 4) -> st.SearchStrategy[Conversation]:
    """Conversations with pins that were damaged in one to five places, or left without any message."""

    @st.composite
    def damaged(draw: st.DrawFn) -> Conversation:
        messages = list(draw(well_formed_conversations(max_turns=max_turns, pins=True, min_turns=0)))
        for _ in range(draw(st.integers(1, 5))):
            if messages:
                damage = draw(st.sampled_from(DAMAGES))
                messages = damage(draw, messages, draw(st.integers(0, len(messages) - 1)))
        return tuple(messages)

    return damaged()


def conversations(max_turns: int = 5) -> st.SearchStrategy[Conversation]:
    """Any conversation: well-formed, with pins, or malformed."""
    return st.one_of(
        well_formed_conversations(max_turns=max_turns),
        well_formed_conversations(max_turns=max_turns, pins=True),
        malformed_conversations(max_turns=max_turns),
    )


Damage = Callable[[st.DrawFn, list[Message], int], list[Message]]


def _lost(draw: st.DrawFn, messages: list[Message], at: int) -> list[Message]:
    return messages[:at] + messages[at + 1 :]


def _repeated(draw: st.DrawFn, messages: list[Message], at: int) -> list[Message]:
    return [*messages[:at], messages[at], *messages[at:]]


def _swapped(draw: st.DrawFn, messages: list[Message], at: int) -> list[Message]:
    return messages[:at] + messages[at : at + 2][::-1] + messages[at + 2 :]


def _exchanged(messages: list[Message], at: int, **keys: Any) -> list[Message]:
    return [*messages[:at], cast(Message, {**messages[at], **keys}), *messages[at + 1 :]]


def _odd_role(draw: st.DrawFn, messages: list[Message], at: int) -> list[Message]:
    return _exchanged(messages, at, role=draw(st.sampled_from(["user", "assistant", "system", "tool"])))


def _odd_content(draw: st.DrawFn, messages: list[Message], at: int) -> list[Message]:
    content: list[Any] = [
        [],
        "a plain string",
        None,
        [{}],
        [None],
        [{"text": " "}],
        [{"cachePoint": {"type": "default"}}],
    ]
    return _exchanged(messages, at, content=draw(st.sampled_from(content)))


def _no_content(draw: st.DrawFn, messages: list[Message], at: int) -> list[Message]:
    without = {key: value for key, value in messages[at].items() if key != "content"}
    return [*messages[:at], cast(Message, without), *messages[at + 1 :]]


def _odd_metadata(draw: st.DrawFn, messages: list[Message], at: int) -> list[Message]:
    metadata: list[Any] = [None, {}, {"custom": None}, {"custom": {"pinned": "true"}}, {"custom": {"pinned": 1}}]
    return _exchanged(messages, at, metadata=draw(st.sampled_from(metadata)))


def _odd_id(draw: st.DrawFn, messages: list[Message], at: int) -> list[Message]:
    content = messages[at].get("content")
    if not isinstance(content, list):
        return messages
    odd = draw(st.sampled_from(["0", "elsewhere", "", None]))
    return _exchanged(messages, at, content=[_with_id(block, odd) for block in content])


def _with_id(block: Any, tool_id: str | None) -> Any:
    if not isinstance(block, dict):
        return block
    return {
        kind: {**value, "toolUseId": tool_id} if kind in ("toolUse", "toolResult") else value
        for kind, value in block.items()
    }


def _shared_block(draw: st.DrawFn, messages: list[Message], at: int) -> list[Message]:
    both = {**use_block("0"), **result_block("0", "both at once")}
    return _exchanged(messages, at, content=[both])


def _split_results(draw: st.DrawFn, messages: list[Message], at: int) -> list[Message]:
    content = messages[at].get("content")
    if not isinstance(content, list):
        return messages
    parts = [cast(Message, {**messages[at], "content": [block]}) for block in content]
    return [*messages[:at], *parts, *messages[at + 1 :]]


DAMAGES: tuple[Damage, ...] = (
    _lost,
    _repeated,
    _swapped,
    _odd_role,
    _odd_content,
    _no_content,
    _odd_metadata,
    _odd_id,
    _shared_block,
    _split_results,
)
"""What happens to real sessions: messages lost, doubled, out of order, and fields that are odd or missing."""


VERSIONS = tuple(change.version for change in CHANGES if parse(change.version) <= parse(NEWEST))
WINDOWS = (0, 1, 2, 3, 4, 6, 10, 40)
RULES: tuple[Rule, ...] = get_args(Rule)


def knows_pins(version: str) -> bool:
    """Say whether a release knows pinned messages."""
    return parse(version) >= parse(PINS_FROM)


@st.composite
def sliding_windows(draw: st.DrawFn, versions: tuple[str, ...] = VERSIONS) -> SlidingWindow:
    """Sliding windows of every release that changed something, with windows from 0 messages on."""
    version = draw(st.sampled_from(versions))
    pins = {"pin_first": draw(st.sampled_from([None, None, 1, 2, 4]))} if knows_pins(version) else {}
    return SlidingWindow.as_of(version, draw(st.sampled_from(WINDOWS)), draw(st.booleans()), **pins)


@st.composite
def careful_windows(draw: st.DrawFn) -> SlidingWindow:
    """Careful sliding windows, some with a token budget of their own."""
    pin_first = draw(st.sampled_from([None, None, 1, 3]))
    budget = draw(st.sampled_from([None, None, 50, 500, 2000]))
    heuristic = counter("heuristic") if budget else None
    return SlidingWindow.careful(draw(st.sampled_from(WINDOWS)), draw(st.booleans()), pin_first, budget, heuristic)


@st.composite
def summarizings(draw: st.DrawFn) -> Summarizing:
    """Summarizing managers of every release that changed something, and with every truncation rule."""
    ratio, recent = draw(st.sampled_from([0.1, 0.3, 0.8])), draw(st.sampled_from([0, 1, 2, 5, 10]))
    size = draw(st.sampled_from([0, 7, 300]))
    if draw(st.booleans()):
        version = draw(st.sampled_from((*VERSIONS, "1.63.0")))
        return Summarizing.as_of(version, ratio, recent, summarize=stand_in(size))
    rule = draw(st.sampled_from(RULES))
    truncation = Truncation(draw(st.sampled_from([1, 20, 100, 500, 2000])), rule)
    pin_first = draw(st.sampled_from([None, None, 1, 3]))
    return Summarizing(ratio, recent, pin_first, truncation, stand_in(size))


def managers() -> st.SearchStrategy[SlidingWindow | Summarizing]:
    """Every manager: of a release, careful, or with a truncation rule of ctxlab's own."""
    return st.one_of(sliding_windows(), careful_windows(), summarizings())
