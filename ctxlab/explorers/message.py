"""The tab "Message": the blocks of the message in focus as inert text, its tool partners, its cuts, its JSON.

What is said of a block and of a cut comes from `figures.inspection`; here it becomes HTML, every piece of it escaped.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import ipywidgets

from ctxlab.escaping import html
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.state import Store
from ctxlab.explorers.view import Guard, button, row, set_value, text
from ctxlab.figures.inspection import Change, Event, Partner, Partners, block_text, changes, events, raw_json
from ctxlab.figures.palette import COLOURS
from ctxlab.figures.words import fate, plural, title
from ctxlab.messages import Block, Conversation, block_kind, blocks

SHOWN = 4000
"""Characters of a block that are shown."""

PRE = '<pre tabindex="0">'
"""A text that may be too long for its place, and can be scrolled by keyboard."""

MOST_BLOCKS = 60
"""Blocks of one message that are shown."""

MOST_PARTNERS = 6
"""Partners that get a button; the others are named in the text of their blocks."""

MOST_CHANGES = 20
"""Cuts of one message that are shown."""

MOST_EVENTS = 8
"""Events of one message that are shown: a summary may go into the next one, again and again."""


class MessageView:
    """The message in focus."""

    name = "Message"

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.body = text()
        self.raw = ipywidgets.ToggleButton(
            value=False, description="Raw JSON", tooltip="The message as it is stored", layout={"width": "auto"}
        )
        self.json = text()
        self.partners = tuple(
            button("", "Put the other half of the tool pair in focus", guard(partial(self._jump, number)))
            for number in range(MOST_PARTNERS)
        )
        self.back = button("", "Put the message in focus from which you jumped", guard(self._return))
        self.widget = ipywidgets.VBox([row(*self.partners, self.back, self.raw), self.body, self.json])
        self.raw.observe(guard(lambda _: self._show_raw()), "value")
        self._findings: Findings | None = None
        self._targets: tuple[int, ...] = ()
        self._jumps: list[int] = []
        self._of: Conversation | None = None
        self._found: Partners | None = None

    def show(self, findings: Findings) -> None:
        """Show the blocks of the message in focus, as they were at the start, and what each cut made of them."""
        self._findings = findings
        if self._found is None or findings.messages is not self._of:
            self._of, self._found = findings.messages, Partners(findings.messages)
            self._jumps.clear()
        partners = self._found.of(findings.focus)
        self._offer(findings.focus, partners)
        set_value(self.body, value="".join(_message(findings, partners)))
        self._show_raw()

    def _offer(self, index: int, partners: tuple[Partner, ...]) -> None:
        targets = dict.fromkeys((one.role, message) for one in partners for message in one.messages if message != index)
        self._targets = tuple(message for _, message in targets)[:MOST_PARTNERS]
        for control, (role, message) in zip(self.partners, targets, strict=False):
            set_value(control, description=f"{'answer' if role == 'call' else 'call'} in message {message:,}")
        for number, control in enumerate(self.partners):
            control.layout.display = None if number < len(self._targets) else "none"
        while self._jumps and self._jumps[-1] == index:
            self._jumps.pop()
        if self._jumps:
            set_value(self.back, description=f"◀ back to message {self._jumps[-1]:,}")
        self.back.layout.display = None if self._jumps else "none"

    def _jump(self, number: int, _: Any) -> None:
        if number < len(self._targets):
            self._jumps.append(self.store.state.focus)
            self.store.focus_on(self._targets[number])

    def _return(self, _: Any) -> None:
        if self._jumps:
            self.store.focus_on(self._jumps.pop())

    def _show_raw(self) -> None:
        shown = ""
        if self.raw.value and self._findings is not None:
            whole, left_out = raw_json(self._findings.messages[self._findings.focus])
            more = f"\n… {left_out:,} more characters" if left_out else ""
            shown = f'<div class="ctxlab-block">Raw JSON{PRE}{html(whole)}{html(more)}</pre></div>'
        set_value(self.json, value=shown)


def _message(findings: Findings, partners: tuple[Partner, ...]) -> Iterator[str]:
    index = findings.focus
    message = findings.messages[index]
    tokens = plural(findings.ledger.per_message[index], "token")
    yield f"<b>{html(title(findings.subject, index))}</b> · {tokens}, {html(fate(findings.moment, index))}"
    # In a message with thousands of blocks, one look-up a block must not be a search.
    said = {one.block: one.sentence for one in partners}
    pieces = list(zip(blocks(message), findings.ledger.per_block[index], strict=True))
    for at, (block, cost) in enumerate(pieces[:MOST_BLOCKS]):
        yield _block(block, cost, str(message.get("role")), said.get(at, ""))
    if len(pieces) > MOST_BLOCKS:
        yield f"<div>… and {len(pieces) - MOST_BLOCKS:,} more blocks</div>"
    yield from _changes(
        list(changes(findings.history, findings.messages, index, findings.last_edit)), findings, "message"
    )
    told = list(events(findings.history, index, findings.last_edit))
    if told:
        yield '<div class="ctxlab-changes"><b>What becomes of this message</b>'
        summed_up = False
        for event in told[:MOST_EVENTS]:
            yield from _event(event, findings, summed_up)
            summed_up = event.what == "summed up"
        if len(told) > MOST_EVENTS:
            yield f"… and {len(told) - MOST_EVENTS:,} more"
        yield "</div>"


def _changes(found: Sequence[Change], findings: Findings, what: str) -> Iterator[str]:
    if found:
        yield f'<div class="ctxlab-changes"><b>{plural(len(found), "cut")} of this {what}</b>'
        yield "".join(_change(one, findings.stop) for one in found[:MOST_CHANGES])
        if len(found) > MOST_CHANGES:
            yield f"… and {len(found) - MOST_CHANGES:,} more"
        yield "</div>"


def _event(event: Event, findings: Findings, summed_up: bool) -> Iterator[str]:
    when = f"{_when(event.edit, event.round, findings.stop)}: " if event.edit else ""
    what = f"Its summary is {event.what}" if summed_up else event.what.capitalize()
    said = html(when + event.sentence)
    yield f'<div class="ctxlab-block ctxlab-change"><b>{html(what)}</b>. {said}'
    if event.what == "summed up":
        yield f"<div>The summary that stands for it and the others:{PRE}{html(event.text)}</pre></div>"
    yield "</div>"
    yield from _changes(event.changes, findings, "summary")


def _when(edit: int, round: int, stop: int) -> str:
    return f"Edit {edit:,}, round {round:,}, {'done' if edit <= stop else 'still to come'}"


def _block(block: Block, tokens: int, role: str, partner: str) -> str:
    kind = block_kind(block)
    colour = COLOURS.get(f"{role} text" if kind == "text" else kind, COLOURS["other"])
    body = block_text(block)
    more = f"\n… {len(body) - SHOWN:,} more characters" if len(body) > SHOWN else ""
    said = f" · {partner}" if partner else ""
    return (
        f'<div class="ctxlab-block" style="border-color:{colour}">{html(kind)}, {plural(tokens, "token")}{html(said)}'
        f"{PRE}{html(body[:SHOWN])}{html(more)}</pre></div>"
    )


def _change(change: Change, stop: int) -> str:
    tokens = "" if change.tokens is None else f", {change.tokens.before:,} to {change.tokens.after:,} tokens"
    head = f"{_when(change.edit, change.round, stop)}{tokens}. {change.sentence}"
    if change.texts:
        texts = [(f"{one.where}:\n", one.head, one.removed, one.tail) for one in change.texts[:MOST_BLOCKS]]
    else:
        texts = [("", change.head, change.removed, change.tail)]
    before = "\n".join(
        f"{html(where)}{html(start)}" + (f"<del>⟦− {html(removed)} −⟧</del>" if removed else "") + html(end)
        for where, start, removed, end in texts
    )
    if len(change.texts) > MOST_BLOCKS:
        before += f"\n… and {len(change.texts) - MOST_BLOCKS:,} more texts"
    after = f"{html(change.head)}<ins>⟦+ {html(change.added)} +⟧</ins>{html(change.tail)}"
    return (
        f'<div class="ctxlab-block ctxlab-change">{html(head)}'
        f"<div>Before, with what goes in ⟦− −⟧:{PRE}{before}</pre></div>"
        f"<div>After, with what is new in ⟦+ +⟧:{PRE}{after}</pre></div></div>"
    )
