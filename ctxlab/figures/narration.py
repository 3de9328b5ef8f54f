"""What the rounds of a trace do, in words for a newcomer: a sentence a round, and what another rule would do instead.

Every number is read off a trace. Nothing is drawn here and nothing is decided.
"""

from collections.abc import Iterator
from dataclasses import replace

from ctxlab.edits import CollapseTexts, DropMessages, Edit, Summarize, TruncateText
from ctxlab.fallback import characters
from ctxlab.forecast import full_trace
from ctxlab.messages import Conversation, blocks, result_items, text_slots
from ctxlab.reduction import Trace
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import TokenCounter
from ctxlab.truncation import Truncation, reachable_texts, round_size


def narrate(trace: Trace, truncation: Truncation | None = None) -> tuple[tuple[str, str, str], ...]:
    """Return for the start and for each round (rounds + 1) a lead, what happens, and what is left after it."""
    texts = list(characters(trace))
    blocks = sum(1 for message in trace.start for _ in text_slots(message))
    over = trace.tokens[0] - trace.budget
    fits = f"{over:,} above the budget of {trace.budget:,}" if over > 0 else f"within the budget of {trace.budget:,}"
    start = f"{_count(blocks, 'text')} with {texts[0]:,} characters; {trace.tokens[0]:,} tokens, {fits}."
    return (("Start.", start, ""), *_rounds(trace, texts, blocks, truncation))


def _rounds(
    trace: Trace, texts: list[int], blocks: int, truncation: Truncation | None
) -> Iterator[tuple[str, str, str]]:
    cut: set[tuple[int, int, int | None]] = set()
    for at, round in enumerate(trace.rounds, 1):
        cuts = [edit for edit in round.edits if isinstance(edit, TruncateText)]
        cut |= {(edit.message, edit.block, edit.item) for edit in cuts}
        left = f"{texts[at]:,} of {texts[0]:,} characters left; {trace.tokens[at]:,} tokens, budget {trace.budget:,}."
        if cuts and len(cuts) == len(round.edits):
            what = _cuts(cuts, round.number, truncation)
            left = f"{len(cut):,} of {blocks:,} {'is' if len(cut) == 1 else 'are'} cut so far. {left}"
        else:
            what = _others(round.edits)
        yield f"Round {at:,} of {len(trace.rounds):,}.", what, left


def _cuts(cuts: list[TruncateText], number: int, truncation: Truncation | None) -> str:
    kept = sorted({edit.kept for edit in cuts})
    ends = f"{kept[0]:,} + {kept[0]:,}" if len(kept) == 1 else f"{kept[0]:,} to {kept[-1]:,} at each end"
    all_that = truncation is not None and len(cuts) < round_size(number)
    if len(cuts) == 1:
        which = "The only block that still qualifies is" if all_that else "The largest block is"
    else:
        which = f"All {len(cuts):,} blocks that qualify are" if all_that else f"The {len(cuts):,} largest blocks are"
    if truncation is None:
        which = "A tool result is" if len(cuts) == 1 else f"{len(cuts):,} tool results are"
    return f"{which} cut to {ends} characters." if len(kept) == 1 else f"{which} cut, keeping {ends}."


def _others(edits: tuple[Edit, ...]) -> str:
    if not edits:
        return "Nothing changes."
    telling = (edit for edit in edits if isinstance(edit, DropMessages | Summarize | CollapseTexts))
    first = next(telling, edits[0])
    more = len(edits) - 1
    return first.sentence + (f" And {_count(more, 'more edit')}." if more else "")


def beside(messages: Conversation, manager: Summarizing, budget: int, counter: TokenCounter) -> str:
    """Say what the rule of 1.63.0 would do with these parameters, or the proposed rule where that one is chosen.

    Empty for a policy without a fallback and for a conversation that fits as it is.
    """
    if manager.truncation is None or sum(map(counter.message, messages)) <= budget:
        return ""
    other = Truncation(
        manager.truncation.preserve_chars, "proportional" if manager.truncation.rule == "fixed" else "fixed"
    )
    trace = full_trace(messages, replace(manager, truncation=other), counter)
    name = "the fixed rule of 1.63.0" if other.rule == "fixed" else "the proportional rule proposed in #5791"
    touched = {(e.message, e.block, e.item) for e in trace.edits if isinstance(e, TruncateText)}
    blocks = sum(1 for _ in reachable_texts(messages))
    if min(trace.tokens) <= budget:
        calls = trace.under(budget).refused_calls
        return f"Under {name}: fits after {_count(calls, 'refused call')}."
    size = f"{other.threshold:,} characters"
    how = f"{len(touched):,} of {blocks:,} blocks cut" if touched else f"no block is longer than {size}, 0 cut"
    return f"Under {name}: {how}, {trace.outcome}: “{trace.error}”."


def risk(trace: Trace) -> str:
    """Say what collapsing takes away besides length, and why that is riskier than a cut; empty where nothing was."""
    collapsed = [edit for edit in trace.edits if isinstance(edit, CollapseTexts)]
    if not collapsed:
        return ""
    removed = sum(len(edit.removed) for edit in collapsed)
    inside = sum(item is not None for edit in collapsed for _, item in edit.removed)
    emptied = _empty_results(trace.final) - _empty_results(trace.start)
    text = f"Collapsing removes {_count(removed, 'block')}"
    if not inside:
        return f"{text}, so the message no longer has the shape that it was sent with; a cut keeps every block."
    return (
        f"{text}, {inside:,} of them inside tool results, and leaves {_count(emptied, 'tool result')} without content, "
        "which some providers refuse. The preview stands in the first result and mixes the answers of several calls; a "
        "cut keeps every block where it was."
    )


def _empty_results(messages: Conversation) -> int:
    return sum(
        1
        for message in messages
        for block in blocks(message)
        if isinstance(block, dict) and "toolResult" in block and not result_items(block)
    )


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
