"""What the tools of the samples find: source code, diffs, logs, tables, of a made-up parcel warehouse.

Each function writes the same text for the same arguments. Sizes are asked for in lines or rows, as of a tool.
"""

from datetime import UTC, datetime, timedelta

from .dice import Dice

_NOUNS = ("parcel", "route", "label", "pallet", "manifest", "carrier", "depot", "scan", "tariff", "pickup")
_VERBS = ("load", "assign", "verify", "merge", "price", "release", "resolve", "archive", "split", "confirm")
_FIELDS = ("weight_grams", "zone", "due_at", "reference", "status", "attempts", "origin", "tracking_number")
_PURPOSES = (
    "Return None where the depot has no stock of it.",
    "The caller holds the lock on the manifest.",
    "Weights are in grams; the carrier's own rounding comes later.",
    "Raises LookupError when the reference is unknown.",
    "Idempotent: a second call with the same reference changes nothing.",
    "Times are UTC; the depot's local time is applied when printing.",
)


def source(path: str, lines: int) -> str:
    """Return the first lines of a Python module, numbered as a file viewer shows them."""
    dice = Dice(f"source of {path}")
    written = [f'"""{path}: part of the parcel desk."""', "", "from parceldesk.records import Record, store", ""]
    while len(written) < lines:
        written += ["", *_function(dice), ""]
    return "\n".join(f"{number:5}  {line}".rstrip() for number, line in enumerate(written[:lines], 1))


def _function(dice: Dice) -> list[str]:
    noun, verb, field, other = dice.pick(_NOUNS), dice.pick(_VERBS), dice.pick(_FIELDS), dice.pick(_FIELDS)
    limit = dice.between(2, 40)
    return [
        f"def {verb}_{noun}({noun}: Record, *, limit: int = {limit}) -> Record | None:",
        f'    """{verb.capitalize()} a {noun} by its {field}. {dice.pick(_PURPOSES)}"""',
        f"    if {noun}.{field} is None:",
        f'        raise ValueError(f"{noun} {{{noun}.reference}} has no {field}")',
        f'    found = store.query("{noun}s").where({other}={noun}.{other}).limit(limit)',
        "    for candidate in found:",
        f"        if candidate.{field} != {noun}.{field}:",
        "            continue",
        f"        return {noun}.with_changes({other}=candidate.{other})",
        "    return None",
    ]


def diff(path: str, hunks: int) -> str:
    """Return a unified diff of a file with that many hunks."""
    dice = Dice(f"diff of {path}")
    written = [f"--- a/{path}", f"+++ b/{path}"]
    line = 1
    for _ in range(hunks):
        noun, verb, field = dice.pick(_NOUNS), dice.pick(_VERBS), dice.pick(_FIELDS)
        line += dice.between(9, 60)
        written += [
            f"@@ -{line},7 +{line},9 @@ def {verb}_{noun}({noun}: Record) -> Record:",
            f'     found = store.query("{noun}s").where({field}={noun}.{field})',
            "     for candidate in found:",
            f"-        if candidate.{field} == {noun}.{field}:",
            "-            return candidate",
            f"+        if candidate.{field} != {noun}.{field}:",
            "+            continue",
            f'+        log.debug("{verb} %s: took %s", {noun}.reference, candidate.reference)',
            "+        return candidate",
            f'     raise LookupError(f"no {noun} with that {field}")',
        ]
    return "\n".join(written)


def log(service: str, lines: int, *, start: str = "2026-09-06T01:40:00") -> str:
    """Return lines of a service's log, oldest first."""
    dice = Dice(f"log of {service} from {start}")
    now = datetime.fromisoformat(start).replace(tzinfo=UTC)
    written = []
    for _ in range(lines):
        now += timedelta(milliseconds=dice.between(3, 4200))
        stamp = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        written.append(f"{stamp} {service}-{dice.between(1, 4)} {_log_event(dice)}")
    return "\n".join(written)


def _log_event(dice: Dice) -> str:
    parcel, depot, milliseconds = f"PX-{dice.between(10000, 99999)}", f"D{dice.between(1, 24):02}", dice.between(2, 900)
    return dice.pick(
        (
            f"INFO  parcel={parcel} depot={depot} scanned in {milliseconds} ms",
            f"INFO  parcel={parcel} label printed, attempt {dice.between(1, 3)}",
            f"DEBUG parcel={parcel} cache miss for tariff zone {dice.between(1, 9)}, asked the store",
            f"WARN  depot={depot} queue length {dice.between(200, 4000)} above 180, slowing intake",
            f"INFO  manifest=M{dice.between(1000, 9999)} closed with {dice.between(3, 80)} parcels",
            f"ERROR parcel={parcel} carrier gateway answered 503 after {milliseconds} ms, will retry",
            f"INFO  depot={depot} heartbeat ok, {dice.between(4, 60)} workers, lag {milliseconds} ms",
        )
    )


def test_report(target: str, cases: int) -> str:
    """Return the report of a test run; one case in about twenty fails."""
    dice = Dice(f"tests of {target}")
    written, failed = [], 0
    for _ in range(cases):
        broken = dice.between(1, 20) == 1
        failed += broken
        name = f"test_{dice.pick(_VERBS)}_{dice.pick(_NOUNS)}_keeps_its_{dice.pick(_FIELDS)}"
        written.append(f"{target}::{name} {'FAILED' if broken else 'PASSED'}")
    seconds = dice.between(40, 900) / 100
    return "\n".join([*written, f"{failed} failed, {cases - failed} passed in {seconds:.2f}s"])


def hits(pattern: str, limit: int) -> str:
    """Return places in the code where a pattern is found."""
    dice = Dice(f"hits of {pattern}")
    return "\n".join(
        f"parceldesk/{dice.pick(_NOUNS)}s.py:{dice.between(8, 600)}:    "
        f"{dice.pick(_NOUNS)} = {pattern}{dice.pick(_NOUNS)}, limit={dice.between(2, 40)})"
        for _ in range(limit)
    )


def rows(table: str, limit: int) -> list[dict[str, str | int]]:
    """Return rows of a table of the warehouse."""
    dice = Dice(f"rows of {table}")
    return [
        {
            "id": number,
            "reference": f"PX-{dice.between(10000, 99999)}",
            "depot": f"D{dice.between(1, 24):02}",
            "weight_grams": dice.between(80, 31000),
            "status": dice.pick(("waiting", "sorted", "loaded", "delivered", "returned")),
            "due_at": f"2026-09-{dice.between(1, 30):02}T{dice.between(6, 20):02}:00:00Z",
        }
        for number in range(1, limit + 1)
    ]


def whereabouts(reference: str) -> tuple[str, str, int]:
    """Return the depot of a parcel, the place in it, and the hours since its last scan."""
    dice = Dice(f"parcel {reference}")
    place = dice.pick(("on the belt", "in the returns cage", "on the van", "at the customs desk", "at the shop"))
    return f"D{dice.between(1, 24):02}", place, dice.between(1, 71)


def csv(table: str, limit: int) -> str:
    """Return the same rows as comma-separated text with a header."""
    found = rows(table, limit)
    return "\n".join([",".join(found[0]), *(",".join(str(value) for value in row.values()) for row in found)])
