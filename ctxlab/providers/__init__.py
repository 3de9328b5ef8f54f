"""What is known about providers, as data: profiles with their evidence, and sizes of context windows.

Nothing here looks at a conversation, and nothing here imports the rest of ctxlab.
"""

from ctxlab.providers.context_windows import CONTEXT_WINDOWS
from ctxlab.providers.profiles import (
    UNKNOWN,
    Cell,
    Certainty,
    Evidence,
    Merges,
    Profile,
    Status,
    profile,
    providers,
)

__all__ = [
    "CONTEXT_WINDOWS",
    "UNKNOWN",
    "Cell",
    "Certainty",
    "Evidence",
    "Merges",
    "Profile",
    "Status",
    "profile",
    "providers",
]
