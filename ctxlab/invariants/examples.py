"""The smallest conversations that break and keep each rule: README, notebooks and tests show these very ones."""

from ctxlab.invariants.reductions import Reducible, Reduction
from ctxlab.messages import Block, Conversation, Message


def _message(role: str, *content: Block) -> Message:
    return {"role": role, "content": list(content)}


def _text(text: str) -> Block:
    return {"text": text}


def _use(identifier: str) -> Block:
    return {"toolUse": {"toolUseId": identifier, "name": "get", "input": {}}}


def _result(identifier: str, text: str = "42") -> Block:
    return {"toolResult": {"toolUseId": identifier, "status": "success", "content": [_text(text)]}}


QUESTION: Message = _message("user", _text("What is the answer?"))
REPLY: Message = _message("assistant", _text("It is 42."))
CALL: Message = _message("assistant", _use("a"))
ANSWER: Message = _message("user", _result("a"))
TWO_CALLS: Message = _message("assistant", _use("a"), _use("b"))
TWO_ANSWERS: Message = _message("user", _result("a"), _result("b"))

PAIRS: dict[str, tuple[Conversation, Conversation]] = {
    "starts-with-user": ((CALL, ANSWER, REPLY), (QUESTION, CALL, ANSWER, REPLY)),
    "no-orphan-result": ((QUESTION, REPLY, ANSWER), (QUESTION, CALL, ANSWER)),
    "no-orphan-use": ((QUESTION, CALL, QUESTION), (QUESTION, CALL)),
    "ids-match": ((QUESTION, TWO_CALLS, ANSWER), (QUESTION, TWO_CALLS, TWO_ANSWERS)),
    "roles-alternate": ((QUESTION, QUESTION, REPLY), (QUESTION, REPLY, QUESTION)),
    "legal-blocks": ((_message("user", _text("")), REPLY), (QUESTION, REPLY)),
}
"""For each of the six rules: a conversation that breaks it, and one that holds."""

_LONG: Message = _message("user", _result("a", "x" * 900))
_SHORTER: Message = _message("user", _result("a", "x" * 300))
_LONGER: Message = _message("user", _result("a", "x" * 901))
_PINNED: Message = {"role": "user", "content": [_text("Remember this.")], "metadata": {"custom": {"pinned": True}}}
_FAILED: Message = {
    "role": "user",
    "content": [{"toolResult": {"toolUseId": "a", "status": "error", "content": [_text("too large")]}}],
}
_BEFORE: Conversation = (QUESTION, CALL, _LONG)
_CUT: Conversation = (QUESTION, CALL, _SHORTER)

REDUCTIONS: dict[str, tuple[Reduction, Reduction]] = {
    "routine-keeps-content": (Reduction(_BEFORE, _CUT, overflow=False), Reduction(_BEFORE, _CUT, overflow=True)),
    "strictly-smaller": (Reduction(_BEFORE, (QUESTION, CALL, _LONGER)), Reduction(_BEFORE, _CUT)),
    "largest-first": (
        Reduction((QUESTION, REPLY, *_BEFORE), _BEFORE, reducible=(Reducible(4, 0, 900),)),
        Reduction((QUESTION, REPLY, *_BEFORE), _BEFORE, reducible=()),
    ),
    "pins-kept": (
        Reduction((_PINNED, REPLY, QUESTION), (QUESTION,)),
        Reduction((_PINNED, REPLY, QUESTION), (_PINNED,)),
    ),
    "terminates": (Reduction(_BEFORE, _BEFORE, ended=False, rounds=1000), Reduction(_BEFORE, _BEFORE)),
    "shape-kept": (Reduction(_BEFORE, (QUESTION, CALL, _FAILED)), Reduction(_BEFORE, _CUT)),
    "restored-equals-live": (
        Reduction(_BEFORE, _CUT, restored=_BEFORE),
        Reduction(_BEFORE, _CUT, restored=_CUT),
    ),
    "no-op-when-fits": (Reduction(_BEFORE, _CUT, due=False), Reduction(_BEFORE, _BEFORE, due=False)),
}
"""For each rule about a reduction: one that breaks it, and one that holds."""
