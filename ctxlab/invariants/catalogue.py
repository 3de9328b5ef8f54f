"""All fourteen rules as data: id, sentence, source, check and the two smallest examples of each."""

from collections.abc import Mapping
from types import MappingProxyType

from ctxlab.invariants import conversation_rules as one
from ctxlab.invariants import examples
from ctxlab.invariants import reduction_rules as step
from ctxlab.invariants.rules import ConversationRule, ReductionRule

CONVERSATION_RULES: Mapping[str, ConversationRule] = MappingProxyType(
    {
        rule.id: rule
        for rule in (
            ConversationRule(
                "starts-with-user",
                "the first message is a user message",
                "#2085, #2087",
                one.starts_with_user,
                *examples.PAIRS["starts-with-user"],
                ("call-first", "text-and-call-first", "text-first"),
            ),
            ConversationRule(
                "no-orphan-result",
                "every toolResult answers a toolUse of the message just before it",
                "#120, #2087",
                one.no_orphan_result,
                *examples.PAIRS["no-orphan-result"],
                ("no-call-before", "asked-earlier", "unasked", "other-id", "surplus"),
            ),
            ConversationRule(
                "no-orphan-use",
                "every toolUse is answered in the very next message; one in the last message is pending, not an orphan",
                "#2087, #1123",
                one.no_orphan_use,
                *examples.PAIRS["no-orphan-use"],
                ("unanswered", "answered-later", "other-id", "short"),
            ),
            ConversationRule(
                "ids-match",
                "toolUses and toolResults match as multisets, parallel calls answered in one message",
                "#2296, #2053",
                one.ids_match,
                *examples.PAIRS["ids-match"],
                ("fewer", "more", "ids", "spread"),
            ),
            ConversationRule(
                "roles-alternate",
                "no two messages of the same role in a row",
                "#3447, #1223",
                one.roles_alternate,
                *examples.PAIRS["roles-alternate"],
                ("user", "assistant", "other"),
            ),
            ConversationRule(
                "legal-blocks",
                "no toolUse or reasoningContent in a user message, no toolResult in an assistant message, "
                "no blank text, no empty content",
                "#4402, #1160",
                one.legal_blocks,
                *examples.PAIRS["legal-blocks"],
                (
                    "use-in-user",
                    "reasoning-in-user",
                    "result-in-assistant",
                    "empty-text",
                    "whitespace-text",
                    "empty-user",
                    "empty-assistant",
                    "empty-final-assistant",
                    "not-a-block",
                ),
            ),
        )
    }
)
"""The six rules about one conversation, by id."""

REDUCTION_RULES: Mapping[str, ReductionRule] = MappingProxyType(
    {
        rule.id: rule
        for rule in (
            ReductionRule(
                "routine-keeps-content",
                "routine management never truncates",
                "#702",
                step.routine_keeps_content,
                *examples.REDUCTIONS["routine-keeps-content"],
            ),
            ReductionRule(
                "strictly-smaller",
                "a reduction makes the conversation smaller",
                "growth of 401–446",
                step.strictly_smaller,
                *examples.REDUCTIONS["strictly-smaller"],
            ),
            ReductionRule(
                "largest-first",
                "messages are not dropped while a larger reducible item is left",
                "#4341",
                step.largest_first,
                *examples.REDUCTIONS["largest-first"],
            ),
            ReductionRule(
                "pins-kept",
                "pinned messages survive with their tool partner and in their order",
                "#2196, #4088",
                step.pins_kept,
                *examples.REDUCTIONS["pins-kept"],
            ),
            ReductionRule(
                "terminates",
                "reducing ends: it fits, or it is refused, in a bounded number of rounds",
                "#3338",
                step.terminates,
                *examples.REDUCTIONS["terminates"],
            ),
            ReductionRule(
                "shape-kept",
                "truncation changes no status, id, role, order or block count",
                "#1756, #5791",
                step.shape_kept,
                *examples.REDUCTIONS["shape-kept"],
            ),
            ReductionRule(
                "restored-equals-live",
                "what a restart loads is what was live",
                "#4027, #5690",
                step.restored_equals_live,
                *examples.REDUCTIONS["restored-equals-live"],
            ),
            ReductionRule(
                "no-op-when-fits",
                "nothing changes when nothing is due",
                "algorithms, section 2: manage does nothing while the window is not exceeded",
                step.no_op_when_fits,
                *examples.REDUCTIONS["no-op-when-fits"],
            ),
        )
    }
)
"""The eight rules about a reduction, by id."""

RULES: Mapping[str, ConversationRule | ReductionRule] = MappingProxyType({**CONVERSATION_RULES, **REDUCTION_RULES})
"""All rules of algorithms.md, section 5, by id and in its order."""
