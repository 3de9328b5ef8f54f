"""Conversations by the thousand from a seed: half of them well-formed, the others damaged in every way that we know.

A seeded generator, because Hypothesis would take minutes for as many. Each conversation comes from its own number,
so that one that makes a difference can be had again by that number alone.
"""

import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tests.sdk.released import Case, Step

LENGTHS = (0, 1, 30, 199, 200, 201, 400, 401, 445, 446, 447, 448, 449, 600, 1400, 1401)
"""Lengths in characters around those at which a tool result is cut, and grows, and shrinks."""

PATTERNS = ("a", "log line\n", "对话", "🧵", "e\u0301")
TOO_LARGE = "The tool result was too large!"
QUOTES = ("... [truncated:", "...\n\n... [truncated: 7 chars removed] ...\n\n...", "... [truncated", TOO_LARGE)
WINDOWS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 40, -1, -3)
STEPS: tuple[tuple[Step, ...], ...] = (
    ("overflow",),
    ("routine",),
    ("manage",),
    ("overflow",) * 3,
    ("overflow",) * 8,
    ("overflow",) * 25,
    ("routine",) * 3,
    ("manage", "overflow", "overflow", "manage"),
    ("overflow", "routine", "overflow", "overflow"),
)


def sliding_case(number: int, pins: bool) -> Case:
    """A case of the sliding window; ``pins`` says whether the release knows pin_first."""
    dice = Random(f"sliding {number}")
    messages = conversation(dice)
    window = dice.choice([*WINDOWS, len(messages), len(messages) + 1, max(0, len(messages) - 1)])
    options: dict[str, Any] = {"window_size": window}
    if dice.random() < 0.4:
        options["should_truncate_results"] = dice.random() < 0.3
    pin_first = dice.choice([None, None, None, 0, 1, 2, 3, 50, -1])
    if pins and pin_first is not None:
        options["pin_first"] = pin_first
    return Case("sliding", options, messages, dice.choice(STEPS))


def summarizing_case(number: int, pins: bool) -> Case:
    """A case of the summarizing manager; ``pins`` says whether the release knows pin_first."""
    dice = Random(f"summarizing {number}")
    messages = conversation(dice)
    options: dict[str, Any] = {}
    if dice.random() < 0.8:
        options["summary_ratio"] = dice.choice([0.0, 0.1, 0.3, 0.34, 0.5, 0.75, 0.8, 1.0, -2.0, 0.45])
    if dice.random() < 0.9:
        options["preserve_recent_messages"] = dice.choice([0, 1, 2, 3, 4, 5, 6, 10, -1, len(messages)])
    pin_first = dice.choice([None, None, None, 0, 1, 2, 3, 50, -1])
    if pins and pin_first is not None:
        options["pin_first"] = pin_first
    return Case("summarizing", options, messages, dice.choice(STEPS))


def conversation(dice: Random) -> list[Any]:
    """A conversation of 0 to about 30 messages."""
    messages = list(_turns(dice, dice.choice([0, 1, 1, 2, 2, 3, 4, 6])))
    if dice.random() < 0.3 and messages:
        messages = messages[: dice.randrange(len(messages)) + 1]
    if dice.random() < 0.4:
        for message in messages:
            if dice.random() < 0.15:
                message["metadata"] = {"custom": {"pinned": True}}
    if dice.random() < 0.5:
        for _ in range(dice.choice([1, 1, 2, 3, 6])):
            if messages:
                dice.choice(DAMAGES)(dice, messages, dice.randrange(len(messages)))
    return messages


def _turns(dice: Random, count: int) -> Iterator[dict[str, Any]]:
    calls = 0
    chatty = dice.random() < 0.3
    for _ in range(count):
        yield {"role": "user", "content": [{"text": _text(dice)}, *([_media(dice)] if dice.random() < 0.1 else [])]}
        for _ in range(0 if chatty else dice.choice([0, 1, 1, 2, 3, 5])):
            ids = [f"t{calls + number}" for number in range(dice.choice([1, 1, 1, 2, 3]))]
            calls += len(ids)
            thought: list[Any] = [{"reasoningContent": {"reasoningText": {"text": "so"}}}] * (dice.random() < 0.1)
            said: list[Any] = [{"text": _text(dice)}] * (dice.random() < 0.3)
            uses = [{"toolUse": {"toolUseId": tool_id, "name": "get", "input": {"q": 1}}} for tool_id in ids]
            yield {"role": "assistant", "content": [*thought, *said, *uses]}
            also: list[Any] = [{"text": _text(dice)}] * (dice.random() < 0.1)
            yield {"role": "user", "content": [*(_result(dice, tool_id) for tool_id in ids), *also]}
        yield {"role": "assistant", "content": [{"text": _text(dice)}]}


