"""Taking secrets and people out of a trace: out of the conversation at its start, and out of every edit.

The edits are told again on the redacted conversation, for a cut may leave one half of a secret, which nobody would
recognise. What is counted (tokens, characters, rounds) stays as it was counted on the original.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from ctxlab.careful import image_text
from ctxlab.edits import CollapseTexts, DropMessages, Edit, Pin, ReplaceImage, ReplaceResult, Summarize, TruncateText
from ctxlab.messages import Conversation, blocks, result_items, text_at
from ctxlab.redaction.redacting import TOLD, Progress, Report, redact, redact_text
from ctxlab.reduction import Round, Trace
from ctxlab.replay import apply
from ctxlab.truncation import cut


def redact_trace(
    trace: Trace, names: Iterable[str] = (), progress: Progress | None = None, words: bool = True
) -> tuple[Trace, Report]:
    """Return the trace as it would be of the redacted conversation, with the tokens of the original, and the report.

    ``progress`` may raise to stop. Without ``words`` every text becomes filler, as with `redact`.
    """
    names = tuple(names)
    redacted = redact(trace.start, names, progress=progress, words=words)
    state = redacted.messages
    before: Conversation | Round = state
    rounds: list[Round] = []
    for number, round in enumerate(trace.rounds):
        if progress is not None and number % TOLD == 0:
            progress(len(state), len(state))
        edits = []
        for edit in round.edits:
            edits.append(_told_again(edit, state, names, words))
            state = apply(state, edits[-1])
        before = replace(round, before=before, edits=tuple(edits))
        rounds.append(before)
    return replace(trace, start=redacted.messages, rounds=tuple(rounds)), redacted.report


def _told_again(edit: Edit, state: Conversation, names: tuple[str, ...], words: bool) -> Edit:
    match edit:
        case Pin() | DropMessages():
            return edit
        case TruncateText():
            text = text_at(state[edit.message], edit.block, edit.item)
            return replace(edit, before=text, after=cut(text, edit.kept))
        case ReplaceImage():
            item = result_items(blocks(state[edit.message])[edit.block])[edit.item]
            text = edit.after
            if not words:  # it names the format, and where the image is kept
                text = image_text(item["image"], text == image_text(edit.before["image"], True))
            return replace(edit, before=item, after=redact_text(text, names))
        case ReplaceResult():
            block = blocks(state[edit.message])[edit.block]
            new = edit.after["toolResult"]
            result = {**block["toolResult"], "status": new["status"], "content": new["content"]}
            return replace(edit, before=block, after={**block, "toolResult": result})
        case CollapseTexts():
            texts = [text_at(state[edit.message], *slot) for slot in (edit.first, *edit.removed)]
            return replace(edit, after=cut("\n".join(texts), edit.kept))
        case Summarize():
            return replace(edit, summary=redact((edit.summary,), names, words=words).messages[0])
        case _:
            assert_never(edit)
