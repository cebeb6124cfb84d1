"""FD-Shifts: ``raw_logits.npz`` (or ``raw_output.npz``) with what lies next to it in the folder."""

from __future__ import annotations

import os

import numpy as np

from abstain._typing import AnyArray, Array
from abstain.outputs.readers._reader import Peek, Reader, Table

_KEY = "arr_0"
_RAW = ("raw_logits.npz", "raw_output.npz")


def _recognises(peek: Peek) -> bool:
    if peek.suffix != ".npz" or peek.arrays != {_KEY}:
        return False
    return peek.name in _RAW or peek.name.startswith("external_confids") or peek.name.endswith("_dist.npz")


def _read(peek: Peek) -> Table:
    folder = os.path.dirname(peek.path)
    if peek.name not in _RAW:
        raise ValueError(f"goes with the outputs of FD-Shifts in the same folder; give {os.path.join(folder, _RAW[0])}")
    raw = np.asarray(_load(peek.path), dtype=np.float64)
    if raw.ndim != 2 or raw.shape[1] < 4 or (raw[:, -2:] != np.floor(raw[:, -2:])).any():
        raise ValueError("must hold a column per class, then label and data set, as FD-Shifts writes them")
    kind = "logits" if peek.name == _RAW[0] else "probabilities"
    columns: dict[str, AnyArray] = {
        kind: raw[:, :-2], "label": raw[:, -2].astype(np.int64), "dataset": raw[:, -1].astype(np.int64)
    }  # fmt: skip
    n = len(raw)
    columns |= _beside(folder, kind, n)
    sets, counts = np.unique(columns["dataset"], return_counts=True)
    notes = []
    if len(sets) > 1:
        listed = ", ".join(f"{each} ({count} rows)" for each, count in zip(sets, counts, strict=True))
        notes.append(
            f"data sets {listed}, in the order of FD-Shifts' test loaders: 0 is the validation set if it was kept, "
            "then the test set comes first"
        )
    hint = "FD-Shifts writes its validation set as 0 where it was kept, and the test set is the next one"
    return Table(columns, tuple(notes), ("dataset",) if len(sets) > 1 else (), hint)


def _beside(folder: str, kind: str, n: int) -> dict[str, AnyArray]:
    """Return what other files of the folder say about the same rows."""
    found: dict[str, AnyArray] = {}
    repeated = _rows(folder, "raw_logits_dist.npz" if kind == "logits" else "raw_output_dist.npz", n, ndim=3)
    if repeated is not None:
        from scipy.special import softmax

        found["passes"] = np.moveaxis(softmax(repeated, axis=1) if kind == "logits" else repeated, 2, 0)
    external = _rows(folder, "external_confids.npz", n, ndim=1)
    if external is not None:
        found["score_ext"] = external
    spread = _rows(folder, "external_confids_dist.npz", n, ndim=2)
    if spread is not None:
        found["score_ext_mcd"] = spread.mean(axis=1)
        if "passes" in found:  # FD-Shifts judges it on these
            found["prediction_ext_mcd"] = found["passes"].mean(axis=0).argmax(axis=1)
    encoded = _rows(folder, "encoded_output.npz", n, ndim=2)
    if encoded is not None:
        found["features"] = encoded[:, :-1]  # the last column is the data set
    head = os.path.join(folder, "last_layer.npz")
    if encoded is not None and os.path.exists(head):
        found["head_weight"], found["head_bias"] = _load(head, "w"), _load(head, "b")
    return found


def _rows(folder: str, name: str, n: int, ndim: int) -> AnyArray | None:
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return None
    values = np.asarray(_load(path), dtype=np.float64)
    if values.ndim == ndim + 1 and values.shape[-1] == 1:
        values = values[..., 0]
    if values.ndim != ndim or len(values) != n:
        raise ValueError(
            f"{name} next to it has shape {values.shape} for {n} rows: FD-Shifts keeps more rows of corrupted data "
            "there; move it away, or write both of the same rows"
        )
    return values


def _load(path: str, key: str = _KEY) -> Array:
    with np.load(path, allow_pickle=False) as archive:
        return archive[key]


READER = Reader("FD-Shifts", _recognises, _read)