def _text(dice: Random) -> str:
    if dice.random() < 0.4:
        return dice.choice(["q", "ok", "对话", "🧵"])
    length = dice.choice(LENGTHS)
    pattern = dice.choice(PATTERNS)
    text = (pattern * length)[:length]
    if dice.random() < 0.15:
        quote = dice.choice(QUOTES)
        at = dice.randrange(len(text) + 1)
        text = dice.choice([text[:at] + quote + text[at:], quote])
    return text


def _result(dice: Random, tool_id: str) -> dict[str, Any]:
    items = [_item(dice) for _ in range(dice.choice([0, 1, 1, 1, 2, 3]))]
    status = dice.choice(["success", "success", "error"])
    return {"toolResult": {"toolUseId": tool_id, "status": status, "content": items}}


def _item(dice: Random) -> dict[str, Any]:
    kind = dice.random()
    if kind < 0.75:
        return {"text": _text(dice)}
    return {"json": {"rows": [_text(dice)]}} if kind < 0.85 else _media(dice)


def _media(dice: Random) -> dict[str, Any]:
    return dice.choice(
        [
            {"image": {"format": "png", "source": {"bytes": b"\x89PNG" * dice.randrange(3)}}},
            {"image": {"source": {"bytes": b"x"}}},
            {"image": {"format": "jpeg"}},
            {"image": {"format": "png", "source": {"location": {"type": "s3", "uri": "s3://bucket/key"}}}},
            {"image": {"format": "png", "source": {"bytes": b"x"}}, "text": "both an image and a text"},
            {"document": {"format": "pdf", "name": "report", "source": {"bytes": b"%PDF"}}},
            {"video": {"format": "mp4", "source": {"bytes": b"0"}}},
        ]
    )


def _tool_blocks(message: dict[str, Any], kind: str | None = None) -> list[dict[str, Any]]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [
        block[name]
        for block in blocks
        if isinstance(block, dict)
        for name in ("toolUse", "toolResult")
        if isinstance(block.get(name), dict) and kind in (None, name)
    ]


def _lose(dice: Random, messages: list[Any], at: int) -> None:
    del messages[at]


def _repeat(dice: Random, messages: list[Any], at: int) -> None:
    messages.insert(dice.randrange(len(messages) + 1), copy.deepcopy(messages[at]))


def _swap(dice: Random, messages: list[Any], at: int) -> None:
    messages[at - 1], messages[at] = messages[at], messages[at - 1]


def _odd_role(dice: Random, messages: list[Any], at: int) -> None:
    messages[at]["role"] = dice.choice(["user", "assistant", "system", "tool", "", None])


def _no_role(dice: Random, messages: list[Any], at: int) -> None:
    messages[at].pop("role", None)


def _odd_content(dice: Random, messages: list[Any], at: int) -> None:
    odd: list[Any] = [
        [],
        "a string",
        "",
        None,
        [{}],
        [{"cachePoint": {"type": "default"}}],
        ["a string"],
        [{"text": ""}],
        [None],
    ]
    messages[at]["content"] = dice.choice(odd)


def _no_content(dice: Random, messages: list[Any], at: int) -> None:
    messages[at].pop("content", None)


def _odd_metadata(dice: Random, messages: list[Any], at: int) -> None:
    odd: list[Any] = [
        None,
        {},
        {"usage": {"inputTokens": 5}},
        {"custom": {"pinned": "true"}},
        {"custom": {"pinned": 1}},
        {"custom": {"pinned": False, "kept": "yes"}},
        {"custom": None},
        {"custom": {}},
    ]
    messages[at]["metadata"] = dice.choice(odd)


