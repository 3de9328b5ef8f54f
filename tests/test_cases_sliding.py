"""The public bug reports about the sliding window: what each release did, and what is right instead.

Every case is accounted for: what `careful` does is compared with what the report says is right, or it is said why no
sliding window can do that.
"""

import pytest

from ctxlab.careful import STRICT
from ctxlab.edits import DropMessages
from ctxlab.messages import Conversation
from ctxlab.reduction import ContextWindowOverflow
from ctxlab.releases import CHANGES, NEWEST, parse
from ctxlab.sliding_window import SlidingWindow
from ctxlab.trimming import Rejection, trim_points
from tests.cases import BY_ID, CASES, Case, cases, conversation, observed, play, sliding
from tests.sdk.released import RELEASES

SLIDING = cases("sw")
VERSIONS = sorted(
    {*RELEASES, *(change.version for change in CHANGES if parse(change.version) <= parse(NEWEST))}, key=parse
)
UNABLE = "raise ContextWindowOverflowException: Unable to trim conversation context!"

CRASHES = {
    "S67-missing-content-key": ("raise KeyError: 'content'", "kept [2, 3, 4] 4->2 chars"),
    "S94-metadata-none": (
        "raise AttributeError: 'NoneType' object has no attribute 'get'",
        "kept [0, 2, 3] 6->5 chars",
    ),
}
"""Cases at which releases break down, and what ctxlab makes of them: it goes on as if the field were there."""

RIGHT = {
    "S02-2087-trailing-toolUse-start": "no change",
    "S03-2173-tool-heavy": "kept [0, 5, 6, 7] 54->46 chars",  # with the anchor of #3447, as in S18
    "S05-2174-mismatched-ids": UNABLE,
    "S06-2174-untrimmable-raises": UNABLE,
    "S07-2087-routine-does-not-raise": "no change",
    "S09-1545-destroyed-result": "truncated 1005->453 chars",
    "S10-1756-oldest-first": (
        "truncated 2007->1455 chars; truncated 1455->903 chars; kept [0, 3, 4, 5] 903->453 chars"
    ),
    "S11-4341-oldest-small": "truncated 6136->585 chars",
    "S12-4341-oldest-already-truncated": "truncated 6467->916 chars",
    "S18-3447-python-fallback-assistant-first": "kept [0, 5, 6, 7] 54->46 chars",
    "S19-3447-pinned-assistant-seam": "kept [0, 1, 2, 5, 6, 7] 21->17 chars",  # bridged by the user message 2
    "S35-1223-result-plus-text": "no change",
    "S40-window-one-assistant-last": "no change",
    "S42-pinned-toolUse-protects-result": "truncated 2009->1457 chars",
    "S5x-growth-401": "kept [4, 5] 410->4 chars",  # not cut, for it would grow
    "S5x-growth-447": "kept [4, 5] 456->4 chars",  # not cut, for it would stay as long
    "S5x-growth-448": "truncated 457->456 chars",
    "S5x-growth-400": "kept [4, 5] 409->4 chars",
    "S56-marker-quoted-by-tool": "truncated 6035->453 chars",
    "S58-image-result": "truncated 17->32 chars",
    "S59-image-s3-source": "truncated 19->36 chars",
    "S65-two-messages": UNABLE,
    "S66-empty-content-user": "no change",
    "S67-missing-content-key": "kept [4] 4->1 chars",
    "S68-cachepoint-only": "kept [4, 5] 12->2 chars",
    "S70-reasoning-before-toolUse": "kept [0, 3, 4] 15->9 chars",  # with the anchor of #3447
    "S81-two-results-one-small": "truncated 2008->457 chars",
    "S92-content-is-string": "no change",  # text in place of blocks is reported: it has nothing to start from
    "S94-metadata-none": "no change",  # pinning message 0 would leave two user messages in a row
    "S96-huge-reasoning": "kept [2, 3] 6007->4 chars",
    "S97-huge-assistant-text": "kept [2, 3] 20012->20010 chars",
    "S100-578-direct-tool-calls": "kept [8, 9, 10, 11] 177->59 chars",
    "P07-openai-agents-4322": "no change",
    "P09-openai-agents-2468": "kept [4, 5] 407->3 chars",  # not cut, for it would grow
    "P11-pydantic-2050": "no change",
    "P28-claude-code-56064": "truncated 803->451 chars",
    "P35-opencode-11903": "truncated 3027->452 chars",
}
"""What `careful` does, where the report says in words what is right; where it lists what is kept, see below."""

