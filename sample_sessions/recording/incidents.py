"""Sessions of an agent that looks into incidents: logs that are too long, wherever in the conversation they end up."""

from strands.types.content import ContentBlock

from . import texts
from .model import Call, Reply, call
from .studio import Studio, until_it_overflows
from .tools import count_rows, restart_service, run_query, search_logs, service_status

_TOOLS = (search_logs, service_status, restart_service, run_query, count_rows)
_SYSTEM = "You help the night shift of the parcel desk with incidents. Say what you know, then what you suspect."
_SERVICES = ("intake", "router", "labels", "tariffs", "gateway", "manifest", "scanner", "pickup", "notify", "archive")
_PART = 5_000


def oldest_result_small(studio: Studio) -> None:
    """#4341: the oldest tool results are a line each, the newest is far too long, and the model refuses it."""
    replies = (
        call("service_status", service="intake"),
        Reply("Intake has lost instances, but nothing is stuck: what waits is below the limit of 1,000."),
        call("count_rows", table="imports_of_last_night"),
        Reply("The import itself did write rows, so it stopped half-way rather than not starting."),
        call("search_logs", say="I take the log of the whole night.", service="importer", lines=1400),
    )
    agent = studio.agent("incidents", replies, system_prompt=_SYSTEM, tools=_TOOLS, context_window=32_000)
    agent("The nightly import failed. Start with intake: is it healthy?")
    agent("How far did the import get? Please keep the count in mind, I need it for the report.")
    until_it_overflows(agent, "Then find the first error of the importer, and say which depot it was.")


def parallel_calls(studio: Studio) -> None:
    """Several tools are called at once and answered in one message; one of them fails."""
    replies = (
        Reply("I look at all four at once.", tuple(Call("service_status", {"service": s}) for s in _SERVICES[:4])),
        Reply(
            "Intake and tariffs have most waiting. Their logs, and the queue:",
            (
                Call("search_logs", {"service": "intake", "lines": 18}),
                Call("search_logs", {"service": "tariffs", "lines": 26}),
                Call("run_query", {"table": "waiting_parcels", "limit": 20}),
            ),
        ),
        Reply(
            "Both wait for the carrier gateway. A restart would clear its pool of connections.",
            (Call("restart_service", {"service": "gateway"}), Call("service_status", {"service": "carrier"})),
        ),
        Reply("The restart was refused because of the freeze. The carrier is down to two instances; I would wait."),
        Reply("", (Call("service_status", {"service": "gateway"}), Call("count_rows", {"table": "waiting_parcels"}))),
        Reply("Not yet: 871 messages wait on three instances of the gateway. Ask for the approval of a restart now."),
    )
    agent = studio.agent("incidents", replies, system_prompt=_SYSTEM, tools=_TOOLS)
    agent("Labels are printed late since 02:10. Which of intake, router, labels and tariffs is behind?")
    agent("Half an hour has gone by. Better now?")


def eighty_blocks(studio: Studio) -> None:
    """#5791: one prompt of 80 text blocks of 5,000 characters each, and the very first call is refused."""
    whole = "\n".join(texts.log(service, 560) for service in _SERVICES * 2)
    parts: list[ContentBlock] = [{"text": whole[start : start + _PART]} for start in range(0, 80 * _PART, _PART)]
    agent = studio.agent("incidents", (), system_prompt=_SYSTEM, tools=_TOOLS, context_window=64_000)
    until_it_overflows(agent, parts)


def mid_sized_results(studio: Studio) -> None:
    """Forty tool results of 2,000 to 6,000 characters: together too much, and none of them large by itself."""
    rounds = tuple(
        Reply(
            say,
            tuple(
                Call("search_logs", {"service": service, "lines": 26 + (7 * index + 5 * number) % 38, "start": start})
                for index, service in enumerate(_SERVICES)
            ),
        )
        for number, (start, say) in enumerate(
            (
                ("2026-09-06T01:40:00", "First the minutes before the alarm, from every service."),
                ("2026-09-06T02:05:00", "Nothing yet. The minutes around it:"),
                ("2026-09-06T02:20:00", "The gateway is the first to complain. What followed:"),
                ("2026-09-06T02:50:00", "And the recovery, to see in which order they came back."),
            )
        )
    )
    agent = studio.agent("incidents", rounds, system_prompt=_SYSTEM, tools=_TOOLS, context_window=34_000)
    until_it_overflows(agent, "Labels were printed twice at 02:10. Go through the logs of all ten services around it.")


def giant_block(studio: Studio) -> None:
    """A short chat, then one pasted log of 150,000 characters in a single block."""
    replies = (Reply("Yes. Paste it here, and say from when the labels were wrong."),)
    agent = studio.agent("incidents", replies, system_prompt=_SYSTEM, tools=_TOOLS, context_window=32_000)
    agent("I have the log of the label printer from last night. Can you look for the first wrong label?")
    until_it_overflows(agent, "They were wrong from about 02:10. The log:\n" + texts.log("printer", 2200)[:149_957])


SAMPLES = {
    "oldest-result-small": oldest_result_small,
    "parallel-calls": parallel_calls,
    "eighty-blocks": eighty_blocks,
    "mid-sized-results": mid_sized_results,
    "giant-block": giant_block,
}
