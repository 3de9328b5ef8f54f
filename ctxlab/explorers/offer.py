"""`Offer`: something to take away, as the page shows it: what it is, what was replaced, how it was proven, a download.

The text goes to the browser, which writes the file; the kernel writes none. Nothing is decided here.
"""

from collections.abc import Iterable

import anywidget
import traitlets

from ctxlab.explorers.bundle import script, style
from ctxlab.takeaway import Artifact


class Offer(anywidget.AnyWidget):
    """Shows one artifact: ``about``, ``redacted`` and ``missing`` are sentences, ``runs`` (as wanted or not, sentence).

    ``made`` counts what was shown, so that the same one made again is told of; ``stale`` says why it is of another
    state, ``problem`` why there is nothing to show.
    """

    _esm = script("offer")
    _css = style("offer")
    name = traitlets.Unicode("").tag(sync=True)
    media_type = traitlets.Unicode("").tag(sync=True)
    text = traitlets.Unicode("").tag(sync=True)
    about: traitlets.List[str] = traitlets.List().tag(sync=True)
    redacted: traitlets.List[str] = traitlets.List().tag(sync=True)
    runs: traitlets.List[tuple[bool, str]] = traitlets.List().tag(sync=True)
    missing: traitlets.List[str] = traitlets.List().tag(sync=True)
    stale = traitlets.Unicode("").tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)
    made = traitlets.Int(0).tag(sync=True)

    def show(self, artifact: Artifact, of: Iterable[str]) -> None:
        """Show an artifact; ``of`` says of what it was made, and what to mind."""
        proof = artifact.proof
        with self.hold_sync():
            self.name, self.media_type, self.text = artifact.name, artifact.media_type, artifact.text
            self.about = [*of, *artifact.about]
            self.redacted = list(artifact.redaction.sentences) if artifact.redaction else []
            self.runs = [(run.found == run.wanted, run.sentence) for run in proof.runs] if proof else []
            self.missing = list(proof.missing) if proof else []
            self.stale = self.problem = ""
            self.made += 1

    def clear(self, problem: str = "") -> None:
        """Show no artifact, and say why if there is something to say."""
        with self.hold_sync():
            self.name = self.text = self.stale = ""
            self.problem = problem
            self.made += 1
