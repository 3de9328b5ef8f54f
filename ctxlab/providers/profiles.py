"""Provider profiles: which case of which rule a provider enforces, on what evidence, and how sure that is.

The table is data: `profiles.json` states the cells, `rules.json` the evidence that they point at. Nothing here looks
at a conversation. A case that no cell states is unknown, and unknown is never fine.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, get_args

Status = Literal["accepted", "refused", "unknown"]

Certainty = Literal["documented", "live", "executed", "inferred", "unknown"]
"""How a cell is known: the provider's own documentation, a live answer of the provider, code that was run, a
conclusion from these, or not at all."""

Merges = Literal["none", "same-role", "results"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One finding about a provider, as collected: sentence, the provider's text, sources, how it was observed.

    ``error_text`` is ``""`` where the provider's words are not known, or there are none. ``repaired_by_sdk`` says what
    the SDK does about it before it sends.
    """

    id: str
    sentence: str
    error_text: str
    source: str
    observed: str
    repaired_by_sdk: str
    effect: str


@dataclass(frozen=True, slots=True)
class Cell:
    """What a provider does about one case of one rule; evidence is None where nobody has stated anything."""

    status: Status
    certainty: Certainty
    evidence: Evidence | None

    @property
    def error_text(self) -> str:
        """What the provider would answer, ``""`` where that is not known or nothing is refused."""
        return self.evidence.error_text if self.evidence and self.status == "refused" else ""


UNKNOWN = Cell("unknown", "unknown", None)
"""What is known about a case that no cell states."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known about one provider. ``cells`` maps rule id to case to Cell; case ``"*"`` is every other case.

    ``merges`` says which neighbouring messages become one before pairing. ``id_pattern`` is the form of a tool id
    (regular expression, whole id), ``unsupported`` the block kinds that cannot be sent. ``evidence`` is every finding
    about this provider, also those that no cell uses.
    """

    name: str
    label: str
    merges: Merges
    cells: Mapping[str, Mapping[str, Cell]]
    evidence: tuple[Evidence, ...]
    id_pattern: str
    unsupported: frozenset[str]

    def cell(self, rule: str, case: str = "") -> Cell:
        """Return what the provider does about a case of a rule; what nobody stated is unknown."""
        cases = self.cells.get(rule, {})
        return cases.get(case) or cases.get("*") or UNKNOWN

    @property
    def not_judged(self) -> tuple[Evidence, ...]:
        """Findings that no cell uses: limits on media, caching, the end of a conversation, settings of the request."""
        used = {cell.evidence.id for cases in self.cells.values() for cell in cases.values() if cell.evidence}
        return tuple(evidence for evidence in self.evidence if evidence.id not in used)


def providers() -> Mapping[str, str]:
    """Return the label of each provider by its name, in the order in which they are shown."""
    return MappingProxyType({name: profile.label for name, profile in _profiles().items()})


def profile(provider: str) -> Profile:
    """Return the profile of a provider. Raises ValueError for a name that is not among `providers()`."""
    found = _profiles().get(provider) if isinstance(provider, str) else None
    if found is None:
        raise ValueError(f"unknown provider {provider!r}: must be one of {', '.join(_profiles())}")
    return found


@lru_cache(maxsize=1)
def _profiles() -> Mapping[str, Profile]:
    entries = _read("profiles.json")
    rows = [*_read("rules.json"), *(row for entry in entries.values() for row in entry.get("evidence", ()))]
    texts = {row["rule_id"]: row["error_text"] for row in rows}
    evidence = {row["rule_id"]: _evidence(row, texts) for row in rows}
    of_provider: dict[str, list[Evidence]] = {}
    for row in rows:
        of_provider.setdefault(row["provider"], []).append(evidence[row["rule_id"]])
    return MappingProxyType(
        {
            name: _profile(name, entry, entries.get(entry.get("extends"), {}), evidence, of_provider)
            for name, entry in entries.items()
            if not entry.get("abstract")
        }
    )


def _profile(
    name: str,
    entry: dict[str, Any],
    base: dict[str, Any],
    evidence: Mapping[str, Evidence],
    of_provider: Mapping[str, list[Evidence]],
) -> Profile:
    cells = {
        rule: MappingProxyType({case: _cell(stated, evidence) for case, stated in cases.items()})
        for rule, cases in {**base.get("cells", {}), **entry["cells"]}.items()
    }
    return Profile(
        name,
        entry["label"],
        entry.get("merges") or base.get("merges", "none"),
        MappingProxyType(cells),
        tuple(found for group in (*base.get("rows", ()), *entry["rows"]) for found in of_provider[group]),
        entry.get("id_pattern") or base.get("id_pattern", ""),
        frozenset(entry.get("unsupported", ())),
    )


def _cell(stated: list[Any], evidence: Mapping[str, Evidence]) -> Cell:
    status, row, certainty = stated
    if status not in get_args(Status) or certainty not in get_args(Certainty):
        raise ValueError(f"a cell must be a status, a row and a certainty, got {stated!r}")
    return Cell(status, certainty, evidence[row] if row else None)


def _evidence(row: dict[str, str], texts: Mapping[str, str]) -> Evidence:
    return Evidence(
        row["rule_id"],
        row["rule"],
        _spoken(row["error_text"], texts),
        row["source"],
        row["certainty"],
        row["strands_repairs"],
        row["effect"],
    )


def _spoken(text: str, texts: Mapping[str, str]) -> str:
    """Return the provider's own words: remarks of the collector stand in parentheses, some of them point elsewhere."""
    pointer = re.fullmatch(r"\(see ([\w.]+)\)", text)
    if pointer:
        return _spoken(texts.get(pointer[1], ""), texts)
    return "" if text.startswith("(") and text.endswith(")") else text


def _read(name: str) -> Any:
    return json.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
