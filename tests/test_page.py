"""The page of a session: it says what the records say, it is redacted, small, and no text in it can become code.

What it does in a browser is in `tests/browser/test_page.py`.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctxlab
from ctxlab.comparison import Policy, compare, policies
from ctxlab.escaping import visible
from ctxlab.figures.candidates import candidate
from ctxlab.figures.picture import heights, now
from ctxlab.figures.words import about
from ctxlab.messages import Conversation, Message
from ctxlab.report import html_page, page
from ctxlab.report.contents import Contents, contents
from ctxlab.report.document import script, styles, to_json
from ctxlab.report.moments import all_stops, moments_record, stops
from ctxlab.report.packing import HOLE, Packed
from ctxlab.samples import sample_sessions
from ctxlab.sessions import Note, Session, load
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.takeaway import Artifact
from ctxlab.tokens import HEURISTIC, ledger
from tests.builders import assistant, image, message, review, tool_chain, tool_result, tool_use, use_block, user
from tests.strategies import conversations, managers

SECRET = "AKIAQ3EGRIDGZ5TNXV7B"


def page_of(messages: Conversation, manager: Policy | None = None, name: str = "a session", **options: Any) -> Artifact:
    """The page of a conversation under half of its tokens."""
    session = Session.of(messages, name)
    half = ledger(messages, HEURISTIC).total // 2
    return html_page(session, manager or SlidingWindow(4), half, HEURISTIC, **options)


def record_of(artifact: Artifact) -> Any:
    """The data in a page."""
    found = re.search(r'<script type="application/json" id="record">(.*?)</script>', artifact.text, re.DOTALL)
    assert found
    return json.loads(found[1])


def contents_of(messages: Conversation, manager: Policy, budget: int) -> Contents:
    return contents(Session.of(messages), manager, budget, HEURISTIC, True, (), lambda what, done, of: None, lanes=())


class Read(HTMLParser):
    """What a browser finds in a page: elements, attributes, and the text outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] and self.tags[-1] in self.inside:
            self.inside[self.tags[-1]].append(data)
        else:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")


# ---- many texts in little room


def unpacked(templates: list[list[str]], row: Iterable[int]) -> list[str]:
    """The texts of a packed row, as the script of the page puts them together."""
    at, *numbers = row
    return [
        "".join(f"{numbers[int(part)]:,}" if odd % 2 else part for odd, part in enumerate(text.split(HOLE)))
        for text in templates[at]
    ]


@given(st.lists(st.lists(st.text() | st.integers().map("{:,}".format) | st.integers().map(str))))
def test_what_was_packed_comes_out_as_it_was(texts: list[list[str]]) -> None:
    packed = Packed()
    plain = [[visible(text).replace("\n", " ") for text in row] or [""] for row in texts]
    rows = [packed.row(row) for row in plain]
    assert [unpacked(packed.templates, row) for row in rows] == plain


def test_rows_that_differ_in_their_numbers_alone_share_a_template() -> None:
    packed = Packed()
    rows = [packed.row([f"{index:,}", f"message {index:,} costs {7 * index:,} tokens"]) for index in (5, 1_234, 70_000)]
    assert (len(packed.templates), rows) == (1, [(0, 5, 35), (0, 1_234, 8_638), (0, 70_000, 490_000)])


