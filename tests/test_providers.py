"""Provider profiles: the table of what each provider does, the evidence behind it, and that unknown is never fine."""

import json
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.invariants import CONVERSATION_RULES, PROVIDER_SENTENCES, verdict, verdicts, violations
from ctxlab.invariants.provider_rules import CHECKS
from ctxlab.messages import Conversation
from ctxlab.providers import CONTEXT_WINDOWS, profile, providers
from tests.builders import assistant, message, result_block, tool_result, tool_results, tool_use, use_block, user
from tests.strategies import conversations

ROWS = json.loads(files("ctxlab.providers").joinpath("rules.json").read_text(encoding="utf-8"))
TEXTS = {row["rule_id"]: row["error_text"] for row in ROWS}
NAMES = list(providers())
SPOKEN = {".": "accepted", "R": "refused", "?": "unknown"}

THOUGHT = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}
PDF = {"document": {"format": "pdf", "name": "report", "source": {"bytes": b"%PDF"}}}

SITUATIONS: dict[str, Conversation] = {
    "assistant text first": (assistant("hi"), user("q")),
    "toolUse first": (tool_use("a"), tool_result("a"), assistant("ok")),
    "text and toolUse first": (tool_use("a", text="let me see"), tool_result("a")),
    "toolResult first": (tool_result("a"), assistant("ok")),
    "toolResult after text": (user("q"), assistant("hi"), tool_result("a")),
    "toolResult too many": (user("q"), tool_use("a"), tool_results(a="1", b="2")),
    "toolResult with other id": (user("q"), tool_use("a"), tool_result("b")),
    "toolUse unanswered": (user("q"), tool_use("a"), user("well?")),
    "half answered": (user("q"), tool_use("a", "b"), tool_result("a"), assistant("ok")),
    "answers in two messages": (user("q"), tool_use("a", "b"), tool_result("a"), tool_result("b")),
    "calls in two messages": (user("q"), tool_use("a"), tool_use("b"), tool_results(a="1", b="2")),
    "answer one turn late": (user("q"), tool_use("a"), user("wait"), assistant("ok"), tool_result("a")),
    "pending": (user("q"), tool_use("a")),
    "two users": (user("q"), user("r"), assistant("ok")),
    "two assistants": (user("q"), assistant("a"), assistant("b")),
    "empty text": (user(""), assistant("ok")),
    "blank text": (user(" \n"), assistant("ok")),
    "empty user": (message("user"), assistant("ok")),
    "empty assistant": (user("q"), message("assistant"), user("r")),
    "empty final assistant": (user("q"), message("assistant")),
    "toolUse by user": (user("q"), assistant("ok"), message("user", use_block("a"))),
    "reasoning by user": (message("user", THOUGHT), assistant("ok")),
    "toolResult by assistant": (user("q"), tool_use("a"), message("assistant", result_block("a"))),
    "same id twice": (user("q"), tool_use("a", "a"), message("user", result_block("a"), result_block("a"))),
    "same id twice, one answer": (user("q"), tool_use("a", "a"), tool_result("a"), assistant("ok")),
    "text before result": (user("q"), tool_use("a"), message("user", {"text": "x"}, result_block("a"))),
    "text after result": (user("q"), tool_use("a"), message("user", result_block("a"), {"text": "x"})),
    "text in the message after the result": (user("q"), tool_use("a"), tool_result("a"), user("x")),
    "text after use": (user("q"), message("assistant", use_block("a"), {"text": "x"}), tool_result("a")),
    "text before use": (user("q"), tool_use("a", text="x"), tool_result("a")),
    "long id": (user("q"), tool_use("i" * 65), tool_result("i" * 65)),
    "id with a dot": (user("q"), tool_use("a.b"), tool_result("a.b")),
    "document": (message("user", {"text": "x"}, PDF), assistant("ok")),
    "document alone": (message("user", PDF), assistant("ok")),
    "video": (message("user", {"text": "x"}, {"video": {}}), assistant("ok")),
    "system message inside": (user("q"), message("system", {"text": "be kind"}), user("r")),
    "no message": (),
    "nothing wrong": (user("q"), tool_use("a", "b"), tool_results(a="1", b="2"), assistant("ok")),
}

