"""The page as HTML, as it can be read with scripts off; a script then puts pictures where this has words.

Every text is escaped here or by whoever made it. No style is set on an element: a strict page would not apply it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version

from ctxlab.comparison import Lane
from ctxlab.escaping import html, one_line
from ctxlab.faults import options
from ctxlab.figures.answer import lane_words, release_ranges
from ctxlab.figures.candidates import COLUMNS, LABEL, PAGE, candidate
from ctxlab.figures.matrix import END, WHOLE, MatrixPicture
from ctxlab.figures.words import about, plural
from ctxlab.providers import providers
from ctxlab.report.contents import LONGEST, Contents
from ctxlab.report.verdicts import details
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import TokenCounter

ROUNDS = 12
"""Rounds that are told in words where no script plays them."""

UNCUT = 20_000
"""Characters of a sentence before long lists of ids are taken out of it."""

_IDS = re.compile(r"'[^']{1,200}'(?:, '[^']{1,200}'){3,}")
"""Four ids or more, as repairs list them."""

SIGNS = {"accepted": "✓ accepts it", "refused": "× refuses it", "unknown": "? unknown"}
"""A verdict in sign and word."""


def body(contents: Contents, matrix: MatrixPicture, rounds: Sequence[str], shortened: Sequence[str]) -> Iterator[str]:
    """Yield the sections of the page; ``rounds`` are told in words, ``shortened`` says what the page leaves out."""
    yield "<header>"
    yield f"<h1>{html(contents.name)}</h1>"
    yield f"<p class=under>{html(_under(contents))}</p>"
    told = contents.story
    yield f'<div class="ctxlab-story {told.tone}"><b>{html(told.headline)}</b> {html(told.text)}</div>'
    yield f"<p class=ranges>{html(release_ranges(contents.lanes))}</p>"
    yield (
        '<p id=unscripted class="ctxlab-said">Scripts are off here. What follows can be read; pictures, the rounds in '
        "motion and the whole tables need them. They load nothing: this page has no network.</p>"
    )
    yield "".join(_small_print(contents))
    yield "</header>"
    yield _section("releases", "What each release does", _releases(contents.lanes, contents.counter))
    yield _section("timeline", "What it costs, and where it may start", _in_focus(contents))
    yield _section("candidates", LABEL, _candidates(contents))
    yield _section("rounds", f"Rounds of {contents.policy_name}", _listed(rounds) or "<p>Nothing has to be done.</p>")
    yield _section("verdicts", "What providers make of it", _verdicts(matrix))
    less = f"<p>To keep this page small: {html(' '.join(shortened))}</p>" if shortened else ""
    yield (
        f"<footer>{less}<p>Made by ctxlab {html(version('ctxlab'))}. One file, no network: what is shown was found "
        "before, and no model was called.</p></footer>"
    )


def _under(contents: Contents) -> str:
    ledger, policy = contents.subject.ledger, contents.policy
    given = {name: value for name, value in options(policy).items() if value is not None}
    if isinstance(policy, Summarizing) and policy.truncation:
        given["preserve_chars"] = policy.truncation.preserve_chars
    named = ", ".join(f"{name}={value}" for name, value in given.items())
    return (
        f"{plural(len(contents.messages), 'message')}, {ledger.total:,} tokens ({ledger.counter}) under "
        f"{contents.policy_name} ({named}), with a budget of {contents.trace.budget:,}"
    )


def _small_print(contents: Contents) -> Iterator[str]:
    notes = len(contents.notes)
    if notes:
        read = f"How it was read ({plural(notes, 'note')})"
        yield f"<details><summary>{read}</summary>{_listed(contents.notes)}</details>"
    if contents.redaction is None:
        yield "<p class=redaction>Not redacted: all words are those of the session.</p>"
        return
    count = contents.redaction.count
    said = (
        f"{plural(count, 'replacement')}, in equal length"
        if count
        else "nothing was recognised that has to be replaced"
    )
    sentences = _listed(f"{sentence}." for sentence in contents.redaction.sentences)
    yield f"<details class=redaction><summary>Redacted: {said}</summary>{sentences}</details>"


def _in_focus(contents: Contents) -> str:
    said = "<br>".join(map(html, about(contents.end, contents.focus)))
    return f'<div class="ctxlab-said ctxlab-about">{said}</div>'


def _candidates(contents: Contents) -> str:
    count = len(contents.messages)
    first = max(0, min(contents.focus - PAGE // 2, count - PAGE))
    shown = range(first, min(first + PAGE, count))
    rows = [candidate(contents.end, index) for index in shown]
    lines = "".join(f"<tr class={row[0] or 'plain'}>{_cells(row[1:])}</tr>" for row in rows)
    said = f"showing {len(shown):,} of {count:,} messages: {shown.start:,} to {shown.stop - 1:,}"
    return f"{_table(COLUMNS, lines)}<p>{said}</p>"


def _cells(cells: Iterable[str]) -> str:
    named = zip(cells, COLUMNS, strict=True)
    return "".join(f"<td class={kind or 'plain'}>{html(cell)}</td>" for cell, (_, kind) in named)


def _verdicts(matrix: MatrixPicture) -> str:
    columns = [(name, "") for name in ("provider", "as it is", "what is left", "in its words")]
    return f"<p>{html(matrix.headline)}</p>{_table(columns, ''.join(_answers(matrix)))}"


def _answers(matrix: MatrixPicture) -> Iterator[str]:
    listed = set[str]()
    for name, label in providers().items():
        statuses = [matrix.verdict(key, name).status for key in (WHOLE, END)]
        key = END if statuses[1] != "accepted" or statuses[0] == "accepted" else WHOLE
        told = [one["text"] for one in details(matrix, key, name, UNCUT) if one["kind"] in ("answer", "repair")]
        said = [one_line(_listed_once(text, listed), LONGEST) for text in told]
        marks = "".join(f"<td class={status}>{SIGNS[status]}</td>" for status in statuses)
        yield f"<tr><th scope=row>{html(label)}</th>{marks}<td>{html(' '.join(said))}</td></tr>"


def _listed_once(text: str, listed: set[str]) -> str:
    """Return a text with each long list of ids in it told once; ``listed`` are those that were told before."""

    def short(found: re.Match[str]) -> str:
        ids = found.group()
        if ids not in listed:
            listed.add(ids)
            return ids
        first = ids.split(", ", 1)[0]
        return f"{first} and the {ids.count(', '):,} listed with it above"

    return _IDS.sub(short, text)


def _releases(lanes: Iterable[Lane], counter: TokenCounter) -> str:
    rows = []
    for lane in lanes:
        trace = lane.trace
        outcome = "✓ fits" if trace.outcome == "fits" else f"× {trace.outcome}"
        state = "accepted" if trace.outcome == "fits" else "refused"
        numbers = (trace.refused_calls, len(trace.final), trace.tokens[-1])
        left = "".join(f"<td class=right>{number:,}</td>" for number in numbers)
        about = html(one_line(lane_words(lane, counter), LONGEST))
        rows.append(
            f"<tr><th scope=row>{html(lane.name)}</th><td class={state}>{outcome}</td>{left}<td>{about}</td></tr>"
        )
    counts = [(name, "right") for name in ("refused calls", "messages left", "tokens left")]
    return _table([("policy", ""), ("outcome", ""), *counts, ("about", "")], "".join(rows))


def _section(name: str, title: str, inside: str) -> str:
    head = f"<section id={name} aria-labelledby={name}-title><h2 id={name}-title>{html(title)}</h2>"
    return f"{head}<div class=place>{inside}</div></section>"


def _table(columns: Sequence[tuple[str, str]], rows: str) -> str:
    head = "".join(f"<th scope=col class={kind or 'plain'}>{html(name)}</th>" for name, kind in columns)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    # A table that may be wider than its place can be scrolled by keyboard.
    label = html(", ".join(name for name, _ in columns))
    return f'<div class=scroll tabindex=0 role=region aria-label="{label}">{table}</div>'


def _listed(items: Iterable[str]) -> str:
    inside = "".join(f"<li>{html(item)}</li>" for item in items)
    return f"<ul>{inside}</ul>" if inside else ""
