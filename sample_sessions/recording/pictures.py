"""Small PNG pictures made of bytes, without a drawing library and without compression: the same everywhere."""

import struct
import zlib

from .dice import Dice

_PAPER, _INK, _ALARM = 0, 1, 2
_PALETTE = bytes((255, 255, 255, 68, 119, 170, 204, 102, 119))


def bar_chart(metric: str, bars: int = 24, height: int = 32) -> bytes:
    """Return a PNG with one bar an hour; bars near the top have another colour."""
    dice = Dice(f"chart of {metric}")
    values = [dice.between(2, height - 1) for _ in range(bars)]
    rows = []
    for level in range(height, 0, -1):
        row = bytearray()
        for value in values:
            ink = _ALARM if value > height * 0.85 else _INK
            row += bytes((ink, ink, _PAPER) if value >= level else (_PAPER, _PAPER, _PAPER))
        rows.append(bytes(row))
    return _png(3 * bars, height, rows)


def _png(width: int, height: int, rows: list[bytes]) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    raw = b"".join(b"\0" + row for row in rows)
    # One stored block: what a compressor makes of it differs between versions of zlib.
    stored = b"\x78\x01\x01" + struct.pack("<HH", len(raw), len(raw) ^ 0xFFFF) + raw
    data = stored + struct.pack(">I", zlib.adler32(raw))
    chunks = ((b"IHDR", header), (b"PLTE", _PALETTE), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
