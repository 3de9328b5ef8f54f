"""Names for screen readers where ipywidgets give none: (CSS selector, attribute, text)."""

HANDLE = ".noUi-handle"

NAMES: tuple[tuple[str, str, str], ...] = (
    (f".ctxlab-budget {HANDLE}", "aria-label", "Token budget"),
    (".ctxlab-budget-number input", "aria-label", "Token budget, exactly"),
    (".ctxlab-preset select", "aria-label", "Known context windows"),
    (f".ctxlab-jump {HANDLE}", "aria-label", "Step of the trace"),
    (f".ctxlab-range {HANDLE}-lower", "aria-label", "First message shown"),
    (f".ctxlab-range {HANDLE}-upper", "aria-label", "Last message shown"),
    (".ctxlab-step", "aria-live", "polite"),
    (".ctxlab-about", "aria-live", "polite"),
    (".ctxlab-path input", "aria-label", "Path of a session file or folder"),
)
