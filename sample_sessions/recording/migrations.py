"""Sessions of an agent that moves data: mass where no rule reaches, pins, and a conversation that was summarized."""

from strands.agent.conversation_manager import SlidingWindowConversationManager, SummarizingConversationManager
from strands.agent.conversation_manager.compression.pin_message import apply_pin_first, pin_message

from . import texts
from .model import Reply, call
from .studio import Studio, until_it_overflows
from .tools import count_rows, export_rows, run_query, write_file

_TOOLS = (run_query, count_rows, export_rows, write_file)
_SYSTEM = "You migrate the tables of the parcel desk. Never write without a count before and after."
_TABLES = ("parcels", "routes", "labels", "tariffs", "pickups", "manifests", "carriers", "depots", "scans", "returns")


def tool_input_json(studio: Studio) -> None:
    """The mass is in what the agent writes (toolUse.input) and in json results; truncation touches neither."""
    replies = tuple(
        reply
        for table in ("tariffs", "depots")
        for reply in (
            call("export_rows", say=f"I read {table}.", table=table, limit=190),
            call(
                "write_file",
                say="And write it in the new layout.",
                path=f"seed/{table}.csv",
                content=texts.csv(table, 640),
            ),
        )
    )
    agent = studio.agent("migration", replies, system_prompt=_SYSTEM, tools=_TOOLS, context_window=48_000)
    until_it_overflows(agent, "Move the seed data of tariffs and depots from the database to files in seed/.")


def pins(studio: Studio) -> None:
    """A brief and a decision are pinned and outlive a window of 8; the last agent pins its first message as well."""
    brief = (
        "Migration of the pickup tables. Rules for all of it: no downtime, ids stay, times become UTC, and the old "
        "tables are kept for 14 days."
    )
    planning = (
        Reply("Understood: no downtime, ids stay, UTC, and 14 days of both tables."),
        call("count_rows", "count-before", table="pickups"),
        Reply("That is the count to compare with at the end."),
        Reply("Then pickups without a depot go to D00, and are listed in the report."),
    )
    draft = studio.agent("planner", planning, system_prompt=_SYSTEM, tools=_TOOLS, stored=False)
    draft(brief)
    draft("Count pickups before anything is written.")
    draft("Decision: a pickup without a depot belongs to depot D00.")
    apply_pin_first(draft.messages, 1)
    counted = next(i for i, m in enumerate(draft.messages) if any("toolResult" in block for block in m["content"]))
    pin_message(draft.messages, counted)
    pin_message(draft.messages, len(draft.messages) - 2)

    work = tuple(
        reply
        for table in _TABLES[:6]
        for reply in (call("run_query", table=table, limit=6), Reply(f"{table}: the sample rows fit the new columns."))
    )
    agent = studio.agent(
        "migration",
        work,
        system_prompt=_SYSTEM,
        tools=_TOOLS,
        manager=SlidingWindowConversationManager(window_size=8, pin_first=2),
        messages=draft.messages,
    )
    for table in _TABLES[:6]:
        agent(f"Next table: {table}. Look at a few rows and say whether they fit.")


def summarized(studio: Studio) -> None:
    """A migration that overflowed twice and went on each time, its oldest messages replaced by a summary."""
    replies = [
        reply
        for table in _TABLES
        for reply in (
            call("run_query", say=f"I look at {table} first.", table=table, limit=34),
            call("count_rows", table=table),
            Reply(f"{table}: copied to {table}_v2. The counts agree, and no reference is missing."),
        )
    ]
    summaries = (
        "## Conversation Summary\n* Tables are copied one by one to their _v2 twin, with a count before and after\n"
        "* parcels and routes are done; every count agreed\n\n## Tools Executed\n"
        "* run_query: sample rows of each table\n* count_rows: the number of rows, before and after",
        "## Conversation Summary\n* parcels, routes, labels, tariffs and pickups are copied; every count agreed\n"
        "* The rest follows the same steps\n\n## Tools Executed\n* run_query and count_rows on each table, no errors",
    )
    agent = studio.agent(
        "migration",
        replies,
        system_prompt=_SYSTEM,
        tools=_TOOLS,
        manager=SummarizingConversationManager(summary_ratio=0.5, preserve_recent_messages=6),
        context_window=4_000,
        summaries=summaries,
    )
    for table in _TABLES:
        agent(f"Copy {table} to {table}_v2 and compare the counts.")


SAMPLES = {"tool-input-json": tool_input_json, "pins": pins, "summarized": summarized}