@given(st.recursive(st.text() | st.integers() | st.none(), st.lists, max_leaves=10))
def test_json_for_a_page_is_the_same_value_and_holds_nothing_that_markup_or_an_eye_trips_over(value: Any) -> None:
    text = to_json(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u202e\x1b") & set(text)
    text.encode("utf-8")


# ---- timeline and table


@settings(max_examples=25)
@given(conversations().filter(bool), managers(), st.integers(0, 400))
def test_each_stop_has_the_picture_and_the_words_that_the_explorer_would_show(
    messages: Conversation, manager: Policy, budget: int
) -> None:
    found = contents_of(messages, manager, budget)
    record = json.loads(to_json(moments_record(found, 60, range(len(messages)))))
    chosen = stops(found, 60)
    rows: dict[int, list[int]] = {}
    high: Any = None
    for stop, sent in zip(chosen, record["stops"], strict=True):
        moment = found.moment(stop)
        rows |= {index: row for index, *row in sent["rows"]}
        high = sent["heights"] or high
        assert high == [heights(moment)]
        assert sent["now"] == [json.loads(json.dumps(now(moment)))]
        for index in range(len(messages)):
            words = [*candidate(moment, index), *about(moment, index)]
            assert unpacked(record["table"]["templates"], rows[index]) == words


@settings(max_examples=25)
@given(conversations().filter(bool), managers(), st.integers(0, 400), st.integers(2, 9))
def test_start_and_end_are_among_the_stops_and_there_are_no_more_than_asked_for(
    messages: Conversation, manager: Policy, budget: int, most: int
) -> None:
    found = contents_of(messages, manager, budget)
    chosen = stops(found, most)
    assert chosen[0].edit == 0
    assert chosen[-1] == found.last
    assert len(chosen) <= max(most, 2 + found.last.failed)
    assert [stop.edit for stop in chosen] == sorted(stop.edit for stop in chosen)
    assert len(set(chosen)) == len(chosen)
    if all_stops(found) <= most:
        assert len(chosen) == all_stops(found)


def test_where_bars_are_groups_there_is_a_picture_of_each_message_near_the_cut() -> None:
    messages = tuple(part for _ in range(250) for part in (user("go"), assistant("ok " * 9)))
    pictures = record_of(page_of(messages, SlidingWindow(100)))["moments"]["pictures"]
    whole, near = (one["picture"] for one in pictures)
    assert (whole["first"], whole["last"], whole["size"]) == (0, 500, 2)
    assert (near["first"], near["last"], near["size"]) == (340, 460, 1)
    assert [index for index, _ in near["marks"]] == list(range(340, 460))
    assert pictures[1]["shown"] == "Showing messages 340 to 459 of 500, a bar each."


def test_the_last_stop_of_a_session_that_gets_stuck_has_the_sdks_words() -> None:
    record = record_of(page_of(review(), SlidingWindow.as_of("1.35.0", window_size=4)))
    assert "Stuck. Strands 1.35.0 raises “Unable to trim" in record["moments"]["stops"][-1]["sentence"]


def test_under_the_verdict_is_which_releases_are_stuck_and_then_what_each_does() -> None:
    page = Read(page_of(review(), SlidingWindow.as_of("1.35.0", window_size=4)).text).text
    parts = (
        "gets stuck.",
        "is stuck from 1.35.0 to 1.36.0 (#2087, #2173), and fits from 1.37.0 on (#2174).",
        "What each release does",
        "Unable to trim conversation context: no cut is possible",
        "What it costs, and where it may start",
    )
    places = [page.index(part) for part in parts]
    assert places == sorted(places)


def test_many_ids_that_mend_it_are_listed_once_for_all_providers() -> None:
    calls = [use_block(f"call-{number}") for number in range(9)]
    messages = (user("go"), message("assistant", *calls), user("and?"), assistant("ok"))
    page = Read(page_of(messages).text).text
    verdicts = page[page.index("What providers make of it") :]
    assert verdicts.count("'call-7'") == 1
    assert verdicts.count("'call-0' and the 8 listed with it above") > 3


# ---- small


def test_what_finds_no_room_is_left_out_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = tuple(part for at in range(80) for part in (user("word " * at), *tool_chain(2, "line\n" * 300, at)))
    manager = SlidingWindow.careful(40)
    whole = page_of(messages, manager)
    monkeypatch.setattr(page, "ROOM", {"moments": 60_000, "rounds": 40_000})
    monkeypatch.setattr(page, "TILES", (300, 50))
    small = page_of(messages, manager)
    record = record_of(small)
    assert len(to_json(record["moments"])) <= 60_000 < len(to_json(record_of(whole)["moments"]))
    assert len(to_json(record["rounds"])) <= 40_000 < len(to_json(record_of(whole)["rounds"]))
    said = " ".join(small.about)
    for words in ("share tiles", "The rounds play the first", "The timeline stops at", f"of {len(messages)} messages"):
        assert words in said
        assert words in small.text
    shown = record["rounds"]
    rounds = shown["rounds"]
    played = len(rounds["limit"])
    assert len(rounds["end"]) == len(rounds["words"]) == played + 1
    assert len(shown["steps"]["tokens"]) == rounds["end"][-1] + 1
    assert max(change[0] for change in shown["changes"]) <= rounds["end"][-1]


@pytest.mark.parametrize("manager", [SlidingWindow(10), Summarizing()])
def test_a_session_of_giant_blocks_is_a_small_page(manager: Policy) -> None:
    giant = "".join(chr(0x4E00 + at % 20_000) for at in range(500_000))
    artifact = page_of((user(giant), *tool_chain(20, giant), assistant("done")), manager)
    assert len(artifact.text.encode()) < 1_000_000
    assert "Long texts are shown around their cuts and at their ends." in artifact.text


def test_of_many_trim_points_those_around_the_cut_are_judged_and_that_is_said() -> None:
    messages = tuple(part for _ in range(150) for part in (user("go"), assistant("ok " * 9)))
    record = record_of(page_of(messages, SlidingWindow(100)))["verdicts"]
    keys = [row["key"] for sight in record["pages"] for row in sight["rows"] if row["key"] >= 0]
    assert 200 in keys
    assert len(set(keys)) == 48
    assert "This page holds 48 of them, around message 200." in record["pages"][0]["sentence"]
    assert {str(key) for key in keys} | {"-1", "-2"} == set(record["cells"])


# ---- without scripts


def test_the_page_can_be_read_with_scripts_off() -> None:
    session = load(sample_sessions()["review-2173"])
    artifact = html_page(session, SlidingWindow.as_of("1.35.0", 4), 150, HEURISTIC)
    text = Read(artifact.text).text
    assert "Does not fit, and gets stuck." in text
    assert "Scripts are off here." in text
    assert all(str(note) in text for note in session.notes)
    assert all(policy.name in text for _, policy in policies(4))
    assert "its toolUse would be cut away" in text
    assert "× refuses it" in page_of(review()).text


def test_the_page_names_the_parameters_of_the_policy() -> None:
    assert "Strands 1.62.0 (window_size=4, should_truncate_results=True)" in Read(page_of(review()).text).text
    assert "preserve_chars=2000" in Read(page_of(review(), Summarizing()).text).text


def test_what_was_reported_by_the_provider_is_among_the_notes() -> None:
    answer: Message = {**assistant("ok"), "metadata": {"usage": {"inputTokens": 123_456}}}
    assert "read 123,456 tokens" in Read(page_of((user("hi"), answer)).text).text


# ---- no network, no code


def test_the_policy_of_the_page_allows_its_own_script_and_style_and_nothing_else() -> None:
    artifact = page_of(review())
    read = Read(artifact.text)
    said = next(value for name, value in read.attributes if name == "content" and value and "default-src" in value)
    data, code = read.inside["script"]

    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert said == (
        f"default-src 'none'; script-src {hashed(code)}; style-src {hashed(read.inside['style'][0])}; "
        "base-uri 'none'; form-action 'none'"
    )
    assert json.loads(data)
    names = {name for name, _ in read.attributes}
    assert not {name for name in names if name.startswith("on") or name in ("style", "src", "href", "action")}


def test_the_script_is_whole_and_cannot_end_its_element() -> None:
    code = script()
    assert "export" not in code
    assert not re.search(r"</script|<!--|import\s*\(|fetch\(|innerHTML|XMLHttpRequest", code, re.IGNORECASE)
    assert "</style" not in styles()
    assert not re.search(r"url\((?!#)|@import", styles())


HOSTILE = (
    "<script>alert(1)</script></script><!--<img src=x onerror=alert(1)>--><style>*{}</style>\"'&amp;"
    "\x1b[2J\u202eleft\u2066\ud800\u2028\x00"
)


@pytest.mark.parametrize("redacted", [True, False])
@pytest.mark.parametrize("manager", [SlidingWindow(3), SlidingWindow.careful(3), Summarizing(0.5, 2)])
def test_hostile_text_is_inert_wherever_it_stands(manager: Policy, redacted: bool) -> None:
    messages = (
        user(HOSTILE),
        tool_use(HOSTILE, name=HOSTILE, input={HOSTILE: HOSTILE}),
        tool_result(HOSTILE, [{"text": HOSTILE * 50}, image(format=HOSTILE), {"json": {HOSTILE: HOSTILE}}]),
        message(HOSTILE, {HOSTILE: HOSTILE}, {"text": HOSTILE}),
        user(HOSTILE),
        assistant(HOSTILE),
    )
    kind = [tag for tag in Read(page_of(review(pairs=2), manager).text).tags if tag != "/br"]
    artifact = page_of(messages, manager, HOSTILE, redacted=redacted)
    read = Read(artifact.text)
    assert not set(read.tags) - set(kind) - {"br", "ul", "/ul", "li", "/li"}
    assert read.tags.count("script") == 2
    assert read.tags.count("style") == 1
    assert not set("\x1b\u202e\u2066\u2028\x00") & set(artifact.text)
    artifact.text.encode("utf-8")
    record_of(artifact)


# ---- redaction


def test_no_secret_is_left_on_the_page_and_it_says_what_was_replaced() -> None:
    said = f"key {SECRET} of rosalind@example.org in /home/rfranklin/x, asked by Otto. "
    messages = (user(said), *tool_chain(6, said * 20), user("rfranklin again"), assistant(said))
    session = Session.of(messages, "Otto and rfranklin")
    redacted = html_page(session, SlidingWindow(4), 300, HEURISTIC, names=["otto"])
    for word in (SECRET, "rosalind", "rfranklin", "Otto"):
        assert word not in redacted.text
    assert redacted.redaction is not None
    assert all(sentence in Read(redacted.text).text for sentence in redacted.redaction.sentences)
    assert "<h1>xxxx and xxxxxxxxx</h1>" in redacted.text
    plain = html_page(session, SlidingWindow(4), 300, HEURISTIC, redacted=False)
    assert plain.redaction is None
    assert "Not redacted" in plain.text
    assert all(word in plain.text for word in (SECRET, "rosalind", "rfranklin", "Otto"))


@pytest.mark.parametrize("manager", [SlidingWindow(4), SlidingWindow.careful(4), Summarizing(), Summarizing(0.5, 2)])
def test_a_redacted_page_has_the_numbers_of_the_session(manager: Policy) -> None:
    said = f"key {SECRET} of rosalind@example.org. " * 300
    messages = (user(said), *tool_chain(6, said), user("and?"), assistant(said))
    one, other = (record_of(page_of(messages, manager, redacted=flag)) for flag in (True, False))
    assert one["moments"] == other["moments"]
    for name in ("budget", "outcome", "refused", "steps", "rounds"):
        assert one["rounds"][name] == other["rounds"][name]
    words = {"excerpt"}
    tiles = [
        {name: one["rounds"]["tiles"][name] for name in one["rounds"]["tiles"].keys() - words} for one in (one, other)
    ]
    assert tiles[0] == tiles[1]
    assert one["rounds"]["tiles"]["excerpt"] != other["rounds"]["tiles"]["excerpt"]


@pytest.mark.parametrize("manager", [SlidingWindow.as_of("1.35.0", 4), SlidingWindow.careful(4), Summarizing(0.5, 2)])
def test_a_page_without_words_has_the_numbers_of_the_session_and_none_of_its_words(manager: Policy) -> None:
    said = "Quixote asks 4711 times. " * 300
    call = tool_use("call", input={said: [said, 4711]})
    messages = (
        user(said),
        call,
        tool_result("call", said),
        *tool_chain(6, said),
        user("and Quixote?"),
        assistant(said),
    )
    session = Session.of(messages, "a session")
    half = ledger(messages, HEURISTIC).total // 2
    wordless = html_page(session, manager, half, HEURISTIC, redacted=False, words=False)
    for word in ("Quixote", "asks", "4711"):
        assert word not in wordless.text
    assert wordless.redaction is not None
    assert wordless.redaction.sentences[0].startswith("all words: ")
    one, other = (record_of(page) for page in (wordless, html_page(session, manager, half, HEURISTIC)))
    assert one["moments"]["stops"] == other["moments"]["stops"]
    for name in ("budget", "outcome", "refused", "steps", "rounds", "forecast"):
        assert one["rounds"][name] == other["rounds"][name]


def test_without_words_notes_of_the_loader_stay_out_and_the_page_says_so() -> None:
    session = replace(Session.of(review()), notes=(Note("skipped", "line 3", "a line of Quixote"),))
    page = html_page(session, SlidingWindow(4), 200, HEURISTIC, words=False).text
    assert "Quixote" not in page
    assert "1 note of how it was read: left out" in page


# ---- asking for it


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("run.json", "run-1.62.0.html"),
        ("../../a b/\u202eç?.JSONL", "a-b-u202e-1.62.0.html"),
        ("…", "1.62.0.html"),
        ("CON", "CON-1.62.0.html"),
        ("n" * 300, "n" * 80 + "-1.62.0.html"),
    ],
)
def test_the_file_is_named_by_session_and_release_in_plain_characters(name: str, file: str) -> None:
    assert page_of(review(), name=name).name == file


