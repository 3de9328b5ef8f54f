"""ctxlab's side of the comparison: the same cases, played by `as_of`, in the terms of the released SDK."""

from collections.abc import Iterator
from dataclasses import dataclass

from ctxlab.messages import Conversation
from ctxlab.reduction import ContextWindowOverflow, Round
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from tests.sdk.encoding import encode
from tests.sdk.released import Case


@dataclass(frozen=True, slots=True)
class Ours:
    """Where ctxlab stands after a step, in the terms of the release's `State`."""

    messages: str
    error: str | None
    removed: int
    warning: str | None


def play(manager: SlidingWindow | Summarizing, case: Case) -> Iterator[Ours]:
    """Yield where ctxlab stands after each step, up to an error."""
    messages: Conversation = tuple(case.messages)
    removed = rounds = 0
    for step in case.steps:
        error = None
        try:
            if step == "manage":
                done = manager.manage(messages)
            else:
                rounds += 1
                done = manager.reduce(messages, overflow=step == "overflow", round=rounds)
        except ContextWindowOverflow as overflow:
            error = str(overflow)
            done = overflow.round or Round(rounds, messages)
        messages = done.messages
        if done.removed:
            # The SDK does not count the summary that stood among the messages it summarizes.
            removed += done.removed - (case.manager == "summarizing" and removed > 0)
        yield Ours(encode(list(messages)), error, removed, done.warning)
        if error:
            return


def manager_of(version: str, case: Case) -> SlidingWindow | Summarizing:
    """Return the manager of ctxlab for a case, with the summarizer that the released one is given."""
    if case.manager == "sliding":
        return SlidingWindow.as_of(version, **case.options)
    return Summarizing.as_of(version, summarize=lambda messages: f"SUMMARY of {len(messages)}", **case.options)