def _odd_id(dice: Random, messages: list[Any], at: int) -> None:
    for block in _tool_blocks(messages[at]):
        if dice.random() < 0.6:
            block["toolUseId"] = dice.choice(["t0", "t1", "elsewhere", "", None, 0, 7])


def _no_id(dice: Random, messages: list[Any], at: int) -> None:
    for block in _tool_blocks(messages[at]):
        block.pop("toolUseId", None)


def _one_id(dice: Random, messages: list[Any], at: int) -> None:
    for message in messages:
        for block in _tool_blocks(message):
            block["toolUseId"] = "t1"


def _odd_status(dice: Random, messages: list[Any], at: int) -> None:
    for block in _tool_blocks(messages[at], "toolResult"):
        block["status"] = dice.choice(["error", "running", None])


def _no_status(dice: Random, messages: list[Any], at: int) -> None:
    for block in _tool_blocks(messages[at], "toolResult"):
        block.pop("status", None)


def _odd_items(dice: Random, messages: list[Any], at: int) -> None:
    odd: list[Any] = [
        None,
        [],
        "a string",
        [{}],
        [{"text": None}],
        [{"image": None}],
        [None],
        ["text"],
        [{"json": None}],
    ]
    odd += [[{"image": {"format": "png", "source": source}}] for source in (None, "s3://bucket", {"bytes": None})]
    odd += [[{"text": "z" * 500, "image": {"format": "png", "source": {"bytes": b"1"}}, "note": 1}]]
    for block in _tool_blocks(messages[at], "toolResult"):
        block["content"] = dice.choice(odd)


def _no_items(dice: Random, messages: list[Any], at: int) -> None:
    for block in _tool_blocks(messages[at], "toolResult"):
        block.pop("content", None)


def _two_keys(dice: Random, messages: list[Any], at: int) -> None:
    both = {"toolUse": {"toolUseId": "t1", "name": "get", "input": {}}, **_result(dice, "t0")}
    extra = dice.choice([both, {**_result(dice, "t1"), "text": "beside the result"}, {**both, "note": True}])
    content = messages[at].get("content")
    if isinstance(content, list):
        content.append(extra)


def _call_beside_result(dice: Random, messages: list[Any], at: int) -> None:
    call = {"toolUse": {"toolUseId": "t1", "name": "get", "input": {}}}
    role = dice.choice(["user", "user", "assistant"])
    mixed = [{"role": role, "content": [_result(dice, "t0"), call]}, {"role": "user", "content": [_result(dice, "t1")]}]
    messages[at:] = mixed if dice.random() < 0.5 else [*mixed, *messages[at:]]


def _split_results(dice: Random, messages: list[Any], at: int) -> None:
    content = messages[at].get("content")
    if isinstance(content, list) and len(content) > 1:
        messages[at : at + 1] = [{**messages[at], "content": [block]} for block in content]


def _odd_tool_block(dice: Random, messages: list[Any], at: int) -> None:
    content = messages[at].get("content")
    if isinstance(content, list):
        content.append({dice.choice(["toolUse", "toolResult"]): dice.choice([None, "a string", {}])})


def _extra_keys(dice: Random, messages: list[Any], at: int) -> None:
    messages[at]["note"] = {"kept": True}
    for block in _tool_blocks(messages[at], "toolResult"):
        block["note"] = "kept"


def _error_already(dice: Random, messages: list[Any], at: int) -> None:
    for block in _tool_blocks(messages[at], "toolResult"):
        block.update(status="error", content=[{"json": {}}, {"text": TOO_LARGE}])


Damage = Callable[[Random, list[Any], int], None]
DAMAGES: tuple[Damage, ...] = (
    *(_lose, _repeat, _swap, _odd_role, _no_role, _odd_content, _no_content, _odd_metadata, _odd_id, _no_id, _one_id),
    *(_odd_status, _no_status, _odd_items, _no_items, _two_keys, _split_results, _odd_tool_block, _extra_keys),
    *(
        _call_beside_result,
        _call_beside_result,
        _call_beside_result,
        _error_already,
        _lose,
        _swap,
        _odd_role,
        _two_keys,
        _split_results,
    ),
)
"""What happens to sessions; what leaves a conversation that releases can still work on stands in it twice."""
