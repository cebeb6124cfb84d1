"""Inspect: logs as .eval and JSON, and the frame of samples that ``samples_df`` gives, as Parquet or CSV."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from importlib.util import find_spec
from typing import Any

import numpy as np

from abstain._extras import install
from abstain._typing import AnyArray, Document
from abstain.outputs._objects import column, text
from abstain.outputs.readers._reader import Peek, Reader, Table
from abstain.outputs.readers._verbal import spoken

#: Inspect's letters, and the words that ``read_outputs`` knows for them.
_LETTERS = {"C": "correct", "I": "incorrect", "P": "partial", "N": "abstained"}
_SURE = ("confidence", "certainty", "probability")


def _recognises(peek: Peek) -> bool:
    if peek.suffix == ".eval":
        return True
    if peek.suffix == ".json":
        return peek.head.lstrip().startswith("{") and all(f'"{key}"' in peek.head for key in ("status", "eval", "task"))
    return {"sample_id", "eval_id", "epoch"} <= peek.header


def _read(peek: Peek) -> Table:
    notes: list[str] = []
    samples = _of_frame(peek) if peek.suffix in (".csv", ".parquet") else _of_log(peek, notes)
    if not samples:
        raise ValueError("this log of Inspect holds no samples; run the evaluation with log_samples")
    if notes and not any(sample["scores"] for sample in samples):
        raise ValueError(f"{notes[0]}, and none has a score; run it again")
    columns: dict[str, AnyArray] = {"id": text(sample["id"] for sample in samples)}
    if len({sample["epoch"] for sample in samples}) > 1:
        columns["cluster"], columns["epoch"] = columns["id"], column([sample["epoch"] for sample in samples])
        columns["id"] = text(f"{sample['id']} ({sample['epoch']})" for sample in samples)
        notes.append("each question was asked in several epochs: it is a cluster")
    if len({sample["eval"] for sample in samples}) > 1:
        columns["eval"] = text(sample["eval"] for sample in samples)
    for name in dict.fromkeys(name for sample in samples for name in sample["metadata"]):
        columns[name] = column([sample["metadata"].get(name) for sample in samples])
    columns |= _scores(samples, notes)
    for name in ("mean_logprob", "sum_logprob"):
        if any(sample.get(name) is not None for sample in samples):
            columns[f"score_{name}"] = column([sample.get(name) for sample in samples])
    return Table(columns, tuple(notes), ("eval",) if "eval" in columns else ())


def _of_log(peek: Peek, notes: list[str]) -> list[Document]:
    try:
        head, samples = _unpacked(peek) if peek.suffix == ".eval" else _parsed(peek)
        run = str(head["eval"].get("eval_id", ""))
        found = [_sample(each, run) for each in samples]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"is no readable log of Inspect ({error}); write it again") from None
    if (status := head.get("status", "unfinished")) != "success":
        notes.append(f"the run of Inspect ended as {status!r}: {len(found)} samples were logged")
    return found


def _parsed(peek: Peek) -> tuple[Document, list[Document]]:
    with open(peek.path, encoding="utf-8") as file:
        log = json.load(file)
    return log, log.get("samples") or []


def _unpacked(peek: Peek) -> tuple[Document, list[Document]]:
    """Return header and samples of a packed log: one member of JSON each."""
    instead = f"write it as JSON: inspect log convert {peek.name} --to json --output-dir logs-json"
    with zipfile.ZipFile(peek.path) as archive:
        members = {info.filename: info for info in archive.infolist()}
        name = next((each for each in ("header.json", "_journal/start.json") if each in members), None)
        if name is None:
            raise ValueError("it has no header")
        head = json.loads(member(archive, members[name], instead))
        names = [each for each in members if each.startswith("samples/") and each.endswith(".json")]
        return head, [json.loads(member(archive, members[each], instead)) for each in names]


def _sample(each: Document, run: str) -> Document:
    scores = {name: dict(score) for name, score in (each.get("scores") or {}).items()}
    found = {"id": each["id"], "epoch": each.get("epoch", 1), "eval": run, "scores": scores,
             "metadata": _flat(each.get("metadata") or {}), "error": each.get("error")}  # fmt: skip
    choice: Document = next(iter((each.get("output") or {}).get("choices") or []), {})
    tokens = [token["logprob"] for token in (choice.get("logprobs") or {}).get("content") or []]
    if tokens:
        found |= {"mean_logprob": float(np.mean(tokens)), "sum_logprob": float(np.sum(tokens))}
    return found


def _of_frame(peek: Peek) -> list[Document]:
    from abstain.outputs._frame import polars, scan_parquet

    pl = polars(f"reading {peek.suffix} files")
    parquet = peek.suffix == ".parquet"
    frame = scan_parquet(peek.path).collect() if parquet else pl.read_csv(peek.path, infer_schema=None)
    names = [name.removeprefix("score_") for name in frame.columns if name.startswith("score_")]
    details = {f"{name}_{part}" for name in names for part in ("answer", "explanation", "reason", "metadata")}
    samples = []
    for row in frame.iter_rows(named=True):
        scores = {}
        for name in names:
            if name not in details:
                said = row.get(f"score_{name}_metadata")
                scores[name] = {
                    "value": _typed(row[f"score_{name}"]),
                    "metadata": json.loads(said) if isinstance(said, str) and said else said,
                }
        metadata = {name[9:]: _typed(row[name]) for name in frame.columns if name.startswith("metadata_")}
        samples.append({"id": row["id"], "epoch": row["epoch"], "eval": row["eval_id"], "scores": scores,
                        "metadata": metadata, "error": row.get("error") or None})  # fmt: skip
    return samples


def _flat(metadata: Document) -> Document:
    """Return the plain values; nested ones say nothing that a column could hold."""
    return {name: value for name, value in metadata.items() if not isinstance(value, dict | list)}


def _typed(value: Any) -> Any:
    """Return a value of a CSV, which has no types, as JSON would have it."""
    if not isinstance(value, str):
        return value
    if value in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[value]
    try:
        return float(value)
    except ValueError:
        return value


def _scores(samples: list[Document], notes: list[str]) -> dict[str, AnyArray]:
    """Return the verdict of the one scorer that grades, confidence, and every scorer's values under its name."""
    names = list(dict.fromkeys(name for sample in samples for name in sample["scores"]))
    values = {name: [_value(sample, name) for sample in samples] for name in names}
    seen = {name: {value for value in values[name] if value is not None} for name in names}
    graded = [name for name in names if seen[name] and (seen[name] <= _LETTERS.keys() or seen[name] <= {0, 1})]
    letters = [name for name in graded if any(isinstance(value, str) for value in values[name])]
    judges = letters or [name for name in graded if not any(word in name.lower() for word in _SURE)]
    found: dict[str, AnyArray] = {}
    for name in names:
        given = text(map(_word, values[name])) if name in graded else column(values[name])
        if len(judges) == 1 and name == judges[0]:
            found["correct"] = given
            notes.append(f"correct is the verdict of Inspect's scorer {name!r}")
            sure = [((sample["scores"].get(name) or {}).get("metadata") or {}).get("confidence") for sample in samples]
            if any(each is not None for each in sure):
                found["confidence"] = spoken([each if each is None else str(each) for each in sure])
        elif any(word in name.lower() for word in _SURE):
            found[f"score_{name}"] = column(values[name])
        else:
            found[name] = given
    said = [name for name in found if name.startswith("score_")]
    if "confidence" not in found and len(said) == 1:
        found["confidence"] = found.pop(said[0])
    if len(judges) > 1:
        notes.append(f"several scorers grade ({', '.join(judges)}): name one, correct={judges[0]!r}")
    return found


