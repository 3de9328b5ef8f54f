"""One overflow of an agent, over all its refused calls, as the core's rounds and one trace.

Nothing here knows the SDK, and no rule of a reduction is repeated.
"""

from dataclasses import dataclass, replace
from typing import cast

from ctxlab.edits import Pin, Summarize
from ctxlab.messages import Conversation, Message
from ctxlab.recovery import recover
from ctxlab.reduction import Round, Trace
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.survey import Survey
from ctxlab.tokens.counting import TokenCounter

Policy = SlidingWindow | Summarizing

ID = "tracking_id"
"""The key that newer releases add to each message of an agent."""


def answered(policy: Policy, start: Conversation, first: int, budget: int | None, counter: TokenCounter) -> Trace:
    """Return the answer to one refused call: one round, or with a budget in tokens as many as it takes.

    ``first`` is the number of the next round: earlier ones answered earlier refused calls of the same overflow. Raises
    whatever the policy's ``summarize`` raises.
    """
    rounds = _From(policy, first)
    if budget is None:
        return replace(recover(start, rounds, -1, counter, max_rounds=1), refused_calls=1)
    # The call was refused: even if the conversation fits by this counter, it does not fit.
    tokens = sum(counter.message(message) for message in start)
    return replace(recover(start, rounds, min(budget, tokens - 1), counter), refused_calls=1)


def managed(done: Round, start: Conversation, counter: TokenCounter) -> Trace:
    """Return a round of routine management as a trace, completed with its tokens."""
    trace = recover(start, _Given(done), -1, counter, max_rounds=1)
    return replace(trace, outcome="fits", error=None, budget=trace.tokens[-1], refused_calls=0)


def made_progress(trace: Trace) -> bool:
    """Say whether anything got different by more than a pin: only then is there a point in calling again."""
    return any(not isinstance(edit, Pin) for edit in trace.edits) and trace.final != trace.start


def overhead(counter: TokenCounter, system_prompt: object, tool_specs: object) -> int:
    """Return the tokens of what goes with the messages of a call: the system prompt and the tool descriptions."""
    tokens = counter.text(system_prompt) if isinstance(system_prompt, str) else 0
    return tokens + sum(counter.json(spec) for spec in (tool_specs if isinstance(tool_specs, list) else ()))


def copies(live: list[Message]) -> Conversation:
    """Return the messages for a trace to start from, without the SDK's ids: a summary of the same words is the same.

    Copies, for cutting a message will change the agent's own dict.
    """
    return tuple(cast(Message, {key: value for key, value in message.items() if key != ID}) for message in live)


@dataclass(frozen=True, slots=True)
class _From:
    """A policy whose rounds are counted on from ``first``: earlier ones answered earlier refused calls."""

    policy: Policy
    first: int

    def reduce(
        self, messages: Conversation, overflow: bool = True, round: int = 1, survey: Survey | None = None
    ) -> Round:
        return self.policy.reduce(messages, overflow, self.first + round - 1, survey)


@dataclass(frozen=True, slots=True)
class _Given:
    """A round that was played already, to be completed with its tokens."""

    done: Round

    def reduce(
        self, messages: Conversation, overflow: bool = True, round: int = 1, survey: Survey | None = None
    ) -> Round:
        return self.done


def asked(trace: Trace) -> Trace:
    """Return the trace with each summary marked as written by a model."""
    rounds = tuple(
        replace(
            done,
            edits=tuple(replace(edit, asked=True) if isinstance(edit, Summarize) else edit for edit in done.edits),
        )
        for done in trace.rounds
    )
    return replace(trace, rounds=rounds)


def joined(before: Trace | None, trace: Trace) -> Trace:
    """Return one trace of what answered the earlier refused calls of an overflow, and what answered this one."""
    if before is None or len(before.final) != len(trace.start):
        return trace
    return replace(
        trace,
        start=before.start,
        rounds=(*before.rounds, *trace.rounds),
        tokens=(*before.tokens, *trace.tokens[1:]),
        refused_calls=before.refused_calls + 1,
    )


def rounds_since_smallest(trace: Trace) -> int:
    """Return for how many rounds the conversation has not become smaller than it had been."""
    return len(trace.tokens) - 1 - trace.tokens.index(min(trace.tokens))
