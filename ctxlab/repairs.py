"""What would make a provider accept a conversation that it refuses: a proposal in words, and the messages after it.

Nothing is ever repaired unasked. Where the known means do not lead to an accepted conversation there is no proposal.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxlab.invariants import Known, Verdict, look, role_of
from ctxlab.messages import Block, Conversation, Message, blocks, has_tool_result, has_tool_use

OPENING = "(The beginning of this conversation was removed.)"
"""The user text that is proposed where no user message is left to start with."""

NO_RESULT = "No result of this tool call was recorded."
"""The error text that is proposed as the answer to a toolUse that has none."""

FILLER: Message = {"role": "assistant", "content": [{"text": "I have the result of the tool."}]}
"""What is proposed between toolResults and the user's own words where both may not share a turn."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A proposal for one provider: its steps as sentences, the messages after them, and the verdict on these."""

    provider: str
    steps: tuple[str, ...]
    messages: Conversation
    verdict: Verdict

    @property
    def sentence(self) -> str:
        """The whole proposal in words."""
        return " ".join(self.steps)


def repair(
    messages: Sequence[Message], provider: str, cut_off: Sequence[Message] = (), known: Known | None = None
) -> Repair | None:
    """Propose what makes the provider accept the conversation, None where nothing is wrong or nothing known helps.

    ``cut_off`` is what stood before the conversation: its last plain user message can be kept as the anchor (#3447).
    What is unknown about the provider is repaired as if it were refused. ``known`` is what is known of a conversation
    with nearly the same messages, where somebody has it. Raises ValueError for an unknown provider.
    """
    state = tuple(messages)
    known = known or Known(state)
    found = known.verdicts(state, known.places(state), (provider,))[0]
    steps: list[str] = []
    # Each step mends one kind of breach and may lay another bare, such as two user messages that now meet.
    for _ in range(2 * len(_STEPS)):
        rules = {(judgement.violation.rule, judgement.violation.case) for judgement in found.judgements}
        mended = next((done for mend in _STEPS if (done := mend(state, rules, cut_off)) is not None), None)
        if mended is None:
            break
        state, sentence = mended
        steps.append(sentence)
        found = known.verdicts(state, known.places(state), (provider,))[0]
    return Repair(provider, tuple(steps), state, found) if steps and found.status == "accepted" else None


Rules = set[tuple[str, str]]
Mended = tuple[Conversation, str] | None


def _clean_blocks(messages: Conversation, rules: Rules, cut_off: Sequence[Message]) -> Mended:
    """Take out blank texts, reasoning of the user, and messages that are empty by then."""
    if not any(rule == "legal-blocks" for rule, _ in rules):
        return None
    kept = []
    for message in messages:
        content = [block for block in blocks(message) if not _is_unsendable(block, role_of(message))]
        if content:
            kept.append(message if len(content) == len(blocks(message)) else _with_content(message, content))
    if len(kept) == len(messages) and all(new is old for new, old in zip(kept, messages, strict=True)):
        return None
    return tuple(kept), "Take out blank texts, reasoning in user messages, and messages without content."


def _is_unsendable(block: Block, role: str) -> bool:
    if not isinstance(block, dict):
        return True
    text = block.get("text")
    blank = "text" in block and (not text or (isinstance(text, str) and text.isspace()))
    return blank or (role == "user" and "reasoningContent" in block)


def _pair_results(messages: Conversation, rules: Rules, cut_off: Sequence[Message]) -> Mended:
    """Give each toolUse its toolResult in the next message, by moving one or writing an error; drop the others."""
    if not any(rule in ("no-orphan-result", "no-orphan-use", "ids-match") for rule, _ in rules):
        return None
    view = look(messages)
    if not view.unanswered and not view.unasked:
        return None
    gone = {(at.message, at.block) for at, _ in view.unasked}
    spare: dict[str, deque[Block]] = defaultdict(deque)
    for at, case in view.unasked:
        if case == "asked-earlier":
            spare[at.id].append(blocks(messages[at.message])[at.block])
    added: dict[int, list[Block]] = defaultdict(list)
    moved, written = [], []
    for at, case in view.unanswered:
        if case == "answered-later" and spare[at.id]:
            added[at.message].append(spare[at.id].popleft())
            moved.append(at.id)
        else:
            added[at.message].append(_error(at.id))
            written.append(at.id)
    steps = [
        f"{what} {', '.join(map(repr, dict.fromkeys(ids)))}."
        for what, ids in (
            ("Move to the message after its call the toolResult", moved),
            ("Answer with an error result the toolUse", written),
            ("Drop the toolResult", [at.id for at, case in view.unasked if case != "asked-earlier"]),
        )
        if ids
    ]
    return _rebuilt(messages, gone, added), " ".join(steps)


