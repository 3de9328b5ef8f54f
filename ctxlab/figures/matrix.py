"""The matrix of trim points and providers as a record: the rows in sight, and all that is said of one cell.

Only rows in sight are judged. Plain text for JSON: whoever shows it escapes it. Nothing is drawn here and no rule is
repeated: a cell is a verdict of `VerdictMatrix`.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NotRequired, TypedDict

from ctxlab.audit import cut_off
from ctxlab.comparison import Policy
from ctxlab.edits import DropMessages
from ctxlab.figures.palette import MARKS
from ctxlab.figures.words import contents, plural, role
from ctxlab.invariants import PROVIDER_SENTENCES, RULES, Judgement, Known, Verdict
from ctxlab.messages import Conversation, Message
from ctxlab.providers import profile, providers
from ctxlab.reduction import Trace
from ctxlab.repairs import Repair, repair
from ctxlab.replay import carried, origins
from ctxlab.trimming import TrimPoint
from ctxlab.verdict_matrix import VerdictMatrix

WHOLE, END = -1, -2
"""The keys of the two rows that are no trim points: the conversation as it is, and what the policy leaves of it."""

PAGE = 12
"""Trim points in sight."""

ASKING = "Asking the providers"
"""What progress is told while rows are judged."""

Progress = Callable[[str, int, int], object]
"""Called with what is being done, how much of it is done, and how much there is."""

LETTERS = {"accepted": "a", "refused": "r", "unknown": "u"}
SIGNS = {"accepted": "✓", "refused": "×", "unknown": "?"}


HEADS = {
    "openai-chat": "OpenAI Chat",
    "openai-responses": "OpenAI Resp.",
    "strict-template": "Strict templ.",
    "strands": "Strands SDK",
}
"""Labels that fit a narrow column, for the providers whose own do not."""


class Column(TypedDict):
    """A provider: its name, its label, and the label as it fits above a column."""

    name: str
    label: str
    head: str


class MatrixRow(TypedDict):
    """One row: ``key`` is the index of the message, or WHOLE or END; ``states`` has a letter (a, r, u) a provider."""

    key: int
    sign: str
    head: str
    about: str
    candidate: bool
    taken: bool
    states: str


class Sight(TypedDict):
    """The rows in sight of all that there are; ``sentence`` says which these are."""

    first: int
    total: int
    rows: list[MatrixRow]
    sentence: str


class Detail(TypedDict):
    """One paragraph about a cell, with what it is about in a word, and the message of the conversation, if any."""

    kind: str
    text: str
    message: NotRequired[int]


def columns() -> list[Column]:
    """Return the columns, a provider each."""
    return [
        {"name": name, "label": label, "head": HEADS.get(name, label.replace(",", ""))}
        for name, label in providers().items()
    ]


class MatrixPicture:
    """The matrix of one conversation under one policy whose trace it is; ``points`` are the policy's verdicts.

    ``progress`` is told of the rows that are judged, and may raise to stop.
    """

    def __init__(
        self,
        points: Sequence[TrimPoint],
        policy: Policy,
        trace: Trace,
        progress: Progress = lambda what, done, of: None,
    ) -> None:
        progress(ASKING, 0, 1)
        self.points = points
        self.policy = policy
        self.matrix = VerdictMatrix(trace.start, policy)
        self.trace = trace
        self.progress = progress
        self.candidates = tuple(point.index for point in points if point.kind is not None)
        self._repairs: dict[tuple[int, str], Repair | None] = {}

    def under(self, trace: Trace) -> "MatrixPicture":
        """Return the same matrix with the end of another trace, all that was judged kept."""
        if trace is self.trace:
            return self
        other = MatrixPicture.__new__(MatrixPicture)
        other.points, other.policy, other.matrix, other.trace = self.points, self.policy, self.matrix, trace
        other.candidates, other.progress = self.candidates, self.progress
        other._repairs = {cell: found for cell, found in self._repairs.items() if cell[0] != END}
        return other

    @property
    def names(self) -> tuple[str, ...]:
        """The providers, in the order of the columns."""
        return self.matrix.asked

    @cached_property
    def final(self) -> Conversation:
        """What the policy leaves."""
        return self.trace.final

    @cached_property
    def _places_left(self) -> Sequence[int | None]:
        return origins(self.trace.edits, len(self.trace.start))

    @cached_property
    def _left(self) -> Known:
        return Known(self.final)

    @cached_property
    def _cut_off(self) -> Sequence[Message]:
        return cut_off(self.trace)

    @cached_property
    def end(self) -> tuple[Verdict, ...]:
        """The verdicts on what the policy leaves."""
        return self.matrix.known.verdicts(self.final, self._places_left, self.names)

    @property
    def headline(self) -> str:
        """What becomes of the end state, in a sentence."""
        count = {status: sum(found.status == status for found in self.end) for status in LETTERS}
        done = "leaves" if self.trace.outcome == "fits" else f"is {self.trace.outcome} with"
        said = f"{self.policy.name} {done} {plural(len(self.final), 'message')}"
        if count["accepted"] == len(self.end):
            return f"{said}: accepted by all {len(self.end)} providers."
        unknown = f", {count['unknown']} unknown" if count["unknown"] else ""
        return f"{said}: refused by {count['refused']} of {len(self.end)} providers{unknown}."

    def sight(self, focus: int, page: int = PAGE, every: bool = False) -> Sight:
        """Return the rows around a message: candidates and that message, or every message."""
        count = len(self.points)
        listed: Sequence[int] = range(count) if every else self._with(focus)
        place = next((at for at, index in enumerate(listed) if index >= focus), max(0, len(listed) - 1))
        first = max(0, min(place - place % page, len(listed) - page))
        shown = listed[first : first + page]
        rows = []
        for done, key in enumerate((WHOLE, END, *shown)):
            self.progress(ASKING, done, len(shown) + 2)
            rows.append(self._row(key) if key >= 0 else self._special(key))
        return {"first": first, "total": len(listed), "rows": rows, "sentence": self._shown(shown, listed, every)}

    def verdict(self, key: int, name: str) -> Verdict:
        """Return the verdict of one cell. Raises ValueError for a provider, IndexError for a row that is not there."""
        column = self.names.index(name)
        if key == WHOLE:
            return self.matrix.whole[column]
        return self.end[column] if key == END else self.matrix.row(key).verdicts[column]

    def repair(self, key: int, name: str) -> Repair | None:
        """Propose what would make the provider accept what the row is about."""
        if (key, name) not in self._repairs:
            self._repairs[key, name] = self._repair(key, name)
        return self._repairs[key, name]

    def _repair(self, key: int, name: str) -> Repair | None:
        if key == WHOLE:
            return repair(self.matrix.messages, name, known=self.matrix.known)
        if key == END:
            return repair(self.final, name, self._cut_off, self._left)
        return self.matrix.repair(key, name)

    def details(self, key: int, name: str) -> list[Detail]:
        """Return all that is said of one cell: breaches, the provider's words, evidence, certainty, repair."""
        found = self.verdict(key, name)
        return list(cell_details(found, self._what(key), self._places(key), lambda: self.repair(key, name)))

    def _places(self, key: int) -> Sequence[int | None]:
        """Return where each message that a row is about stands in the conversation."""
        if key == WHOLE:
            return range(len(self.trace.start))
        if key == END:
            return self._places_left
        return (*self.matrix.row(key).front, *range(key, len(self.points)))

    def _with(self, focus: int) -> list[int]:
        listed = set(self.candidates)
        if 0 <= focus < len(self.points):
            listed.add(focus)
        return sorted(listed)

    def _special(self, key: int) -> MatrixRow:
        found = self.matrix.whole if key == WHOLE else self.end
        count = len(self.trace.start if key == WHOLE else self.final)
        return {
            "key": key,
            "sign": "",
            "head": "as it is" if key == WHOLE else "end state",
            "about": plural(count, "message") if key == WHOLE else f"{self.policy.name}: {plural(count, 'message')}",
            "candidate": True,
            "taken": False,
            "states": letters(found),
        }

    def _row(self, index: int) -> MatrixRow:
        point = self.points[index]
        message = self.matrix.messages[index]
        return {
            "key": index,
            "sign": MARKS[point.kind].sign,
            "head": f"{index:,}",
            "about": f"{role(message)} · {contents(message)}" if point.kind else f"{role(message)} · {_why(point)}",
            "candidate": point.kind is not None,
            "taken": index == self._cut,
            "states": letters(self.matrix.row(index).verdicts),
        }

    @cached_property
    def _cut(self) -> int:
        """The message that the last cut made the first behind what was kept, as counted at the start; -1 for none."""
        place = -1
        places: Sequence[int | None] = range(len(self.trace.start))
        for edit in self.trace.edits:
            if isinstance(edit, DropMessages):
                place = next((at for at in places[edit.trim_point :] if at is not None), -1)
            places = carried(places, edit)
        return place

    def _shown(self, shown: Sequence[int], listed: Sequence[int], every: bool) -> str:
        total = plural(len(self.points), "message")
        candidates = plural(len(self.candidates), "trim point")
        if len(shown) == len(listed):
            what = f"all {total}" if every else f"the {candidates} among {total}, and the message in focus"
            return f"Shown: {what}."
        span = f"from message {shown[0]:,} to {shown[-1]:,}" if shown else "none"
        kinds = "messages" if every else "rows"
        return f"Shown: {len(shown)} of {len(listed):,} {kinds} ({candidates} among {total}), {span}."

    def _what(self, key: int) -> str:
        if key == WHOLE:
            return f"The conversation as it is, {plural(len(self.trace.start), 'message')}."
        if key == END:
            return f"What {self.policy.name} leaves: {plural(len(self.final), 'message')}."
        front = self.matrix.row(key).front
        kept = f", after {_few(front)} that stay{'s' if len(front) == 1 else ''}" if front else ""
        point = self.points[key]
        verdict = f"refused as a trim point: {_why(point)}" if point.reason else MARKS[point.kind].word
        return f"The conversation starting at message {key:,}{kept} ({verdict})."


