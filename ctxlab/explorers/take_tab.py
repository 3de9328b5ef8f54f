"""The tab "Take away": what is wanted of what is shown, made on request, and offered for download.

What comes out is decided in `taking`. Nothing is written here and no rule lives here.
"""

from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets

from ctxlab.escaping import html
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.guarded import EXPECTED, say
from ctxlab.explorers.offer import Offer
from ctxlab.explorers.state import State
from ctxlab.explorers.taking import ALONE, FIND, What, Wish, rights, take
from ctxlab.explorers.view import FULL, Guard, button, row, set_value, text, toggle_class
from ctxlab.explorers.work import Stopped
from ctxlab.takeaway import Artifact

KINDS: tuple[tuple[str, What, str], ...] = (
    (
        "Failing test",
        "test",
        "A pytest file for the real SDK, to put into a pull request: it fails with the policy chosen above and passes "
        "with the one that does it right. The session in it is reduced to the messages that matter.",
    ),
    (
        "Page",
        "page",
        "One HTML file to attach to an issue: the timeline, every trim point with its reason, the rounds to play, and "
        "what each provider says. It needs no network and no kernel.",
    ),
    ("Reduced session", "reduced", "The messages of the failing test as Strands JSON."),
    ("Whole session", "session", "All messages as Strands JSON."),
    ("Trace", "trace", "All that the policy does under the budget, as JSON that ctxlab can replay."),
    ("Table", "table", "The trace as a table (CSV), an edit a row; in Python it is trace.to_frame()."),
)


class TakeTab:
    """The choices, and what was made of them last. ``findings`` returns those of what is shown now."""

    name = "Take away"

    def __init__(self, findings: Callable[[], Findings], guard: Guard) -> None:
        self.findings = findings
        self.what = ipywidgets.ToggleButtons(
            options=[(label, what) for label, what, _ in KINDS],
            tooltips=[about for _, _, about in KINDS],
            style={"button_width": "auto"},
        )
        self.what.add_class("ctxlab-what")
        self.about = text("ctxlab-quiet")
        self.right = ipywidgets.Dropdown(description="Done right by", style=FULL, layout={"width": "auto"})
        self.keep_text = _box("keep the words", "Keep the session's own words; without, they become filler")
        self.words = _box("with the words", "Leave it out to make every text filler of the same length", True)
        self.prove = _box("run it on both releases", "With pytest; pip fetches releases that are not there yet", True)
        self.redacted = _box("redact", "Replace keys, tokens, e-mail addresses and users in home paths", True)
        self.names = ipywidgets.Text(
            description="and the names", placeholder="comma separated", style=FULL, layout={"width": "280px"}
        )
        self.make = button("Make it", "Nothing is written yet: it is offered for download", guard(self._make))
        self.make.button_style = "primary"
        self.offer = Offer(layout={"width": "100%"})
        self.widget = ipywidgets.VBox(
            [
                self.what,
                self.about,
                row(self.right, self.keep_text, self.words, self.prove, self.redacted, self.names),
                row(self.make),
                self.offer,
            ],
            layout={"width": "100%"},
        )
        self.what.observe(guard(lambda _: self._describe()), "value")
        self._made: dict[What, tuple[Artifact, tuple[str, ...], tuple[Any, ...]]] = {}
        self._describe()

    def show(self, findings: Findings) -> None:
        """Offer the policies that may do right what the chosen one does wrong; say if what was made is of another."""
        options = (
            ("the first that is found", FIND),
            *((name if name[0].isalpha() else f"Strands {name}", name) for name in rights(findings.state.policy)),
            ("none that is known", ALONE),
        )
        if self.right.options != options:
            chosen = self.right.value
            self.right.options = options
            self.right.value = chosen if chosen in dict(options).values() else FIND
        self._tell_age()

    def _describe(self) -> None:
        what = self.what.value
        about = next(about for _, one, about in KINDS if one == what)
        set_value(self.about, value=html(about))
        for control, kinds in (
            (self.right, ("test", "reduced")),
            (self.keep_text, ("test", "reduced")),
            (self.words, ("page", "session", "trace")),
            (self.prove, ("test",)),
            (self.redacted, ("test", "reduced", "page", "session", "trace")),
            (self.names, ("test", "reduced", "page", "session", "trace")),
        ):
            toggle_class(control, "ctxlab-hidden", what not in kinds)
        # What is offered is always what is chosen: a file that was made before lies under its own name.
        if what in self._made:
            made, words, _ = self._made[what]
            self.offer.show(made, words)
            self._tell_age()
        else:
            self.offer.clear()

    def _tell_age(self) -> None:
        made = self._made.get(self.what.value)
        stale = made is not None and made[2] != _of(self.findings().state)
        old = "Made before session, policy or budget were changed: make it again."
        set_value(self.offer, stale=old if stale else "")

    def _make(self, _: Any) -> None:
        # What is shown now: a press may come before the tab has been told about it.
        findings = self.findings()
        names = tuple(name.strip() for name in self.names.value.split(",") if name.strip())
        wish = Wish(
            self.what.value,
            self.right.value,
            self.keep_text.value,
            self.redacted.value,
            names,
            self.prove.value,
            self.words.value,
        )
        name, tokens = findings.run.manager.name, findings.state.budget
        words = (f"Made of “{findings.session.name}” with {name} and a budget of {tokens:,} tokens.", *_warning(wish))
        set_value(self.make, description="Making it…", disabled=True)
        try:
            made = take(findings, wish)
        except (Stopped, *EXPECTED) as error:
            # Said here: the place for errors may be far above, out of sight.
            self.offer.clear("Stopped: nothing was made." if isinstance(error, Stopped) else say(error))
        else:
            self._made[wish.what] = (made, words, _of(findings.state))
            self.offer.show(made, words)
        finally:
            set_value(self.make, description="Make it", disabled=False)


def _warning(wish: Wish) -> Iterator[str]:
    """Say what to do before a file that holds words of the session is passed on."""
    has_words = wish.keep_text if wish.what in ("test", "reduced") else wish.words and wish.what != "table"
    if has_words and wish.redacted:
        yield "Redacting finds what has a known form. Look through it before you pass it on."
    elif has_words:
        yield "Nothing was redacted. Look through it before you pass it on."


def _of(state: State) -> tuple[Any, ...]:
    return (state.source, state.view, state.policy, state.budget, state.counter)


def _box(label: str, tooltip: str, value: bool = False) -> ipywidgets.Checkbox:
    return ipywidgets.Checkbox(value=value, description=label, tooltip=tooltip, indent=False, layout={"width": "auto"})
