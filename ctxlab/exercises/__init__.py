"""Exercises: a conversation, a question about it, and for each message why it is an answer or why not.

Every reason is the value that the algorithm itself used: a `Rejection`, a verdict on what would stay, a breach that a
provider minds. Nothing is drawn here, and whoever asks keeps the score.
"""

from ctxlab.exercises.exercise import Ask, Exercise, exercise_from
from ctxlab.exercises.public import public_exercises
from ctxlab.exercises.study import NOWHERE, Deed, Progress, Study, Told, is_right, progress

__all__ = [
    "NOWHERE",
    "Ask",
    "Deed",
    "Exercise",
    "Progress",
    "Study",
    "Told",
    "exercise_from",
    "is_right",
    "progress",
    "public_exercises",
]
