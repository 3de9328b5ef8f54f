"""The record that a lesson shows: exercises as plain data for JSON, each with all that may be told about every message.

The page asks nothing back: whatever a person chooses, its answer is in the record already, and every reason in it is
one that the algorithms gave. Texts are short and visible, not escaped for any markup. Nothing is drawn here.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ctxlab.escaping import one_line
from ctxlab.exercises import NOWHERE, Deed, Exercise, Study, Told, is_right
from ctxlab.figures.grouping import Groups
from ctxlab.figures.lanes import Strip, answers, column_bars, cost_table
from ctxlab.figures.message_tiles import message_tile
from ctxlab.figures.palette import MARKS
from ctxlab.invariants import PROVIDER_SENTENCES, RULES, Judgement, Verdict, new_violations, verdicts
from ctxlab.providers import profile, providers
from ctxlab.sliding_window import SlidingWindow
from ctxlab.tokens import TokenCounter, ledger
from ctxlab.trimming import Rejection

SIGHT = 40
"""Messages of an exercise that are shown, at most."""

BEFORE = 8
"""Messages that are shown before the first one that matters."""


def lesson(exercises: Iterable[Exercise], counter: TokenCounter) -> list[dict[str, Any]]:
    """Return the record of each exercise, in their order."""
    return [_record(Study(exercise), counter) for exercise in exercises]


def sight(study: Study) -> tuple[int, int]:
    """Return which messages are shown, from the first up to, not including, the last: those around the answers."""
    exercise, count = study.exercise, len(study.exercise.messages)
    if count <= SIGHT:
        return 0, count
    start = exercise.start if exercise.ask != "spot" else next(iter(study.right), 0)
    answer = next(iter(study.right), start)
    # The start of the search and the first right answer, or only the answer where both do not fit.
    first = max(0, (start if answer - start < SIGHT - BEFORE else answer) - BEFORE)
    return first, min(count, first + SIGHT)


def _record(study: Study, counter: TokenCounter) -> dict[str, Any]:
    exercise = study.exercise
    first, last = sight(study)
    shown = exercise.messages[first:last]
    bill = ledger(shown, counter)
    span = Groups(0, len(shown), 1)
    deeds = [deed for deed in (study.release, study.careful) if deed is not None]
    return {
        "id": exercise.id,
        "title": one_line(exercise.title, 120),
        "ask": exercise.ask,
        "setting": exercise.setting,
        "question": exercise.question,
        "source": exercise.source,
        "number": _number(exercise.source),
        "report": exercise.report,
        "lesson": exercise.lesson,
        "first": first,
        "count": len(exercise.messages),
        "start": exercise.start if exercise.ask != "spot" else -1,
        "nowhere": exercise.ask != "spot",
        "messages": [message_tile(message) for message in exercise.state[first:last]],
        "bars": list(column_bars(shown, cost_table(bill), span)),
        "told": [_told(study, study.told(index)) for index in range(first, last)],
        "nowhere_told": _nowhere(study),
        "deeds": [_strip(exercise, deed, first, last) for deed in deeds],
        "answers": answers(verdicts(exercise.messages)) if study.verdict else [],
        "repair": study.repair.sentence if study.repair else "",
    }


def _number(source: str) -> str:
    """Return the short name of a report: ``#2085``, or with its repository where that is not the SDK's."""
    parts = source.split("/")
    if len(parts) < 7:
        return ""
    return f"#{parts[6]}" if parts[3] == "strands-agents" else f"{parts[4]} #{parts[6]}"


# What a person is told


def _told(study: Study, told: Told) -> dict[str, Any]:
    tell = {"cut": _cut, "split": _split, "spot": _spot}[study.exercise.ask]
    return {"right": told.right, "sign": _sign(study, told), "why": " ".join(tell(study, told)), **_minding(told)}


def _sign(study: Study, told: Told) -> str:
    if study.exercise.ask == "cut" and told.point is not None:
        return MARKS[told.point.kind].sign
    return "✓" if told.right else "×"


def _cut(study: Study, told: Told) -> Iterator[str]:
    point = told.point
    assert point is not None
    if point.reason is not None:
        yield f"Refused: {point.reason.text}."
        if point.reason is Rejection.BEFORE_START:
            yield _too_early(study, told.index)
        elif told.refusing:
            yield f"What would stay is refused by {_share(told)}"
        return
    yield f"Accepted: {MARKS[point.kind].word}."
    if told.anchor is not None:
        yield f"Message {told.anchor:,} stays before it as the anchor (#3447)."
    yield from _taken(study, told.index)


