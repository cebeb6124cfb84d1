"""``read_outputs``: from a file of saved outputs to ``Outputs``, or one line that says what is wrong."""

from __future__ import annotations

import os
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from abstain._classes import is_text
from abstain.outputs import _codes, _names
from abstain.outputs._doubts import Doubt
from abstain.outputs._frame import FrameColumns
from abstain.outputs._npz import NpzColumns
from abstain.outputs._outputs import Outputs

KINDS = {".npz": "npz", ".parquet": "parquet", ".csv": "csv", ".jsonl": "ndjson", ".ndjson": "ndjson"}


def read_outputs(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    logits: str | Sequence[str] | None = None,
    probs: str | Sequence[str] | None = None,
    prediction: str | None = None,
    confidence: str | None = None,
    loss: str | None = None,
    id: str | None = None,
    cluster: str | None = None,
    sample_weight: str | None = None,
    groups: str | Sequence[str] = (),
    scores: str | Sequence[str] = (),
    features: str | Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    unlabelled: bool = False,
) -> Outputs:
    r"""Read one model's saved outputs from an ``.npz``, ``.parquet``, ``.csv``, ``.jsonl`` or ``.ndjson`` file.

    Parameters
    ----------
    path : str or path
        The file. ``.npz`` needs NumPy only, the others polars (``pip install "abstain[cli]"``).
    label, prediction, confidence, loss, id, cluster, sample_weight : str, optional
        Name of the column (the key, in an ``.npz``). Default: by its name, see the notes.
    logits, probs, features : str or sequence of str, optional
        A column or key that holds a whole matrix (2-D array, lists), a pattern such as ``"logit_*"`` for one
        column per class, or the names of these columns.
    groups, scores : str or sequence of str
        Names or patterns of columns to split by, and of further confidence scores. ``"site"`` also finds
        a column ``group_site``, ``"energy"`` a column ``score_energy``.
    class_names : sequence of str, optional
        Names in the order of the class columns, for files whose labels are text.
    unlabelled : bool
        Accept a file that has neither labels nor a loss, such as out-of-distribution data. A column of labels is read
        only where ``label`` names it: those of other data are no classes of this model.

    Returns
    -------
    Outputs

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        No such file; a folder.
    ValueError
        An empty, truncated or unknown file; a column that is missing, ambiguous or has bad rows.
    TypeError
        A column of the wrong type.
    ImportError
        polars is needed and missing.

    Warns
    -----
    UserWarning
        As :class:`Outputs` does.

    Notes
    -----
    Every message is one line that starts with the path and names the column, the row and the remedy.

    Names that are recognised (in any case), unless another option has claimed the column:

    - label: label, labels, y, y_true, true_label, target, targets
    - prediction: prediction, predictions, pred, preds, pred_label, y_pred, yhat, y_hat
    - confidence: confidence, conf, score, msp
    - loss: loss, error; sample_weight: weight, weights, sample_weight
    - id: id, ids, sample_id; cluster: cluster, clusters
    - logits: a matrix logits, logit, logit_<name> or logits_<name>; else columns logit_0 … or logits_0 …
    - probs: a matrix or columns under probabilities, probability, probs, prob, proba, softmax, likewise
      (p_0 …: numbers only)
    - features: a matrix features or feature_<name>; columns feature_0 …
    - groups: group, groups, group_<name>; scores: score_<name>
    - in an ``.npz`` also class_names, head_weight, head_bias and passes

    Two columns for one part are an error that names the option to give; two matrices are left out where ``prediction``
    or ``loss`` is given, which need none. Columns per class are sorted by
    their numbers, so logit_10 comes after logit_9. If they do not count 0, 1, 2, …, or carry words (prob_cat,
    in the order of the file), labels are looked up among these. Only the columns in use are read.

    A CSV has no types. Its groups, clusters and ids keep their text, so "01" is not "1". Its labels and predictions are
    read as numbers, unless they are ``class_names``, or two of their codes, such as "01" and "1", would become one.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.csv"
    >>> _ = file.write_text("case,truth,p_0,p_1\na,0,0.8,0.2\nb,1,0.7,0.3\n")
    >>> abstain.read_outputs(file, label="truth", id="case")
    Outputs(n=2, n_classes=2, labels, probabilities, ids)
    """
    name = os.fspath(path)
    kind = _kind(name)
    try:
        source: Any = NpzColumns(name) if kind == "npz" else FrameColumns(name, kind)
        try:
            plan = _names.plan(
                source.columns,
                {
                    "labels": label, "predictions": prediction, "confidence": confidence, "loss": loss,
                    "sample_weight": sample_weight, "ids": id, "clusters": cluster,
                },
                {"logits": logits, "probabilities": probs, "features": features},
                groups,
                scores,
            )  # fmt: skip
            _refuse_correctness(loss)
            if not unlabelled:
                _require_loss(plan, source.columns)
            elif label is None:
                plan.single.pop("labels", None)  # -1, or the classes of other data
            fields = _load(source, plan, class_names)
        finally:
            source.close()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outputs = Outputs(**fields, unlabelled=unlabelled)
        _refuse_severe(caught, plan, confidence)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise ValueError(f"{name}: cannot be read ({_line(error)}); write it again") from error
    except (ValueError, TypeError, ImportError) as error:
        kind_of = next(kind for kind in (TypeError, ImportError, ValueError) if isinstance(error, kind))
        raise kind_of(f"{name}: {with_row(_line(error))}") from error
    for each in caught:
        warnings.warn(f"{name}: {each.message}", UserWarning, stacklevel=2)
    return outputs


