"""The tools that the agents are given: real `@tool` functions over the texts of the made-up warehouse."""

from typing import Any

from strands import tool

from . import pictures, texts
from .dice import Dice


@tool
def read_file(path: str, lines: int) -> str:
    """Read the first lines of a source file.

    Args:
        path: The file, relative to the root of the repository.
        lines: How many lines to return.
    """
    return texts.source(path, lines)


@tool
def fetch_diff(path: str, hunks: int) -> str:
    """Fetch what a pull request changes in a file.

    Args:
        path: The file, relative to the root of the repository.
        hunks: How many hunks to return at most.
    """
    return texts.diff(path, hunks)


@tool
def run_tests(target: str, cases: int) -> str:
    """Run the tests of a folder.

    Args:
        target: The test file to run.
        cases: How many test cases to run at most.
    """
    return texts.test_report(target, cases)


@tool
def search_code(pattern: str, limit: int) -> str:
    """Search the code for a pattern.

    Args:
        pattern: What to look for.
        limit: How many hits to return at most.
    """
    return texts.hits(pattern, limit)


@tool
def search_logs(service: str, lines: int, start: str = "2026-09-06T01:40:00") -> str:
    """Return log lines of a service.

    Args:
        service: The name of the service.
        lines: How many lines to return.
        start: The time of the first line, UTC.
    """
    return texts.log(service, lines, start=start)


@tool
def service_status(service: str) -> str:
    """Say how a service is doing.

    Args:
        service: The name of the service.
    """
    dice = Dice(f"status of {service}")
    return f"{service}: {dice.between(2, 8)} of 8 instances healthy, {dice.between(0, 900)} messages waiting"


@tool
def restart_service(service: str) -> str:
    """Restart a service; refused during the freeze.

    Args:
        service: The name of the service.
    """
    raise PermissionError(f"{service} may not be restarted between 01:00 and 05:00 UTC without an approval")


@tool
def run_query(table: str, limit: int) -> str:
    """Return rows of a table as comma-separated text.

    Args:
        table: The table to read.
        limit: How many rows to return at most.
    """
    return texts.csv(table, limit)


@tool
def count_rows(table: str) -> str:
    """Count the rows of a table.

    Args:
        table: The table to count.
    """
    return f"{Dice(f'count of {table}').between(2000, 900000)} rows in {table}"


@tool
def export_rows(table: str, limit: int) -> dict[str, Any]:
    """Return rows of a table as JSON.

    Args:
        table: The table to read.
        limit: How many rows to return at most.
    """
    return {"status": "success", "content": [{"json": {"table": table, "rows": texts.rows(table, limit)}}]}


@tool
def write_file(path: str, content: str) -> str:
    """Write a file.

    Args:
        path: The file to write.
        content: What to write.
    """
    return f"wrote {len(content)} characters to {path}"


@tool
def track_parcel(reference: str) -> str:
    """Say where a parcel is.

    Args:
        reference: The reference on the label.
    """
    depot, place, hours = texts.whereabouts(reference)
    return f"{reference}: depot {depot}, {place}, last scan {hours} h ago"


@tool
def render_chart(metric: str) -> dict[str, Any]:
    """Draw a metric over the last day.

    Args:
        metric: The name of the metric.
    """
    image = {"image": {"format": "png", "source": {"bytes": pictures.bar_chart(metric)}}}
    return {"status": "success", "content": [{"text": f"{metric}, the last 24 hours, one bar an hour"}, image]}
