"""Runs the managers of the SDK that stands first on the path. One case a line comes in, one answer a line goes out.

A case is ``{"manager", "options", "messages", "steps"}``; the answer lists the state after each step. A step is
"overflow" (reduce_context with an error), "routine" (reduce_context without one) or "manage" (apply_management).
The manager is the real one; around it stand an agent that has only messages, and a summarizer that asks no model.
"""

import importlib
import logging
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

sys.path.insert(1, str(Path(__file__).parent))
encoding = importlib.import_module("encoding")


def released_managers() -> Any:
    """Return the package of the managers, without what `strands` and `strands.agent` would import beside it.

    A whole agent takes some releases four seconds to import, the managers half a second.
    """
    for name in ("strands", "strands.agent"):
        bare = ModuleType(name)
        bare.__path__ = [os.path.join(os.environ["PYTHONPATH"], *name.split("."))]
        sys.modules[name] = bare
    return importlib.import_module("strands.agent.conversation_manager")


managers = released_managers()

MANAGERS = {
    "sliding": managers.SlidingWindowConversationManager,
    "summarizing": managers.SummarizingConversationManager,
}


class Summarizer:
    """Stands in for the agent that writes summaries: says how many messages it was given, and nothing else."""

    system_prompt = None
    tool_names = ("none",)
    tool_registry = None

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def __call__(self, prompt: str) -> Any:
        text = f"SUMMARY of {len(self.messages)}"
        return SimpleNamespace(message={"role": "assistant", "content": [{"text": text}]})


class Warnings(logging.Handler):
    """Keeps what a manager warns of, and the error that it swallowed, if any."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []
        self.swallowed: list[str] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        arguments = record.args if isinstance(record.args, tuple) else ()
        error = next((part for part in arguments if isinstance(part, Exception)), None)
        self.texts.append(record.getMessage())
        self.swallowed = described(error) if error else self.swallowed


def described(error: Exception) -> list[str]:
    return [type(error).__name__, str(error)]


def run(case: dict[str, Any], warnings: Warnings) -> dict[str, Any]:
    options = dict(case["options"])
    if case["manager"] == "summarizing":
        options["summarization_agent"] = Summarizer()
    try:
        manager = MANAGERS[case["manager"]](**options)
    except Exception as error:
        return {"refused": described(error), "states": []}
    agent = SimpleNamespace(messages=case["messages"], model=None)
    states = []
    for step in case["steps"]:
        warnings.texts, warnings.swallowed = [], None
        failure = None
        try:
            if step == "manage":
                manager.apply_management(agent)
            else:
                manager.reduce_context(agent, RuntimeError("overflow") if step == "overflow" else None)
        except Exception as error:
            failure = described(error)
        # What a newer SDK adds to a summary for its own bookkeeping is no part of the conversation.
        seen = [_without_tracking_id(message) for message in agent.messages]
        states.append(
            {
                "messages": encoding.encode(seen),
                "error": failure,
                "removed": manager.removed_message_count,
                "warnings": warnings.texts,
                "swallowed": warnings.swallowed,
            }
        )
        if failure:
            break
    return {"refused": None, "states": states}


def _without_tracking_id(message: Any) -> Any:
    if isinstance(message, dict) and "tracking_id" in message:
        return {key: value for key, value in message.items() if key != "tracking_id"}
    return message


def main() -> None:
    # What a library prints must not mix with the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    warnings = Warnings()
    logger = logging.getLogger("strands.agent.conversation_manager")
    logger.addHandler(warnings)
    logger.propagate = False
    answers.write(f"{encoding.encode({'package': managers.__file__})}\n")
    answers.flush()
    for line in sys.stdin:
        if line.strip():
            answers.write(f"{encoding.encode(run(encoding.decode(line), warnings))}\n")
        else:
            answers.flush()


if __name__ == "__main__":
    main()
