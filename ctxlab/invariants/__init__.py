"""The invariants: one small check a rule, what a provider makes of a conversation, what a reduction broke.

Algorithms, section 5. Nothing here repairs, cuts or counts tokens.
"""

from ctxlab.invariants.catalogue import CONVERSATION_RULES, REDUCTION_RULES, RULES
from ctxlab.invariants.judging import (
    Case,
    Judgement,
    Verdict,
    broken_cases,
    broken_rules,
    new_violations,
    reduction_violations,
    verdict,
    verdicts,
    violations,
)
from ctxlab.invariants.known import Known
from ctxlab.invariants.provider_rules import SENTENCES as PROVIDER_SENTENCES
from ctxlab.invariants.reductions import Reducible, Reduction, size_of
from ctxlab.invariants.rules import ConversationRule, ReductionRule, Violation
from ctxlab.invariants.turns import ToolBlock, View, look, pending_tool_uses, role_of

__all__ = [
    "CONVERSATION_RULES",
    "PROVIDER_SENTENCES",
    "REDUCTION_RULES",
    "RULES",
    "Case",
    "ConversationRule",
    "Judgement",
    "Known",
    "Reducible",
    "Reduction",
    "ReductionRule",
    "ToolBlock",
    "Verdict",
    "View",
    "Violation",
    "broken_cases",
    "broken_rules",
    "look",
    "new_violations",
    "pending_tool_uses",
    "reduction_violations",
    "role_of",
    "size_of",
    "verdict",
    "verdicts",
    "violations",
]
