"""Readers against others' work: files that vendors' and other projects' own code writes, and counts that it makes."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings

from ctxlab.messages import Block, Conversation, Message, blocks
from ctxlab.sessions import Session, load, save
from tests.builders import message
from tests.conftest import need
from tests.test_sessions_saving import plain_conversations

PROJECT = Path(__file__).parents[1]
few = settings(max_examples=25)


def opened(value: Any, format: str) -> Session:
    with TemporaryDirectory() as folder:
        file = Path(folder, "session.json")
        file.write_text(json.dumps(value))
        return load(file, format)


def counted(messages: Conversation) -> tuple[int, int, int]:
    kinds = [kind for each in messages for block in blocks(each) for kind in block]
    return len(messages), kinds.count("toolUse"), kinds.count("toolResult")


def without_media(messages: Conversation) -> Conversation:
    """What the writers of others put into text or leave out differently is not compared."""

    def text_only(each: Message) -> Message:
        kept: list[Block] = [block for block in each["content"] if "image" not in block]
        return message(each["role"], *kept)

    return tuple(map(text_only, messages))


# The SDK's own formatters: what it would send to each vendor, as a file.


@few
@given(plain_conversations())
def test_what_the_sdk_sends_to_openai_is_read_as_it_was(messages: Conversation) -> None:
    need(find_spec("strands"), "strands-agents is not installed")
    from strands.models.openai import OpenAIModel

    given: Any = list(messages)
    assert opened(OpenAIModel.format_request_messages(given), "openai-chat").messages == messages


@few
@given(plain_conversations())
def test_what_the_sdk_sends_to_openai_responses_is_read_as_it_was(messages: Conversation) -> None:
    need(find_spec("strands"), "strands-agents is not installed")
    from strands.models.openai_responses import OpenAIResponsesModel

    given: Any = list(messages)
    assert opened(OpenAIResponsesModel._format_request_messages(given), "openai-responses").messages == messages


@few
@given(plain_conversations())
def test_what_the_sdk_sends_to_anthropic_is_read_as_it_was(messages: Conversation) -> None:
    need(find_spec("strands"), "strands-agents is not installed")
    from strands.models.anthropic import AnthropicModel

    model = AnthropicModel(model_id="m", max_tokens=1, client_args={"api_key": "none"})
    given: Any = list(messages)
    assert opened(model._format_request_messages(given), "anthropic").messages == messages


EMIT = """
import json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
from tests.test_sessions_sdk import _agent
agent = _agent(["look", "done", "fine"])
agent("Look around")
agent("and this?")
spans = [json.loads(span.to_json()) for span in exporter.get_finished_spans()]
print(json.dumps([spans, agent.messages]))
"""


@pytest.mark.parametrize("conventions", ["", "gen_ai_latest_experimental"])
def test_what_the_sdk_emits_as_spans_is_what_its_agent_holds(tmp_path: Path, conventions: str) -> None:
    need(find_spec("strands") and find_spec("opentelemetry"), "strands-agents is not installed")
    environment = {**os.environ, "OTEL_SEMCONV_STABILITY_OPT_IN": conventions}
    run = subprocess.run(
        [sys.executable, "-c", EMIT], cwd=PROJECT, env=environment, capture_output=True, text=True, check=True
    )
    spans, held = json.loads(run.stdout)
    file = tmp_path / "spans.json"
    file.write_text(json.dumps(spans))
    session = load(file)
    assert (session.format, session.detected.certainty) == ("otel", "certain")
    plain = [{"role": each["role"], "content": each["content"]} for each in session.messages]
    assert plain == [{"role": each["role"], "content": each["content"]} for each in held]
    assert session.reported_input_tokens == ((len(held) - 1, 7),)


# LangChain.


@few
@given(plain_conversations())
def test_langchains_own_dumps_are_read_as_it_counts_them(messages: Conversation) -> None:
    need(find_spec("langchain_core"), "langchain-core is not installed")
    from langchain_core.load import dumpd
    from langchain_core.messages import AIMessage, ToolMessage, convert_to_messages, messages_to_dict

    with TemporaryDirectory() as folder:
        chat = Path(folder, "chat.json")
        save(messages, chat, "openai-chat")
        theirs = convert_to_messages(json.loads(chat.read_text())["messages"])
    calls = sum(len(each.tool_calls) for each in theirs if isinstance(each, AIMessage))
    answers = sum(isinstance(each, ToolMessage) for each in theirs)
    for dumped in (messages_to_dict(theirs), dumpd(theirs), {"messages": messages_to_dict(theirs)}):
        session = opened(dumped, "langchain")
        assert session.messages == messages
        assert counted(session.messages)[1:] == (calls, answers)


# convopack.


@few
@given(plain_conversations())
def test_convopack_counts_the_same_and_what_it_writes_is_read_as_it_was(messages: Conversation) -> None:
    need(find_spec("convopack"), "convopack is not installed")
    from convopack import ToolResultBlock, ToolUseBlock
    from convopack.providers import from_anthropic, from_openai, to_anthropic, to_gemini, to_openai

    messages = without_media(messages)
    with TemporaryDirectory() as folder:
        for format, read in (("anthropic", from_anthropic), ("openai-chat", from_openai)):
            file = Path(folder, format)
            save(messages, file, format)
            theirs: Any = read(json.loads(file.read_text())["messages"])
            found = [block for each in theirs for block in each.content]
            calls = sum(isinstance(block, ToolUseBlock) for block in found)
            answers = sum(isinstance(block, ToolResultBlock) for block in found)
            assert (calls, answers) == counted(messages)[1:]
            # It writes back what it read of the same vendor; from one vendor to another it loses tool results.
            written: Any = to_anthropic(theirs).messages if format == "anthropic" else to_openai(theirs)
            assert opened(written, format).messages == messages
            if format == "anthropic":
                contents = opened(to_gemini(theirs).contents, "gemini").messages
                assert counted(contents) == counted(messages)