def _rebuilt(messages: Conversation, gone: set[tuple[int, int]], added: dict[int, list[Block]]) -> Conversation:
    rebuilt: list[Message] = []
    for index, message in enumerate(messages):
        answers = added.get(index - 1, [])
        if answers and role_of(message) != "user":
            rebuilt.append({"role": "user", "content": answers})
            answers = []
        content = [block for at, block in enumerate(blocks(message)) if (index, at) not in gone]
        if not answers and len(content) == len(blocks(message)):
            rebuilt.append(message)
        elif content or answers:
            results = [block for block in content if "toolResult" in block]
            others = [block for block in content if "toolResult" not in block]
            rebuilt.append(_with_content(message, [*results, *answers, *others]))
    return tuple(rebuilt)


def _error(tool_use_id: str) -> Block:
    return {"toolResult": {"toolUseId": tool_use_id, "status": "error", "content": [{"text": NO_RESULT}]}}


def _start_with_user(messages: Conversation, rules: Rules, cut_off: Sequence[Message]) -> Mended:
    """Keep the last plain user message before the cut as the anchor (#3447), or put a user text in front."""
    if not any(rule in ("starts-with-user", "not-empty") for rule, _ in rules):
        return None
    for index in range(len(cut_off) - 1, -1, -1):
        message = cut_off[index]
        plain = role_of(message) == "user" and not has_tool_result(message) and not has_tool_use(message)
        if plain and blocks(message):
            sentence = f"Keep message {index:,}, the last plain user message before the cut, as the anchor (#3447)."
            return (message, *messages), sentence
    return ({"role": "user", "content": [{"text": OPENING}]}, *messages), f"Put a user text in front: “{OPENING}”"


def _merge_neighbours(messages: Conversation, rules: Rules, cut_off: Sequence[Message]) -> Mended:
    """Make one message of neighbours with the same role."""
    if not any(rule == "roles-alternate" for rule, _ in rules):
        return None
    merged: list[Message] = []
    for message in messages:
        if merged and role_of(merged[-1]) == role_of(message):
            merged[-1] = _with_content(merged[-1], [*blocks(merged[-1]), *blocks(message)])
        else:
            merged.append(message)
    return None if len(merged) == len(messages) else (tuple(merged), "Make one message of neighbours of the same role.")


def _results_first(messages: Conversation, rules: Rules, cut_off: Sequence[Message]) -> Mended:
    """Put toolResults before the other content of their message."""
    if not any(rule == "result-first" for rule, _ in rules):
        return None
    ordered = tuple(_ordered(message) if has_tool_result(message) else message for message in messages)
    return None if ordered == messages else (ordered, "Put toolResults first in their message.")


def _results_alone(messages: Conversation, rules: Rules, cut_off: Sequence[Message]) -> Mended:
    """Put a short assistant message between toolResults and what the user says next (#1223)."""
    if not any(rule == "result-alone" for rule, _ in rules):
        return None
    parted: list[Message] = []
    for message in messages:
        results = [block for block in blocks(message) if isinstance(block, dict) and "toolResult" in block]
        others = [block for block in blocks(message) if block not in results]
        if parted and has_tool_result(parted[-1]) and role_of(message) == "user" and not results:
            parted.append(FILLER)
        if results and others:
            parted += [_with_content(message, results), FILLER, _with_content(message, others)]
        else:
            parted.append(message)
    if len(parted) == len(messages):
        return None
    return tuple(parted), "Put a short assistant message between toolResults and the user's own words (#1223)."


def _uses_last(messages: Conversation, rules: Rules, cut_off: Sequence[Message]) -> Mended:
    """Put text before the toolUses of its message."""
    if not any(rule == "use-last" for rule, _ in rules):
        return None
    ordered = tuple(
        _with_content(
            message, sorted(blocks(message), key=lambda block: isinstance(block, dict) and "toolUse" in block)
        )
        if has_tool_use(message)
        else message
        for message in messages
    )
    return None if ordered == messages else (ordered, "Put text before the toolUses of its message.")


def _ordered(message: Message) -> Message:
    return _with_content(
        message, sorted(blocks(message), key=lambda block: not (isinstance(block, dict) and "toolResult" in block))
    )


def _with_content(message: Message, content: list[Block]) -> Message:
    return {**message, "content": content}


_STEPS: tuple[Callable[[Conversation, Rules, Sequence[Message]], Mended], ...] = (
    _clean_blocks,
    _pair_results,
    _results_first,
    _uses_last,
    _start_with_user,
    _results_alone,
    _merge_neighbours,
)
