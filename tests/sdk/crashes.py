"""Kills an agent with a file session before and after its every write, and says what a restart makes of each.

Run as ``python -m tests.sdk.crashes POLICY FOLDER``; prints one JSON object a crash. Each try is a forked process, so
that the SDK is imported once.
"""

import copy
import json
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

from strands.hooks import MessageAddedEvent

from tests.strands_agents import agent_of, looks, seen, stored_originals, tried
from tests.test_strands_sessions import POLICIES

from ctxlab.strands import ScriptedModel, conversation_manager  # isort: skip

PROMPTS = ("Look.", "Closer. " + "please " * 300, "Go on.")


def live_and_die(policy: str, storage: Path, dies_at: int, before: bool) -> None:
    """Run the agent; kill the process at write number ``dies_at``; keep beside it what was live at each write."""
    replace = os.replace
    diary = os.open(storage / "diary.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    writes = 0
    agent: Any = None
    said: list[Any] = []

    def counted(source: Any, target: Any, **options: Any) -> None:
        nonlocal writes
        live = seen(agent.messages) if agent is not None else []
        os.write(diary, f"{json.dumps([live, seen(said)])}\n".encode())
        if writes == dies_at and before:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target, **options)
        if writes == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        writes += 1

    os.replace = counted  # type: ignore[assignment]  # the one call that makes a write of the SDK's real
    model = ScriptedModel(looks(30, 90, 60), context_window=1_150)
    agent = agent_of(conversation_manager(POLICIES[policy]), model, storage=storage)
    agent.hooks.add_callback(MessageAddedEvent, lambda event: said.append(copy.deepcopy(event.message)))
    for prompt in PROMPTS:
        tried(agent, prompt)


def faults_after(policy: str, storage: Path) -> tuple[list[str], bool]:
    """Return what is wrong with a session whose process was killed, and whether a reduction was durable by then."""
    diary = [json.loads(line) for line in (storage / "diary.jsonl").read_text(encoding="utf-8").splitlines()]
    known = [live for live, _ in diary][-2:]
    said = diary[-1][1]
    restored = agent_of(conversation_manager(POLICIES[policy]), ScriptedModel(), storage=storage)
    found = json.loads(json.dumps(seen(restored.messages)))
    originals = json.loads(json.dumps(seen(stored_originals(storage))))
    faults = []
    # What was live at the write that was the last one, or at the one before it, and nothing older.
    if found not in known:
        faults.append(f"a restart loads {found}, which was not live at the end")
    if originals[: len(said)] != said:
        faults.append(f"stored are {originals}, said were {said}")
    try:
        restored("Are you there?")
    except Exception as error:
        faults.append(f"it does not go on: {error!r}")
    if len(stored_originals(storage)) < len(originals) + 2:
        faults.append("a new message was written over an old one")
    return faults, found != originals


def main(policy: str, folder: str) -> None:
    """Try every write until the agent lives through all of them."""
    logging.disable(logging.ERROR)
    # From the second write on: a session whose very first file is missing is refused by the SDK ever after.
    for dies_at in range(1, 1_000):
        for before in (True, False):
            storage = Path(folder) / f"{dies_at}-{before}"
            storage.mkdir()
            child = os.fork()
            if child == 0:
                live_and_die(policy, storage, dies_at, before)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
                return
            assert os.WTERMSIG(status) == signal.SIGKILL, f"write {dies_at} ended otherwise: {status}"
            faults, reduced = faults_after(policy, storage)
            print(json.dumps({"write": dies_at, "before": before, "fault": faults, "reduced": reduced}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
