"""`load` against bare reading of the same file: time and peak memory, by size and layout. Reported, never gating.

Run with ``pytest tests/benchmarks/test_loading.py -s``. Each run is a process of its own, so that its peak is its own.
Aims: a small multiple of reading with a fast JSON library, and less memory than four times the file.
"""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

WORDS = [
    *("the", "window", "of", "a", "model", "holds", "what", "was", "said", "def", "return", "import", "None", "{}"),
    *("->", "self.items()", "0x1f", "2026-11-30", "tools", "have", "answered", "until"),
]
MEASURE = """
import json, sys, time
how, path = sys.argv[1:]
if how == "load":
    from ctxlab.sessions import load as read
else:
    import msgspec
    from importlib import import_module
    decode = {"msgspec": msgspec.json.decode, "json": json.loads}.get(how) or import_module(how).loads
    def read(path):
        with open(path, "rb") as file:
            return [decode(line) for line in file]
def peak():
    # Of this process alone: what getrusage tells starts with the peak of the process that started it.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
before, start, wall = peak(), time.process_time(), time.perf_counter()
kept = read(path)
print(json.dumps([time.process_time() - start, time.perf_counter() - wall, peak() - before]))
"""


def claude_code(file: Path, megabytes: int) -> None:
    """A session of reads: results of some 4 kB, each stored twice, as Claude Code does."""
    rng = random.Random(0)
    pool = [" ".join(rng.choices(WORDS, k=rng.randint(100, 1200))) for _ in range(300)]
    head = {"isSidechain": False, "userType": "external", "cwd": "/p", "sessionId": "s", "version": "1.0.108"}
    written, turn, parent = 0, 0, None
    with open(file, "w", encoding="utf-8") as out:
        while written < megabytes * 1_000_000:
            turn += 1
            use = {"type": "tool_use", "id": f"t{turn}", "name": "Read", "input": {"path": f"/src/{turn}.py"}}
            usage = {"input_tokens": 4, "cache_creation_input_tokens": 90, "cache_read_input_tokens": turn}
            said = {"id": f"m{turn}", "role": "assistant", "content": [use], "usage": usage}
            text = rng.choice(pool)
            result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{turn}", "content": text}]}
            for line in (
                {**head, "type": "assistant", "uuid": f"a{turn}", "parentUuid": parent, "message": said},
                {**head, "type": "user", "uuid": f"u{turn}", "parentUuid": f"a{turn}", "message": result}
                | {"toolUseResult": {"type": "text", "file": {"content": text}}},
            ):
                written += out.write(json.dumps(line, separators=(",", ":")) + "\n")
            parent = f"u{turn}"


def strands_list(file: Path, megabytes: int) -> None:
    """One JSON list of messages on one line."""
    rng = random.Random(0)
    with open(file, "w", encoding="utf-8") as out:
        written, turn = out.write("["), 0
        while written < megabytes * 1_000_000:
            turn += 1
            content = [{"text": " ".join(rng.choices(WORDS, k=rng.randint(20, 800)))}]
            message = {"role": "assistant" if turn % 2 else "user", "content": content}
            written += out.write((", " if turn > 1 else "") + json.dumps(message))
        out.write("]")


def small_messages(file: Path, megabytes: int) -> None:
    """Lines of little text and much structure, which Python keeps in many times their size whoever reads them."""
    written, turn = 0, 0
    with open(file, "w", encoding="utf-8") as out:
        while written < megabytes * 1_000_000:
            turn += 1
            arguments = {"n": turn, "opts": [1, {"x": True}], "deep": {"a": {}}}
            use = {"toolUseId": str(turn), "name": "get", "input": arguments}
            usage = {"usage": {"inputTokens": turn, "outputTokens": 3, "totalTokens": turn + 3}}
            message = {"role": "assistant", "content": [{"toolUse": use}, {"text": "short"}], "metadata": usage}
            written += out.write(json.dumps(message) + "\n")


def measured(how: str, file: Path) -> tuple[float, float, int]:
    command = [sys.executable, "-c", MEASURE, how, str(file)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    processor, wall, peak = json.loads(answer.stdout)
    return processor, wall, peak


# Of small messages 200 MB would take two gigabytes, whoever reads them.
RUNS = [(layout, size) for layout in (claude_code, strands_list) for size in (10, 50, 200)]


@pytest.mark.parametrize(("layout", "megabytes"), [*RUNS, (small_messages, 10), (small_messages, 50)])
def test_load_against_bare_reading(
    benchmark: BenchmarkFixture, tmp_path: Path, layout: Callable[[Path, int], None], megabytes: int
) -> None:
    file = tmp_path / "session"
    layout(file, megabytes)
    size = file.stat().st_size
    print(f"\n{layout.__name__}, {size / 1e6:.0f} MB")
    results = {how: measured(how, file) for how in ("json", "msgspec", "load")}
    for how, (processor, wall, peak) in results.items():
        ratio = processor / results["msgspec"][0]
        times = f"{processor:6.2f} s of processor ({ratio:4.1f} ×), {wall:6.2f} s"
        print(f"  {how:8} {times}, peak {peak / size:5.2f} × file")
        benchmark.extra_info[how] = {"processor": processor, "wall": wall, "peak / file": round(peak / size, 2)}
    benchmark(lambda: None)  # the figures are above: to run it all once more would double the time


def test_five_hundred_damaged_files(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """What a part of ``python -m tests.mutations 1000000`` takes."""
    from tests import mutations

    _, faults = benchmark(mutations.run, 500, 0, tmp_path)
    assert faults == []
