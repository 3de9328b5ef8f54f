"""A ctxlab policy as a conversation manager of the Strands SDK, which only translates: the reduction is the core's.

What it adds to the SDK's own managers: a token budget reduces in one go, every reduction is kept as a trace, and
reductions survive a restart (`standing`).
"""

import logging
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from strands.agent.conversation_manager import ConversationManager, SummarizingConversationManager
from strands.hooks import (
    AfterInvocationEvent,
    AfterModelCallEvent,
    AgentInitializedEvent,
    BeforeModelCallEvent,
    HookRegistry,
    MessageAddedEvent,
)
from strands.types.exceptions import ContextWindowOverflowException
from strands.types.session import decode_bytes_values, encode_bytes_values

from ctxlab.edits import Pin
from ctxlab.messages import Conversation, Message
from ctxlab.recovery import NOT_SMALLER, PATIENCE
from ctxlab.reduction import ContextWindowOverflow, Round, Trace
from ctxlab.sliding_window import SlidingWindow
from ctxlab.strands.episode import (
    Policy,
    answered,
    asked,
    copies,
    joined,
    made_progress,
    managed,
    overhead,
    rounds_since_smallest,
)
from ctxlab.strands.standing import SessionStore, Standing
from ctxlab.strands.summaries import Summarizer, with_tracking_id
from ctxlab.summarizing import Summarizing
from ctxlab.tokens.counting import HEURISTIC, TokenCounter

logger = logging.getLogger(__name__)

Cause = Literal["overflow", "routine"]
Watcher = Callable[[Trace, Cause], None]
"""Told of each reduction just before it is made: the rounds that answer one refused call, or routine management."""

KEPT_TRACES = 20
"""Traces that a manager keeps; each holds on to the messages that it removed."""

PREDECESSORS = frozenset(
    {"SlidingWindowConversationManager", "SummarizingConversationManager", "NullConversationManager"}
)
"""The SDK's own managers, whose sessions are taken over."""


