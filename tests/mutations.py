"""Files of every format, damaged: in their bytes and in their structure. Seeded, so that findings can be repeated.

``python -m tests.mutations 1000000`` loads that many, over all readers, and says what came out; a share is a test.
"""

import copy
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ctxlab.sessions import Session, SessionFormatError, load
from ctxlab.sessions.registry import OWN
from tests import wild
from tests.test_sessions_laws import keeps_the_promise

SLOW = 10.0
"""Seconds of processor time that one small file may take."""

HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**40, float("nan"), float("inf"), "", "x", "\ud800", "\x00", "attachment://aaaaaaaa"),
    *([], {}, [[]], [None], {"": None}, "a" * 5000, list(range(300)), {str(n): n for n in range(300)}),
    *({"text": None}, {"type": "text"}, {"type": []}, {"toolUse": []}, {"__bytes_encoded__": True, "data": "!"}),
    *("{", "[1", '{"a": 1}', '"', "data:image/png;base64,", "data:;base64,AA==", "https://a", "\u202e\x1b[31m"),
)
BYTES = (b"\x00", b"\xff", b"\xef\xbb\xbf", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b"\n", b"\\ud83e", b"NaN")
DEEP = json.loads("[" * 150 + "]" * 150)


def damaged(random_: random.Random, seeds: list[bytes]) -> bytes:
    """One of the seeds with one to eight damages."""
    content = random_.choice(seeds)
    if not content.startswith(b"PK") and random_.random() < 0.6:
        return _restructured(random_, content, seeds)
    for _ in range(random_.randint(1, 8)):
        content = _bytes(random_, content, seeds)
    return content


def _bytes(random_: random.Random, content: bytes, seeds: list[bytes]) -> bytes:
    start = random_.randint(0, len(content))
    stop = min(len(content), start + random_.choice((0, 1, 2, 8, 60, 1000)))
    match random_.randrange(6):
        case 0:
            return content[:start] + random_.choice(BYTES) + content[stop:]
        case 1:
            return content[:start] + random_.randbytes(random_.randint(1, 6)) + content[stop:]
        case 2:
            return content[:start]
        case 3:
            return content[:start] + content[stop:]
        case 4:
            return content[:stop] + content[start:stop] * random_.randint(1, 3) + content[stop:]
        case _:
            other = random_.choice(seeds)
            at = random_.randint(0, len(other))
            return content[:start] + other[at : at + random_.choice((3, 40, 400))] + content[stop:]


def _restructured(random_: random.Random, content: bytes, seeds: list[bytes]) -> bytes:
    try:
        values = [json.loads(line) for line in content.splitlines()]
        other = json.loads(random_.choice(seeds).splitlines()[0])
    except ValueError:
        return _bytes(random_, content, seeds)
    for _ in range(random_.randint(1, 4)):
        _damage(random_, values, other)
    return b"\n".join(json.dumps(value).encode("utf-8", "surrogatepass") for value in values)


def _nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) below a value."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _nodes(value[key])


def _damage(random_: random.Random, values: list[Any], other: Any) -> None:
    nodes = list(_nodes(values))
    if not nodes:
        values.append({})
        return
    where, key = random_.choice(nodes)
    match random_.randrange(9):
        case 0 | 1:
            where[key] = copy.deepcopy(random_.choice(HOSTILE))
        case 2:
            del where[key]
        case 3:
            source, name = random_.choice(list(_nodes([other])))
            where[key] = copy.deepcopy(source[name])
        case 4 if isinstance(where, dict):
            source, name = random_.choice(nodes)
            where[name if isinstance(name, str) else "type"] = copy.deepcopy(where[key])
        case 5 if isinstance(where, list):
            where.insert(key, copy.deepcopy(where[key]))
        case 6 if isinstance(where, list):
            random_.shuffle(where)
        case 7:
            where[key] = [where[key]]
        case 8:
            where[key] = copy.deepcopy(DEEP)
        case _:
            where[key] = json.dumps(where[key])


def run(count: int, seed: int, folder: Path) -> tuple[Counter[str], list[tuple[int, str | None, str]]]:
    """Load ``count`` damaged files; return what came out by kind, and what must not have: (seed, format, why)."""
    formats = [None, *(reader.name for reader in OWN)]
    seeds = [content() for _, content in wild.FILES.values()]
    outcomes: Counter[str] = Counter()
    found: list[tuple[int, str | None, str]] = []
    file = folder / "session.data"
    for number in range(seed, seed + count):
        random_ = random.Random(number)
        content = damaged(random_, seeds)
        # Half the files go to the detector, the others to every reader in turn.
        format = random_.choice(formats) if random_.random() < 0.5 else None
        file.write_bytes(content)
        start = time.process_time()
        try:
            session: Session | None = load(file, format)
        except SessionFormatError as refusal:
            session = None
            outcomes["refused"] += 1
            if not str(refusal).isprintable() or file.name not in str(refusal):
                found.append((number, format, f"a refusal that cannot be shown: {refusal!r}"))
        except Exception:  # that nothing else comes out is what is tested
            found.append((number, format, traceback.format_exc()))
            outcomes["something else"] += 1
            continue
        if session is not None:
            outcomes[f"read as {session.format}"] += 1
            try:
                for messages in session.views.values():
                    keeps_the_promise(messages)
                assert all(str(note).isprintable() for note in session.notes)
                assert session.reported_input_tokens is not None
            except Exception:  # as above
                found.append((number, format, traceback.format_exc()))
        taken = time.process_time() - start
        if taken > SLOW:
            found.append((number, format, f"took {taken:.1f} s"))
        if [each.name for each in folder.iterdir()] != [file.name] or file.read_bytes() != content:
            found.append((number, format, "something on the disk was changed"))
    return outcomes, found


if __name__ == "__main__":
    amount, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    began = time.perf_counter()
    with TemporaryDirectory(dir=sys.argv[3] if len(sys.argv) > 3 else None) as place:
        results, faults = run(amount, first, Path(place))
    print(f"{amount:,} files from seed {first} in {time.perf_counter() - began:.0f} s: {len(faults)} faults")
    for outcome, times in results.most_common():
        print(f"  {times:>9,}  {outcome}")
    kinds = {"".join(why.strip().splitlines()[-3:]): fault for *fault, why in reversed(faults)}
    shown = [fault for fault in faults if [*fault[:2]] in kinds.values()]
    for number_, format_, why in shown[:20]:
        print(f"seed {number_}, format {format_!r}: {why[-1200:]}")
