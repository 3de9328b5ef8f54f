"""The hatching that lies over what goes: one small SVG picture that plotly lays over a part of the axis.

Plotly has no hatched shapes. An image is moved without drawing a single bar anew. It has no size of its own, so its
lines keep their width and distance however wide it is drawn.
"""

from typing import Any
from urllib.parse import quote

_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="100%">'
    '<defs><pattern id="h" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<line x1="0" y1="0" x2="0" y2="8" stroke="#808080" stroke-width="1.5"/></pattern></defs>'
    '<rect width="100%" height="100%" fill="url(#h)"/></svg>'
)
SOURCE = "data:image/svg+xml," + quote(_SVG)


def hatching(gap: tuple[int, int], domain: tuple[float, float]) -> dict[str, Any]:
    """Return the layout image that hatches the messages of a gap, over the part ``domain`` of the paper's height."""
    return {
        "source": SOURCE,
        "xref": "x",
        "yref": "paper",
        "x": gap[0] - 0.5,
        "sizex": gap[1] - gap[0],
        "y": domain[1],
        "sizey": domain[1] - domain[0],
        "xanchor": "left",
        "yanchor": "top",
        "sizing": "stretch",
        "layer": "above",
        "opacity": 0.5,
    }