def _too_early(study: Study, index: int) -> str:
    policy, count = study.exercise.policy, len(study.exercise.messages)
    assert policy is not None
    if isinstance(policy, SlidingWindow) and count > policy.window_size:
        kept = f"{count - index:,} messages would stay"
        return f"Too early: {kept}, and the window has room for {policy.window_size:,}."
    return f"Too early: the first {study.exercise.start:,} messages have to go at least."


def _taken(study: Study, index: int) -> Iterator[str]:
    deed = study.careful
    if deed is not None and deed.cut is not None and deed.cut != index:
        why = (
            "it takes a plain user message first, however late" if deed.cut > index else "it is the first that will do"
        )
        yield f"The search itself takes message {deed.cut:,}: {why}."


def _split(study: Study, told: Told) -> Iterator[str]:
    if told.rejection is not None:
        yield f"Refused: {told.rejection.text}."
        if told.rejection is Rejection.BEFORE_START:
            yield _too_early(study, told.index)
        elif told.refusing:
            yield f"The summary and what stays would be refused by {_share(told)}"
        return
    yield "Accepted: neither half of a tool pair is left alone."
    deed = study.release
    if deed is not None and deed.cut is not None and deed.cut != told.index:
        yield f"The search itself stops earlier, at message {deed.cut:,}, and so summarizes less."


def _spot(study: Study, told: Told) -> Iterator[str]:
    label = profile(study.exercise.provider).label
    if not told.judgements:
        yield f"{label} has nothing against this message. Look for where this does not hold:"
        yield "; ".join(dict.fromkeys(map(_rule, study.verdict.judgements if study.verdict else ()))) + "."
        return
    yield "Found:"
    for found in told.judgements:
        yield f"{found.violation.detail} ({found.violation.rule})."
    yield f"The rule: {'; '.join(dict.fromkeys(map(_rule, told.judgements)))}."
    for text in dict.fromkeys(found.cell.error_text for found in told.judgements if found.cell.error_text):
        yield f"{label} answers: “{text}”"


def _rule(found: Judgement) -> str:
    rule = RULES.get(found.violation.rule)
    return rule.sentence if rule is not None else PROVIDER_SENTENCES[found.violation.rule]


def _share(told: Told) -> str:
    first = next(verdict for verdict in told.refusing)
    spoken = next((verdict for verdict in told.refusing if verdict.texts), first)
    said = f" {providers()[spoken.provider]} answers: “{spoken.texts[0]}”" if spoken.texts else ""
    return f"{len(told.refusing)} of {len(told.verdicts)} providers.{said}"


def _minding(told: Told) -> dict[str, Any]:
    return {"refused": _labels(told.verdicts, "refused"), "unknown": _labels(told.verdicts, "unknown")}


def _labels(found: Iterable[Verdict], status: str) -> list[str]:
    return [providers()[verdict.provider] for verdict in found if verdict.status == status]


def _nowhere(study: Study) -> dict[str, Any]:
    if study.exercise.ask == "spot":
        return {"right": False, "sign": "×", "why": "", "refused": [], "unknown": []}
    what = "split" if study.exercise.ask == "split" else "cut"
    count = len(study.right)
    places = "is a place" if count == 1 else f"are {count:,} places"
    why = f"There {places} to {what}: look at what each message opens."
    if not count:
        why = f"From message {study.exercise.start:,} on every message is refused, so there is no place to {what}."
    return {"right": is_right(study, NOWHERE), "sign": "×", "why": why, "refused": [], "unknown": []}


# What the policies did


def _strip(exercise: Exercise, deed: Deed, first: int, last: int) -> Strip:
    dropped, changed = set(deed.dropped), set(deed.changed)
    fates = ["d" if index in dropped else "c" if index in changed else "k" for index in range(first, last)]
    sentence = deed.sentence.removeprefix(deed.name).removeprefix(":").strip()
    broken = new_violations(exercise.messages, deed.final)
    at = deed.cut if deed.cut is not None else 0
    return {
        "name": deed.name,
        "about": "ctxlab's own" if deed.name.startswith("careful") else "",
        "outcome": "stuck" if deed.error else "fits",
        "sentence": sentence[:1].upper() + sentence[1:],
        "fates": "".join(fates),
        "shares": [0 if fate == "d" else 50 if fate == "c" else 100 for fate in fates],
        "cut": -1 if deed.cut is None else deed.cut,
        "anchor": -1 if deed.anchor is None else deed.anchor,
        "left": len(deed.final),
        "tokens": 0,
        "marks": [
            {"message": at, "rule": breach.rule, "detail": breach.detail} for breach in broken if breach.index == 0
        ],
        "answers": answers(deed.verdicts),
    }
