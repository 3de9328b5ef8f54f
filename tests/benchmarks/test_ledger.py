"""`ledger` against bare tiktoken on the same texts; aim: at most 1.3 times as long. Reported, never gating.

Run with ``pytest tests/benchmarks/test_ledger.py -s``: the ratio is printed and kept in the benchmark's extra info.
"""

import json
import random
import time
from collections.abc import Callable
from statistics import median

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from ctxlab.messages import Conversation, Message
from ctxlab.tokens import TokenCounter, ledger
from ctxlab.vocabularies import encoding, measure
from tests.builders import assistant, tool_result, tool_use, user

WORDS = [
    *("the", "window", "of", "a", "model", "holds", "what", "was", "said", "and", "tools", "have", "answered", "until"),
    *("def", "return", "import", "None", "self.items()", "{}", "->", "==", "0x1f", "2026-11-30", "对话", "裁剪", "🧵"),
]


def conversation(turns: int, words: int) -> tuple[Conversation, list[str]]:
    """A tool-heavy conversation whose texts all differ, and those texts as bare tiktoken gets them."""
    rng = random.Random(0)
    messages: list[Message] = []
    texts: list[str] = []

    def text(length: int) -> str:
        texts.append(" ".join(rng.choices(WORDS, k=length)))
        return texts[-1]

    for turn in range(turns):
        messages.append(user(text(words // 8)))
        query = {"query": " ".join(rng.choices(WORDS, k=8)), "limit": turn}
        messages.append(tool_use(str(turn), name=f"search_{turn}", input=query))
        texts += [f"search_{turn}", json.dumps(query)]
        messages.append(tool_result(str(turn), text(words)))
        messages.append(assistant(text(words // 4)))
    return tuple(messages), texts


@pytest.mark.parametrize(("turns", "words"), [(1000, 40), (500, 400), (50, 4000)], ids=["short", "usual", "long"])
def test_ledger_against_bare_tiktoken(benchmark: BenchmarkFixture, turns: int, words: int) -> None:
    messages, texts = conversation(turns, words)
    vocabulary = encoding("cl100k_base")
    encode = vocabulary.encode_ordinary

    def bare() -> int:
        return sum(len(encode(text)) for text in texts)

    def counted() -> int:
        # A new counter each round: a ledger that remembers everything would not tokenize at all.
        return ledger(messages, TokenCounter("cl100k_base", measure(vocabulary))).total

    assert counted() == bare(), "both must count the same texts"
    # In turns and in processor time, so that a machine that is busy or slows down does not decide.
    pairs = [(timed(bare), timed(counted)) for _ in range(7)]
    ratio = median(own / plain for plain, own in pairs)
    benchmark.extra_info["ratio to bare tiktoken"] = round(ratio, 3)
    print(f"\n{len(messages):,} messages, {sum(map(len, texts)):,} characters: {ratio:.2f} × bare tiktoken")
    benchmark(counted)


def timed(work: Callable[[], int]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
