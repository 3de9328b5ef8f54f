"""What one round finds out about a conversation and the next round need not find out again.

Only speed depends on it: a manager gives the same answer with a fresh survey. No rule lives here.
"""

from ctxlab.edits import DropMessages, Edit, Summarize
from ctxlab.messages import Conversation
from ctxlab.trimming import TrimRule, kind_codes, kind_codes_of, trim_point


class Survey:
    """The kinds of all trim points under one rule, and how many messages at the front hold no result to cut.

    `follow` carries both over an edit. Whoever searches for a tool result to cut starts at ``skip`` and moves it on.
    """

    __slots__ = ("_codes", "_rule", "skip")

    def __init__(self) -> None:
        self._codes: bytes | None = None
        self._rule: TrimRule | None = None
        self.skip = 0

    def codes(self, messages: Conversation, rule: TrimRule) -> bytes:
        """Return the `kind_codes` of the conversation under a rule."""
        if self._codes is None or self._rule != rule:
            self._codes, self._rule = kind_codes(messages, rule), rule
        return self._codes

    def follow(self, edit: Edit, after: Conversation) -> None:
        """Take in that ``edit`` made the conversation what it is ``after`` it.

        Pins and shortened texts change neither roles nor tool blocks, which are all that a trim point rests on.
        """
        if isinstance(edit, DropMessages):
            self._drop(edit, after)
        elif isinstance(edit, Summarize):
            self._codes = None
            self.skip = 0

    def _drop(self, edit: DropMessages, after: Conversation) -> None:
        self.skip = self.skip - len(edit.indices) if self.skip >= edit.trim_point else 0
        if self._codes is not None and self._rule is not None:
            # Messages that stay before the cut may have a new neighbour; behind the cut nothing changes.
            front = range(edit.trim_point - len(edit.indices))
            anew = kind_codes_of(trim_point(after, index, self._rule) for index in front)
            self._codes = anew + self._codes[edit.trim_point :]
