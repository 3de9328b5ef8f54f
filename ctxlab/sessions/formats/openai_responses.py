"""OpenAI Responses: a list of items, a request with ``input``, lines of items. The items are read in ``responses``."""

from typing import Any

from ctxlab.sessions.evidence import signs
from ctxlab.sessions.formats.claims import Placed, claim_signs, with_response
from ctxlab.sessions.formats.responses import add_item
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim
from ctxlab.sessions.source import Source


def _items(source: Source) -> Placed:
    document = source.document
    items = document.get("input", document.get("output")) if isinstance(document, dict) else None
    if isinstance(items, list):
        return [(f"input[{index}]", item) for index, item in enumerate(items)]
    return [] if isinstance(document, dict) else source.listed()


def _recognise(source: Source) -> Claim | None:
    items = _items(source)
    found = signs(items) if isinstance(source.document, dict) else source.signs
    if isinstance(source.document, dict) and found.messages and not found.converse and not found.vendors:
        return Claim("a Responses request: an object with 'input'", "likely")
    return claim_signs(found, "openai-responses", "Responses items")


def _read(source: Source) -> Reading:
    items = _items(source)
    if not items:
        raise source.refusal("a list of Responses items, or an object with 'input'")
    response = source.document.get("response") if isinstance(source.document, dict) else None
    output: Any = response.get("output") if isinstance(response, dict) else None
    placed = [
        (f"response.output[{index}]", item) for index, item in enumerate(output if isinstance(output, list) else ())
    ]
    usage = response.get("usage") if isinstance(response, dict) else None
    return with_response(source, items, placed, usage, add_item, "what the items make")


OPENAI_RESPONSES = Reader("openai-responses", "OpenAI Responses: items or a request", _recognise, _read)
