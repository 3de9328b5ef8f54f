"""The explorer as a widget for Jupyter. A module here is one control or one view; rules and figures live elsewhere."""

from ctxlab.explorers.animator import Animator
from ctxlab.explorers.exercises import Exercises
from ctxlab.explorers.explorer import Explorer
from ctxlab.explorers.matrix import Invariants
from ctxlab.explorers.releases import Releases
from ctxlab.explorers.rules import Rules
from ctxlab.explorers.tuner import Tuner
from ctxlab.explorers.turns import Turns

__all__ = ["Animator", "Exercises", "Explorer", "Invariants", "Releases", "Rules", "Tuner", "Turns"]
