"""`Exercises`: where would you cut? A person chooses a message and is told why, in the algorithm's own words.

What is told is in the record, what was chosen comes back; the score is that of `ctxlab.exercises`. Nothing is drawn
here and no rule lives here.
"""

import json
from collections.abc import Iterable

import anywidget
import traitlets

from ctxlab.exercises import Exercise, Progress, Study, progress, public_exercises
from ctxlab.explorers.releases import lane_script, lane_style
from ctxlab.figures.lesson import lesson
from ctxlab.vocabularies import counter as counter_of


class Exercises(anywidget.AnyWidget):
    """Exercises to solve: those made of public bug reports, or any that are given.

    ``choices`` holds by exercise what was chosen, in order (-1: it cannot be cut); ``shown`` whose solution was shown;
    ``current`` is the number of the exercise on the screen, settable.
    """

    _esm = lane_script("lesson")
    _css = lane_style("lesson")
    record = traitlets.Unicode("").tag(sync=True)
    choices = traitlets.Dict().tag(sync=True)
    shown = traitlets.List(traitlets.Unicode()).tag(sync=True)
    current = traitlets.Int(0).tag(sync=True)

    def __init__(self, exercises: Iterable[Exercise] | Exercise | None = None, *, counter: str = "cl100k_base") -> None:
        given = public_exercises() if exercises is None else exercises
        self.exercises = (given,) if isinstance(given, Exercise) else tuple(given)
        if not self.exercises:
            raise ValueError("there must be at least one exercise, got none")
        record = lesson(self.exercises, counter_of(counter))
        super().__init__(record=json.dumps(record, separators=(",", ":")))

    @property
    def progress(self) -> dict[str, Progress]:
        """How far a person is, by exercise."""
        return {
            exercise.id: progress(Study(exercise), self.choices.get(exercise.id, [])) for exercise in self.exercises
        }
