"""OpenAI Chat Completions: a list, a request, lines; and logs around them: LiteLLM, tau-bench and tau2-bench.

The messages themselves are read in ``chat``.
"""

from typing import Any

from ctxlab.sessions.evidence import Signs, signs
from ctxlab.sessions.formats.chat import add_chat
from ctxlab.sessions.formats.claims import MAX_VIEWS, Placed, built, claim_messages, several, with_response
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim, View, count
from ctxlab.sessions.source import Source

_HINTS = ("max_completion_tokens", "response_format", "frequency_penalty", "presence_penalty", "stream_options", "n")


def _runs(source: Source) -> list[tuple[str, Placed]]:
    """Return the conversations of a file that holds several: runs of a benchmark, or lines of training data."""
    records = [record.value for record in source.records]
    document = source.document
    simulations = document.get("simulations") if isinstance(document, dict) else None
    many = records or (simulations if isinstance(simulations, list) else document)
    found: list[tuple[str, Placed]] = []
    for index, run in enumerate(many if isinstance(many, list) else ()):
        messages = run.get("messages", run.get("traj")) if isinstance(run, dict) and "role" not in run else None
        if isinstance(messages, list):
            keys = ("task_id", "trial", "id")
            name = " ".join(f"{key} {str(run[key])[:40]}" for key in keys if isinstance(run.get(key), str | int))
            placed = [(f"run {index} messages[{at}]", raw) for at, raw in enumerate(messages)]
            found.append((name or f"conversation {index + 1}", placed))
    return found


def _signs(source: Source) -> tuple[Signs, list[tuple[str, Placed]]]:
    runs = _runs(source)
    return (signs(pair for _, placed in runs for pair in placed) if runs else source.signs), runs


def _recognise(source: Source) -> Claim | None:
    found, runs = _signs(source)
    what = f"{count(len(runs), 'list')} of chat messages" if runs else "chat messages"
    return claim_messages(source, found, "openai-chat", what, _HINTS)


def _read(source: Source) -> Reading:
    runs = _runs(source)
    if runs:
        read = [(name, built(placed, add_chat, source.book)[1]) for name, placed in runs[:MAX_VIEWS]]
        return several(source, [*read, *((name, ()) for name, _ in runs[MAX_VIEWS:])], "the messages of")
    items = source.listed()
    if not items:
        raise source.refusal("a list of chat messages, or an object with 'messages' or 'traj'")
    response, usage = _response(source.document)
    reading = with_response(source, items, response, usage, add_chat, "the chat messages")
    seen = [pair for pair in map(_seen_by_the_agent, items) if pair is not None]
    if len(seen) < len(items):
        about = "what the agent saw: without the tools that the user called"
        _, messages = built(seen, add_chat, NoteBook())
        return Reading(reading.name, {**reading.views, "agent's side": View(messages, about)}, reading.view)
    return reading


def _response(document: Any) -> tuple[Placed, Any]:
    response = document.get("response") if isinstance(document, dict) else None
    choices = response.get("choices") if isinstance(response, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    usage = response.get("usage") if isinstance(response, dict) else None
    return ([("response", message)] if isinstance(message, dict) else []), usage


def _seen_by_the_agent(pair: tuple[str, Any]) -> tuple[str, Any] | None:
    """tau2-bench lets the simulated user call tools of its own, which the agent never sees."""
    where, raw = pair
    if not isinstance(raw, dict) or (raw.get("role") == "tool" and raw.get("requestor") == "user"):
        return None
    if raw.get("role") == "user" and raw.get("tool_calls"):
        return (where, {**raw, "tool_calls": None}) if raw.get("content") else None
    return pair


OPENAI_CHAT = Reader("openai-chat", "OpenAI Chat Completions: messages, requests, logs of them", _recognise, _read)
