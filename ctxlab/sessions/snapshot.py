"""SDK snapshots: one snapshot file, or the session folder of a SnapshotSessionManager with its history.

A snapshot holds the messages as they were in memory, so what is stored is what was live. Each history entry is a view.
"""

from typing import Any

from ctxlab.sessions.archive import Place
from ctxlab.sessions.disk import look
from ctxlab.sessions.jsontext import JsonReader
from ctxlab.sessions.messages_list import note_what_is_not_counted, placed
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim, SessionFormatError, View
from ctxlab.sessions.shape import conversation
from ctxlab.sessions.source import Source, read_json

_LATEST = "snapshot_latest.json"
_HISTORY = "immutable_history"
_SCHEMA = "1.0"
MAX_HISTORY = 50
"""History entries read, newest first: each repeats the whole conversation."""


def _is_snapshot(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("scope"), str)
        and isinstance(document.get("schema_version"), str)
        and isinstance(document.get("data"), dict)
        and isinstance(document["data"].get("messages"), list)
    )


def _snapshots_folder(folder: Place) -> Place | None:
    """Find the one snapshots folder below a storage, session, agent or snapshots folder.

    Raises:
        SessionFormatError: there are several, or a folder cannot be listed.
    """
    here = look(folder)
    if _LATEST in here.files or _HISTORY in here.folders:
        return folder
    if "snapshots" in here.folders:
        return _snapshots_folder(folder / "snapshots")
    if "scopes" in here.folders:
        scopes = folder / "scopes"
        return _only(scopes / "agent") if "agent" in look(scopes).folders else None
    if "session" in here.folders:
        return _only(folder / "session")
    found = [name for name in here.folders if "scopes" in look(folder / name).folders]
    return _only(folder, tuple(found)) if found else None


def _only(folder: Place, names: tuple[str, ...] | None = None) -> Place | None:
    names = look(folder).folders if names is None else names
    if len(names) > 1:
        listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        raise SessionFormatError(folder, "", f"{len(names)} snapshot sessions or agents: {listed}", "Give one of them.")
    return _snapshots_folder(folder / names[0]) if names else None


def _recognise(source: Source) -> Claim | None:
    if source.folder:
        found = _snapshots_folder(source.place)
        return Claim("a folder with snapshot_latest.json", "certain") if found else None
    if _is_snapshot(source.document):
        return Claim("an object with scope, schema_version and data.messages", "certain")
    return None


def _read(source: Source) -> Reading:
    if not source.folder:
        if not _is_snapshot(source.document):
            needed = "the format needs scope, schema_version and data.messages"
            raise SessionFormatError(source.path, "top level", needed, "Leave format= out.")
        view = _view(source.document, source, "the messages that the snapshot restores")
        return Reading(source.path.name, {"live": view}, "live")
    folder = _snapshots_folder(source.place)
    if folder is None:
        raise SessionFormatError(source.path, "top level", f"no {_LATEST} is in here", "Give the session folder.")
    views: dict[str, View] = {}
    here = look(folder)
    for name in here.links:
        source.book.add("skipped", "a symbolic link, not followed", name)
    if _LATEST in here.files:
        document = _load(folder / _LATEST, source.book)
        views["live"] = _view(document, source, "the messages that the latest snapshot restores")
    if _HISTORY in here.folders:
        views |= _history(folder / _HISTORY, source)
    if not views:
        raise SessionFormatError(folder, "", "none of the snapshots can be read", "Is the copy complete?")
    session = folder.resolve()
    agent = session.parent.name
    owner = session.parent.parent.parent.parent.name if session.parent.parent.name == "agent" else ""
    return Reading(f"{owner} ({agent})" if owner else source.path.name, views, next(iter(views)))


def _history(folder: Place, source: Source) -> dict[str, View]:
    # Snapshot ids are UUIDv7: their names sort by time.
    names = [name for name in look(folder).files if name.startswith("snapshot_") and name.endswith(".json")]
    for name in names[:-MAX_HISTORY]:
        source.book.add("skipped", f"an older snapshot; the newest {MAX_HISTORY} are views", name)
    views: dict[str, View] = {}
    for number, name in reversed(list(enumerate(names, 1))[-MAX_HISTORY:]):
        try:
            # What was repaired is told once, for the latest; a history repeats the same messages.
            quiet = Source(source.path, NoteBook(), folder=True)
            document = _load(folder / name, quiet.book)
            views[f"history {number}"] = _view(document, quiet, f"snapshot {number} of {len(names)}")
        except SessionFormatError as fault:
            source.book.add("skipped", "a snapshot of the history that cannot be read", f"{name} ({fault.reason})")
    return views


def _load(path: Place, book: NoteBook) -> Any:
    document = read_json(path, JsonReader(book), book, path.name)
    if not _is_snapshot(document):
        needed = "a snapshot needs scope, schema_version and data.messages"
        raise SessionFormatError(path, "top level", needed, "Is it a snapshot of an agent?")
    return document


def _view(document: dict[str, Any], source: Source, about: str) -> View:
    data = document["data"]
    if document["schema_version"] != _SCHEMA:
        where = f"schema_version {document['schema_version'][:40]!r}"
        source.book.add("read", f"another version than {_SCHEMA}, which the SDK refuses to restore", where)
    note_what_is_not_counted(source, data)
    if data.get("stash"):
        source.book.add("read", "blocks that were offloaded to the stash are not put back", "data.stash")
    messages = conversation([(f"data.{where}", raw) for where, raw in placed(data["messages"])], source.book)
    state = data.get("conversation_manager_state")
    state = state if isinstance(state, dict) else {}
    removed = state.get("removed_message_count")
    manager = state.get("__name__")
    created = document.get("created_at")
    when = f", taken {created[:40]}" if isinstance(created, str) else ""
    return View(
        messages,
        f"{about} ({len(messages):,}{when})",
        None,
        manager if isinstance(manager, str) else None,
        removed if isinstance(removed, int) else 0,
    )


SNAPSHOT = Reader("strands-snapshot", "a Strands snapshot file or SnapshotSessionManager folder", _recognise, _read)
