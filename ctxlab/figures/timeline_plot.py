"""The timeline as a plotly figure: to keep, to export, to put on a page. The explorer's widget draws the same record.

Two pictures on one axis: what each message costs, and what is left if the conversation starts there.
"""

from collections.abc import Iterator
from typing import Any

import plotly.graph_objects as go

from ctxlab.escaping import plotly as escaped
from ctxlab.figures.hatch import hatching
from ctxlab.figures.moment import Moment
from ctxlab.figures.palette import BUDGET, CLEAR
from ctxlab.figures.picture import Heights, Now, Picture, heights, now, picture

HEIGHT = 440
"""Pixels."""

ABOVE, BELOW = (0.56, 1.0), (0.0, 0.42)
"""The parts of the height that the two pictures take."""

GONE = 0.38
"""The opacity of what goes: with the hatching over it, still to be told apart by kind."""

GREY = "#808080"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


def timeline(moment: Moment) -> go.Figure:
    """Return the timeline of a moment; its height is fixed, its width follows the page."""
    drawn, at, high = picture(moment.subject), now(moment), heights(moment)
    figure = go.Figure(layout=_layout(drawn))
    figure.add_traces([*_bars(drawn, at), *_signs(drawn), *_line(drawn, at, high), *_marks(drawn, at, high)])
    figure.update_layout(shapes=list(_shapes(drawn, at)), annotations=list(_labels(drawn, at)))
    figure.update_layout(images=[hatching(gap, ABOVE) for gap in at["gaps"]])
    return figure


def _layout(drawn: Picture) -> dict[str, Any]:
    axis = {"zeroline": False, "fixedrange": True, "tickformat": ",d", "gridcolor": "rgba(128,128,128,0.25)"}
    few = drawn["last"] - drawn["first"] <= 16
    return {
        "height": HEIGHT,
        "margin": {"l": 66, "r": 14, "t": 28, "b": 34},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "template": None,
        "font": {"family": FONT, "size": 12},
        "barmode": "stack",
        "showlegend": False,
        "dragmode": False,
        "hovermode": "x",
        "hoverlabel": {"align": "left", "namelength": 0, "bgcolor": "#FFFFFF", "font": {"color": "#222222"}},
        "xaxis": {
            **axis,
            "showgrid": False,
            "anchor": "y2",
            "range": [drawn["first"] - 0.6, max(drawn["last"], drawn["first"] + 1) - 0.4],
            **({"dtick": 1} if few else {"nticks": 14}),
        },
        "yaxis": {**axis, "domain": list(ABOVE), "anchor": "x", "range": [-0.07 * drawn["top"], drawn["top"]]},
        "yaxis2": {**axis, "domain": list(BELOW), "anchor": "x", "range": [0, drawn["ceiling"]]},
    }


def _starts(drawn: Picture) -> range:
    return range(drawn["first"], drawn["last"], drawn["size"])


def _bars(drawn: Picture, at: Now) -> Iterator[Any]:
    ends = [min(start + drawn["size"], drawn["last"]) for start in _starts(drawn)]
    sizes = [end - start for start, end in zip(_starts(drawn), ends, strict=True)]
    centres = [(start + end - 1) / 2 for start, end in zip(_starts(drawn), ends, strict=True)]
    opacity = [1 - (1 - GONE) * _overlap(start, end, at) for start, end in zip(_starts(drawn), ends, strict=True)]
    width = [0.84 * size for size in sizes]
    lost = {(bar, stack): tokens for bar, stack, tokens in at["lost"]}
    for number, stack in enumerate(drawn["stacks"]):
        heights_now = [tokens - lost.get((bar, number), 0) for bar, tokens in enumerate(stack["tokens"])]
        yield go.Bar(
            name=stack["kind"], x=centres, y=heights_now, width=width, hoverinfo="skip",
            marker={"color": stack["colour"], "opacity": opacity, "line": {"width": 0}},
        )  # fmt: skip
    away = [sum(max(0, lost.get((bar, n), 0)) for n in range(len(drawn["stacks"]))) for bar in range(len(sizes))]
    pattern = {"shape": "/", "fgcolor": GREY, "bgcolor": "#FFFFFF", "size": 5, "solidity": 0.3}
    yield go.Bar(
        name="cut away", x=centres, y=away, width=width, hoverinfo="skip",
        marker={"pattern": pattern, "line": {"width": [1 if tokens else 0 for tokens in away], "color": GREY}},
    )  # fmt: skip
    full = [sum(stack["tokens"][bar] for stack in drawn["stacks"]) for bar in range(len(sizes))]
    yield go.Scatter(
        name="hover", x=centres, y=full, mode="markers", marker={"opacity": 0}, hoverinfo="text",
        hovertext=["<br>".join(map(escaped, text.split("\n"))) for text in drawn["hover"]],
    )  # fmt: skip