def test_the_file_is_named_by_ctxlabs_own_policies_too() -> None:
    assert page_of(review(), SlidingWindow.careful(4), name="run").name == "run-careful.html"
    assert page_of(review(), Summarizing(), name="run").name == "run-summarizing-proportional-fallback.html"


def test_what_is_known_already_gives_the_same_page() -> None:
    messages, manager = review("diff " * 60), SlidingWindow(4)
    session, bill = Session.of(messages), ledger(messages, HEURISTIC)
    trace = ctxlab.recover(messages, manager, 200, HEURISTIC)
    lanes = compare(messages, policies(4), 200, HEURISTIC)
    told = html_page(session, manager, 200, HEURISTIC, bill=bill, trace=trace, lanes=lanes)
    assert told == html_page(session, manager, 200, HEURISTIC)
    assert (told.name, told.media_type) == ("conversation-1.62.0.html", "text/html")
    assert told.about[0].endswith("8 messages, 1 edit in 1 round.")


def test_a_session_without_messages_has_no_page() -> None:
    with pytest.raises(ValueError, match="there is no message"):
        html_page(Session.of(()), SlidingWindow(4), 10, HEURISTIC)


def test_progress_is_told_and_may_stop_it() -> None:
    told: list[str] = []

    def progress(what: str, done: int, of: int) -> None:
        assert 0 <= done <= of
        told.append(what)
        if len(set(told)) == 4:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        page_of(review(), progress=progress)
    assert "Playing each release" in told
