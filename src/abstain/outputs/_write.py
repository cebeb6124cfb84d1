"""``write_outputs``: to one file, which is either complete or not there."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from abstain._files import write_file
from abstain._typing import FloatArray
from abstain.outputs._frame import polars
from abstain.outputs._outputs import Outputs

_COLUMNS = (
    "labels", "logits", "probabilities", "predictions", "confidence", "loss", "sample_weight", "ids", "clusters",
    "features",
)  # fmt: skip


def write_outputs(outputs: Outputs, path: str | os.PathLike[str]) -> None:
    """Write outputs to an ``.npz`` or ``.parquet`` file that ``read_outputs`` reads back unchanged.

    The file is written under a temporary name in the same folder and then renamed, so that nobody sees half
    a file and an interrupted run leaves the old one.

    Parameters
    ----------
    outputs : Outputs
    path : str or path
        Ends in ``.npz`` (NumPy only) or ``.parquet`` (polars). An existing file is replaced.

    Raises
    ------
    ValueError
        Another extension; a part that Parquet has no place for (``head``, ``passes``, or ``class_names`` without labels
        or predictions).
    FileNotFoundError
        The folder does not exist.
    ImportError
        polars is needed and missing.

    Notes
    -----
    Names are those of the fields; groups are ``group_<name>``, scores ``score_<name>``. In Parquet, logits,
    probabilities and features are one column of arrays, and labels with class names an Enum.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.npz"
    >>> outputs = abstain.Outputs(labels=[0, 1], logits=[[2.0, 0.0], [0.0, 1.0]])
    >>> abstain.write_outputs(outputs, file)
    >>> abstain.read_outputs(file).fingerprint == outputs.fingerprint
    True
    """
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1].lower()
    if suffix == ".npz":
        arrays = _arrays(outputs)
        write_file(name, lambda file: np.savez(file, **arrays))
    elif suffix == ".parquet":
        frame = _frame(outputs, name)
        write_file(name, frame.write_parquet)
    else:
        raise ValueError(f"{name}: extension {suffix!r} cannot be written; use .npz or .parquet")


def write_pool(outputs: Outputs, loss: FloatArray, path: str | os.PathLike[str]) -> None:
    """Write all rows of a pool with one loss each, NaN where a row has no label, as .npz: ``read_pool`` reads it."""
    if not isinstance(outputs, Outputs) or len(loss) != outputs.n:
        raise ValueError(f"loss holds {len(loss)} values for {outputs.n} rows; give one per row, NaN without a label")
    arrays = {name: column for name, column in _arrays(outputs).items() if name != "labels"}
    write_file(os.fspath(path), lambda file: np.savez(file, **arrays | {"loss": loss}))


def _columns(outputs: Outputs) -> dict[str, Any]:
    columns = {field: getattr(outputs, field) for field in _COLUMNS if getattr(outputs, field) is not None}
    columns |= {f"group_{name}": column for name, column in (outputs.groups or {}).items()}
    return columns | {f"score_{name}": column for name, column in (outputs.scores or {}).items()}


def _arrays(outputs: Outputs) -> dict[str, Any]:
    arrays = _columns(outputs)
    if outputs.head is not None:
        arrays["head_weight"], arrays["head_bias"] = outputs.head
    if outputs.passes is not None:
        arrays["passes"] = outputs.passes
    if outputs.class_names is not None:
        arrays["class_names"] = np.array(outputs.class_names)
    return arrays


def _frame(outputs: Outputs, name: str) -> Any:
    pl = polars("writing .parquet files")
    columns = _columns(outputs)
    if outputs.head is not None:
        raise ValueError(f"{name}: Parquet has no place for head; write .npz")
    if outputs.passes is not None:
        raise ValueError(f"{name}: Parquet has no place for passes; write .npz")
    if outputs.class_names is not None:
        if not columns.keys() & {"labels", "predictions"}:
            raise ValueError(f"{name}: Parquet has no place for class_names without labels or predictions; write .npz")
        names = np.array(outputs.class_names)
        for field in columns.keys() & {"labels", "predictions"}:
            columns[field] = pl.Series(names[columns[field]].tolist(), dtype=pl.Enum(list(outputs.class_names)))
    return pl.DataFrame(columns)
