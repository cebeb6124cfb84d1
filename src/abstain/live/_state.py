"""The file of a live certificate: what it says it is, and whether it says what was written."""

from __future__ import annotations

import base64
import os
from dataclasses import astuple
from typing import TYPE_CHECKING

import numpy as np

from abstain._files import StateFile
from abstain._typing import Document, FloatArray
from abstain.live._grid import Grid
from abstain.live._result import Line
from abstain.monitoring import Clock, Detector, Evidence
from abstain.thresholds import packed, unpacked

if TYPE_CHECKING:
    from abstain.live._certificate import LiveCertificate

STATE = StateFile("certificate", "LiveCertificate(...).save", "options", ("abstain.live/4",))


def text_of(values: FloatArray) -> str:
    """Return the bytes of numbers as text."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def numbers_of(text: str) -> FloatArray:
    """Return the numbers of such a text."""
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f8").astype(np.float64)


def write(name: str, certificate: LiveCertificate) -> None:
    """Write the state; the folder is locked by the caller."""
    place = os.path.realpath(name)
    certificate.on_file[place] = STATE.write(name, content_of(certificate), certificate.on_file.get(place))


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