class CtxlabConversationManager(ConversationManager):
    """One agent's conversation manager after a ctxlab policy; made by `conversation_manager`.

    ``traces`` are the reductions so far, newest last, at most `KEPT_TRACES`; all rounds between two model calls that
    fit are one trace. ``watchers`` are told of each reduction.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        budget: int | None = None,
        counter: TokenCounter = HEURISTIC,
        per_turn: bool | int = False,
        proactive_compression: Any = None,
        summarization_agent: Any = None,
        summarization_system_prompt: str | None = None,
    ) -> None:
        if not isinstance(policy, SlidingWindow | Summarizing):
            raise ValueError(f"policy must be a SlidingWindow or Summarizing, got {policy!r}")
        if budget is not None and budget < 1:
            raise ValueError(f"budget must be at least 1 token, got {budget!r}")
        if isinstance(per_turn, int) and not isinstance(per_turn, bool) and per_turn <= 0:
            raise ValueError(f"per_turn must be a positive integer, True, or False, got {per_turn!r}")
        super().__init__(proactive_compression=proactive_compression)
        self.policy = policy
        self.budget = budget
        self.counter = counter
        self.per_turn = per_turn
        self.traces: deque[Trace] = deque(maxlen=KEPT_TRACES)
        self.watchers: list[Watcher] = []
        self._summaries = SummarizingConversationManager(
            summarization_agent=summarization_agent, summarization_system_prompt=summarization_system_prompt
        )
        self._episode: Trace | None = None
        self._agent: Callable[[], Any] = lambda: None
        self._standing: Standing | None = None
        self._forget()

    def _forget(self) -> None:
        self.removed_message_count = 0
        self._front: list[Message] = []
        self._summary_message: Message | None = None
        self._pin_first_applied = False
        self._model_call_count = 0
        self._restored = False

    @property
    def last_trace(self) -> Trace | None:
        """The newest reduction, also while its overflow is not over yet."""
        return self._episode or (self.traces[-1] if self.traces else None)

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:
        """Register what the base class asks for, management per turn, and what tells when an overflow is over."""
        super().register_hooks(registry, **kwargs)
        registry.add_callback(BeforeModelCallEvent, self._before_model_call)
        registry.add_callback(AfterModelCallEvent, self._after_model_call)
        registry.add_callback(
            AfterInvocationEvent, lambda event: self._over("gave up", "the model was not called again")
        )
        registry.add_callback(AgentInitializedEvent, lambda event: self._begin(event.agent))
        registry.add_callback(MessageAddedEvent, self._added)

    def apply_management(self, agent: Any, **kwargs: Any) -> None:
        """Do what the policy does routinely, to ``agent.messages`` in place."""
        self._routine(agent, lambda policy, messages: policy.manage(messages))

    def reduce_context(self, agent: Any, e: Exception | None = None, **kwargs: Any) -> None:
        """Answer an overflow ``e``, or compress ahead of one where it is None, in ``agent.messages`` in place.

        Without a budget one round; with one as many as it takes by the counter. Raises the SDK's
        ContextWindowOverflowException from ``e`` where the policy has nothing left.
        """
        if e is None:
            self._routine(agent, lambda policy, messages: policy.reduce(messages, overflow=False))
            return
        live = list(agent.messages)
        start = copies(live)
        policy, summarizer = self._policy_of(agent)
        first = len(self._episode.rounds) + 1 if self._episode else 1
        try:
            trace = answered(policy, start, first, self._left_for_messages(agent), self.counter)
        except Exception as fault:
            logger.error("reducing failed: %s", fault)
            raise fault from e
        trace = asked(trace) if summarizer else trace
        self._episode = joined(self._episode, trace)
        progress = made_progress(trace)
        self._tell(trace, "overflow")
        # A refusal leaves its pins; a round that changes nothing leaves nothing.
        if progress or trace.outcome == "stuck":
            self._apply(agent, live, trace, summarizer)
        if not progress:
            self._over("stuck" if trace.outcome == "stuck" else "gave up", trace.error)
            raise ContextWindowOverflowException(trace.error or "") from e
        if rounds_since_smallest(self._episode) >= PATIENCE:
            self._over("gave up", NOT_SMALLER)
            raise ContextWindowOverflowException(NOT_SMALLER) from e

    def get_state(self) -> dict[str, Any]:
        """Return the state as the SDK's manager of that kind has it, and what a restart needs beyond it.

        ``front`` are live messages that are not in the session as they are; ``removed_message_count`` counts the
        stored ones that they, or nothing, stand for. It is left out where the SDK's own rule gives the same.
        """
        agent = self._agent()
        if agent is not None and self._standing is not None and not self._standing.is_adding(agent.messages):
            self._settle(agent)
        state = super().get_state()
        if isinstance(self.policy, Summarizing):
            state = {"summary_message": self._encoded(self._summary_message), **state}
        else:
            state["model_call_count"] = self._model_call_count
        if self._pin_first_applied:
            state["pin_first_applied"] = True
        usual = [self._summary_message] if self._summary_message and isinstance(self.policy, Summarizing) else []
        if len(usual) != len(self._front) or any(a is not b for a, b in zip(usual, self._front, strict=True)):
            state["front"] = self._encoded(self._front)
        return state

    def restore_from_session(self, state: dict[str, Any]) -> Any:
        """Take over the state of a session, also one that the SDK's own managers left; return the messages to prepend.

        Raises ValueError for the state of any other manager.
        """
        if state.get("__name__") not in {type(self).__name__, *PREDECESSORS}:
            raise ValueError("Invalid conversation manager state.")
        self._forget()
        self.removed_message_count = state["removed_message_count"]
        self._model_call_count = state.get("model_call_count", 0)
        self._pin_first_applied = bool(state.get("pin_first_applied"))
        self._summary_message = decode_bytes_values(state.get("summary_message"))
        summary = [self._summary_message] if self._summary_message else []
        self._front = decode_bytes_values(state["front"]) if "front" in state else summary
        self._restored = True
        return list(self._front) or None

    def _left_for_messages(self, agent: Any) -> int | None:
        if self.budget is None:
            return None
        registry = getattr(agent, "tool_registry", None)
        specs = registry.get_all_tool_specs() if registry is not None else None
        return self.budget - overhead(self.counter, getattr(agent, "system_prompt", None), specs)

    def _routine(self, agent: Any, reduce: Callable[[Policy, Conversation], Round]) -> None:
        live = list(agent.messages)
        start = copies(live)
        policy, summarizer = self._policy_of(agent)
        refusal = None
        try:
            done = reduce(policy, start)
        except ContextWindowOverflow as fault:
            done, refusal = fault.round or Round(1, start), fault
        except Exception as fault:
            logger.warning("compressing ahead failed, going on: %s", fault)
            return
        if done.edits:
            trace = managed(done, start, self.counter)
            trace = asked(trace) if summarizer else trace
            self._tell(trace, "routine")
            self._apply(agent, live, trace, summarizer)
            self.traces.append(trace)
        if done.warning:
            logger.warning("%s, %s messages: %s", self.policy.name, len(live), done.warning)
        if refusal is not None:
            raise ContextWindowOverflowException(str(refusal))

    def _policy_of(self, agent: Any) -> tuple[Policy, Summarizer | None]:
        policy = replace(self.policy, pin_first=None) if self._pin_first_applied else self.policy
        if isinstance(policy, Summarizing) and policy.summarize is None:
            summarizer = Summarizer(self._summaries, agent)
            return replace(policy, summarize=summarizer), summarizer
        return policy, None

    def _apply(self, agent: Any, live: list[Message], trace: Trace, summarizer: Summarizer | None) -> None:
        """Make the agent's messages what they are at the end of the trace; every dict that survives stays the same one.

        A message that is cut is changed in its own dict, as the SDK does it: a session manager that later redacts the
        message by that dict must not leave the text that was cut away.
        """
        if agent is not self._agent():
            # Never begun: whoever calls this by hand has the SDK's own rule, by which all that is live is stored.
            front = len(self._front) if all(a is b for a, b in zip(live, self._front, strict=False)) else 0
            self._standing = Standing(self.removed_message_count + len(live) - front, live[front:])
        self._pin_first_applied |= any(isinstance(edit, Pin) for edit in trace.edits)
        origins: tuple[int | None, ...] = tuple(range(len(live)))
        for step in trace.steps():
            origins = step.origins
        messages: list[Message] = []
        for message, origin in zip(trace.final, origins, strict=True):
            if origin is None:
                made = with_tracking_id(summarizer.message(message) if summarizer else {**message})
                self._summary_message = made
                messages.append(made)
                continue
            if message is not trace.start[origin]:
                live[origin].update(message)
            messages.append(live[origin])
        agent.messages[:] = messages
        self._settle(agent)

    def _settle(self, agent: Any) -> None:
        if self._standing is not None:
            leave_one = not SessionStore(agent).can_pass_over_all
            self._front, self.removed_message_count = self._standing.front(agent.messages, leave_one)

    def _begin(self, agent: Any) -> None:
        served = self._agent()
        store = SessionStore(agent)
        if served is not None and served is not agent and (store.keeps_messages or SessionStore(served).keeps_messages):
            raise ValueError(
                f"a conversation manager keeps the state of one agent, and this one serves {served.agent_id!r}: "
                f"make another one for {agent.agent_id!r}"
            )
        self._agent = weakref.ref(agent)
        if not self._restored:
            self._forget()
            self._standing = Standing(len(agent.messages), agent.messages)
            return
        self._restored = False
        live = agent.messages[len(self._front) :]
        if store.keeps_messages:
            stored, loaded = store.loaded(self.removed_message_count)
            # The SDK repairs broken tool pairs as it loads; what then stands in the conversation is not what is stored.
            as_stored = len(loaded) == len(live) and all(a is b or a == b for a, b in zip(live, loaded, strict=True))
            self._standing = Standing(stored, live if as_stored else [])
        else:
            self._standing = Standing(self.removed_message_count + len(live), live)

    def _added(self, event: MessageAddedEvent) -> None:
        if event.agent is self._agent() and self._standing is not None:
            message: Any = event.message
            self._standing.added(message)

    def _before_model_call(self, event: BeforeModelCallEvent) -> None:
        if self.per_turn is False:
            return
        self._model_call_count += 1
        if self.per_turn is True or self._model_call_count % self.per_turn == 0:
            self.apply_management(event.agent)

    def _after_model_call(self, event: AfterModelCallEvent) -> None:
        if event.exception is None:
            self._over("fits", None)

    def _over(self, outcome: Literal["fits", "stuck", "gave up"], error: str | None) -> None:
        """End the overflow that is under way, if any: with it the count of its rounds."""
        if self._episode is not None:
            tokens = self._episode.tokens[-1]
            # Without a budget the window is known by what fitted, or did not.
            known = self.budget if self.budget is not None else tokens if outcome == "fits" else tokens - 1
            budget = max(known, tokens) if outcome == "fits" else known
            self.traces.append(replace(self._episode, outcome=outcome, error=error, budget=budget))
            self._episode = None

    def _tell(self, trace: Trace, cause: Cause) -> None:
        for watcher in self.watchers:
            watcher(trace, cause)

    @staticmethod
    def _encoded(value: Any) -> Any:
        # The oldest releases write a manager's state as it is, and JSON holds no bytes.
        return encode_bytes_values(value)


def conversation_manager(
    policy: Policy,
    *,
    budget: int | None = None,
    counter: TokenCounter = HEURISTIC,
    per_turn: bool | int = False,
    proactive_compression: Any = None,
    summarization_agent: Any = None,
    summarization_system_prompt: str | None = None,
) -> CtxlabConversationManager:
    """Return a conversation manager for one Strands agent that does what ``policy`` does.

    ``budget`` is the model's context window in tokens of ``counter`` (default: the SDK's own estimate), system prompt
    and tool descriptions counted in: with it an overflow is answered by all rounds that it takes, instead of one round
    a refused call. ``per_turn`` and ``proactive_compression`` are those of the SDK's managers, the two
    ``summarization_…`` those of its summarizing one: unless the policy has a ``summarize`` of its own, the agent's
    model writes the summaries. Raises ValueError for another policy, a budget below 1 or a per_turn below 1.
    """
    return CtxlabConversationManager(
        policy,
        budget=budget,
        counter=counter,
        per_turn=per_turn,
        proactive_compression=proactive_compression,
        summarization_agent=summarization_agent,
        summarization_system_prompt=summarization_system_prompt,
    )
