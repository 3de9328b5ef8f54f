"""The answer to what becomes of a session, before any detail: in a sentence, and release by release.

Plain text: whoever shows it escapes it. Traces say what happens, and the table of releases how far that holds.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ctxlab.comparison import Lane, Policy, window_releases
from ctxlab.figures.history import history
from ctxlab.figures.moment import Moment, Subject
from ctxlab.figures.policies import policy_name, search_start
from ctxlab.figures.story import Story, story
from ctxlab.forecast import forecast, why_no_cut
from ctxlab.reduction import Trace
from ctxlab.releases import CHANGES, LAST_BEFORE, parse
from ctxlab.sliding_window import SlidingWindow
from ctxlab.tokens import Ledger, TokenCounter
from ctxlab.trimming import TrimPoint

ENDS = {"fits": "fits", "stuck": "is stuck", "gave up": "gives up"}
"""How a lane ends, as a sentence says it."""


def answer(trace: Trace, policy: Policy, bill: Ledger, points: Sequence[TrimPoint]) -> Story:
    """Tell what a policy does to a session; ``bill`` is its ledger, ``points`` the policy's `verdicts` on it."""
    past = history(trace, bill)
    subject = Subject(trace.start, bill, tuple(points), past, policy.rules.pins, 0, len(trace.start))
    edit = len(trace.edits)
    start = search_start(trace.start, policy, past, edit, trace.outcome != "fits")
    return story(trace, policy_name(policy), Moment(subject, trace.budget, edit, start))


def release_ranges(lanes: Iterable[Lane]) -> str:
    """Say from which release to which the sliding window fits, and where it is stuck; "" without a lane of a release.

    Between two releases at which the window changes it behaves as the earlier one, so that a lane stands for all of
    them. Lanes whose parameters are not those of the first are left out.
    """
    found = _outcomes(lanes)
    runs = [list(run) for _, run in groupby(sorted(found), lambda place: (found[place], _gaps(found, place)))]
    told = [_run(found, run) for run in runs]
    if not told:
        return ""
    joined = f"{', '.join(told[:-1])}, and {told[-1]}" if len(told) > 1 else told[0]
    return f"With the sliding window it {joined}."


def lane_words(lane: Lane, counter: TokenCounter) -> str:
    """Say what a lane is about, or where it gets stuck its error and the reason."""
    trace = lane.trace
    if trace.error is None:
        return lane.about
    said = trace.error.rstrip(".!")
    if (no_cut := why_no_cut(trace.final, lane.policy)) is not None and trace.outcome == "stuck":
        return f"{said}: {no_cut}."
    return f"{said}{forecast(trace.start, lane.policy, trace.budget, counter, trace).reason}"


def _outcomes(lanes: Iterable[Lane]) -> dict[int, str]:
    """Return how each of the `window_releases` ends, by its place among them, as far as lanes say so."""
    starts = [parse(release) for release in window_releases()]
    found: dict[int, str] = {}
    like: tuple[int, bool] | None = None
    for lane in lanes:
        policy = lane.policy
        if not isinstance(policy, SlidingWindow) or policy.is_careful:
            continue
        own = (policy.window_size, policy.should_truncate_results)
        like = like or own
        if own == like:
            place = max(at for at, start in enumerate(starts) if start <= parse(policy.release))
            found.setdefault(place, lane.trace.outcome)
    return found


def _gaps(found: dict[int, str], place: int) -> int:
    """Return how many places before this one nothing is known of: what is between two gaps belongs together."""
    return sum(before not in found for before in range(place))


def _run(found: dict[int, str], run: list[int]) -> str:
    releases = window_releases()
    end = ENDS[found[run[0]]]
    first = releases[run[0]]
    last = LAST_BEFORE[releases[run[-1] + 1]] if run[-1] + 1 < len(releases) else None
    if run[0] == 0:
        return f"{end} under every release" if last is None else f"{end} up to {last}"
    span = f"from {first} on" if last is None else f"from {first} to {last}" if last != first else f"in {first}"
    # What a change repaired or broke is told where it shows.
    why = ", ".join(f"#{number}" for number in _numbers(first)) if run[0] - 1 in found else ""
    return f"{end} {span}{f' ({why})' if why else ''}"


def _numbers(release: str) -> Iterator[int]:
    yield from next(change.numbers for change in CHANGES if change.version == release)
