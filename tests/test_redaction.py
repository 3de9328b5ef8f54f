"""Redaction: no planted secret survives, every length and every structure does, and the report never tells a secret.

The secrets here are made up from an alphabet by the tests; none of them opens anything.
"""

import json
import time
from dataclasses import replace
from typing import Any, Literal
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.comparison import Policy
from ctxlab.messages import Conversation, Message, text_slots, tool_result_ids, tool_use_ids
from ctxlab.recovery import recover
from ctxlab.redaction import redact, redact_text, redact_trace
from ctxlab.redaction.patterns import COMMON_USERS, KINDS
from ctxlab.reduction import Trace
from ctxlab.truncation import MARKER_GUARD, TOO_LARGE, marker
from ctxlab.vocabularies import counter
from tests.builders import assistant, result_block, tool_chain, tool_result, tool_use, use_block, user
from tests.strategies import conversations, managers, well_formed_conversations

HEURISTIC = counter("heuristic")
LETTERS = "QZVJKWBqzvjkwb0123456789"
"""Without x, so that what was replaced cannot be taken for what was there, and too few for a word of the SDK."""

NAMES = ("Zoë Müller", "王小明", "O'Brien", "acme-internal")


def letters(least: int, most: int) -> st.SearchStrategy[str]:
    return st.text(LETTERS, min_size=least, max_size=most)


def one(pattern: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, str]]:
    """A secret, and the text in which it stands: ``*`` in the pattern."""
    return st.tuples(*parts).map(lambda found: ("".join(found), pattern.replace("*", "".join(found))))


SECRETS: dict[str, st.SearchStrategy[tuple[str, str]]] = {
    "AWS key id": one("*", st.sampled_from(["AKIA", "ASIA"]), st.text("ABCDEFGHIJ234567", min_size=16, max_size=16)),
    "AWS secret": one("AWS_SECRET_ACCESS_KEY=*", letters(40, 40)),
    "GitHub": one("*", st.sampled_from(["ghp_", "gho_", "ghs_", "github_pat_"]), letters(36, 80)),
    "OpenAI": one("*", st.sampled_from(["sk-", "sk-proj-", "sk-ant-api03-"]), letters(20, 90)),
    "GitLab": one("*", st.sampled_from(["glpat-", "gldt-"]), letters(20, 40)),
    "other models": one("*", st.sampled_from(["hf_", "gsk_", "r8_", "pplx-", "xai-", "nvapi-"]), letters(24, 60)),
    "Stripe": one("*", st.sampled_from(["sk_live_", "rk_test_", "whsec_"]), letters(24, 60)),
    "registry": one("*", st.sampled_from(["npm_", "pypi-AgEI"]), letters(36, 60)),
    "Slack": one("*", st.just("xoxb-"), letters(12, 50)),
    "Google": one("*", st.just("AIza"), letters(35, 35)),
    "JWT": one("*", st.just("eyJ"), letters(10, 60), st.just("."), letters(10, 90), st.just("."), letters(10, 50)),
    "bearer": one("Authorization: Bearer *", letters(20, 80)),
    "private key": one(
        "-----BEGIN RSA PRIVATE KEY-----\n*\n-----END RSA PRIVATE KEY-----",
        letters(64, 64),
        st.just("\n"),
        letters(20, 60),
    ),
    "private key without its end": one(
        "-----BEGIN PRIVATE KEY-----\n*", letters(64, 64), st.just("\n"), letters(20, 60)
    ),
    "private key without its beginning": one(
        "*\n-----END EC PRIVATE KEY-----", letters(64, 64), st.just("\n"), letters(20, 60)
    ),
    "password in an address": one("postgres://app:*@db.internal/main", letters(8, 30)),
    "password in JSON": one('{"password": "*"}', letters(8, 30)),
    "password in JSON in a string": one('{\\"db_password\\": \\"*\\"}', letters(8, 30)),
    "password on a command line": one("login --password *", letters(8, 30)),
    "token in YAML": one("api_key: *", letters(12, 30)),
    "e-mail": one("*", letters(3, 20), st.just("@"), letters(3, 20), st.just(".example")),
    "home path": one("/home/*/project/main.py", letters(5, 20)),
    "home path of macOS": one("/Users/*/project", letters(5, 20)),
    "home path of Windows": one("C:\\Users\\*\\Desktop", letters(5, 20)),
    "name": one("*", st.sampled_from(NAMES)),
}
"""Every kind of secret that must not leave, as a person would paste it."""

