"""Names for screen readers where ipywidgets give none: (CSS selector, attribute, text)."""

NAMES: tuple[tuple[str, str, str], ...] = (
    (".ctxlab-preset select", "aria-label", "Known context windows"),
    (".ctxlab-step", "aria-live", "polite"),
    (".ctxlab-about", "aria-live", "polite"),
    (".ctxlab-before", "aria-label", "Message before"),
    (".ctxlab-after", "aria-label", "Message after"),
)
