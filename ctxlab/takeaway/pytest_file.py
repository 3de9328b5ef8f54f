"""The failing test as text: one file for pytest that needs the real SDK and nothing of ctxlab.

All words of the file are ctxlab's own; of the session there are only literals. Nothing is run or written here.
"""

import inspect
import textwrap

from ctxlab.expectations import parameters
from ctxlab.faults import SUMMARY, Fault, is_released, options, play, said
from ctxlab.messages import Conversation
from ctxlab.sliding_window import SlidingWindow
from ctxlab.takeaway.literals import WIDTH, listing, literal

TITLES = {
    "no-error": "is_not_stuck",
    "routine-keeps-content": "keeps_what_stays",
    "fits-window": "fits_the_window",
    "starts-with-user": "leaves_a_user_message_first",
    "no-orphan-result": "leaves_no_orphan_result",
    "no-orphan-use": "leaves_no_orphan_use",
    "pins-kept": "keeps_pinned_messages",
    "roles-alternate": "leaves_alternating_roles",
    "strictly-smaller": "gets_shorter",
    "largest-first": "cuts_results_before_it_drops",
    "same-result": "leaves_what_is_expected",
}
WHEN = {"overflow": "on_overflow", "routine": "in_routine_management"}
MANAGERS = {True: "SlidingWindowConversationManager", False: "SummarizingConversationManager"}
DEFAULTS = {
    "should_truncate_results": True,
    "pin_first": None,
    "summary_ratio": 0.3,
    "preserve_recent_messages": 10,
}

_SUMMARIZER = f'''class Summarizer:
    """Stands in for the agent that writes the summary. It asks no model."""

    system_prompt = None
    tool_names = ("none",)
    tool_registry = None

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def __call__(self, prompt: str) -> Any:
        return SimpleNamespace(message={{"role": "assistant", "content": [{{"text": "{SUMMARY}"}}]}})
'''


def title(fault: Fault) -> str:
    """Return the name of the test, without ``test_``."""
    kind = "sliding_window" if isinstance(fault.wrong, SlidingWindow) else "summarizing"
    return f"{kind}_{TITLES[fault.expectation.id]}_{WHEN[fault.call]}"


def pytest_file(fault: Fault, messages: Conversation, about: tuple[str, ...] = ()) -> str:
    """Return the source of a test that fails where ``wrong`` is installed and passes where ``right`` is.

    ``messages`` show the fault after ``fault.calls`` calls. ``about`` are sentences for the docstring, plain text
    without anything of the session. Raises ValueError where the messages hold a value that Python source cannot.
    """
    check = fault.expectation.check
    sliding = isinstance(fault.wrong, SlidingWindow)
    typed = check is not None or not sliding
    source = [
        f'"""{_docstring(fault, about)}"""\n',
        "import copy\n"
        + ("from types import SimpleNamespace\n" if not sliding else "")
        # The checks are copied with their types.
        + ("from typing import Any\n" if typed else ""),
        "from strands import Agent\n"
        f"from strands.agent.conversation_manager import {MANAGERS[sliding]}\n"
        + ("from strands.types.exceptions import ContextWindowOverflowException\n" if fault.call == "overflow" else ""),
        f"MESSAGES = {listing(list(messages))}\n" + _expected(fault, messages),
    ]
    definitions = [] if sliding else [_SUMMARIZER]
    definitions += [inspect.getsource(check)] if check else []
    return "\n".join(source) + "".join(f"\n\n{part}" for part in (*definitions, _test(fault)))


def _docstring(fault: Fault, about: tuple[str, ...]) -> str:
    first = f"Fails with strands-agents {fault.wrong.release}"
    if fault.right is not None:
        known = f", passes with {fault.right.release}"
        first += known if is_released(fault.right) else ", and no release is known that passes"
    numbers = f" See {fault.expectation.numbers}." if fault.expectation.numbers else ""
    sentence = fault.sentence.replace("“", "'").replace("”", "'") + numbers
    paragraphs = [f"{first}.", sentence, *([" ".join(about)] if about else [])]
    return "\n\n".join(textwrap.fill(paragraph, 100) for paragraph in paragraphs) + "\n"


def _expected(fault: Fault, messages: Conversation) -> str:
    if fault.expectation.id != "same-result" or fault.right is None:
        return ""
    *_, last = (played for played, _ in zip(play(fault.right, messages, fault.call), range(fault.calls), strict=False))
    kept = [{"role": role, "content": content} for role, content in said(last.messages)]
    return f"\nEXPECTED = {listing(kept)}\n"


def _test(fault: Fault) -> str:
    given = [f"{name}={literal(value)}" for name, value in options(fault.wrong).items() if _is_shown(name, value)]
    if not isinstance(fault.wrong, SlidingWindow):
        given.append("summarization_agent=Summarizer()")
    name = MANAGERS[isinstance(fault.wrong, SlidingWindow)]
    manager = f"    manager = {name}({', '.join(given)})\n"
    if len(manager) > WIDTH + 1:
        manager = f"    manager = {name}(\n        {', '.join(given)}\n    )\n"
    call = 'manager.reduce_context(agent, ContextWindowOverflowException("Input is too long for the model"))'
    if fault.call == "routine":
        call = "manager.apply_management(agent)"
    called = f"    {call}\n" if fault.calls == 1 else f"    for _ in range({fault.calls}):\n        {call}\n"
    return (
        f"def test_{title(fault)}() -> None:\n"
        f"{manager}"
        "    agent = Agent(messages=copy.deepcopy(MESSAGES), conversation_manager=manager)\n\n"
        f"{called}\n"
        f"    {_assertion(fault)}\n"
    )


def _is_shown(name: str, value: object) -> bool:
    return name not in DEFAULTS or value != DEFAULTS[name]


def _assertion(fault: Fault) -> str:
    check = fault.expectation.check
    if check is not None:
        named = {"before": "MESSAGES", "after": "agent.messages", "window_size": ""}
        if isinstance(fault.wrong, SlidingWindow):
            named["window_size"] = f"window_size={fault.wrong.window_size}"
        return f"assert {check.__name__}({', '.join(named[name] for name in parameters(check))})"
    if fault.expectation.id == "same-result":
        return 'assert [{"role": each["role"], "content": each["content"]} for each in agent.messages] == EXPECTED'
    # That it came this far is what matters.
    return "assert agent.messages" if fault.call == "routine" else "assert agent.messages != MESSAGES"
