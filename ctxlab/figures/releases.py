"""`releases`: lanes as a plotly figure, a lane a policy, the same columns in every lane. It draws a record and decides
nothing: kept is solid, dropped is pale and hatched, shortened is solid up to what is left, × is a broken rule.
"""

import plotly.graph_objects as go

from ctxlab.escaping import plotly as escaped
from ctxlab.figures.lanes import Lanes, Strip
from ctxlab.figures.palette import CLEAR, COLOURS

LANE = 92
"""Pixels of height a lane."""

FULL = 0.62
"""The height of the highest bar, as a part of the height of a lane."""

PAPER = "#FFFFFF"
"""A figure stands on its own paper, so that it can be read wherever it is put."""

FATES = {"k": "stays", "d": "goes", "c": "is shortened", "m": "goes in part"}
PATTERN = {"shape": "/", "fgcolor": "#606060", "bgcolor": CLEAR, "size": 5, "solidity": 0.25}


def releases(lanes: Lanes) -> go.Figure:
    """Return the figure of lanes; its width follows the page."""
    strips = lanes["strips"]
    figure = go.Figure()
    for row, strip in enumerate(strips):
        for trace in _bars(lanes, strip, len(strips) - 1 - row):
            figure.add_trace(trace)
    names = [f"<b>{escaped(strip['name'])}</b><br>{_short(strip)}" for strip in reversed(strips)]
    figure.update_layout(
        barmode="overlay",
        bargap=0,
        template=None,
        showlegend=False,
        height=60 + LANE * len(strips),
        margin={"l": 150, "r": 14, "t": 20, "b": 36},
        paper_bgcolor=PAPER,
        plot_bgcolor=PAPER,
        font={"color": "#222222"},
        yaxis={
            "tickvals": [at + FULL / 2 for at in range(len(strips))],
            "ticktext": names,
            "range": [-0.25, len(strips) - 0.05],
            "showgrid": False,
            "zeroline": False,
        },
        xaxis={"range": [-0.6, lanes["count"] - 0.4], "tickformat": ",d", "showgrid": False, "zeroline": False},
    )
    return figure


def _bars(lanes: Lanes, strip: Strip, base: int) -> list[go.Bar | go.Scatter]:
    size, bars = lanes["size"], lanes["bars"]
    starts = range(0, lanes["count"], size)
    ends = [min(start + size, lanes["count"]) for start in starts]
    places = [(start + end - 1) / 2 for start, end in zip(starts, ends, strict=True)]
    widths = [(end - start) * 0.9 for start, end in zip(starts, ends, strict=True)]
    full = [FULL * (0.12 + 0.88 * (bar["height"] / 100) ** 0.5) for bar in bars]
    kept = [
        tall if fate == "k" else tall * share / 100
        for tall, share, fate in zip(full, strip["shares"], strip["fates"], strict=True)
    ]
    colours = [COLOURS[bar["kind"]] for bar in bars]
    words = [
        f"{escaped(bar['words'])}<br>{escaped(strip['name'])}: {FATES[fate]}"
        for bar, fate in zip(bars, strip["fates"], strict=True)
    ]
    gone = {"color": colours, "opacity": 0.35, "pattern": PATTERN, "line": {"width": 0}}
    traces: list[go.Bar | go.Scatter] = [
        go.Bar(
            name=f"{strip['name']} gone", x=places, y=full, base=base, width=widths, marker=gone,
            hovertext=words, hoverinfo="text",
        ),
        go.Bar(
            name=f"{strip['name']} stays", x=places, y=kept, base=base, width=widths, hoverinfo="skip",
            marker={"color": colours, "line": {"width": 0}},
        ),
    ]  # fmt: skip
    if strip["cut"] >= 0:
        edge = strip["cut"] - 0.5
        traces.append(
            go.Scatter(
                name=f"{strip['name']} cut", x=[edge, edge], y=[base - 0.05, base + 0.8], mode="lines+text",
                text=["", f"cut at {strip['cut']:,}"], textposition="middle left", hoverinfo="skip",
                line={"width": 3, "color": "#111111"},
            )
        )  # fmt: skip
    if strip["marks"]:
        where = [mark["message"] if mark["message"] >= 0 else max(strip["cut"], 0) for mark in strip["marks"]]
        said = [f"× {escaped(mark['rule'])}: {escaped(mark['detail'])}" for mark in strip["marks"]]
        traces.append(
            go.Scatter(
                name=f"{strip['name']} broken", x=where, y=[base - 0.11] * len(where), mode="markers",
                marker={"symbol": "x", "size": 9, "color": "#B3261E"}, hovertext=said, hoverinfo="text",
            )
        )  # fmt: skip
    return traces


def _short(strip: Strip) -> str:
    refused = sum(answer["status"] == "refused" for answer in strip["answers"])
    outcome = escaped(strip["outcome"])
    return f"{outcome}, refused by {refused} of {len(strip['answers'])}"
