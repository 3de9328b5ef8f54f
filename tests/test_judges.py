"""Outside judges: what others' own code makes of a conversation, held against the profiles.

Each judge is asked about every short conversation out of ten messages. Where one disagrees with a profile, the
difference is stated here with its reason, and the test holds it to exactly that.
"""

from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from pydantic import TypeAdapter, ValidationError

from ctxlab.invariants import CONVERSATION_RULES, pending_tool_uses, verdict, violations
from ctxlab.messages import Conversation, Message, blocks, tool_result_ids, tool_use_ids
from tests.builders import assistant, message, result_block, tool_result, tool_results, tool_use, use_block, user
from tests.conftest import need
from tests.strategies import well_formed_conversations

PARTS: tuple[Message, ...] = (
    user("q"),
    assistant("ok"),
    tool_use("a"),
    tool_use("a", text="let me see"),
    tool_use("a", "b"),
    tool_use("a", "a"),
    tool_result("a"),
    tool_result("b"),
    tool_results(a="1", b="2"),
    message("user", result_block("a"), result_block("a")),
)


def short_conversations(longest: int = 3) -> Iterator[Conversation]:
    """Every conversation of at most ``longest`` of the ten messages."""
    for length in range(1, longest + 1):
        yield from product(PARTS, repeat=length)


def asked_on(messages: Conversation) -> Conversation:
    """The conversation as it is sent next: pending calls answered, else a question after an assistant's reply."""
    pending = pending_tool_uses(messages)
    if pending:
        return (*messages, message("user", *(result_block(use.id) for use in pending)))
    return messages if messages[-1]["role"] == "user" else (*messages, user("go on"))


# mistral-common: the reference validator of the newest tokenizer


def mistral_refusal(messages: Conversation) -> str | None:
    """What the reference validator says, None where it is content; messages are split as the SDK's adapter does."""
    try:
        from mistral_common.exceptions import MistralCommonException
        from mistral_common.protocol.instruct import validator as rules
        from mistral_common.protocol.instruct.messages import AssistantMessage, ToolMessage, UserMessage
        from mistral_common.protocol.instruct.request import ChatCompletionRequest
        from mistral_common.protocol.instruct.tool_calls import FunctionCall, ToolCall
    except ImportError:
        need(False, "mistral-common is not installed")
        raise
    sent: list[Any] = []
    for part in messages:
        texts = " ".join(block["text"] for block in blocks(part) if "text" in block)
        called = FunctionCall(name="get", arguments="{}")
        calls = [ToolCall(id=called_id, function=called) for called_id in tool_use_ids(part)]
        sent += [ToolMessage(content="1", tool_call_id=answered) for answered in tool_result_ids(part)]
        if part["role"] == "assistant":
            sent.append(AssistantMessage(content=texts, tool_calls=calls or None))
        elif texts:
            sent.append(UserMessage(content=texts))
    judge = rules.MistralRequestValidatorV13(mode=rules.ValidationMode.serving)
    try:
        judge.validate_request(ChatCompletionRequest(messages=sent, model="any"))
    except MistralCommonException as refusal:
        return str(refusal)
    return None


def first_message_is_skipped(messages: Conversation) -> bool:
    """The one difference: the validator never looks at the first message, so that what is wrong with it passes.

    That is an orphan toolResult there, or a call there that nobody answers. The hosted service is not known to skip
    it, and no such request can be right, so the profile refuses both.
    """
    return all(breach.index == 0 for breach in verdict(messages, "mistral").violations)


def test_the_mistral_profile_says_what_the_reference_validator_says() -> None:
    differences = 0
    for messages in map(asked_on, short_conversations()):
        ours = verdict(messages, "mistral")
        refusal = mistral_refusal(messages)
        if ours.status == "accepted":
            assert refusal is None, messages
        elif ours.status == "refused" and refusal is None:
            differences += 1
            assert first_message_is_skipped(messages), messages
    assert differences > 0, "the validator has learned to look at the first message: strike the difference"


@given(well_formed_conversations(max_turns=3))
def test_what_the_mistral_profile_accepts_is_accepted_at_any_length(messages: Conversation) -> None:
    assert verdict(messages, "mistral").status == "accepted"
    assert mistral_refusal(asked_on(messages)) is None


# The SDK itself: what a restore repairs


def restored(messages: Conversation) -> list[Message]:
    """What the SDK makes of stored messages when it loads them."""
    from strands.session.repository_session_manager import RepositorySessionManager

    # The repair asks nothing of the manager that it is a method of.
    repair: Any = RepositorySessionManager._fix_broken_tool_use
    fixed: list[Message] = repair(None, deepcopy(list(messages)))
    return fixed


def test_the_sdk_repairs_at_restore_exactly_what_its_profile_calls_orphans() -> None:
    for messages in short_conversations():
        orphans = [breach for breach in verdict(messages, "strands").violations if breach.rule.startswith("no-orphan")]
        assert (restored(messages) != list(messages)) == bool(orphans), messages


