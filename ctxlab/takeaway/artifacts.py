"""What can be taken away from a session: each as text with a name, and with sentences about how it came to be.

Nothing is written to disk here. Everything is redacted unless asked not to.
"""

import ast
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict, Unpack

from ctxlab.comparison import Policy
from ctxlab.expectations import Call
from ctxlab.faults import MAX_CALLS, Fault, find_fault, is_released, play
from ctxlab.messages import Conversation, Message
from ctxlab.minimize import MAX_TRIES, Minimized, Progress, minimize
from ctxlab.redaction import Report, redact, redact_text, redact_trace
from ctxlab.redaction.redacting import Progress as Redacting
from ctxlab.reduction import Trace
from ctxlab.releases import NEWEST, parse
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.saving.strands import message_list
from ctxlab.sessions.session import Session, count
from ctxlab.takeaway.proof import Proof, Result, installed_release, installs, prove
from ctxlab.takeaway.pytest_file import pytest_file, title
from ctxlab.takeaway.trace_json import trace_to_json
from ctxlab.takeaway.wheels import DISTRIBUTION, WheelError, cache_folder, unpacked


class NoFault(ValueError):  # noqa: N818  it is an answer, and the caller decides whether that is an error
    """Nothing goes wrong that could be taken away; the message says what to try."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """Something to take away: a file ``name`` to propose, its ``media_type``, its ``text``, and sentences ``about`` it.

    ``redaction`` says what was replaced, None where no word of the session is in it, or none was to be replaced.
    ``fault`` and ``reduced`` are there where a session was reduced, ``proof`` where a test was run.
    """

    name: str
    media_type: str
    text: str
    about: tuple[str, ...]
    redaction: Report | None = None
    fault: Fault | None = None
    reduced: Minimized | None = None
    proof: Proof | None = None


class Wanted(TypedDict, total=False):
    """How a session is to be reduced: what has to go wrong, what becomes of its words, and when to stop.

    ``call``, ``expectation`` and ``max_calls`` go to `find_fault`; ``max_tries`` and ``progress`` (which may raise
    `Enough`) to `minimize`. ``keep_text`` keeps the words of the session, ``redacted`` (the default) without secrets
    and people, and without ``names``.
    """

    call: Call | None
    expectation: str | None
    max_calls: int
    keep_text: bool
    redacted: bool
    names: Iterable[str]
    max_tries: int
    progress: Progress | None


def failing_test(
    session: Session | Sequence[Message],
    wrong: Policy,
    right: Policy | None = None,
    **wanted: Unpack[Wanted],
) -> Artifact:
    """Return a pytest file that fails on the release that is ``wrong`` and passes on the one that is ``right``.

    The session is reduced to what matters, and its words become filler, or as `Wanted` says. The test is not run: see
    `proven`. Raises NoFault where nothing goes wrong, and ValueError where the policies or the messages allow no test.
    """
    made = _reduce(session, wrong, right, **wanted)
    fault, reduced, before, report = made
    text = pytest_file(fault, reduced.messages, _about(before, reduced))
    try:
        ast.parse(text)
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError("the messages are nested too deeply for a Python file; do without keep_text") from None
    about = (fault.sentence, *_about(before, reduced))
    return Artifact(f"test_{title(fault)}.py", "text/x-python", text, about, report, fault, reduced)


def reduced_session(
    session: Session | Sequence[Message],
    wrong: Policy,
    right: Policy | None = None,
    **wanted: Unpack[Wanted],
) -> Artifact:
    """Return the reduced session as Strands JSON, a list of messages; arguments and errors as for `failing_test`."""
    made = _reduce(session, wrong, right, **wanted)
    fault, reduced, before, report = made
    about = (fault.sentence, *_about(before, reduced))
    text = _strands_json(reduced.messages)
    return Artifact(f"{title(fault)}.json", "application/json", text, about, report, fault, reduced)


def whole_session(
    session: Session | Sequence[Message],
    redacted: bool = True,
    names: Iterable[str] = (),
    words: bool = True,
    progress: Redacting | None = None,
) -> Artifact:
    """Return all messages of a session as Strands JSON, redacted unless asked not to; without ``words`` all filler.

    ``progress`` is told how many messages are redacted, and may raise to stop.
    """
    messages = _messages(session)
    found = redact(messages, names, progress=progress, words=words) if redacted or not words else None
    kept = found.messages if found else messages
    about = (f"All {count(len(kept), 'message')} of the session.",)
    return Artifact("session.json", "application/json", _strands_json(kept), about, found.report if found else None)


def trace_record(
    trace: Trace,
    policy: Policy | None = None,
    name: str = "",
    redacted: bool = True,
    names: Iterable[str] = (),
    words: bool = True,
    progress: Redacting | None = None,
) -> Artifact:
    """Return a trace as JSON (see `trace_json`), redacted unless asked not to; ``name`` is that of the session.

    Without ``words`` all texts are filler, and the name goes. ``progress`` is told as for `whole_session`.
    """
    names, redacted = tuple(names), redacted or not words
    told, report = redact_trace(trace, names, progress, words) if redacted else (trace, None)
    shown = name if not redacted else redact_text(name, names) if words else ""
    text = trace_to_json(told, policy, shown)
    return Artifact("trace.json", "application/json", text, _about_trace(trace), report)


def trace_table(trace: Trace) -> Artifact:
    """Return the table of a trace, a row an edit, as CSV; as a pandas table it is ``trace.to_frame()``.

    No text of a message is in it.
    """
    return Artifact("trace.csv", "text/csv", trace.to_frame().to_csv(index=False), _about_trace(trace))


def proven(artifact: Artifact, fetch: bool = False, progress: Callable[[str], object] | None = None) -> Artifact:
    """Return a failing test together with the proof of it: it is run on the releases that are there.

    Those are the SDK that is installed, and wheels that were fetched before; with ``fetch`` the others are fetched from
    the package registry. Raises ValueError for what is no failing test.
    """
    fault = artifact.fault
    if fault is None or artifact.reduced is None or artifact.media_type != "text/x-python":
        raise ValueError(f"only a failing test can be proven, not {artifact.name!r}")
    installed = installed_release()

    def folder_of(release: str) -> Path | None:
        if release == installed:
            return None
        kept = cache_folder() / release
        if not fetch and not (kept / "strands").is_dir():
            raise LookupError(
                f"it is neither installed nor fetched (--prove fetches it, or {installs(_pinned(release))})"
            )
        try:
            return unpacked(release)
        except (WheelError, OSError) as error:
            raise LookupError(f"it cannot be fetched: {error}") from None

    wanted: dict[str, Result] = {fault.wrong.release: "fails"}
    if fault.right is not None and is_released(fault.right):
        wanted[fault.right.release] = "passes"
    if installed is not None and installed not in wanted:
        foreseen = _foreseen(fault, artifact.reduced.messages, installed)
        wanted |= {installed: foreseen} if foreseen else {}
    return replace(artifact, proof=prove(artifact.text, fault.expectation, wanted, folder_of, progress))


def _pinned(release: str) -> str:
    return f"{DISTRIBUTION}=={release}"


def _foreseen(fault: Fault, messages: Conversation, release: str) -> Result | None:
    """Return what the test should do on a third release, None where that is neither the one nor the other."""
    try:
        if parse(release) > parse(NEWEST):
            return None
        third = replace(fault.wrong, release=release)
    except ValueError:
        return None
    ends = [
        list(zip(range(fault.calls), play(policy, messages, fault.call), strict=False))
        for policy in (third, fault.wrong, fault.right)
        if policy is not None
    ]
    if ends[0] == ends[1]:
        return "fails"
    return "passes" if ends[0] in ends[2:] else None


def _reduce(
    session: Session | Sequence[Message], wrong: Policy, right: Policy | None, **wanted: Unpack[Wanted]
) -> tuple[Fault, Minimized, Conversation, Report | None]:
    """Return the fault in what is left, what is left, what it was, and what was replaced in it."""
    before = _messages(session)
    names = tuple(wanted.get("names", ()))
    fault = find_fault(
        before, wrong, right, wanted.get("call"), wanted.get("expectation"), wanted.get("max_calls", MAX_CALLS)
    )
    if fault is None:
        better = f" that {right.name} does right" if right else " that can be told without a release that does it right"
        raise NoFault(
            f"{wrong.name} does nothing wrong{better}, with this session and these options. Try other options, or "
            "see with `ctxlab inspect` what each release does to it."
        )
    redacted = wanted.get("redacted", True)
    # Lengths and structure stay, so the fault does.
    start = redact(before, names).messages if redacted else before
    reduced = minimize(
        start,
        fault.fairly(before),
        wanted.get("keep_text", False),
        wanted.get("max_tries", MAX_TRIES),
        wanted.get("progress"),
    )
    shown = replace(fault, calls=fault.shows(reduced.messages) or fault.calls)
    left = redacted and reduced.has_words
    return shown, reduced, before, redact(before, names, reduced.origins).report if left else None


def _about(before: Conversation, reduced: Minimized) -> tuple[str, ...]:
    kept = count(len(reduced.messages), "message")
    words = (
        "Texts are those of the session."
        if reduced.has_words
        else "No word of the session is left: texts are filler, as long as it takes."
    )
    early = () if reduced.finished else ("The search was ended early: more might go.",)
    return (f"Reduced from {count(len(before), 'message')} to {kept}.", words, *early)


def _about_trace(trace: Trace) -> tuple[str, ...]:
    edits = count(len(trace.edits), "edit")
    return (f"{edits} in {count(len(trace.rounds), 'round')}, and then it {_ENDS[trace.outcome]}.",)


_ENDS = {"fits": "fits", "stuck": "is stuck", "gave up": "is given up"}


def _messages(session: Session | Sequence[Message]) -> Conversation:
    return session.messages if isinstance(session, Session) else tuple(session)


def _strands_json(messages: Conversation) -> str:
    try:
        return json.dumps(message_list(messages, NoteBook()), indent=2) + "\n"
    except (TypeError, RecursionError) as error:
        raise ValueError(f"the messages hold what JSON cannot: {error}") from None
