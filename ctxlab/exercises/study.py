"""An exercise worked out: for each message whether it is an answer and why, and what release and careful policy did.

The reasons are `Rejection` values, verdicts and breaches as they come from the algorithms; here they are only put side
by side. What a message is told for is worked out when it is first asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from ctxlab import careful
from ctxlab.edits import DropMessages, Pin, Summarize, touched
from ctxlab.exercises.exercise import Exercise
from ctxlab.invariants import Judgement, Verdict, verdict
from ctxlab.messages import Conversation, Message
from ctxlab.providers import providers
from ctxlab.reduction import ContextWindowOverflow, Round
from ctxlab.repairs import Repair, repair
from ctxlab.replay import survivors
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.trimming import Rejection, TrimPoint, split_rejection
from ctxlab.verdict_matrix import VerdictMatrix


@dataclass(frozen=True, slots=True)
class Told:
    """What a person is told who chooses a message: whether it is right, and the values that say why.

    ``point`` is the verdict of the search (its ``reason`` is the rejection) for a cut; ``rejection`` that of a split.
    ``judgements`` are the provider's answers to breaches at this very message. ``verdicts`` are those on what would
    stay, () for a question that takes nothing away; ``anchor`` is the message that would be kept before it (#3447).
    """

    index: int
    right: bool
    point: TrimPoint | None = None
    rejection: Rejection | None = None
    judgements: tuple[Judgement, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    anchor: int | None = None

    @property
    def refusing(self) -> tuple[Verdict, ...]:
        """The verdicts of those who would refuse what stays."""
        return tuple(found for found in self.verdicts if found.status == "refused")


@dataclass(frozen=True, slots=True)
class Deed:
    """What a policy did: its round, or the ``error`` it raised, and what the providers make of what it left.

    ``dropped`` and ``changed`` are indices before it; ``cut`` is where it cut or split, None where it did not.
    """

    name: str
    round: Round | None
    error: str | None
    final: Conversation = field(repr=False)
    dropped: tuple[int, ...]
    changed: tuple[int, ...]
    cut: int | None
    anchor: int | None
    verdicts: tuple[Verdict, ...]

    @property
    def sentence(self) -> str:
        """What it did, in words."""
        if self.error is not None:
            return f"{self.name} changes nothing and says “{self.error}”"
        edits = self.round.edits if self.round else ()
        said = " ".join(edit.sentence for edit in edits if isinstance(edit, DropMessages | Summarize))
        said = said or " ".join(edit.sentence for edit in edits) or "Nothing is changed."
        return f"{self.name}: {said}"


class Study:
    """The answers of one exercise. Raises what the policy raises for parameters that cannot be."""

    def __init__(self, exercise: Exercise) -> None:
        self.exercise = exercise
        self._told: dict[int, Told] = {}

    @cached_property
    def right(self) -> tuple[int, ...]:
        """The indices of the right answers; () where the right answer is that there is none."""
        return tuple(index for index in range(len(self.exercise.messages)) if self._is_right(index))

    def told(self, index: int) -> Told:
        """Return what a person is told who chooses a message. Raises IndexError for one that is not there."""
        if not 0 <= index < len(self.exercise.messages):
            raise IndexError(f"no message {index!r}: there are {len(self.exercise.messages):,}")
        if index not in self._told:
            self._told[index] = self._tell(index)
        return self._told[index]

    @cached_property
    def points(self) -> tuple[TrimPoint, ...]:
        """The verdict of the careful search on every index, () for a question that is not about a cut."""
        exercise = self.exercise
        return careful.trim_points(exercise.state, exercise.start) if exercise.ask == "cut" else ()

    @cached_property
    def verdict(self) -> Verdict | None:
        """The verdict of the provider who is asked about, None where none is."""
        exercise = self.exercise
        return verdict(exercise.messages, exercise.provider) if exercise.provider else None

    @cached_property
    def release(self) -> Deed | None:
        """What the released manager did, None where there is none."""
        return self._deed(self.exercise.policy) if self.exercise.policy else None

    @cached_property
    def careful(self) -> Deed | None:
        """What ctxlab's own policy does, None where the question is not about a cut."""
        policy = self.exercise.policy
        if not isinstance(policy, SlidingWindow):
            return None
        return self._deed(SlidingWindow.careful(policy.window_size, policy.should_truncate_results, policy.pin_first))

    @cached_property
    def repair(self) -> Repair | None:
        """What would make the provider accept it, None where none is asked about or nothing known helps."""
        exercise = self.exercise
        return repair(exercise.messages, exercise.provider, exercise.cut_off) if exercise.provider else None

    @cached_property
    def _matrix(self) -> VerdictMatrix:
        return VerdictMatrix(self.exercise.state, SlidingWindow.careful())

    @cached_property
    def _summary(self) -> tuple[Message, ...]:
        round = self.release.round if self.release else None
        return tuple(edit.summary for edit in round.edits if isinstance(edit, Summarize)) if round else ()

    def _is_right(self, index: int) -> bool:
        match self.exercise.ask:
            case "cut":
                return self.points[index].kind is not None
            case "split":
                return index >= self.exercise.start and split_rejection(self.exercise.messages, index) is None
            case "spot":
                return any(found.violation.index == index for found in self._minded())

    def _minded(self) -> tuple[Judgement, ...]:
        return self.verdict.judgements if self.verdict else ()

    def _tell(self, index: int) -> Told:
        messages = self.exercise.messages
        told = Told(index, self._is_right(index))
        match self.exercise.ask:
            case "cut":
                row = self._matrix.row(index)
                pinned = self._pinned(index)
                anchor = next((kept for kept in row.front if kept not in pinned), None)
                return replace(told, point=self.points[index], verdicts=row.verdicts, anchor=anchor)
            case "split":
                early = Rejection.BEFORE_START if index < self.exercise.start else None
                state = (*self._summary, *messages[index:])
                found = tuple(verdict(state, name) for name in providers())
                return replace(told, rejection=early or split_rejection(messages, index), verdicts=found)
            case "spot":
                here = tuple(found for found in self._minded() if found.violation.index == index)
                return replace(told, judgements=here)

    def _pinned(self, index: int) -> frozenset[int]:
        return frozenset(VerdictMatrix(self.exercise.state, SlidingWindow(), ["strands"]).row(index).front)

    def _deed(self, policy: SlidingWindow | Summarizing) -> Deed:
        messages = self.exercise.messages
        round, error = None, None
        try:
            round = policy.reduce(messages) if self.exercise.overflow else policy.manage(messages)
        except ContextWindowOverflow as refusal:
            error = str(refusal)
        edits = round.edits if round else ()
        origins: Sequence[int | None] = range(len(messages))
        dropped: list[int] = []
        changed: list[int] = []
        cut, anchor = None, None
        for edit in edits:
            at = [origin for index in touched(edit) if (origin := origins[index]) is not None]
            if isinstance(edit, DropMessages | Summarize):
                dropped += at
                cut = edit.trim_point if isinstance(edit, DropMessages) else edit.split_point
                anchor = edit.anchor if isinstance(edit, DropMessages) else None
            elif not isinstance(edit, Pin):
                changed += at
            origins = [None if kept is None else origins[kept] for kept in survivors(edit, len(origins))]
        final = round.messages if round else messages
        name = f"{policy.name}, window {policy.window_size:,}" if isinstance(policy, SlidingWindow) else policy.name
        return Deed(
            name,
            round,
            error or (round.warning if round else None),
            final,
            tuple(dropped),
            tuple(dict.fromkeys(changed)),
            cut,
            anchor,
            tuple(verdict(final, provider) for provider in providers()),
        )


Choice = int
"""The index of a message, or `NOWHERE`."""

NOWHERE: Choice = -1
"""The choice that says: it cannot be cut anywhere."""

Progress = Literal["open", "tried", "first try", "solved"]
"""How far a person is: nothing chosen, only wrong choices, right at once, right after wrong ones."""


def is_right(answers: Study, choice: Choice) -> bool:
    """Say whether a choice is a right answer; NOWHERE is, where no message is."""
    return not answers.right if choice == NOWHERE else answers.told(choice).right


def progress(answers: Study, choices: Sequence[Choice]) -> Progress:
    """Return how far a person is who made these choices, in their order."""
    if not choices:
        return "open"
    right = [is_right(answers, choice) for choice in choices]
    return "first try" if right[0] else "solved" if any(right) else "tried"
