"""What a restart loads: `play_turns` against a real FileSessionManager and a second real Agent (#5690, #4027)."""

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ctxlab.messages import Conversation
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import TokenCounter
from ctxlab.turns import Turn, play_turns
from tests.cases import BY_ID, SUMMARY, Case, cases, conversation, sliding, summarizing
from tests.conftest import need
from tests.sdk.encoding import encode
from tests.strategies import well_formed_conversations

# A summary costs nothing here, so that every reduction makes a conversation smaller and one budget tells rounds apart.
COUNTER = TokenCounter("characters", lambda text: 0 if text == SUMMARY else len(text))
Manager = SlidingWindow | Summarizing


@pytest.fixture(autouse=True)
def _sdk() -> None:
    need(find_spec("strands"), "strands-agents is not installed (pip install ctxlab[strands])")


class Summarizer:
    """Stands in for the agent that writes summaries."""

    system_prompt = None
    tool_names = ("none",)
    tool_registry = None

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def __call__(self, prompt: str) -> Any:
        return SimpleNamespace(message={"role": "assistant", "content": [{"text": SUMMARY}]})


def real_manager(manager: Manager) -> Any:
    """The SDK's own manager with the same parameters."""
    from strands.agent.conversation_manager import SlidingWindowConversationManager, SummarizingConversationManager

    if isinstance(manager, SlidingWindow):
        return SlidingWindowConversationManager(
            manager.window_size, manager.should_truncate_results, pin_first=manager.pin_first
        )
    stand_in: Any = Summarizer()
    return SummarizingConversationManager(
        manager.summary_ratio, manager.preserve_recent_messages, stand_in, pin_first=manager.pin_first
    )


def real_restart(
    messages: Conversation, manager: Manager, storage: Path, rounds: int, routine: bool = False
) -> tuple[list[Any], list[Any]]:
    """Return what is live in a real agent after some rounds of reducing, and what a second one loads."""
    from strands import Agent
    from strands.session.file_session_manager import FileSessionManager

    model: Any = SimpleNamespace(config={}, stateful=False)

    def agent(**options: Any) -> Any:
        store = FileSessionManager("talk", storage_dir=str(storage))
        manages = real_manager(manager)
        return Agent(
            agent_id="worker",
            session_manager=store,
            conversation_manager=manages,
            callback_handler=None,
            model=model,
            **options,
        )

    first = agent(messages=[dict(message) for message in messages])
    for _ in range(rounds):
        if routine:
            first.conversation_manager.apply_management(first)
        else:
            first.conversation_manager.reduce_context(first, RuntimeError("overflow"))
    first._session_manager.sync_agent(first)
    return _seen(first.messages), _seen(agent().messages)


def one_turn(messages: Conversation, manager: Manager, rounds: int) -> Turn:
    """The first turn of a session under a budget that is met after just so many rounds."""
    state = messages
    for number in range(1, rounds + 1):
        state = manager.reduce(state, round=number).messages
    (turn,) = play_turns(messages, manager, sum(map(COUNTER.message, state)), COUNTER, turns=1)
    assert len(turn.trace.rounds) == rounds
    return turn


def _seen(messages: Any) -> list[Any]:
    return [{"role": message["role"], "content": message["content"]} for message in messages]


def _without_answer(messages: Conversation) -> list[Any]:
    """What is left without the answer that ends a turn."""
    return _seen(messages[:-1])


def manager_of(case: Case) -> Manager:
    if case["params"]["manager"] == "sw":
        return sliding(case, SlidingWindow)
    return summarizing(case, lambda **options: Summarizing(**options, truncation=None))


OVERFLOWS = [case for case in cases("session") if case["params"]["mode"] == "overflow"]


@pytest.mark.parametrize("case", OVERFLOWS, ids=lambda case: str(case["id"]))
def test_a_turn_is_what_a_real_agent_holds_and_a_second_one_loads(case: Case, tmp_path: Path) -> None:
    manager = manager_of(case)
    turn = one_turn(conversation(case), manager, 1)
    live, restored = real_restart(conversation(case), manager, tmp_path, 1)
    assert (_without_answer(turn.live), _without_answer(turn.restored)) == (live, restored)
    assert (turn.first_difference is None) == (live == restored) == case["expected"].get("same", False)


def test_s85_trimming_in_routine_without_pins_restores_exactly(tmp_path: Path) -> None:
    case = BY_ID["S85-restore-control-sw"]
    done = manager_of(case).manage(conversation(case))
    live, restored = real_restart(conversation(case), manager_of(case), tmp_path, 1, routine=True)
    assert live == _seen(done.messages)
    assert restored == _seen(conversation(case)[done.removed :]) == live


def test_s17_the_difference_is_told_in_numbers() -> None:
    case = BY_ID["S17-5690-truncation-not-persisted"]
    turn = one_turn(conversation(case), manager_of(case), 1)
    lengths = [len(state[2]["content"][0]["toolResult"]["content"][0]["text"]) for state in (turn.live, turn.restored)]
    assert lengths == [case["expected"]["live_len"], case["expected"]["restored_len"]]
    assert turn.first_difference == 2


def test_every_session_case_is_played() -> None:
    assert {case["id"] for case in cases("session")} == {
        *(case["id"] for case in OVERFLOWS),
        "S85-restore-control-sw",
    }


def manager_without_pins() -> st.SearchStrategy[Manager]:
    window: st.SearchStrategy[Manager] = st.builds(SlidingWindow, st.integers(1, 8), st.booleans())
    summarizing: st.SearchStrategy[Manager] = st.builds(
        Summarizing, st.just(0.3), st.integers(0, 4), truncation=st.none(), summarize=st.just(lambda messages: SUMMARY)
    )
    return st.one_of(window, summarizing)


@settings(max_examples=60)
@given(well_formed_conversations(min_turns=2), manager_without_pins(), st.integers(5, 99))
def test_on_any_session_without_pins_a_restart_loads_what_the_turn_says(
    messages: Conversation, manager: Manager, share: int
) -> None:
    budget = sum(map(COUNTER.message, messages)) * share // 100
    (turn,) = play_turns(messages, manager, budget, COUNTER, turns=1)
    assume(turn.trace.outcome == "fits")
    with TemporaryDirectory() as storage:
        live, restored = real_restart(messages, manager, Path(storage), len(turn.trace.rounds))
    assert encode(_without_answer(turn.live)) == encode(live)
    assert encode(_without_answer(turn.restored)) == encode(restored)
