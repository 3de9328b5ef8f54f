"""Each rule as a small story: sentence, source, the smallest example that breaks it and one that holds.

The examples are those of the catalogue, the breaches those that the rule itself finds in them. Plain text for JSON:
whoever shows it escapes it. Nothing is drawn here.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypedDict

from ctxlab.figures.lanes import Answer, answers
from ctxlab.figures.message_tiles import MessageTile, message_tile
from ctxlab.figures.words import plural
from ctxlab.invariants import RULES, ConversationRule, Reduction, ReductionRule, Violation, size_of, verdicts
from ctxlab.messages import Conversation, Message

Fate = Literal["stays", "goes", "changes"]


class Fated(MessageTile):
    """A message of an example and what became of it; its size in characters before and after."""

    fate: Fate
    before: int
    after: int


class Found(TypedDict):
    """A breach: at which message, in words."""

    message: int
    detail: str


class Example(TypedDict):
    """One example: its messages, what has to be known about it, and what the rule finds in it."""

    messages: list[Fated]
    caption: str
    found: list[Found]


class RuleStory(TypedDict):
    """One rule. ``answers`` are what the providers make of the example that breaks it, [] for a reduction."""

    id: str
    sentence: str
    source: str
    breaks: Example
    holds: Example
    answers: list[Answer]


def rule_stories(rules: Iterable[str] = ()) -> list[RuleStory]:
    """Return the stories of these rules (all, where none are named). Raises ValueError for an unknown rule."""
    names = tuple(rules) or tuple(RULES)
    unknown = next((name for name in names if name not in RULES), None)
    if unknown is not None:
        raise ValueError(f"unknown rule {unknown!r}: must be one of {', '.join(RULES)}")
    return [_story(RULES[name]) for name in names]


def _story(rule: ConversationRule | ReductionRule) -> RuleStory:
    if isinstance(rule, ConversationRule):
        examples = [_conversation(case, rule.find(case)) for case in (rule.breaks, rule.holds)]
        minded = answers(verdicts(rule.breaks))
    else:
        examples = [_reduction(case, rule.find(case)) for case in (rule.breaks, rule.holds)]
        minded = []
    return {
        "id": rule.id,
        "sentence": rule.sentence,
        "source": rule.source,
        "breaks": examples[0],
        "holds": examples[1],
        "answers": minded,
    }


def _conversation(messages: Conversation, found: Sequence[Violation]) -> Example:
    return {"messages": [_fated(message, message) for message in messages], "caption": "", "found": _found(found)}


def _reduction(reduction: Reduction, found: Sequence[Violation]) -> Example:
    after = {
        origin: message
        for origin, message in zip(reduction.came_from, reduction.after, strict=True)
        if origin is not None
    }
    messages = [_fated(message, after.get(at)) for at, message in enumerate(reduction.before)]
    return {"messages": messages, "caption": " ".join(_facts(reduction)), "found": _found(found)}


def _found(breaches: Iterable[Violation]) -> list[Found]:
    return [{"message": breach.index, "detail": breach.detail} for breach in breaches]


def _fated(message: Message, after: Message | None) -> Fated:
    before = size_of(message.get("content"))
    left = 0 if after is None else size_of(after.get("content"))
    changed = after is not None and after.get("content") != message.get("content")
    return {
        **message_tile(message),
        "fate": "goes" if after is None else "changes" if changed else "stays",
        "before": before,
        "after": left,
    }


def _facts(reduction: Reduction) -> Iterator[str]:
    if not reduction.due:
        yield "The conversation fitted, so nothing was due."
    else:
        yield "The model refused the call." if reduction.overflow else "Routine management; nothing overflowed."
    for part in reduction.reducible:
        yield f"Message {part.message} still has {plural(part.size, 'character')} that could be cut."
    if reduction.restored is not None:
        sizes = [sum(size_of(message.get("content")) for message in state) for state in _states(reduction)]
        yield f"Live are {plural(sizes[0], 'character')}, a restart loads {sizes[1]:,}."
    if not reduction.ended:
        yield f"Given up after {plural(reduction.rounds, 'round')}."


def _states(reduction: Reduction) -> tuple[Conversation, Conversation]:
    return reduction.after, reduction.restored or ()
