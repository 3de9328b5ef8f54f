"""Which reader gets a source. The surest claim wins, two equal ones are refused, and so is what nobody claims.

No rule about any format lives here: readers claim, this module only compares claims and words the refusal.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ctxlab.sessions.disk import look
from ctxlab.sessions.evidence import foreign_name, outline
from ctxlab.sessions.reader import Reader
from ctxlab.sessions.session import Certainty, Claim, SessionFormatError
from ctxlab.sessions.source import Source

_ORDER: tuple[Certainty, ...] = ("certain", "likely", "possible")


def detect(source: Source, readers: Sequence[Reader]) -> tuple[Reader, Claim]:
    """Return the reader whose claim is surest, and the claim.

    Raises:
        SessionFormatError: nobody claims the source, or two claim it equally.
    """
    claims = [(reader, claim) for reader in readers if (claim := reader.recognise(source)) is not None]
    for certainty in _ORDER:
        sure = [(reader, claim) for reader, claim in claims if claim.certainty == certainty]
        if len(sure) > 1:
            fitting = "; ".join(f"{reader.name}: {claim.rule}" for reader, claim in sure)
            names = " or ".join(f"format={reader.name!r}" for reader, _ in sure)
            reason = f"{len(sure)} formats fit ({fitting})"
            raise SessionFormatError(source.path, "top level", reason, f"Say which with {names}.")
        if sure:
            return sure[0]
    raise _unknown(source, readers)


def _unknown(source: Source, readers: Iterable[Reader]) -> SessionFormatError:
    known = "; ".join(f"{reader.name}: {reader.reads}" for reader in readers)
    advice = f"Formats read: {known}. If it is one of them all the same, say so with format=… (in a terminal, --format)"
    if source.folder:
        here = look(source.place)
        names = [f"{name}/" for name in here.folders] + list(here.files)
        inside = f". Its top: {', '.join(names[:6])}{', …' if len(names) > 6 else ''}" if names else ", it is empty"
        what = "folder" if isinstance(source.place, Path) else "zip archive"
        return SessionFormatError(source.path, "", f"no session that ctxlab reads is in this {what}{inside}", advice)
    values: list[Any] = [record.value for record in source.records[:20]] or [source.document]
    top = f"JSON lines, the first is {outline(values[0])}" if source.records else outline(values[0])
    items = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    looks = foreign_name(islice(items, 20))
    seen = source.signs.foreign
    guess = f"; it looks like {looks}" if looks else f"; {seen}" if seen else ""
    return SessionFormatError(source.path, "top level", f"no format that ctxlab reads{guess}. Its top: {top}", advice)