def cell_details(
    found: Verdict, about: str, places: Sequence[int | None], propose: Callable[[], Repair | None] | None = None
) -> Iterator[Detail]:
    """Yield all that is said of one verdict: breaches, the provider's words, evidence, certainty, what would mend it.

    ``about`` says what was judged, ``places`` where each of its messages stands in the conversation shown, None for a
    new one.
    """
    label = providers()[found.provider]
    words = {"accepted": "accepts it", "refused": "refuses it", "unknown": "unknown, nobody has found out"}
    yield {"kind": found.status, "text": f"{SIGNS[found.status]} {label}: {words[found.status]}."}
    yield {"kind": "about", "text": about}
    for judgement in found.judgements[:4]:
        at = judgement.violation.index
        place = places[at] if at < len(places) else None
        told: Detail = {"kind": "breach", "text": _breach(judgement)}
        yield told if place is None else {**told, "message": place}
    if len(found.judgements) > 4:
        yield {"kind": "breach", "text": f"and {len(found.judgements) - 4:,} more."}
    for text in found.texts[:3]:
        yield {"kind": "answer", "text": text}
    if found.status == "refused" and not found.texts:
        yield {"kind": "answer-unknown", "text": "The words of the refusal are not known."}
    for kind, text in _evidence(found):
        yield {"kind": kind, "text": text}
    if found.status == "accepted":
        yield {"kind": "limit", "text": _limit(found.provider)}
    elif propose is not None:
        proposal = propose()
        said = proposal.sentence if proposal else "No known repair leads to an accepted conversation."
        yield {"kind": "repair", "text": said}


