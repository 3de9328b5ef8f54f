"""What a person hands to a widget that shows sessions: a Session, a path, messages; several, or by name."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ctxlab.messages import Conversation
from ctxlab.sessions import Session, load

Given = Any
"""A Session, a path to one, or a sequence of messages."""


def conversation(given: Given) -> tuple[str, Conversation]:
    """Return the name and the messages of what was given. Raises what loading raises, TypeError for anything else."""
    if isinstance(given, str | os.PathLike):
        given = load(given)
    if isinstance(given, Session):
        return given.name, given.messages
    if isinstance(given, Iterable) and not isinstance(given, Mapping | bytes):
        messages = tuple(given)
        if all(isinstance(message, Mapping) for message in messages):
            return "conversation", messages
    raise TypeError(f"expected a Session, a path or messages, got {type(given).__name__}")


def conversations(given: Iterable[Given] | Mapping[str, Given]) -> dict[str, Conversation]:
    """Return the messages of several by name; a name that comes twice gets a number."""
    named = given.items() if isinstance(given, Mapping) else ((None, one) for one in given)
    found: dict[str, Conversation] = {}
    for own, one in named:
        name, messages = conversation(one)
        name = unique = own or name
        number = 2
        while unique in found:
            unique = f"{name} ({number})"
            number += 1
        found[unique] = messages
    return found