BEFORE: tuple[Conversation, ...] = ((), (user("q"), assistant("a")), (user("q"), *tool_chain(2, "x" * 500)))
"""What may stand before it; drawing a conversation would take longer than all else here."""

AROUND = ("", " ", "\n", ", ", "“", '"', "对话", "log: ")


@st.composite
def planted(draw: st.DrawFn) -> tuple[str, Conversation]:
    """A secret, and a conversation in which it stands somewhere: in a text, an input, a key, an id, anywhere."""
    secret, text = draw(SECRETS[draw(st.sampled_from(sorted(SECRETS)))])
    text = f"{draw(st.sampled_from(AROUND))}{text}{draw(st.sampled_from(('', ' ', chr(10), chr(34) + ',')))}"
    before = draw(st.sampled_from(BEFORE))
    places: list[Message] = [
        user(text),
        assistant("said", text),
        {"role": "assistant", "content": [use_block("a", input={"deep": [{"er": text}]})]},
        {"role": "assistant", "content": [use_block("a", input={text: 1})]},
        {"role": "assistant", "content": [use_block("a", name=text)]},
        tool_result("a", text),
        {"role": "user", "content": [result_block("a", [{"json": {"rows": [[text], {text: text}]}}])]},
        {"role": "user", "content": [result_block(text)]},
        {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": text}}}]},
        {"role": "assistant", "content": [{"text": "x"}], "metadata": {"custom": {"seen": text}}},
    ]
    return secret, (*before, draw(st.sampled_from(places)))


def shape(value: Any) -> Any:
    """What must stay: types, lengths, numbers, the order and number of keys, and all that is no letter or digit."""
    if isinstance(value, str):
        return "".join("x" if letter.isalnum() else letter for letter in value)
    if isinstance(value, dict):
        return [(shape(key), shape(part)) for key, part in value.items()]
    return [shape(part) for part in value] if isinstance(value, list | tuple) else value


@given(planted())
@settings(max_examples=200)
def test_no_planted_secret_survives(found: tuple[str, Conversation]) -> None:
    secret, messages = found
    redacted = redact(messages, NAMES)
    assert secret not in json.dumps(redacted.messages, ensure_ascii=False, default=repr)
    assert redacted.report.count
    # Neither do large parts of it.
    whole = json.dumps(redacted.messages, ensure_ascii=False, default=repr)
    for part in secret.replace("@", ".").replace("-", ".").replace("\n", ".").split("."):
        assert len(part) < 8 or part not in whole


@given(planted())
def test_the_report_never_tells_a_secret(found: tuple[str, Conversation]) -> None:
    secret, messages = found
    told = repr(redact(messages, NAMES).report) + " ".join(redact(messages, NAMES).report.sentences)
    assert secret not in told
    assert secret.lower() not in told.lower()


@given(st.one_of(planted().map(lambda found: found[1]), conversations()))
def test_lengths_and_structure_stay(messages: Conversation) -> None:
    assert shape(redact(messages, NAMES).messages) == shape(messages)


@given(st.lists(planted(), min_size=1, max_size=3))
@settings(max_examples=80)
def test_redacting_again_changes_nothing(found: list[tuple[str, Conversation]]) -> None:
    once = redact([message for _, messages in found for message in messages], NAMES).messages
    assert redact(once, NAMES).messages == once


@given(st.text(st.sampled_from('abx0@.:/\\-_=" \n'), max_size=60), st.sampled_from(["token=", "a@b.example", "/home/"]))
def test_redacting_any_text_again_changes_nothing(text: str, part: str) -> None:
    for each in (text + part + text, part + text, text + part):
        once = redact_text(each, ("ab",))
        assert len(once) == len(each)
        assert redact_text(once, ("ab",)) == once


@given(conversations())
def test_the_input_is_never_touched(messages: Conversation) -> None:
    before = repr(messages)
    redact(messages, NAMES)
    assert repr(messages) == before


@given(well_formed_conversations())
def test_a_message_without_secrets_is_the_very_same_object(messages: Conversation) -> None:
    assert all(one is other for one, other in zip(redact(messages).messages, messages, strict=True))


@given(st.lists(st.sampled_from(["a@b.example", "b@a.example", "c@c.example", "1", "anna-2", "otto-2"]), min_size=2))
def test_equal_ids_stay_equal_and_different_ones_different(ids: list[str]) -> None:
    messages = tuple(part for identifier in ids for part in (tool_use(identifier), tool_result(identifier)))
    redacted = redact(messages, ("anna", "otto")).messages
    new = [tool_use_ids(message)[0] for message in redacted[::2]]
    assert new == [tool_result_ids(message)[0] for message in redacted[1::2]]
    assert [[a == b for a in new] for b in new] == [[a == b for a in ids] for b in ids]


def test_keys_of_an_input_that_would_become_the_same_stay_apart() -> None:
    given = {"ab@cd.example": 1, "cd@ab.example": 2, "ef@gh.example": 3}
    (message,) = redact((tool_use("1", input=given),)).messages
    assert list(message["content"][0]["toolUse"]["input"].values()) == [1, 2, 3]


# What stays


@pytest.mark.parametrize(
    "text",
    [
        "The token budget is 128,000 tokens; max_tokens: 4096.",
        "password: ***",
        "see https://example.com/a:b and /home/user/project",
        "git clone https://github.com/strands-agents/harness-sdk.git",
        "a key point, the secret of success",
        "def authorize(token): ...",
        TOO_LARGE,
        f"before{marker(12_345)}after",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact_text(text) == text


def test_a_name_by_rule_goes_as_a_word_in_any_case() -> None:
    text = "Anna, ANNA_2 and anna's cat; Annabel and Hanna stay. 王小明来了。"
    assert redact_text(text, ("anna", "王小明")) == "xxxx, xxxx_2 and xxxx's cat; Annabel and Hanna stay. xxx来了。"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_is_found_however_its_accents_are_written(form: Literal["NFC", "NFD"]) -> None:
    assert "Zo" not in redact_text(normalize(form, "for Zoë, and 对话Zoë对话"), ("zoë",))


def test_the_user_of_a_home_path_goes_wherever_that_name_stands() -> None:
    messages = (user("ls /home/rosalind/src"), assistant("Rosalind, your -home-rosalind-src folder is empty."))
    texts = [slot.text for message in redact(messages).messages for slot in text_slots(message)]
    assert texts == ["ls /home/xxxxxxxx/src", "xxxxxxxx, your -home-xxxxxxxx-src folder is empty."]


@pytest.mark.parametrize("name", ["user", "text", "content", "truncated", "chars removed", "success", "role"])
def test_a_name_that_is_a_word_of_the_sdk_does_not_break_the_session(name: str) -> None:
    messages = (user(f"before{marker(77)}after"), tool_use("1"), tool_result("1", TOO_LARGE))
    assert redact(messages, (name,)).messages == messages


def test_a_password_under_a_key_of_json_goes_whatever_it_is() -> None:
    (message,) = redact((tool_use("1", input={"db": {"password": "abc", "user_token": "a b c"}}),)).messages
    assert message["content"][0]["toolUse"]["input"] == {"db": {"password": "xxx", "user_token": "x x x"}}


def test_nobody_looks_into_bytes_and_the_report_says_so() -> None:
    picture = {"image": {"format": "png", "source": {"bytes": b"AKIAABCDEFGHIJKLMNOP"}}}
    redacted = redact(({"role": "user", "content": [picture]},))
    assert redacted.report.sentences[-1] == "left as they are, nobody looked inside: 1 images, documents or videos"


def test_the_report_says_what_how_often_and_where() -> None:
    messages = (user("mail a@b.example and c@d.example"), tool_use("1", input={"to": ["a@b.example"]}))
    (found,) = redact(messages).report.replacements
    assert (found.kind, found.count) == ("e-mail address", 3)
    assert found.places == ("message 0, block 0", "message 1, block 0, toolUse, input")


def test_users_that_say_nothing_are_common() -> None:
    assert all(redact_text(f"/home/{name}/x") == f"/home/{name}/x" for name in COMMON_USERS)


# Traces


@given(planted(), managers())
@settings(max_examples=40)
def test_no_secret_survives_in_a_trace_not_even_in_half(found: tuple[str, Conversation], policy: Policy) -> None:
    secret, messages = found
    # So that a cut goes through the middle of it.
    for filling in (0, 190, 390):
        padded = (user("q"), tool_use("cut"), tool_result("cut", "-" * filling + secret_text(messages) + "-" * 900))
        trace = recover((*messages, *padded), policy, 0, HEURISTIC)
        redacted, _ = redact_trace(trace, NAMES)
        whole = repr(redacted) + repr(list(redacted.states()))
        assert secret not in whole
        if len(secret) > 24 and secret.isalnum():
            assert secret[:12] not in whole
            assert secret[-12:] not in whole


def secret_text(messages: Conversation) -> str:
    return next((slot.text for slot in text_slots(messages[-1])), "")


@given(conversations(), managers())
def test_a_trace_without_secrets_is_told_as_it_was(messages: Conversation, policy: Policy) -> None:
    trace = recover(messages, policy, 0, HEURISTIC)
    redacted, report = redact_trace(trace)
    assert redacted == trace
    assert report.count == 0


@given(planted(), managers())
@settings(max_examples=50)
def test_a_redacted_trace_is_what_happens_to_the_redacted_session(
    found: tuple[str, Conversation], policy: Policy
) -> None:
    trace = recover(found[1], policy, 0, HEURISTIC)
    redacted, _ = redact_trace(trace, NAMES)
    again = recover(redacted.start, policy, 0, HEURISTIC, max_rounds=len(trace.rounds) or 1)
    if len(again.rounds) == len(redacted.rounds):
        assert bare(again) == bare(redacted)
    assert [shape(state) for state in redacted.states()] == [shape(state) for state in trace.states()]


def bare(trace: Trace) -> list[Any]:
    return [[replace(edit, tokens=None) for edit in round.edits] for round in trace.rounds]


# Strangers' texts


@pytest.mark.parametrize(
    "part",
    [
        *("a", "eyJaaaaaaaa-", "-----END PRIVATE KEY", "-----BEGIN PRIVATE KEY-----", "a@", "a.", "/home/", "://a:"),
        *(
            "password ",
            'password=\\\\\\"',
            "bearer ",
            "C:\\Users\\a b ",
            "--aaaaaaaaaaaaaaaaaaa",
            "ghp_",
            "A" * 76 + "\n",
        ),
    ],
)
def test_no_text_makes_the_search_slow(part: str) -> None:
    text = part * (200_000 // len(part))
    started = time.process_time()
    assert len(redact_text(f"{text} private key @")) == len(text) + 14
    # Ten times what it takes, and a hundredth of what a search that goes back and forth would.
    assert time.process_time() - started < 5


def test_every_kind_can_be_found_where_its_needs_are() -> None:
    assert all(need == need.lower() for kind in KINDS for need in kind.needs)
    assert all(kind.needs for kind in KINDS)


# Without any words


def secretive() -> Conversation:
    """A word, Quixote, and a number, 4711, wherever a session may have one."""
    said = "Quixote 4711"
    return (
        {"role": "user", "content": [{"text": said}, {"document": {"format": "pdf", "name": said, "source": {}}}]},
        {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": said, "signature": said}}}]},
        tool_use("id-1", name="bash", input={said: [{"toolUse": {"name": said, "toolUseId": said}}, 4711, -4711.5]}),
        tool_result("id-1", [{"text": said}, {"json": {"format": said, "name": {said: 4711}}}]),
        tool_result("id-1", [{"image": {"format": said, "source": {"bytes": said.encode()}}}]),
        {"role": "assistant", "content": [{"of Quixote": said}], "metadata": {"custom": {"seen": [said]}}},
    )


def test_no_word_is_left_wherever_it_stood() -> None:
    found = redact(secretive(), words=False)
    whole = repr(found.messages)
    assert "Quixote" not in whole
    assert "4711" not in whole
    assert "'name': 'bash'" in whole
    assert "all words: 14 texts replaced" in found.report.sentences
    assert "numbers in what tools were given and gave: 3 replaced" in found.report.sentences
    assert "images, documents and videos: 1 replaced" in found.report.sentences
    assert "left as they are" not in " ".join(found.report.sentences)


def plain_letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() and letter != "x")


@given(st.one_of(planted().map(lambda found: found[1]), conversations()))
def test_without_words_texts_are_filler_as_long_as_they_were(messages: Conversation) -> None:
    filler = redact(messages, words=False).messages
    for before, after in zip(messages, filler, strict=True):
        assert tool_use_ids(after) == tool_use_ids(redact(messages).messages[messages.index(before)])
        for one, other in zip(text_slots(before), text_slots(after), strict=True):
            assert len(one.text) == len(other.text)
            assert not plain_letters(other.text) or MARKER_GUARD in other.text or TOO_LARGE in other.text


@given(st.one_of(planted().map(lambda found: found[1]), conversations()))
def test_taking_the_words_out_again_changes_nothing(messages: Conversation) -> None:
    once = redact(messages, words=False).messages
    assert redact(once, words=False).messages == once


@given(well_formed_conversations(), managers())
def test_a_trace_without_words_is_what_happens_to_the_session_without_words(
    messages: Conversation, policy: Policy
) -> None:
    trace = recover(messages, policy, 0, HEURISTIC)
    wordless, _ = redact_trace(trace, words=False)
    assert wordless.tokens == trace.tokens
    again = recover(wordless.start, policy, 0, HEURISTIC)
    assert [len(round.edits) for round in again.rounds] == [len(round.edits) for round in wordless.rounds]
    assert [len(state) for state in again.states()] == [len(state) for state in wordless.states()]


def test_the_sdks_own_words_stay_without_words() -> None:
    messages = (tool_result("1", f"before{marker(12)}after"), tool_result("2", TOO_LARGE))
    texts = [slot.text for message in redact(messages, words=False).messages for slot in text_slots(message)]
    assert texts == [f"xxxxxx{marker(12)}xxxxx", TOO_LARGE]


def test_a_letter_goes_with_the_marks_on_it() -> None:
    (message,) = redact((user("हिन्दी, Zoe\u0308!"),), words=False).messages
    assert message["content"][0]["text"] == "xxxxxx, xxxx!"


@pytest.mark.parametrize("words", [True, False])
def test_no_key_of_an_input_is_lost(words: bool) -> None:
    given = {letter: at for at, letter in enumerate("axbcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")}
    (message,) = redact((tool_use("1", input={**given, "x" * 3: 99}),), ("a",), words=words).messages
    assert len(message["content"][0]["toolUse"]["input"]) == len(given) + 1


def test_all_that_is_kept_under_the_name_of_a_secret_goes_whatever_it_is() -> None:
    given = {"password": 20261130, "api_key": ["kkkkkk123456"], "secret": {"value": "topsecretvalue", "n": 7.5}}
    kept = {"max_tokens": 4096, "is_secret": True, "password": None}
    written = f'api_key=["kkkkkk123456"] {{"secret": {{"value": "topsecretvalue"}}}} {json.dumps(given)}'
    messages = [tool_use("1", input={**given, "more": kept}), tool_result("1", written)]
    found = redact(messages)
    left = json.dumps(found.messages)
    for secret in ("20261130", "kkkkkk123456", "topsecretvalue", "7.5"):
        assert secret not in left
    changed: Any = found.messages[0]["content"][0]["toolUse"]["input"]
    assert changed["more"] == kept
    assert redact(found.messages).messages == found.messages
