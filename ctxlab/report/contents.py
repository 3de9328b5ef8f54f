"""What a page is made of: the session under a policy, with the numbers of the original and the words that may leave.

Everything is asked of the modules that know it. What is said of it and how it looks is decided elsewhere.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ctxlab.calibration import calibrate
from ctxlab.comparison import Lane, Policy, compare, policies
from ctxlab.escaping import one_line
from ctxlab.figures.history import history
from ctxlab.figures.moment import Moment, Subject
from ctxlab.figures.policies import policy_name, search_start, verdicts
from ctxlab.figures.story import Story, story
from ctxlab.figures.words import plural
from ctxlab.messages import Conversation
from ctxlab.recovery import recover
from ctxlab.redaction import Report, redact_text, redact_trace
from ctxlab.redaction.redacting import strings, users
from ctxlab.reduction import Trace
from ctxlab.sessions import Session
from ctxlab.sliding_window import SlidingWindow
from ctxlab.tokens import Ledger, TokenCounter, ledger

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is; may raise to stop."""

NOTES, LONGEST = 40, 600
"""Notes of the loader that are shown, and characters of one."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A place in a trace: after so many edits; ``failed`` where the policy then has nothing left to do."""

    edit: int
    failed: bool = False


@dataclass(frozen=True, eq=False)
class Contents:
    """A session under a policy. ``trace`` counts, ``shown`` has the words: the same trace, redacted where it has to be.

    ``redaction`` says what was replaced, None where nothing was to be. ``subject`` is of the words that are shown, with
    the tokens of the original. Not slotted: what is looked up again and again is kept.
    """

    name: str
    notes: tuple[str, ...]
    policy: Policy
    counter: TokenCounter
    trace: Trace = field(repr=False)
    shown: Trace = field(repr=False)
    subject: Subject = field(repr=False)
    lanes: tuple[Lane, ...] = field(repr=False)
    redaction: Report | None

    @property
    def messages(self) -> Conversation:
        """The messages of the start, as they are shown."""
        return self.shown.start

    @property
    def policy_name(self) -> str:
        """The policy as a sentence begins with it."""
        return policy_name(self.policy)

    @cached_property
    def last(self) -> Stop:
        """The end of the trace."""
        return Stop(len(self.shown.edits), self.trace.outcome != "fits")

    def moment(self, stop: Stop) -> Moment:
        """Return what a stop looks like."""
        history = self.subject.history
        start = search_start(self.messages, self.policy, history, stop.edit, stop.failed)
        return Moment(self.subject, self.trace.budget, stop.edit, start)

    @cached_property
    def end(self) -> Moment:
        """What the end looks like."""
        return self.moment(self.last)

    @cached_property
    def story(self) -> Story:
        """The trace in words."""
        return story(self.shown, self.policy_name, self.end)

    @property
    def focus(self) -> int:
        """The message to look at first: where the cut is, or where its search began."""
        place = self.end.cut.index if self.end.cut else self.end.start
        return place if place is not None and place < len(self.messages) else 0


def contents(
    session: Session,
    policy: Policy,
    budget: int,
    counter: TokenCounter,
    redacted: bool,
    names: Iterable[str],
    progress: Progress,
    bill: Ledger | None = None,
    trace: Trace | None = None,
    lanes: tuple[Lane, ...] | None = None,
    words: bool = True,
) -> Contents:
    """Find out all that a page is made of; what is given is not found again. Without ``words`` all are filler."""
    redacted = redacted or not words
    messages, names = session.messages, tuple(names)
    if bill is None:
        bill = ledger(messages, counter, lambda done, of: progress("Counting tokens", done, of))
    if trace is None:
        said = f"Playing {policy.name}"
        trace = recover(
            messages, policy, budget, counter, progress=lambda saved, of: progress(said, min(saved, of), of)
        )
    if lanes is None:
        window = policy if isinstance(policy, SlidingWindow) else SlidingWindow()
        asked = list(policies(window.window_size, window.should_truncate_results, policy.pin_first))
        told = _Lanes(asked, progress)
        lanes = compare(messages, iter(told), budget, counter, lambda saved, of: told.tell())
    progress("Redacting", 0, 1)
    shown, report = trace, None
    if redacted:
        shown, report = redact_trace(trace, names, lambda done, of: progress("Redacting", done, of), words)
    # What a note says of a file may name a person who is known from the messages alone.
    known = (*names, *users(strings(list(messages)))) if redacted else ()
    reported = session.reported_input_tokens
    estimate = [calibrate(reported, bill).sentence] if reported else []
    read = list(map(str, session.notes))
    if read and not words:
        read = [f"{plural(len(read), 'note')} of how it was read: left out, as notes may quote the session"]
    notes = [*estimate, *read, *trace.notes]

    def fit(text: str, limit: int) -> str:
        return one_line(redact_text(text, known) if redacted else text, limit)

    more = (f"… and {len(notes) - NOTES:,} more",) if len(notes) > NOTES else ()
    return Contents(
        name=fit(session.name, 200) if words else "session",
        notes=(*(fit(note, LONGEST) for note in notes[:NOTES]), *more),
        policy=policy,
        counter=counter,
        trace=trace,
        shown=shown,
        subject=Subject(
            shown.start,
            bill,
            verdicts(messages, policy, counter, lambda done, of: progress("Looking where it may be cut", done, of)),
            history(shown, bill),
            policy.rules.pins,
            0,
            len(messages),
        ),
        lanes=lanes,
        redaction=report,
    )


class _Lanes:
    """The policies to play, one after the other; each round of one is told as a sign of life."""

    def __init__(self, asked: list[tuple[str, Policy]], progress: Progress) -> None:
        self.asked, self.progress, self.done = asked, progress, 0

    def __iter__(self) -> Iterator[tuple[str, Policy]]:
        for done, one in enumerate(self.asked):
            self.done = done
            self.tell()
            yield one

    def tell(self) -> None:
        """Say which one is played."""
        self.progress("Playing each release", self.done, len(self.asked))
