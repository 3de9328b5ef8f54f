"""Text from a session, made fit to be shown: for HTML, for a plotly label, for a terminal.

Session text is hostile: markup, ANSI escapes, bidirectional overrides, invisible characters, lone surrogates. Here they
become something that a person can see and that no renderer acts on. Nothing here knows a session or a figure.
"""

import html as _html

_INVISIBLE = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x061C, 0x061C),  # Arabic letter mark
    (0x200B, 0x200B),  # zero width space; the joiners after it hold emoji and scripts together and stay
    (0x200E, 0x200F),  # direction marks
    (0x2028, 0x202E),  # line and paragraph separators, direction embeddings and overrides
    (0x2060, 0x206F),  # invisible operators, direction isolates, deprecated format characters
    (0xD800, 0xDFFF),  # lone surrogates, which cannot be sent anywhere as UTF-8
    (0xFEFF, 0xFEFF),  # byte order mark
    (0xFFF9, 0xFFFB),  # interlinear annotation
    (0xE0000, 0xE007F),  # tags: text that a model reads and nobody sees
)

_SEEN: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: "\u2421",
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{code: f"\\u{code:04x}" for first, last in _INVISIBLE for code in range(first, last + 1)},
}

_ONE_LINE = {ord("\n"): "\u2424", ord("\t"): " "}


def visible(text: str) -> str:
    """Return the text with control and invisible characters shown as signs (␛) or escapes (\\u202e).

    Line ends and tabs stay, as do the joiners that emoji are made with.
    """
    return text.replace("\r\n", "\n").translate(_SEEN)


def one_line(text: str, limit: int | None = None) -> str:
    """Return visible text on one line, of at most ``limit`` characters: the rest is an ellipsis."""
    # Cut first: a text of a megabyte must not be gone through for the sake of its first words.
    short = text if limit is None else text[: limit + 1]
    line = visible(short).translate(_ONE_LINE)
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def html(text: str) -> str:
    """Return visible text as HTML that shows it, in an element or in a quoted attribute."""
    return _html.escape(visible(text))


def plotly(text: str, limit: int | None = None) -> str:
    """Return one line of visible text for a plotly title, label or hover, which read a subset of HTML and TeX."""
    return _html.escape(one_line(text, limit), quote=False).replace("$", "&#36;")


def terminal(text: str) -> str:
    """Return visible text for a terminal; ANSI escapes have become signs. Markup of rich is not its business."""
    return visible(text)
