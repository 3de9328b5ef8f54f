"""What happens to a session under a policy and a budget, in a few sentences computed from the trace.

Plain text: whoever shows it escapes it. Nothing is drawn and no rule is repeated here.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ctxlab.figures.history import DEEDS, local_place
from ctxlab.figures.moment import Moment
from ctxlab.figures.words import plural
from ctxlab.reduction import Trace

Tone = Literal["fits", "reduced", "stuck"]


@dataclass(frozen=True, slots=True)
class Story:
    """The headline, what follows it, and the tone in which to show both."""

    tone: Tone
    headline: str
    text: str

    def __str__(self) -> str:
        return f"{self.headline} {self.text}"


def story(trace: Trace, policy: str, moment: Moment) -> Story:
    """Tell a trace of the policy named ``policy``; ``moment`` is the end of the trace."""
    total, budget = trace.tokens[0], trace.budget
    count = plural(len(trace.start), "message")
    if total <= budget:
        spare = f"{budget - total:,} to spare"
        return Story("fits", "Fits.", f"{count}, {total:,} tokens, budget {budget:,}: {spare}. Nothing has to go.")
    over = f"{count}, {total:,} tokens, budget {budget:,}, over by {total - budget:,}."
    if trace.outcome == "fits":
        said = [over, _reduced(trace, policy, moment), *_passed_over(moment)]
        return Story("reduced", "Does not fit, and is made to fit.", " ".join(said))
    said = [over, _stuck(trace, policy, moment), *_why(moment)]
    return Story("stuck", "Does not fit, and gets stuck.", " ".join(said))


def step_sentence(moment: Moment) -> str:
    """Say what the last edit of a moment did, with its message as the timeline counts where that differs."""
    history = moment.subject.history
    if moment.edit == 0:
        return "The session as it is; nothing has been done yet."
    edit, place = history.edits[moment.edit - 1], history.places[moment.edit - 1]
    local = local_place(edit)
    where = f" (Counted from what is left; message {place:,} of the timeline.)" if local != place else ""
    saved = f" {moment.tokens:,} tokens are left."
    return f"{edit.sentence}{where}{saved}"


def last_words(trace: Trace, policy: str) -> tuple[str, str]:
    """Return what the policy named ``policy`` says where nothing is left to do: that it ends so, and its words."""
    error = trace.error or ""
    return ("Stuck.", f"{policy} raises “{error}”") if trace.outcome == "stuck" else ("Gives up.", error)


def _deeds(moment: Moment) -> Iterator[str]:
    """Yield what was done up to a moment, the cuts last."""
    done = dict(zip(DEEDS, moment.subject.history.deeds[moment.edit].tolist(), strict=True))
    if done["pin"]:
        yield "pins the first messages"
    if done["shorten result"]:
        yield f"shortens {plural(done['shorten result'], 'tool result')}"
    if done["shorten text"]:
        yield f"shortens {plural(done['shorten text'], 'text')}"
    if done["replace image"]:
        yield f"replaces {plural(done['replace image'], 'image')}"
    if done["replace result"]:
        yield f"throws {plural(done['replace result'], 'tool result')} away"
    if done["summarize"]:
        times = f", {plural(done['summarize'], 'time')}" if done["summarize"] > 1 else ""
        yield f"puts a stand-in summary (no model was asked) in place of the oldest messages{times}"
    if done["cut"]:
        yield "cuts" if done["cut"] == 1 else f"cuts {done['cut']:,} times"


def _reduced(trace: Trace, policy: str, moment: Moment) -> str:
    deeds = list(_deeds(moment)) or ["does nothing"]
    calls = plural(trace.refused_calls, "refused call")
    summary = ", the summary" if moment.cut and moment.cut.kind == "summary" else ""
    stay = f"{plural(moment.staying, 'message')}{summary} and {moment.tokens:,} tokens stay"
    return f"{policy} {_joined(deeds)}{_where(deeds, moment)}: {stay}, after {calls}."


def _joined(deeds: list[str]) -> str:
    return f"{', '.join(deeds[:-1])} and {deeds[-1]}" if len(deeds) > 1 else "".join(deeds)


def _where(deeds: list[str], moment: Moment) -> str:
    cut = moment.cut
    if cut is None:
        return ""
    if cut.kind == "summary":
        return f", up to message {cut.index:,}"
    return f"{', last at' if deeds[-1].endswith('times') else ' at'} message {cut.index:,}"


def _stuck(trace: Trace, policy: str, moment: Moment) -> str:
    deeds = list(_deeds(moment))
    left = trace.tokens[-1]
    first = f"{policy} {_joined(deeds)}{_where(deeds, moment)}, then" if deeds else policy
    stop = "" if (trace.error or "").endswith(("!", ".")) else "."
    words = f"says “{trace.error}”{stop}" if trace.outcome == "stuck" else f"gives up: {trace.error}."
    return f"{first} {words} {left:,} tokens are left, {left - trace.budget:,} above the budget."


def _why(moment: Moment) -> Iterator[str]:
    """Say why no index is taken at the end of a stuck trace: the reason that is given most often."""
    if moment.start is None:
        return
    after = moment.subject.points[moment.start :]
    if not after:
        yield f"The search would start at {moment.start:,}, behind the last message."
        return
    reasons = Counter(point.reason for point in after if point.reason is not None)
    if reasons and not any(point.kind for point in after):
        yield f"From {moment.start:,} on, where the search starts, every message is refused:"
        yield ", ".join(f"{plural(count, 'message')} ({reason.text})" for reason, count in reasons.most_common(3)) + "."


def _passed_over(moment: Moment) -> Iterator[str]:
    """Say which earlier tool pair would have fitted too, where a later plain user message was taken."""
    cut = moment.cut
    if cut is None or cut.kind != "user":
        return
    pairs = (point.index for point in moment.subject.points[cut.start : cut.index] if point.kind == "tool_pair")
    earlier = next((index for index in pairs if moment.fits(index)), None)
    if earlier is not None:
        yield f"The first tool pair that fits would be {earlier:,}; a plain user message wins over it."
