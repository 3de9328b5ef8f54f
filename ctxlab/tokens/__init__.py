"""What a conversation costs in tokens: `TokenCounter` counts, `ledger` adds up. Nothing here cuts."""

from ctxlab.tokens.counting import HEURISTIC, Measure, TokenCounter
from ctxlab.tokens.ledgers import COST_KINDS, Ledger, MessageCost, Progress, cost_kind, ledger, message_cost

__all__ = [
    "COST_KINDS",
    "HEURISTIC",
    "Ledger",
    "Measure",
    "MessageCost",
    "Progress",
    "TokenCounter",
    "cost_kind",
    "ledger",
    "message_cost",
]
