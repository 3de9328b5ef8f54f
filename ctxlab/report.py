"""What `ctxlab inspect` found as one HTML page: no script, no network, to be attached to an issue.

It is drawn from the very record that `ctxlab inspect --json` prints. Everything in it is escaped; no rule lives here.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ctxlab.escaping import html

MARKS = {"user": "▲ user", "tool_pair": "◆ tool pair", "any": "△ any role", None: "× refused"}

RELEASES = ("policy", "outcome", "refused calls", "messages left", "tokens left", "about")
VERDICTS = ("message", "role", "tokens", "from here", "verdict", "why")

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #8886; vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.stuck { border-left: 5px solid #c33; padding-left: .8rem; }
.fits { border-left: 5px solid #283; padding-left: .8rem; }
.refused { opacity: .7; }
""".strip()


def page(record: Mapping[str, Any]) -> str:
    """Return the page for a record of `ctxlab inspect`: session, notes, estimate, verdicts, rounds, releases."""
    session, tokens, policy = record["session"], record["tokens"], record["policy"]
    body = [
        f"<h1>{html(session['name'])}</h1>",
        f"<p class={'fits' if policy['outcome'] == 'fits' else 'stuck'}>{_sentence(record)}</p>",
        "<h2>How it was read</h2>",
        _list(session["notes"]),
        f"<p>{html(record['reported']['sentence'])}</p>",
        f"<h2>What {html(policy['name'])} does</h2>",
        "".join(_round(step, tokens["budget"]) for step in policy["steps"]) or "<p>Nothing.</p>",
        "<h2>What each release does</h2>",
        _table(RELEASES, map(_release, record["releases"])),
        "<h2>Where the conversation may start</h2>",
        _table(VERDICTS, (_verdict(message, tokens["budget"]) for message in record["messages"])),
    ]
    title = html(f"ctxlab: {session['name']}")
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(body) + "\n</body></html>\n"


def _sentence(record: Mapping[str, Any]) -> str:
    tokens, policy = record["tokens"], record["policy"]
    said = f": {policy['error']}" if policy["error"] else ""
    return html(
        f"{len(record['messages']):,} messages, {tokens['total']:,} tokens ({tokens['counter']}), budget "
        f"{tokens['budget']:,}. {policy['name']}: {policy['outcome']} after {policy['refused_calls']:,} refused model "
        f"calls, {policy['messages_left']:,} messages and {policy['tokens_left']:,} tokens are left{said}."
    )


def _release(release: Mapping[str, Any]) -> tuple[object, ...]:
    left = (release["refused_calls"], release["messages_left"], release["tokens_left"])
    return (release["name"], release["outcome"], *left, release["error"] or release["about"])


def _verdict(message: Mapping[str, Any], budget: int) -> tuple[object, ...]:
    fits = "fits the budget" if message["tokens_from_here"] <= budget else "is above the budget"
    costs = (message["tokens"], message["tokens_from_here"])
    why = message["reason"] or f"what would stay {fits}"
    return (message["index"], message["role"], *costs, MARKS[message["kind"]], why)


def _round(step: Mapping[str, Any], budget: int) -> str:
    fits = "fits" if step["tokens_after"] <= budget else "does not fit yet"
    return f"<h3>Round {step['round']}: {step['tokens_after']:,} tokens, {fits}</h3>{_list(step['edits'])}"


def _list(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{html(item)}</li>" for item in items) + "</ul>"


def _table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th scope=col>{name}</th>" for name in names)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, rows))}</tbody></table>"


def _row(cells: Sequence[object]) -> str:
    return f"<tr>{''.join(map(_cell, cells))}</tr>"


def _cell(value: object) -> str:
    return f"<td class=number>{value:,}</td>" if isinstance(value, int) else f"<td>{html(str(value))}</td>"
