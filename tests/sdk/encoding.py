"""How conversations travel between a test and a released SDK: as JSON, with bytes named as such.

The worker loads this file in an environment that has no ctxlab, so it imports nothing of the project.
"""

import base64
import json
from typing import Any

BYTES = "__bytes__"


def encode(value: Any) -> str:
    """Return canonical JSON: equal values have equal text, whatever the order of their keys."""
    return json.dumps(value, sort_keys=True, default=_named)


def decode(text: str) -> Any:
    """Return the value of JSON text, with its bytes."""
    # The hook is called for every dict and costs more than all the rest.
    return json.loads(text, object_hook=_bytes_back) if BYTES in text else json.loads(text)


def _named(value: Any) -> Any:
    if isinstance(value, bytes):
        return {BYTES: base64.b64encode(value).decode("ascii")}
    raise TypeError(f"{type(value).__name__} does not travel")


def _bytes_back(found: dict[str, Any]) -> Any:
    return base64.b64decode(found[BYTES]) if BYTES in found else found