NOT_A_CUT = {
    "S57-json-result": "a json item would have to become a placeholder: no rule here makes one",
    "S60-top-level-image": "to say that an image of the user cannot be reduced is the forecast's part",
    "S77-system-role-inside": "to keep or move the text of a system message is the part of who loads it",
    "S89-duplicate-id-pin-leak": "a reused id makes the next call a pinned partner: careful declines the cut",
    "S93-pinned-string-true": "to warn of a flag that is no boolean is the loader's part; policies ignore it",
    "P29-openclaw-15409": "many middling texts together need the proportional rule: the fallback of summarizing",
    "P40-zeroclaw-10067": "a cut that respects the structure of JSON is no rule here; the cut is shown",
}
"""What is asked for is no cut of a sliding window, and who it is asked of."""


def ids(case: Case) -> str:
    return str(case["id"])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", SLIDING, ids=ids)
def test_a_release_does_what_it_was_seen_to_do(case: Case, version: str) -> None:
    seen = observed(case, version)
    if seen == "n/a: no parameter pin_first":
        with pytest.raises(ValueError, match="pin_first needs release"):
            sliding(case, lambda **options: SlidingWindow.as_of(version, **options))
        return
    crash, instead = CRASHES.get(case["id"], (None, None))
    played, _ = play(case, sliding(case, lambda **options: SlidingWindow.as_of(version, **options)))
    assert played == (instead if seen == crash else seen)


@pytest.mark.parametrize("case", [case for case in SLIDING if isinstance(case["expected"].get("kept"), list)], ids=ids)
def test_careful_keeps_what_the_report_says_is_right(case: Case) -> None:
    played, messages = play(case, sliding(case, SlidingWindow.careful))
    if case["id"] in RIGHT:
        assert played == RIGHT[case["id"]]
    else:
        assert played.startswith(f"kept {case['expected']['kept']} ")
        assert len(messages) == len(case["expected"]["kept"])


@pytest.mark.parametrize("case", [BY_ID[name] for name in RIGHT], ids=ids)
def test_careful_does_what_the_report_says_in_words(case: Case) -> None:
    assert play(case, sliding(case, SlidingWindow.careful))[0] == RIGHT[case["id"]]


def test_every_case_is_accounted_for() -> None:
    listed = {case["id"] for case in SLIDING if isinstance(case["expected"].get("kept"), list)}
    assert listed | RIGHT.keys() | NOT_A_CUT.keys() == {case["id"] for case in SLIDING}
    assert not (listed | RIGHT.keys()) & NOT_A_CUT.keys()


@pytest.mark.parametrize("case", [BY_ID[name] for name in NOT_A_CUT], ids=ids)
def test_where_no_cut_is_right_careful_makes_none_or_the_one_of_the_newest_release(case: Case) -> None:
    played = play(case, sliding(case, SlidingWindow.careful))[0]
    assert played in ("no change", UNABLE, observed(case, NEWEST))


@pytest.mark.parametrize("case", [case for case in SLIDING if case["expected"].get("must_not_cut_at")], ids=ids)
def test_careful_never_cuts_where_the_report_forbids_it(case: Case) -> None:
    manager = sliding(case, SlidingWindow.careful)
    messages = conversation(case)
    points = trim_points(messages, rule=STRICT)
    forbidden = case["expected"]["must_not_cut_at"]
    assert {points[index].kind for index in forbidden} == {None}
    edits = _edits(manager, messages, case["params"]["mode"] == "overflow")
    assert not [edit for edit in edits if edit.trim_point in forbidden]


