"""Single rows on a page: the most confident failures, and rows that occur twice."""

from __future__ import annotations

import base64
import struct
import zlib
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np

from abstain._result import Column, Row, Table, clean, percent
from abstain._typing import FloatArray
from abstain.curve import RiskCoverageCurve
from abstain.outputs import Outputs
from abstain.report._page import Grid, Part, Pictures
from abstain.report._source import Source

#: How files of images begin; and bytes of one that a page takes in.
_STARTS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
LARGEST = 400_000
#: Failures that are listed.
MOST = 12


def failures(name: str, loss: FloatArray, score: FloatArray, curve: RiskCoverageCurve, source: Source) -> list[Part]:
    """Return the failures of highest score: who they are, and from which coverage on they are answered."""
    wrong = np.flatnonzero(loss > 0.0)
    wrong = wrong[np.argsort(-score[wrong], kind="stable")][:MOST]
    if not wrong.size:
        return []
    outputs = source.outputs
    same = outputs is not None and outputs.n == len(loss)
    heads, rows = [Column("Row"), Column(name), Column("answered from coverage")], list[Row]()
    columns = {"true": outputs.labels, "said": _said(outputs)} if outputs is not None and same else {}
    spoken = {word: column for word, column in columns.items() if column is not None}
    heads += [Column(word, left=True) for word in spoken]
    images, texts = [], digits_of(score[wrong])
    for row in map(int, wrong):
        called = source.name(row) if same else f"row {row + 1}"
        at = int(np.searchsorted(-curve.threshold, -score[row], side="left"))
        words = [_class(outputs, column, row) for column in spoken.values()]
        rows.append((called, texts[float(score[row])], percent(float(curve.coverage[at])), *words))
        image, text = (source.of_row(kind, row) if same or outputs is None else None for kind in ("images", "texts"))
        if image is not None or text is not None:
            said = f"{called}: {', said '.join(words)}" if words else called
            images.append((said, "" if image is None else uri(image), "" if text is None else clean(text)))
    ties = int(np.sum(loss[score == score[wrong[-1]]] > 0.0))
    listed = int(np.sum(score[wrong] == score[wrong[-1]]))
    notes = ["Answered from coverage: who answers so many cases answers this one wrongly."]
    if ties > listed:
        notes.append(
            f"{ties} failures share the last score of this list; those that come first in the file are listed."
        )
    table = Table(heads, rows, notes=notes, ranks=0)
    return [Grid(table), *([Pictures(tuple(images))] if images else [])]


def digits_of(values: FloatArray) -> dict[float, str]:
    """Return each value in one form: six decimals of probabilities, else six digits, never rounded up to the next."""
    least, most = float(values.min()), float(values.max())
    places = Decimal("0.000001") if least >= 0.0 and most <= 1.0 else None

    def text(value: float) -> str:
        exact = Decimal(repr(value))
        if places is None or not exact.is_finite():
            return f"{float(Context(prec=6, rounding=ROUND_FLOOR).plus(exact)):g}" if exact.is_finite() else str(value)
        return str(exact.quantize(places, rounding=ROUND_FLOOR))

    return {float(value): text(float(value)) for value in values}


def _said(outputs: Outputs) -> Any:
    """Return what was predicted: as given, else the largest of the classes."""
    matrix = outputs.logits if outputs.logits is not None else outputs.probabilities
    if outputs.predictions is not None or matrix is None or outputs.labels is None:
        return outputs.predictions
    return np.argmax(np.asarray(matrix), axis=1)


def _class(outputs: Any, column: Any, row: int) -> str:
    value = np.asarray(column)[row]
    names = outputs.class_names
    known = names is not None and np.issubdtype(type(value), np.integer) and 0 <= value < len(names)
    return str(names[value]) if known else str(value)


def uri(image: Any) -> str:
    """Return a image as a data URI: the bytes of a file as they are, anything else as PNG."""
    if not isinstance(image, bytes):
        return png(image)
    kind = next((kind for start, kind in _STARTS.items() if image.startswith(start)), None)
    if kind is None:
        raise ValueError(f"a image is neither PNG, JPEG, GIF nor WebP; it begins with {image[:8]!r}")
    if len(image) > LARGEST:
        raise ValueError(f"a image has {len(image):,} bytes; a page takes up to {LARGEST:,}: give smaller ones")
    return f"data:image/{kind};base64,{base64.b64encode(image).decode('ascii')}"


def png(image: Any) -> str:
    """Return a image of bytes, or of fractions, grey or in colours, as a data URI."""
    pixels = np.asarray(image)
    if np.issubdtype(pixels.dtype, np.floating):
        top = float(np.nanmax(pixels)) if pixels.size else 1.0
        pixels = np.clip(np.nan_to_num(pixels) * (255.0 if top <= 1.0 else 255.0 / top), 0.0, 255.0)
    pixels = pixels.astype(np.uint8)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] != 3):
        raise ValueError(f"an image has shape {np.shape(image)}; give (height, width) or (height, width, 3)")
    height, width = pixels.shape[:2]
    lines = b"".join(b"\0" + np.ascontiguousarray(line).tobytes() for line in pixels)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    found = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(found).decode("ascii")