def _overlap(start: int, end: int, at: Now) -> float:
    """Return the part of a bar's messages that is gone."""
    return sum(max(0, min(end, last) - max(start, first)) for first, last in at["gaps"]) / (end - start)


def _signs(drawn: Picture) -> Iterator[Any]:
    for name, where, symbol, colour in (
        ("pinned", drawn["pinned"], "triangle-down", "#444444"),
        ("media", drawn["media"], "square", "#CCBB44"),
    ):
        if where:
            yield go.Scatter(
                name=name, x=where, y=[-0.035 * drawn["top"]] * len(where), mode="markers", hoverinfo="skip",
                marker={"symbol": symbol, "size": 7, "color": colour},
            )  # fmt: skip


def _line(drawn: Picture, at: Now, high: Heights) -> Iterator[Any]:
    single = drawn["size"] == 1
    yield go.Scatter(
        name="line", x=list(_starts(drawn)), y=high["line"], mode="lines", yaxis="y2", hoverinfo="skip",
        line={"color": "#777777", "width": 1.5, "shape": "hvh" if single else "hv"},
    )  # fmt: skip


def _marks(drawn: Picture, at: Now, high: Heights) -> Iterator[Any]:
    for number, style in enumerate(drawn["styles"]):
        where = [mark for mark, (_, kind) in enumerate(drawn["marks"]) if kind == number]
        if where:
            fill = [style["colour"] if at["fits"][mark] == "1" else CLEAR for mark in where]
            yield go.Scatter(
                name=style["word"], x=[drawn["marks"][mark][0] for mark in where], yaxis="y2", mode="markers",
                y=[high["marks"][mark] for mark in where], hoverinfo="skip", cliponaxis=False,
                marker={
                    "symbol": style["symbol"], "color": fill, "size": 10 if number == 0 else 8,
                    "line": {"width": 1.5, "color": style["colour"]},
                },
            )  # fmt: skip


def _shapes(drawn: Picture, at: Now) -> Iterator[dict[str, Any]]:
    upright = {"type": "line", "xref": "x", "yref": "paper", "y0": 0, "y1": 1}
    level = {"xref": "paper", "yref": "y2", "x0": 0, "x1": 1}
    if at["budget"] <= drawn["ceiling"]:
        line = {"color": BUDGET, "width": 2, "dash": "dash"}
        yield {**level, "name": "budget", "type": "line", "y0": at["budget"], "y1": at["budget"], "line": line}
    for name, index, line in (
        ("search start", at["start"], {"color": "#555555", "width": 1.5, "dash": "dot"}),
        ("cut", at["cut"], {"color": "#111111", "width": 3}),
    ):
        if _is_seen(drawn, index):
            yield {**upright, "name": name, "x0": index - 0.5, "x1": index - 0.5, "line": line}


def _labels(drawn: Picture, at: Now) -> Iterator[dict[str, Any]]:
    plain = {"showarrow": False, "yref": "paper", "align": "left"}
    heading = {**plain, "xref": "paper", "x": 0, "xanchor": "left", "yanchor": "bottom"}
    yield {**heading, "name": "above", "y": ABOVE[1], "text": f"<b>{drawn['above']}</b>"}
    yield {**heading, "name": "below", "y": BELOW[1], "text": f"<b>{drawn['below']}</b>"}
    high = at["budget"] > 0.4 * drawn["ceiling"]
    yield {
        **plain, "name": "budget", "xref": "paper", "x": int(high), "xanchor": "right" if high else "left",
        "yref": "y2", "y": min(at["budget"], drawn["ceiling"]), "text": f"<b>{at['budget_label']}</b>",
        "yanchor": "top" if at["budget"] > 0.88 * drawn["ceiling"] else "bottom", "font": {"color": BUDGET},
    }  # fmt: skip
    for name, index, text, height, look in (
        ("search start", at["start"], at["start_label"], BELOW[1], {"font": {"size": 11}}),
        ("cut", at["cut"], at["cut_label"], ABOVE[1], {"bgcolor": "#111111", "font": {"color": "#FFFFFF"}}),
    ):
        if _is_seen(drawn, index):
            left = index - drawn["first"] < (drawn["last"] - drawn["first"]) / 2
            yield {
                **plain, **look, "name": name, "xref": "x", "x": index - 0.5, "xanchor": "left" if left else "right",
                "xshift": 4 if left else -4, "y": height, "yanchor": "top", "text": text, "borderpad": 3,
            }  # fmt: skip


def _is_seen(drawn: Picture, index: int) -> bool:
    return drawn["first"] <= index <= drawn["last"]
