"""One HTML page of what happens to a session: no network, no kernel, redacted, to be attached to an issue.

It is drawn from the records that the explorer draws; no rule lives here, and nothing is written to disk.
"""

from ctxlab.report.page import html_page

__all__ = ["html_page"]
