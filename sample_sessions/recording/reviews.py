"""Sessions of a code reviewer: tool calls and their results all the way, and only the first message is a prompt."""

from strands.hooks import AfterToolCallEvent, HookProvider, HookRegistry

from .model import Reply, call
from .studio import Studio, until_it_overflows
from .tools import fetch_diff, read_file, run_tests, search_code

_TOOLS = (fetch_diff, read_file, run_tests, search_code)
_SYSTEM = "You review pull requests for the parcel desk. Read before you judge, and name file and line."

_LONG_REVIEW = (
    call("fetch_diff", say="I start with the change itself.", path="parceldesk/intake.py", hunks=9),
    call("read_file", say="Now the module as it was.", path="parceldesk/intake.py", lines=89),
    call("search_code", say="Who calls it?", pattern="assign_route(", limit=28),
    call("fetch_diff", path="parceldesk/routes.py", hunks=11),
    call("read_file", path="parceldesk/routes.py", lines=107),
    call("run_tests", say="Do its tests hold?", target="tests/test_routes.py", cases=43),
    call("fetch_diff", path="parceldesk/labels.py", hunks=5),
    call("read_file", path="parceldesk/labels.py", lines=61),
    call("search_code", say="The printed reference is used elsewhere, too.", pattern="print_label(", limit=11),
    call("read_file", path="parceldesk/printing/client.py", lines=117),
    call("fetch_diff", path="parceldesk/printing/client.py", hunks=8),
    call("run_tests", target="tests/test_printing.py", cases=36),
    call("read_file", say="The retry needs a look at the store.", path="parceldesk/store/session.py", lines=122),
    call("search_code", pattern="with_changes(", limit=38),
    call("fetch_diff", path="parceldesk/store/session.py", hunks=10),
    call("read_file", path="parceldesk/store/query.py", lines=76),
    call("run_tests", target="tests/test_store.py", cases=52),
    call("fetch_diff", path="parceldesk/tariffs.py", hunks=6),
    call("read_file", say="Rounding changed; which tariffs does it touch?", path="parceldesk/tariffs.py", lines=97),
    call("search_code", pattern="price_parcel(", limit=23),
    call("read_file", path="parceldesk/carriers/gateway.py", lines=114),
    call("fetch_diff", path="parceldesk/carriers/gateway.py", hunks=13),
    call("run_tests", target="tests/test_carriers.py", cases=47),
    call("fetch_diff", path="parceldesk/manifest.py", hunks=4),
    call("read_file", path="parceldesk/manifest.py", lines=84),
    call("search_code", say="Is the lock taken in every path?", pattern="manifest_lock(", limit=18),
    call("read_file", path="parceldesk/locks.py", lines=69),
    call("fetch_diff", path="parceldesk/depots.py", hunks=8),
    call("read_file", path="parceldesk/depots.py", lines=91),
    call("run_tests", target="tests/test_depots.py", cases=32),
    call("fetch_diff", say="The migration comes last.", path="migrations/0042_pickup_zone.py", hunks=5),
    call("read_file", path="migrations/0042_pickup_zone.py", lines=81),
    call("read_file", path="migrations/0041_tariff_zone.py", lines=74),
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
    agent = studio.agent("reviewer", _LONG_REVIEW, system_prompt=_SYSTEM, tools=_TOOLS, context_window=30_000)
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
