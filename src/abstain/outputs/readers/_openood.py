"""OpenOOD: ``scores/<data set>.npz`` with pred, conf and label; its pickles are never opened."""

from __future__ import annotations

import numpy as np

from abstain.outputs.readers._reader import Peek, Reader, Table

#: What turns the pickle of ``eval_ood.py --save-score`` into files that can be read; for somebody who trusts it.
CONVERTER = (
    "import pickle, numpy as np",
    "s = pickle.load(open({name!r}, 'rb')); sets = {{'id': s['id']['test'], **s['ood']['near'], **s['ood']['far']}}",
    "[np.savez(k, pred=v[0], conf=v[1], label=v[2] if k == 'id' else 0 * v[2] - 1) for k, v in sets.items() if v]",
)


def _recognises(peek: Peek) -> bool:
    if peek.suffix in (".pkl", ".pickle"):
        return True
    return peek.suffix == ".npz" and peek.arrays == {"pred", "conf", "label"}


def _read(peek: Peek) -> Table:
    if peek.suffix != ".npz":
        raise ValueError(
            "is a pickle, which can run any program, so it is never opened; if OpenOOD's --save-score wrote it and you "
            "trust it, run this next to it, then read id.npz and the other files: "
            f'python -c "{"; ".join(CONVERTER).format(name=peek.name)}"'
        )
    with np.load(peek.path, allow_pickle=False) as archive:
        found = {name: archive[name] for name in ("pred", "conf", "label")}
    columns = {"prediction": found["pred"].astype(np.int64), "confidence": found["conf"].astype(np.float64)}
    columns["label"] = found["label"].astype(np.int64)
    outside = found["label"] == -1  # OpenOOD's own mark
    return Table(columns | {"is_ood": outside} if outside.any() else columns)


READER = Reader("OpenOOD", _recognises, _read)
