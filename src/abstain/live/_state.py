"""The file of a live certificate: what it says it is, and whether it says what was written."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import astuple
from typing import TYPE_CHECKING

import numpy as np

from abstain._files import write_text
from abstain._typing import Document, FloatArray
from abstain.live._grid import Grid
from abstain.live._result import Line
from abstain.monitoring import Clock, Detector, Evidence
from abstain.thresholds import packed, unpacked

if TYPE_CHECKING:
    from abstain.live._certificate import LiveCertificate

FORMAT = "abstain.live/4"


def text_of(values: FloatArray) -> str:
    """Return the bytes of numbers as text."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def numbers_of(text: str) -> FloatArray:
    """Return the numbers of such a text."""
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f8").astype(np.float64)


def write(name: str, certificate: LiveCertificate) -> None:
    """Write the state; the folder is locked by the caller."""
    content = content_of(certificate)
    stamp = stamp_of(content)
    if os.path.isfile(name):
        old = read(name)
        if stamp_of(old) not in (certificate.on_file.get(os.path.realpath(name)), stamp):
            same = old["options"] == content["options"]
            whose = "rows that this one has not counted" if same else "another certificate"
            raise ValueError(f"{name}: holds the state of {whose}; load it first, or write to another file")
    write_text(name, json.dumps({"format": FORMAT, **content, "digest": stamp}, allow_nan=False) + "\n")
    certificate.on_file[os.path.realpath(name)] = stamp


def read(name: str) -> Document:
    """Return the content of a file; refuse one that was edited."""
    try:
        with open(name, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        raise FileNotFoundError(f"{name}: no such state; LiveCertificate(...).save writes it") from None
    except (ValueError, OSError, RecursionError) as error:
        why = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise ValueError(f"{name}: cannot be read as a live certificate ({why}); restore the file") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"{name}: is no live certificate of format {FORMAT!r}")
    content = {key: value for key, value in found.items() if key not in ("format", "digest")}
    if found.get("digest") != stamp_of(content):
        raise ValueError(f"{name}: was edited or damaged, so what it says may not be true; restore the file")
    return content


def stamp_of(content: Document) -> str:
    """Return the digest of a state."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()


def content_of(certificate: LiveCertificate) -> Document:
    """Return what is kept, in plain values."""
    return {
        "options": certificate.options(),
        "state": {
            "period": certificate.period,
            "calls": certificate.calls,
            "given": certificate.given,
            "reserved": certificate.reserved,
            "clock": vars(certificate.clock),
            "sent": certificate.sent.state(),
            "clusters": packed(certificate.clusters),
            "lines": [list(astuple(line)) for line in certificate.lines],
            "groups": {name: _grid(one) for name, one in certificate.groups.items()},
        },
    }


def restore(certificate: LiveCertificate, content: Document) -> None:
    """Take up what was kept."""
    state = content["state"]
    for name in ("period", "calls", "given", "reserved"):
        setattr(certificate, name, state[name])
    certificate.clock = Clock(**state["clock"])
    certificate.sent.restore(state["sent"])
    certificate.clusters = unpacked(state["clusters"])
    certificate.lines = [Line(*line) for line in state["lines"]]
    rules = next(iter(certificate.groups.values())).rules
    certificate.groups = {}
    for name, kept in state["groups"].items():
        certificate.groups[name] = one = Grid(rules, kept["share"])
        one.sums = numbers_of(kept["sums"]).reshape(one.sums.shape)
        one.cases, one.wrong = numbers_of(kept["cases"]), numbers_of(kept["wrong"])
        one.counts = np.array(kept["counts"], dtype=np.int64)
        one.certified = np.array(kept["certified"], dtype=bool)
        for field_ in PLAIN:
            setattr(one, field_, kept[field_])
        _take_up(one.evidence, kept["evidence"])
        _take_up(one.detector, kept["detector"])


#: Fields of a grid that are plain values.
PLAIN = ("labels", "smallest", "graded", "in_force", "answered", "highest", "violated_at", "changed_at", "old_rows")


def _grid(one: Grid) -> Document:
    return {
        "share": one.share,
        "sums": text_of(one.sums),
        "cases": text_of(one.cases),
        "wrong": text_of(one.wrong),
        "counts": one.counts.tolist(),
        "certified": [int(each) for each in one.certified],
        "evidence": _bets(one.evidence),
        "detector": _bets(one.detector),
        **{name: getattr(one, name) for name in PLAIN},
    }


def _bets(one: Evidence | Detector) -> Document:
    played = {name: text_of(getattr(one.bets, name)) for name in ("gained", "base", "sums")}
    if isinstance(one, Detector):
        return {"since": one.since, **played}
    return {"n": one.n, "spent": one.spent, **played}


def _take_up(one: Evidence | Detector, kept: Document) -> None:
    for name in ("gained", "base", "sums"):
        setattr(one.bets, name, numbers_of(kept[name]))
    for name in ("since",) if isinstance(one, Detector) else ("n", "spent"):
        setattr(one, name, kept[name])