def test_what_the_sdk_repaired_has_no_orphans_left_but_repeated_ids() -> None:
    for messages in short_conversations():
        left = {
            (breach.rule, breach.case)
            for breach in violations(restored(messages))
            if breach.rule.startswith("no-orphan")
        }
        assert left <= {("no-orphan-use", "short"), ("no-orphan-result", "surplus")}, messages


def test_blank_text_of_the_assistant_is_repaired_before_sending_and_that_of_the_user_is_not() -> None:
    from strands.event_loop.streaming import _normalize_messages

    stored: Any = [assistant(" "), user(" "), message("assistant")]
    sent: Any = _normalize_messages(stored)
    assert [breach.index for breach in violations(tuple(sent)) if breach.rule == "legal-blocks"] == [1]


# The SDK's adapters: what they send, judged by the types of the providers' own packages


def sent_to(provider: str, messages: Conversation) -> list[Any]:
    """What the SDK's adapter sends for these messages."""
    given: Any = deepcopy(list(messages))  # the SDK has message types of its own
    sent: list[Any]
    if provider == "anthropic":
        from strands.models.anthropic import AnthropicModel

        sent = AnthropicModel(client_args={"api_key": "none"}, model_id="any", max_tokens=1)._format_request_messages(
            given
        )
    elif provider == "openai-chat":
        from strands.models.openai import OpenAIModel

        sent = OpenAIModel.format_request_messages(given)
    else:
        from strands.models.openai_responses import OpenAIResponsesModel

        sent = OpenAIResponsesModel._format_request_messages(given)
    return sent


@pytest.fixture(scope="module")
def types() -> dict[str, TypeAdapter[Any]]:
    """The message types of the providers' packages, by profile."""
    try:
        from anthropic.types import MessageParam
        from openai.types.chat import ChatCompletionMessageParam
        from openai.types.responses import ResponseInputItemParam
    except ImportError:
        need(False, "the packages openai and anthropic are not installed")
        raise
    return {
        "anthropic": TypeAdapter(list[MessageParam]),
        "openai-chat": TypeAdapter(list[ChatCompletionMessageParam]),
        "openai-responses": TypeAdapter(list[ResponseInputItemParam]),
    }


def fits(kind: TypeAdapter[Any], sent: list[Any]) -> bool:
    """Whether the messages have the shape that the package demands, nested iterables included."""
    try:
        _walk(kind.validate_python(sent))
    except ValidationError:
        return False
    return True


def _walk(value: Any) -> None:
    # Iterables are only checked once somebody goes through them.
    if isinstance(value, dict):
        value = value.values()
    if not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for inner in value:
            _walk(inner)


JUDGED = ("anthropic", "openai-chat", "openai-responses")


@pytest.mark.parametrize("provider", JUDGED)
def test_what_a_profile_accepts_has_the_shape_that_the_package_demands(
    provider: str, types: dict[str, TypeAdapter[Any]]
) -> None:
    for messages in short_conversations():
        if verdict(messages, provider).status == "accepted":
            assert fits(types[provider], sent_to(provider, messages)), messages


@pytest.mark.parametrize("provider", JUDGED)
@pytest.mark.parametrize("rule", CONVERSATION_RULES)
def test_the_types_of_a_package_look_at_shape_and_at_none_of_the_six_rules(
    rule: str, provider: str, types: dict[str, TypeAdapter[Any]]
) -> None:
    # The difference: pairing and order are checked by the service alone, so these types pass what it refuses.
    assert fits(types[provider], sent_to(provider, CONVERSATION_RULES[rule].breaks))


def test_only_openais_chat_types_see_a_user_message_that_is_nothing_but_a_tool_use(
    types: dict[str, TypeAdapter[Any]],
) -> None:
    messages = (user("q"), assistant("ok"), message("user", use_block("a")))
    assert [name for name in JUDGED if not fits(types[name], sent_to(name, messages))] == ["openai-chat"]
    assert verdict(messages, "openai-chat").status != "accepted"


@pytest.mark.parametrize("provider", JUDGED)
def test_an_adapter_sends_every_call_and_answer_and_repairs_no_pairing(provider: str) -> None:
    for messages in short_conversations(2):
        ids = [tool_id for part in messages for tool_id in (*tool_use_ids(part), *tool_result_ids(part))]
        assert list(_sent_ids(sent_to(provider, messages))) == ids, messages


def _sent_ids(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        named = value.get("tool_use_id") or value.get("tool_call_id") or value.get("call_id") or value.get("id")
        if named:
            yield named
        for inner in value.values():
            yield from _sent_ids(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _sent_ids(inner)


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses"])
def test_where_a_result_stands_in_an_assistant_message_is_not_sent(provider: str) -> None:
    by_user = (user("q"), tool_use("a"), tool_result("a"))
    by_assistant = (user("q"), tool_use("a"), message("assistant", result_block("a")))
    assert sent_to(provider, by_assistant) == sent_to(provider, by_user)


@pytest.mark.parametrize("provider", JUDGED)
def test_every_adapter_drops_an_empty_user_message(provider: str) -> None:
    assert sent_to(provider, (message("user"), assistant("ok"))) == sent_to(provider, (assistant("ok"),))
