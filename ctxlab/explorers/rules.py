"""`Rules`: the rules as small stories, each with an example that breaks it and one that holds.

Nothing is drawn here and no rule lives here: it shows the record of `rule_stories`.
"""

import json

import anywidget
import traitlets

from ctxlab.explorers.releases import lane_script, lane_style
from ctxlab.figures.rule_stories import rule_stories


class Rules(anywidget.AnyWidget):
    """Shows the rules that are named (all, where none are). Raises ValueError for an unknown rule."""

    _esm = lane_script("rules")
    _css = lane_style("rules")
    record = traitlets.Unicode("").tag(sync=True)

    def __init__(self, *rules: str) -> None:
        super().__init__(record=json.dumps(rule_stories(rules), separators=(",", ":")))
