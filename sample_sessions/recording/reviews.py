"""Sessions of a code reviewer: tool calls and their results all the way, and only the first message is a prompt."""

from strands.hooks import AfterToolCallEvent, HookProvider, HookRegistry

from .model import Reply, call
from .studio import Studio, until_it_overflows
from .tools import fetch_diff, read_file, run_tests, search_code

_TOOLS = (fetch_diff, read_file, run_tests, search_code)
_SYSTEM = "You review pull requests for the parcel desk. Read before you judge, and name file and line."

_LONG_REVIEW = (
    call("fetch_diff", say="I start with the change itself.", path="parceldesk/intake.py", hunks=7),
    call("read_file", say="Now the module as it was.", path="parceldesk/intake.py", lines=70),
    call("search_code", say="Who calls it?", pattern="assign_route(", limit=22),
    call("fetch_diff", path="parceldesk/routes.py", hunks=9),
    call("read_file", path="parceldesk/routes.py", lines=84),
    call("run_tests", say="Do its tests hold?", target="tests/test_routes.py", cases=34),
    call("fetch_diff", path="parceldesk/labels.py", hunks=4),
    call("read_file", path="parceldesk/labels.py", lines=48),
    call("search_code", say="The printed reference is used elsewhere, too.", pattern="print_label(", limit=9),
    call("read_file", path="parceldesk/printing/client.py", lines=92),
    call("fetch_diff", path="parceldesk/printing/client.py", hunks=6),
    call("run_tests", target="tests/test_printing.py", cases=28),
    call("read_file", say="The retry needs a look at the store.", path="parceldesk/store/session.py", lines=96),
    call("search_code", pattern="with_changes(", limit=30),
    call("fetch_diff", path="parceldesk/store/session.py", hunks=8),
    call("read_file", path="parceldesk/store/query.py", lines=60),
    call("run_tests", target="tests/test_store.py", cases=41),
    call("fetch_diff", path="parceldesk/tariffs.py", hunks=5),
    call("read_file", say="Rounding changed; which tariffs does it touch?", path="parceldesk/tariffs.py", lines=76),
    call("search_code", pattern="price_parcel(", limit=18),
    call("read_file", path="parceldesk/carriers/gateway.py", lines=90),
    call("fetch_diff", path="parceldesk/carriers/gateway.py", hunks=10),
    call("run_tests", target="tests/test_carriers.py", cases=37),
    call("fetch_diff", path="parceldesk/manifest.py", hunks=3),
    call("read_file", path="parceldesk/manifest.py", lines=66),
    call("search_code", say="Is the lock taken in every path?", pattern="manifest_lock(", limit=14),
    call("read_file", path="parceldesk/locks.py", lines=54),
    call("fetch_diff", path="parceldesk/depots.py", hunks=6),
    call("read_file", path="parceldesk/depots.py", lines=72),
    call("run_tests", target="tests/test_depots.py", cases=25),
    call("fetch_diff", say="The migration comes last.", path="migrations/0042_pickup_zone.py", hunks=4),
    call("read_file", path="migrations/0042_pickup_zone.py", lines=64),
    call("read_file", path="migrations/0041_tariff_zone.py", lines=58),
)


def review_2173(studio: Studio) -> None:
    """The eight messages of #2173: one prompt, three tool pairs, one closing text; every result is short."""
    replies = (
        call("search_code", "1", pattern="print_label(", limit=3),
        call("run_tests", "2", target="tests/test_labels.py", cases=3),
        call("run_tests", "3", target="tests/test_printing.py", cases=3),
        Reply(
            "Reviewed. All three callers pass the new argument. One test of the labels fails, the one that the pull "
            "request should have changed with it; printing is fine."
        ),
    )
    agent = studio.agent("reviewer", replies, system_prompt=_SYSTEM, tools=_TOOLS)
    agent("Review this: pull request 301 renames an argument of print_label. Are all callers changed?")


def review_long(studio: Studio) -> None:
    """A review that dies of its own tool results after more than thirty pairs, with no plain prompt but the first."""
    agent = studio.agent("reviewer", _LONG_REVIEW, system_prompt=_SYSTEM, tools=_TOOLS, context_window=24_000)
    until_it_overflows(
        agent,
        "Review this: pull request 318, routes by pickup zone. It touches intake, labels, the store, tariffs, carriers "
        "and depots, and has a migration. I need every place where a parcel could end up on two manifests.",
    )


class _RenumberingProxy(HookProvider):
    """Answers one call under another id, as a gateway does that retries a call and passes on the retry's id."""

    def __init__(self, tool_use_id: str) -> None:
        self._tool_use_id = tool_use_id

    def register_hooks(self, registry: HookRegistry, **kwargs: object) -> None:
        registry.add_callback(AfterToolCallEvent, self._renumber)

    def _renumber(self, event: AfterToolCallEvent) -> None:
        if event.tool_use["toolUseId"] == self._tool_use_id:
            event.result = {**event.result, "toolUseId": f"{self._tool_use_id}-retry"}


def mismatched_pair(studio: Studio) -> None:
    """A review in which the third of four calls is answered under an id that nobody asked with."""
    replies = (
        call("fetch_diff", "call-1", path="parceldesk/pickups.py", hunks=3),
        call("read_file", "call-2", path="parceldesk/pickups.py", lines=24),
        call("search_code", "call-3", pattern="confirm_pickup(", limit=6),
        call("run_tests", "call-4", target="tests/test_pickups.py", cases=5),
        Reply("The change is sound. One caller still passes the local time; the others pass UTC, as they should."),
    )
    agent = studio.agent(
        "reviewer", replies, system_prompt=_SYSTEM, tools=_TOOLS, hooks=[_RenumberingProxy("call-3")]
    )
    agent("Review this: pickups are confirmed in UTC from now on. Did the pull request find every caller?")


SAMPLES = {"review-2173": review_2173, "review-long": review_long, "mismatched-pair": mismatched_pair}
