"""What one round finds out about a conversation and the next round need not find out again.

Only speed depends on it: a manager gives the same answer with a fresh survey. No rule lives here.
"""

from ctxlab.edits import DropMessages, Edit, Summarize
from ctxlab.invariants import Case, Known, broken_cases
from ctxlab.messages import Conversation
from ctxlab.trimming import TrimRule, kind_codes, kind_codes_of, trim_point


class Survey:
    """The kinds of all trim points under one rule, what is broken, how many messages in front hold no result to cut.

    `follow` carries them over an edit. Whoever searches for a tool result to cut starts at ``skip`` and moves it on.
    """

    __slots__ = ("_codes", "_known", "_rule", "_same", "_seams", "skip")

    def __init__(self) -> None:
        self._codes: bytes | None = None
        self._rule: TrimRule | None = None
        self._known: Known | None = None
        self._same = 0
        self._seams: dict[tuple[int, ...], tuple[Conversation, frozenset[Case]]] = {}
        self.skip = 0

    def codes(self, messages: Conversation, rule: TrimRule) -> bytes:
        """Return the `kind_codes` of the conversation under a rule."""
        if self._codes is None or self._rule != rule:
            self._codes, self._rule = kind_codes(messages, rule), rule
        return self._codes

    def breaks(self, messages: Conversation, case: Case) -> bool:
        """Say whether a case is among the `broken_cases` of the conversation."""
        if self._known is None:
            self._known, self._same = Known(messages), len(messages)
        return self._known.breaks(messages, self._same, case)

    def seam(self, messages: Conversation) -> frozenset[Case]:
        """Return the `broken_cases` of messages that a cut would bring together; every round asks about the same."""
        # The messages are kept with what was found, so that no other ones can get their identities.
        key = tuple(map(id, messages))
        if key not in self._seams:
            self._seams[key] = messages, broken_cases(messages)
        return self._seams[key][1]

    def follow(self, edit: Edit, after: Conversation) -> None:
        """Take in that ``edit`` made the conversation what it is ``after`` it.

        Pins and shortened texts change neither roles nor tool blocks, which are all that a trim point rests on.
        """
        if isinstance(edit, DropMessages):
            self._drop(edit, after)
            self._same = min(self._same, len(after) + len(edit.indices) - 1 - max(edit.indices, default=-1))
            return
        self._known = None
        if isinstance(edit, Summarize):
            self._codes = None
            self.skip = 0

    def _drop(self, edit: DropMessages, after: Conversation) -> None:
        self.skip = self.skip - len(edit.indices) if self.skip >= edit.trim_point else 0
        if self._codes is not None and self._rule is not None:
            # Messages that stay before the cut may have a new neighbour; behind the cut nothing changes.
            front = range(edit.trim_point - len(edit.indices))
            anew = kind_codes_of(trim_point(after, index, self._rule) for index in front)
            self._codes = anew + self._codes[edit.trim_point :]
