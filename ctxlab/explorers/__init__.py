"""The explorer as a widget for Jupyter. A module here is one control or one view; rules and figures live elsewhere."""

from ctxlab.explorers.animator import Animator
from ctxlab.explorers.explorer import Explorer
from ctxlab.explorers.tuner import Tuner
from ctxlab.explorers.turns import Turns

__all__ = ["Animator", "Explorer", "Tuner", "Turns"]
