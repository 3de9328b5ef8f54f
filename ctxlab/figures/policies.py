"""What a picture asks of a policy: its name in a sentence, its verdict on every index, and where its search starts.

The answers are the policy's own; no rule is repeated and nothing is drawn here.
"""

import numpy as np

from ctxlab import careful
from ctxlab.comparison import Policy
from ctxlab.figures.history import History
from ctxlab.messages import Conversation
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import TokenCounter
from ctxlab.trimming import TrimPoint, split_rejection, trim_points


def policy_name(policy: Policy) -> str:
    """Return a policy as a sentence begins with it."""
    if isinstance(policy, SlidingWindow):
        return "The careful policy" if policy.is_careful else policy.name
    rule = policy.truncation.rule if policy.truncation else None
    said = "" if rule == policy.rules.fallback else f", {rule or 'no'} fallback"
    return f"Summarizing as of Strands {policy.release}{said}"


def verdicts(
    messages: Conversation, policy: Policy, counter: TokenCounter, progress: careful.Progress | None = None
) -> tuple[TrimPoint, ...]:
    """Return the policy's verdict on every index wherever its search starts; a split looks at no role.

    ``progress`` is told of what takes longer than a moment, and may raise to stop.
    """
    if isinstance(policy, Summarizing):
        reasons = (split_rejection(messages, index) for index in range(len(messages)))
        return tuple(TrimPoint(at, None if reason else "any", reason) for at, reason in enumerate(reasons))
    if policy.is_careful:
        return careful.trim_points(messages, 0, policy.budget, counter, progress)
    return trim_points(messages, 0, policy.rules.trim)


def search_start(messages: Conversation, policy: Policy, history: History, edit: int, failed: bool) -> int | None:
    """Return where the search of the last cut up to an edit started, as the messages of the start count.

    Without a cut, or where the policy then ``failed``, it is where a search would start now; None for a policy that
    does not search.
    """
    if isinstance(policy, Summarizing):
        return None
    cut = history.cut(edit)
    if cut is not None and not failed:
        return cut.start
    alive = np.flatnonzero(history.gone_at > edit).tolist()
    start = policy.start(tuple(messages[index] for index in alive))
    return alive[start] if start < len(alive) else len(messages)