# What each provider does, column by column as in `providers()`: . accepted, R refused, ? unknown. Written out
# apart from the profiles, so that a slip in their data cannot pass unseen.
#   bedrock: claude nova llama mistral, anthropic, openai: chat responses, gemini mistral cohere ollama, template, SDK
TABLE = {
    "assistant text first": ". R R R  .  . .  . . ? .  R R",
    "toolUse first": ". R R R  .  . .  R R ? .  R .",
    "text and toolUse first": ". R R R  .  . .  ? R ? .  R .",
    "toolResult first": "R R R R  R  R R  R R ? .  ? R",
    "toolResult after text": "R R R R  R  R R  R R ? .  ? R",
    "toolResult too many": "R R R R  R  R R  R R R .  ? R",
    "toolResult with other id": "R R R R  R  R R  ? R R .  ? R",
    "toolUse unanswered": "R R R R  R  R R  R R ? .  ? R",
    "half answered": "R R R R  R  R R  R R ? .  ? R",
    "answers in two messages": ". . . .  .  . ?  . . ? .  R R",
    "calls in two messages": ". . . .  .  R ?  . R ? .  R R",
    "answer one turn late": "R R R R  R  R .  R R ? .  ? R",
    "pending": ". . . .  .  . .  . . . .  . .",
    "two users": ". . . .  .  . ?  . . . .  R .",
    "two assistants": ". . . .  .  ? ?  . . ? .  R .",
    "empty text": "R R R R  R  ? ?  . ? ? ?  ? .",
    "blank text": "? ? ? ?  R  ? ?  . ? ? ?  ? .",
    "empty user": "R R R R  R  ? ?  R ? ? ?  ? .",
    "empty assistant": "R R R R  R  R ?  R ? ? ?  ? .",
    "empty final assistant": "R R R R  .  R ?  R ? ? ?  ? .",
    "toolUse by user": "? ? ? ?  ?  ? .  ? ? ? ?  ? ?",
    "reasoning by user": "R R R R  R  . .  ? . ? R  ? .",
    "toolResult by assistant": "R R R R  R  ? ?  R ? ? ?  R ?",
    "same id twice": "R R R R  R  ? ?  ? R ? .  ? .",
    "same id twice, one answer": "R R R R  R  ? ?  R R ? .  ? .",
    "text before result": "? . R R  R  . .  R ? . .  R .",
    "text after result": ". . R R  .  . .  R ? . .  R .",
    "text in the message after the result": ". . R R  .  . ?  . ? . .  R .",
    "text after use": "R ? ? ?  R  . .  . . . .  . .",
    "text before use": ". . ? .  .  . .  . . . .  . .",
    "long id": "R R R R  .  ? R  . . . .  . .",
    "id with a dot": ". . . .  R  . .  . . . .  . .",
    "document": ". . . .  .  . .  . . . R  . .",
    "document alone": "R R R R  .  . .  . . . R  . .",
    "video": ". . . .  R  R .  . . . R  . .",
    "system message inside": "? ? ? ?  R  ? ?  ? ? ? ?  ? ?",
    "no message": "R R R R  ?  ? ?  R R ? ?  ? .",
    "nothing wrong": ". . . .  .  . .  . . . .  . .",
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_each_provider_does_what_the_table_says(situation: str) -> None:
    stated = [SPOKEN[mark] for mark in TABLE[situation].split()]
    assert [answer.status for answer in verdicts(SITUATIONS[situation])] == stated


# Every row of the collected evidence that is about the structure of a conversation, with a situation that it decides.
# The third item is the status that follows from the row; "unknown" where the row itself holds a conflict.
STATED: dict[str, tuple[str, str, str]] = {
    "bedrock.start_user": ("bedrock-claude", "no message", "refused"),
    "bedrock.alternate": ("bedrock-nova", "two users", "accepted"),
    "bedrock.answer_next": ("bedrock-claude", "half answered", "refused"),
    "bedrock.result_needs_use": ("bedrock-claude", "toolResult after text", "refused"),
    "bedrock.dup_ids": ("bedrock-claude", "same id twice", "refused"),
    "bedrock.id_charset": ("bedrock-claude", "long id", "refused"),
    "bedrock.blank_text": ("bedrock-claude", "empty text", "refused"),
    "bedrock.empty_content": ("bedrock-claude", "empty user", "refused"),
    "bedrock.reasoning_user": ("bedrock-claude", "reasoning by user", "refused"),
    "bedrock.doc_needs_text": ("bedrock-claude", "document alone", "refused"),
    "bedrock.block_order_in_assistant": ("bedrock-claude", "text after use", "refused"),
    "bedrock.nova.start_user": ("bedrock-nova", "assistant text first", "refused"),
    "bedrock.llama.start_user": ("bedrock-llama", "assistant text first", "refused"),
    "bedrock.mistral.start_user": ("bedrock-mistral", "assistant text first", "refused"),
    "bedrock.claude.start_user": ("bedrock-claude", "toolUse first", "accepted"),
    "bedrock.claude.result_colocation": ("bedrock-claude", "text after result", "accepted"),
    "bedrock.nova.result_colocation": ("bedrock-nova", "text after result", "accepted"),
    "bedrock.llama.result_alone": ("bedrock-llama", "text in the message after the result", "refused"),
    "bedrock.llama.use_alone": ("bedrock-llama", "text before use", "unknown"),
    "bedrock.mistral.result_alone": ("bedrock-mistral", "text after result", "refused"),
    "anthropic.start_user": ("anthropic", "toolUse first", "accepted"),
    "anthropic.merge_roles": ("anthropic", "calls in two messages", "accepted"),
    "anthropic.answer_next": ("anthropic", "toolUse unanswered", "refused"),
    "anthropic.result_needs_use": ("anthropic", "toolResult after text", "refused"),
    "anthropic.result_first": ("anthropic", "text before result", "refused"),
    "anthropic.text_after_use": ("anthropic", "text after use", "refused"),
    "anthropic.id_charset": ("anthropic", "id with a dot", "refused"),
    "anthropic.dup_ids": ("anthropic", "same id twice", "refused"),
    "anthropic.blank_text": ("anthropic", "blank text", "refused"),
    "anthropic.empty_content": ("anthropic", "empty assistant", "refused"),
    "anthropic.reasoning_user": ("anthropic", "reasoning by user", "refused"),
    "anthropic.no_tool_role": ("anthropic", "system message inside", "refused"),
    "anthropic.doc_kinds": ("anthropic", "video", "refused"),
    "openai.start": ("openai-chat", "toolUse first", "accepted"),
    "openai.tool_after_calls": ("openai-chat", "toolResult after text", "refused"),
    "openai.calls_answered": ("openai-chat", "toolUse unanswered", "refused"),
    "openai.id_len": ("openai-chat", "long id", "unknown"),
    "openai.same_role": ("openai-chat", "two users", "accepted"),
    "openai.assistant_content": ("openai-chat", "empty assistant", "refused"),
    "openai.unsupported_blocks": ("openai-chat", "video", "refused"),
    "responses.start": ("openai-responses", "answer one turn late", "accepted"),
    "responses.call_answered": ("openai-responses", "toolUse unanswered", "refused"),
    "responses.output_needs_call": ("openai-responses", "toolResult after text", "refused"),
    "responses.reasoning_pair": ("openai-responses", "reasoning by user", "accepted"),
    "responses.call_id": ("openai-responses", "long id", "refused"),
    "gemini.call_turn": ("gemini", "toolUse first", "refused"),
    "gemini.text_first": ("gemini", "assistant text first", "accepted"),
    "gemini.response_turn": ("gemini", "toolResult after text", "refused"),
    "gemini.count": ("gemini", "half answered", "refused"),
    "gemini.merge": ("gemini", "calls in two messages", "accepted"),
    "gemini.response_alone": ("gemini", "text after result", "refused"),
    "gemini.parts": ("gemini", "empty user", "refused"),
    "gemini.empty": ("gemini", "no message", "refused"),
    "gemini.adapter": ("gemini", "nothing wrong", "accepted"),
    "mistral.start": ("mistral", "toolUse first", "refused"),
    "mistral.tool_then_user": ("mistral", "text after result", "unknown"),
    "mistral.orphan": ("mistral", "toolResult after text", "refused"),
    "mistral.count": ("mistral", "half answered", "refused"),
    "mistral.dup": ("mistral", "same id twice", "refused"),
    "mistral.silent": ("mistral", "no message", "refused"),
    "cohere.start": ("cohere", "toolUse first", "unknown"),
    "cohere.v2_pair": ("cohere", "two users", "accepted"),
    "ollama.none": ("ollama", "toolUse first", "accepted"),
    "ollama.adapter": ("ollama", "document", "refused"),
    "sdk.fallback_trim": ("strands", "toolUse first", "accepted"),
    "sdk.user_first": ("strands", "assistant text first", "refused"),
}

NOT_JUDGED = {
    "the end of a conversation: it is history, the next message is still to come": {
        "bedrock.end_user",
        "bedrock.claude.prefill",
        "bedrock.claude.trailing_ws",
        "anthropic.prefill",
        "gemini.end",
        "mistral.end",
    },
    "names, media, documents and caching: no reduction changes them": {
        "bedrock.tool_name",
        "bedrock.doc_name",
        "bedrock.doc_dup_name",
        "bedrock.doc_limits",
        "bedrock.image_limits",
        "bedrock.cachepoint_max",
        "bedrock.cachepoint_placement",
        "bedrock.nova.cache_tools",
        "bedrock.nova.json_result",
        "bedrock.llama.images",
        "anthropic.images",
        "anthropic.cache",
        "openai.tool_media",
        "gemini.fn_name",
        "ollama.images",
    },
    "settings of the request, or a model's thinking: not in the messages alone": {
        "bedrock.toolconfig",
        "bedrock.claude.thinking_first",
        "bedrock.nova.reasoning",
        "anthropic.thinking_first",
        "anthropic.thinking_binding",
        "gemini.thought_sig",
        "mistral.id",
        "mistral.content_xor",
    },
    "no rule about a conversation: what a server or the SDK does by itself": {
        "bedrock.reasoning_only_msg",
        "bedrock.overlong_as_overflow",
        "ollama.server_trim",
        "sdk.pinned",
    },
    "a provider, an API version or a gateway that has no profile": {
        "bedrock.cohere_ai21_writer.start_user",
        "bedrock.writer.status",
        "cohere.v1_history",
        "litellm.passthrough",
        "litellm.start",
        "litellm.sanitize",
        "openai_compat.zhipu",
        "responses.compat_strict",
    },
}


@pytest.mark.parametrize("row", STATED)
def test_what_a_row_of_the_evidence_states_is_what_its_provider_does(row: str) -> None:
    name, situation, status = STATED[row]
    answer = verdict(SITUATIONS[situation], name)
    assert answer.status == status
    assert row in {evidence.id for evidence in profile(name).evidence}
    if status == "refused" and not TEXTS[row].startswith("("):
        assert TEXTS[row] in answer.texts


def test_every_row_of_the_evidence_is_judged_or_said_not_to_be() -> None:
    said = [row for rows in NOT_JUDGED.values() for row in rows]
    assert sorted([*STATED, *said]) == sorted(row["rule_id"] for row in ROWS)


def test_the_evidence_is_carried_as_it_was_collected(shared: Path) -> None:
    carried = files("ctxlab.providers").joinpath("rules.json").read_bytes()
    assert carried == (shared / "providers" / "rules.json").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_profile_states_each_cell_with_evidence_and_a_certainty_that_fits(name: str) -> None:
    asked = profile(name)
    known = {*CONVERSATION_RULES, *CHECKS}
    assert set(asked.cells) <= known
    for rule, cases in asked.cells.items():
        if rule in CONVERSATION_RULES:
            assert set(cases) <= {*CONVERSATION_RULES[rule].cases, "*"}, rule
        for cell in cases.values():
            assert (cell.certainty == "unknown") == (cell.status == "unknown"), rule
            assert cell.evidence is not None or cell.status == "unknown", rule
            assert not cell.error_text.startswith("(")
    assert asked.id_pattern or "id-form" not in asked.cells
    assert bool(asked.unsupported) == ("supported-blocks" in asked.cells)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rule", CONVERSATION_RULES)
def test_a_case_that_nobody_stated_is_unknown_and_never_accepted(name: str, rule: str) -> None:
    stated = profile(name).cells.get(rule, {})
    for case in CONVERSATION_RULES[rule].cases:
        if case not in stated and "*" not in stated:
            assert profile(name).cell(rule, case).status == "unknown"


@given(conversations(), st.sampled_from(NAMES))
def test_a_verdict_and_the_violations_tell_the_same(messages: Conversation, name: str) -> None:
    answer = verdict(messages, name)
    assert violations(messages, name) == answer.violations
    assert (answer.status == "refused") == bool(answer.violations)
    assert (answer.status == "unknown") == (not answer.violations and bool(answer.undecided))
    assert (answer.status == "accepted") == (not answer.judgements)
    assert len(answer.texts) == len(set(answer.texts))


def test_a_provider_that_nobody_knows_is_an_error_that_names_the_others() -> None:
    with pytest.raises(ValueError, match=r"unknown provider 'bedrok'.*bedrock-claude.*strict-template"):
        violations((user("q"),), "bedrok")


def test_the_claim_that_an_assistant_first_pair_is_valid_for_all_providers_is_false() -> None:
    # The comment under which the fallback of #2174 was merged.
    pair_first = SITUATIONS["toolUse first"]
    refusing = {answer.provider: answer.texts for answer in verdicts(pair_first) if answer.status == "refused"}
    assert {"bedrock-nova", "gemini"} <= set(refusing)
    assert "must start with a user message" in refusing["bedrock-nova"][0]
    assert verdict(pair_first, "cohere").status == "unknown"


def test_every_rule_of_single_providers_has_a_sentence_and_a_provider_that_states_it() -> None:
    assert set(PROVIDER_SENTENCES) == set(CHECKS)
    assert set(CHECKS) <= {rule for name in NAMES for rule in profile(name).cells}


def test_context_windows_are_offered_smallest_first_with_labels_of_their_own() -> None:
    sizes = [tokens for _, tokens in CONTEXT_WINDOWS]
    assert sizes == sorted(sizes)
    assert sizes[0] > 0
    assert len({label for label, _ in CONTEXT_WINDOWS}) == len(CONTEXT_WINDOWS)


def test_the_context_windows_are_those_that_were_collected(shared: Path) -> None:
    collected = json.loads((shared / "providers" / "context_tokens.json").read_text(encoding="utf-8"))["windows"]
    assert {tokens for _, tokens in CONTEXT_WINDOWS} <= {size for size in collected.values() if isinstance(size, int)}


def test_the_judges_are_installed_with_the_tests() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = " ".join(project["optional-dependencies"]["test"])
    assert all(judge in extra for judge in ("mistral-common", "openai", "anthropic"))