def _value(sample: Document, name: str) -> Any:
    score = sample["scores"].get(name) or {}
    value = score.get("value")
    return None if value is None or value != value or isinstance(value, dict | list) else value


def _word(value: Any) -> str:
    """Return a verdict in words; an errored or unscored sample has none."""
    if value is None:
        return "unscored"
    return _LETTERS[value] if isinstance(value, str) else "correct" if value else "incorrect"


# ---------------------------------------------------------------------- archives packed with Zstandard

#: Number of Zstandard among the methods of a zip archive.
ZSTANDARD = 93
#: A member may unpack to this many times its packed size, beyond the size that is harmless.
MOST_RATIO, HARMLESS = 1000, 1 << 26


def member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, instead: str) -> bytes:
    """Return the bytes of a member; ``instead``: what to do where the library for it is missing."""
    if info.file_size > max(HARMLESS, MOST_RATIO * info.compress_size):
        raise ValueError(f"holds {info.filename!r} of {info.file_size} bytes packed in {info.compress_size}; check it")
    if info.compress_type != ZSTANDARD:
        return archive.read(info)
    found = _decompressed(_packed(archive, info), info.file_size, instead)
    if len(found) != info.file_size or zlib.crc32(found) != info.CRC:
        raise zipfile.BadZipFile(f"member {info.filename!r} is damaged")
    return found


def _packed(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a member as they lie in the file: behind a header of 30 bytes, its name and more."""
    file: Any = archive.fp
    file.seek(info.header_offset)
    header = file.read(30)
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise zipfile.BadZipFile(f"member {info.filename!r} is damaged")
    file.seek(sum(struct.unpack("<HH", header[26:30])), 1)
    return bytes(file.read(info.compress_size))


def _decompressed(packed: bytes, size: int, instead: str) -> bytes:
    if find_spec("zstandard") is None:
        raise ImportError(f"is packed with Zstandard, which needs zstandard: {install('cli')}, or {instead}")
    import zstandard

    try:
        return bytes(zstandard.ZstdDecompressor().decompress(packed, max_output_size=size))
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from error


READER = Reader("Inspect", _recognises, _read)