def _kind(name: str) -> str:
    if os.path.isdir(name):
        raise IsADirectoryError(f"{name}: is a folder; give one file of it")
    if not os.path.exists(name):
        folder = os.path.dirname(name) or "."
        files = os.listdir(folder) if os.path.isdir(folder) else []
        near = get_close_matches(os.path.basename(name), files, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "check the path"
        raise FileNotFoundError(f"{name}: no such file; {hint}")
    suffix = os.path.splitext(name)[1].lower()
    if suffix not in KINDS:
        raise ValueError(f"{name}: extension {suffix!r} is not known; use one of {', '.join(KINDS)}")
    if os.path.getsize(name) == 0:
        raise ValueError(f"{name}: is empty (0 bytes); write it again")
    return KINDS[suffix]


def _require_loss(plan: _names.Plan, columns: dict[str, int]) -> None:
    predicts = plan.matrix.keys() & {"logits", "probabilities"} or "predictions" in plan.single or "passes" in columns
    if "loss" in plan.single or ("labels" in plan.single and predicts):
        return
    taken = [name for name in plan.groups.values() if name.lower() in _names.SINGLE["labels"][1]]
    if "labels" in plan.single:
        missing = "nothing predicts a class; give logits=, probs=, prediction= or loss="
    elif taken:
        missing = f"column {taken[0]!r} is taken as a group, none is left as label or loss; give label={taken[0]!r} too"
    else:
        missing = "no column is recognised as label or loss; give label= or loss= (or unlabelled=True)"
    raise ValueError(f"{missing}; columns: {_names.listed(columns)}")


def _refuse_correctness(loss: str | None) -> None:
    """Refuse a column as the loss whose name says that 1 is right."""
    if loss is not None and re.fullmatch(
        r"(.*[_\W])?(correct(ness)?|right|accura(cy|te)|acc|hits?|success)", loss.lower()
    ):
        raise ValueError(
            f"loss={loss!r} is named like correctness, where 1 is right; a loss is 1 where the answer is wrong: "
            f"give a column of 1 - {loss}, or rename it"
        )


def _refuse_severe(caught: Iterable[warnings.WarningMessage], plan: _names.Plan, confidence: str | None) -> None:
    """Refuse a column that was taken as the confidence by its name alone, and does not look like one."""
    for each in caught:
        if isinstance(each.message, Doubt) and each.message.severe and confidence is None:
            column = plan.single.get("confidence")
            if each.message.column == "confidence" and column is not None:
                raise ValueError(f"column {column!r}: {each.message}; confidence={column!r} takes it as it is")


def _load(source: Any, plan: _names.Plan, class_names: Sequence[str] | None) -> dict[str, Any]:
    words = {plan.single.get(name) for name in ("labels", "predictions", "ids", "clusters")}
    text = words | set(plan.groups.values())
    names = plan.columns()
    loaded = source.load(names, set(names) - text)
    fields: dict[str, Any] = {field: loaded[name] for field, name in plan.single.items()}
    fields |= {field: source.stack(loaded, columns) for field, columns in plan.matrix.items()}
    fields["groups"] = {name: _category(source, loaded, column) for name, column in plan.groups.items()}
    fields["scores"] = {name: loaded[column] for name, column in plan.scores.items()}
    fields["head"], fields["passes"] = source.head(), source.passes()
    found = source.class_names(loaded) or plan.class_names
    fields["class_names"] = found if class_names is None else class_names
    for field in fields.keys() & {"ids", "clusters"}:
        fields[field] = _category(source, loaded, plan.single[field])
    _read_classes(fields, plan, source)
    return fields


def _category(source: Any, loaded: dict[str, Any], name: str) -> Any:
    return _codes.category(loaded[name], source.written.get(name))


def _read_classes(fields: dict[str, Any], plan: _names.Plan, source: Any) -> None:
    """Decide whether labels and predictions are names of classes or indices, where the file leaves this open."""
    names = fields["class_names"]
    columns = {field: name for field, name in plan.single.items() if field in ("labels", "predictions")}
    if names is plan.class_names and names is not None and all(name.isdecimal() for name in names):
        for field in columns:  # labels are these numbers, not positions
            fields[field] = _codes.as_words(fields[field])
        return
    written = {field: source.written[name] for field, name in columns.items() if name in source.written}
    if _codes.are_codes(written.values(), names, indices=bool(plan.matrix.keys() & {"logits", "probabilities"})):
        fields |= written
    if names is None:
        _read_numerals(fields, plan)


def _read_numerals(fields: dict[str, Any], plan: _names.Plan) -> None:
    """Where class indices are due, read quoted numbers; name the row of a word among them."""
    due = plan.matrix.keys() & {"logits", "probabilities"}
    columns = {field: fields[field] for field in ("labels", "predictions") if field in fields}
    text = {field: column for field, column in columns.items() if is_text(column)}
    if not text or not (due or len(text) < len(columns)):
        return
    for field, column in text.items():
        values = [str(value) for value in column]
        bad = [row for row, value in enumerate(values) if not re.fullmatch(r"\s*-?\d+(\.0*)?\s*", value)]
        if not bad:
            fields[field] = [float(value) for value in values]
        elif len(bad) < len(values):
            raise ValueError(
                f"column {plan.single[field]!r} must hold class indices, but data row {bad[0] + 1} holds "
                f"{values[bad[0]]!r} ({len(bad)} such); repair these rows"
            )


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def with_row(message: str) -> str:
    """Add the row counted from 1, as an editor shows it, to a message that names a position."""
    position = re.search(r"[\w\]]\[(\d+)[\],]", message)
    return message if position is None else f"{message} [data row {int(position[1]) + 1}]"
