"""The record of a session over several turns, under a store of originals and one that writes reductions back.

Nothing is played here and nothing is drawn.
"""

from collections.abc import Mapping
from typing import Any

from ctxlab.turns import Store, Turn

TITLES: dict[Store, str] = {
    "originals": "The store keeps originals, as the SDK's do",
    "reductions": "A store that writes reductions back",
}


def turns_record(played: Mapping[Store, tuple[Turn, ...]], budget: int) -> dict[str, Any]:
    """Return what both stores make of the turns, ready for JSON; sizes are tokens."""
    return {
        "version": 1,
        "budget": budget,
        "summary": summary(played),
        "stores": [
            {
                "name": store,
                "title": TITLES[store],
                "turns": [
                    {
                        "refused": turn.trace.refused_calls,
                        "fits": turn.trace.outcome == "fits",
                        "live": turn.live_tokens,
                        "restored": turn.restored_tokens,
                        "messages": [len(turn.live), len(turn.restored)],
                        "difference": turn.first_difference,
                        "words": turn.sentence,
                    }
                    for turn in turns
                ],
            }
            for store, turns in played.items()
        ],
    }


def summary(played: Mapping[Store, tuple[Turn, ...]]) -> str:
    """Say how many model calls are refused in all under each store."""
    parts = []
    for store, turns in played.items():
        refused = sum(turn.trace.refused_calls for turn in turns)
        name = "With originals in the store" if store == "originals" else "with reductions written back"
        stuck = (
            "" if turns[-1].trace.outcome == "fits" else f", and turn {turns[-1].number} ends {turns[-1].trace.outcome}"
        )
        calls = "call is" if refused == 1 else "calls are"
        over = "turn" if len(turns) == 1 else "turns"
        parts.append(f"{name} {refused:,} model {calls} refused over {len(turns):,} {over}{stuck}")
    return "; ".join(parts) + "."
