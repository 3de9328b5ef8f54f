"""The exercises that come with ctxlab: public bug reports, one a kind, in the order in which they build on each other.

The conversations are in `cases.json`, rewritten with made-up content; what is asked about each is the table here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ctxlab.comparison import Policy
from ctxlab.exercises.exercise import Ask, Exercise
from ctxlab.messages import Conversation
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing


@dataclass(frozen=True, slots=True)
class _Plan:
    """One exercise of the table: the case it is made of, and the question.

    ``left_by``: the question is about what this policy leaves of the case, not about the case itself.
    """

    case: str
    title: str
    ask: Ask
    lesson: str
    policy: Policy | None = None
    provider: str = ""
    left_by: SlidingWindow | None = None


_PLANS = (
    _Plan(
        "S01-2085-assistant-first",
        "A window that opens in the middle of an exchange",
        "cut",
        "A conversation starts with a user message. Searching on to the next one keeps fewer messages than the window "
        "has room for, and that is the price.",
        SlidingWindow.as_of("1.34.1", 3),
    ),
    _Plan(
        "P01-langchain-33245",
        "The answer without its question",
        "cut",
        "A toolResult belongs to the toolUse just before it: cut between the two and what is left answers nothing.",
        SlidingWindow.as_of("1.62.0", 5),
    ),
    _Plan(
        "S02-2087-trailing-toolUse-start",
        "The call that nobody has answered yet",
        "cut",
        "A toolUse in the last message is waiting for its result. It may stand at the end, not alone at the start. "
        "Sometimes the right cut is none.",
        SlidingWindow.as_of("1.34.1", 1),
    ),
    _Plan(
        "S03-2173-tool-heavy",
        "One question, and then only tools",
        "cut",
        "With a plain user message demanded and none left, 1.35.0 was stuck. A whole tool pair is a place to start, if "
        "the question before it is kept as its anchor.",
        SlidingWindow.as_of("1.35.0", 4, False),
    ),
    _Plan(
        "S18-3447-python-fallback-assistant-first",
        "Valid for all providers?",
        "spot",
        "The fallback of #2174 starts with the tool pair itself, so the first message is the assistant's: the fault of "
        "#2085 once more. The anchor of #3447 mends it.",
        provider="gemini",
        left_by=SlidingWindow.as_of("1.37.0", 4, False),
    ),
    _Plan(
        "S74-late-plain-user-overtrims",
        "How much has to go?",
        "cut",
        "Several cuts are right, and they are not equally good: the releases take a plain user message however late it "
        "is, and here that throws nearly everything away. With a token budget, careful takes the first cut that fits.",
        SlidingWindow.as_of("1.62.0", 5, False),
    ),
    _Plan(
        "S05-2174-mismatched-ids",
        "A pair that is none",
        "cut",
        "A toolUse followed by some toolResult is not yet a pair: the ids must match. No release compares them.",
        SlidingWindow.as_of("1.62.0", 3, False),
    ),
    _Plan(
        "S27-2296-stale-result",
        "The result of another day",
        "spot",
        "Ids match as a multiset. One wrong id breaks two rules at once: the call is unanswered, and the answer is an "
        "orphan.",
        provider="bedrock-claude",
    ),
    _Plan(
        "P10-pydantic-4728",
        "Interrupted",
        "spot",
        "An interrupted run leaves a call without its answer, and from then on every call of the model fails: the "
        "session is poisoned until somebody repairs it.",
        provider="anthropic",
    ),
    _Plan(
        "S35-1223-result-plus-text",
        "Two things in one message",
        "spot",
        "Most providers take a toolResult and the user's own words in one message. Some templates do not, and a search "
        "for a plain user message cannot use it either.",
        provider="bedrock-llama",
    ),
    _Plan(
        "S19-3447-pinned-assistant-seam",
        "What the pins leave in front",
        "cut",
        "Pinned messages stay, so the cut has a seam: what comes last among them and what comes first after it must "
        "still take turns.",
        SlidingWindow(3, False, pin_first=2),
    ),
    _Plan(
        "S66-empty-content-user",
        "A user who says nothing",
        "cut",
        "The role alone is not enough: a user message without content starts nothing, and providers refuse it.",
        SlidingWindow.as_of("1.62.0", 2),
    ),
    _Plan(
        "P14-sk-13062",
        "A summary instead of a cut",
        "split",
        "A summary has the same two halves to keep together: where the split falls between call and result, it walks "
        "on to the next message.",
        Summarizing.as_of("1.62.0", 0.5, 2),
    ),
)


@lru_cache(maxsize=1)
def public_exercises() -> tuple[Exercise, ...]:
    """Return the exercises made of public bug reports, easiest first."""
    cases = {case["id"]: case for case in json.loads(files(__package__).joinpath("cases.json").read_text("utf-8"))}
    return tuple(_exercise(plan, cases[plan.case]) for plan in _PLANS)


def _exercise(plan: _Plan, case: Mapping[str, Any]) -> Exercise:
    given: Conversation = tuple(case["input_messages"])
    messages = plan.left_by.manage(given).messages if plan.left_by else given
    return Exercise(
        id=plan.case,
        title=plan.title,
        ask=plan.ask,
        messages=messages,
        policy=plan.policy,
        overflow=case["params"].get("mode") != "routine",
        provider=plan.provider,
        kind=case["kind"],
        source=case["url"],
        report=case["symptom"],
        lesson=plan.lesson,
        cut_off=given[: len(given) - len(messages)],
    )