def letters(found: Sequence[Verdict]) -> str:
    """Return verdicts as the cells of a row."""
    return "".join(LETTERS[one.status] for one in found)


def _why(point: TrimPoint) -> str:
    return point.reason.text if point.reason else ""


def _few(indices: Sequence[int]) -> str:
    shown = ", ".join(f"{index:,}" for index in indices[:4]) + (", …" if len(indices) > 4 else "")
    return f"message{'' if len(indices) == 1 else 's'} {shown}"


def _breach(judgement: Judgement) -> str:
    breach = judgement.violation
    rule = RULES.get(breach.rule)
    sentence = rule.sentence if rule else PROVIDER_SENTENCES[breach.rule]
    return f"{breach.rule}, message {breach.index:,} of what would stay: {breach.detail}. The rule: {sentence}."


def _evidence(found: Verdict) -> Iterator[tuple[str, str]]:
    told = set()
    for judgement in found.judgements:
        evidence, certainty = judgement.cell.evidence, judgement.cell.certainty
        if evidence is None or evidence.id in told:
            continue
        told.add(evidence.id)
        yield "evidence", f"{certainty}: {evidence.sentence} (source: {evidence.source})"
        if evidence.repaired_by_sdk not in ("", "no", "n/a", "not needed"):
            yield "sdk", evidence.repaired_by_sdk
        if len(told) == 3:
            return
    if not told and found.status == "unknown":
        yield "evidence", "unknown: no documentation, answer or code was found that decides it."


def _limit(name: str) -> str:
    asked = profile(name)
    left_out = len(asked.not_judged)
    fine = "No breach that it is known to mind."
    if not left_out:
        return fine
    what = "media, caching, settings, how a conversation ends"
    return f"{fine} {plural(left_out, 'finding')} about {asked.label} cannot be judged from the messages: {what}."