def _edits(manager: SlidingWindow, messages: Conversation, overflow: bool) -> list[DropMessages]:
    try:
        edits = manager.reduce(messages, overflow).edits
    except ContextWindowOverflow:
        return []
    return [edit for edit in edits if isinstance(edit, DropMessages)]


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_the_trim_points_of_a_case_are_those_that_were_worked_out_for_it(case: Case) -> None:
    messages = conversation(case)
    newest = trim_points(messages)
    assert [point.index for point in newest if point.kind == "user"] == case["computed"]["user_points"]
    assert [point.index for point in newest if point.kind == "tool_pair"] == case["computed"]["pair_points_strands"]
    strict = trim_points(messages, rule=STRICT)
    assert [point.index for point in strict if point.kind == "tool_pair"] == case["computed"]["pair_points_strict"]


# What the outcomes above do not show


def test_s09_head_tail_and_status_of_the_result_stay() -> None:
    case = BY_ID["S09-1545-destroyed-result"]
    for manager in (sliding(case, SlidingWindow), sliding(case, SlidingWindow.careful)):
        result = play(case, manager)[1][2]["content"][0]["toolResult"]
        text = result["content"][0]["text"]
        assert result["status"] == "success"
        assert len(text) == case["expected"]["after_len"]
        assert text == "a" * 200 + case["expected"]["marker"].replace("\\n", "\n") + "z" * 200


def test_s58_the_caption_beside_the_image_stays() -> None:
    case = BY_ID["S58-image-result"]
    items = play(case, sliding(case, SlidingWindow.careful))[1][2]["content"][0]["toolResult"]["content"]
    assert items == [{"text": case["expected"]["replaced_by"]}, {"text": "caption"}]


def test_s59_the_place_of_an_image_without_bytes_is_named() -> None:
    case = BY_ID["S59-image-s3-source"]
    texts = [
        play(case, sliding(case, build))[1][2]["content"][0]["toolResult"]["content"][0]["text"]
        for build in (SlidingWindow, SlidingWindow.careful)
    ]
    assert texts == ["[image: png, 0 bytes]", "[image: png, kept at s3Location]"]


def test_s70_the_reasoning_stays_as_it_is_before_its_call() -> None:
    case = BY_ID["S70-reasoning-before-toolUse"]
    assert play(case, sliding(case, SlidingWindow.careful))[1][1] == conversation(case)[3]


@pytest.mark.parametrize("name", ["S66-empty-content-user", "S68-cachepoint-only", "S67-missing-content-key"])
def test_a_message_that_says_nothing_is_refused_for_that_reason(name: str) -> None:
    points = trim_points(conversation(BY_ID[name]), rule=STRICT)
    assert points[2].reason in (Rejection.NOTHING_SAID, Rejection.NOT_USER)


def test_s94_metadata_that_is_null_is_as_good_as_none() -> None:
    case = BY_ID["S94-metadata-none"]
    without = [{key: value for key, value in part.items() if key != "metadata"} for part in case["input_messages"]]
    for build in (SlidingWindow, SlidingWindow.careful):
        assert play(case, sliding(case, build)) == play({**case, "input_messages": without}, sliding(case, build))


def test_p28_no_character_is_cut_in_two() -> None:
    case = BY_ID["P28-claude-code-56064"]
    text = play(case, sliding(case, SlidingWindow.careful))[1][2]["content"][0]["toolResult"]["content"][0]["text"]
    assert text.encode("utf-8").decode("utf-8") == text


def test_p35_what_a_tool_says_last_stays() -> None:
    case = BY_ID["P35-opencode-11903"]
    text = play(case, sliding(case, SlidingWindow.careful))[1][2]["content"][0]["toolResult"]["content"][0]["text"]
    assert text.endswith("<meta>session=42</meta>")


def test_s81_the_small_one_of_two_parallel_results_is_left_alone() -> None:
    case = BY_ID["S81-two-results-one-small"]
    after = play(case, sliding(case, SlidingWindow.careful))[1][2]["content"]
    assert after[0] == conversation(case)[2]["content"][0]
    assert len(after[1]["toolResult"]["content"][0]["text"]) == 449
