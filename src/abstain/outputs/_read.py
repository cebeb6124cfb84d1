"""``read_outputs``: from a file, a data frame or arrays to ``Outputs``, or one line that says what is wrong."""

from __future__ import annotations

import warnings
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Unpack, cast

import numpy as np

from abstain._checks import listed, one_of, with_row
from abstain._classes import is_text
from abstain._typing import Source
from abstain.outputs import _losses, _names, _plausibility, _values
from abstain.outputs._answers import Answers, put_last
from abstain.outputs._load import LoadedColumns, Part
from abstain.outputs._losses import TASKS, CostMatrix, judge
from abstain.outputs._open import damaged, name_of, open_source
from abstain.outputs._outputs import Outputs
from abstain.outputs._reading import Columns, Reading, quoted, refuse_unknown
from abstain.outputs._states import States

#: Parts that say how wrong a row is.
_VERDICTS = ("loss", "correct", "quality")


def read_outputs(
    source: Source,
    *,
    groups: str | Sequence[str] = (),
    scores: str | Sequence[str] = (),
    part: Part = "id",
    unlabelled: bool = False,
    nan_policy: Literal["raise", "drop"] = "raise",
    **columns: Unpack[Columns],
) -> Outputs:
    r"""Read one model's saved outputs from a file, a data frame or arrays by name.

    Parameters
    ----------
    source : path, data frame or dict
        ``.npz``, ``.npy`` with named fields, ``.parquet``, ``.csv`` (separated by commas, semicolons, tabs or bars),
        ``.tsv``, ``.csv.gz``, ``.json``, ``.jsonl``, ``.ndjson``; files of lm-eval, Inspect, FD-Shifts and OpenOOD; a
        frame of pandas, polars or another library that Narwhals knows; a dict of arrays.
    groups, scores : str or sequence of str
        Names or patterns of columns to split by, and of further confidence scores. ``"site"`` also finds
        a column ``group_site``, ``"energy"`` a column ``score_energy``.
    part : {"id", "ood"}
        Which rows to read where ``is_ood`` or ``ood_label`` distinguishes them.
    unlabelled : bool
        Accept a file that has neither labels nor a loss, such as out-of-distribution data. A column of labels is read
        only where ``labels`` names it: those of other data are no classes of this model.
    nan_policy : {"raise", "drop"}
        What a row is that lacks a number (NaN, an empty cell) among its logits, probabilities or features: an error, or
        left out. A confidence may be missing all the same: it is :func:`evaluate` that decides about such rows.
    **columns
        Which column is what: ``labels``, ``confidence``, ``loss`` and so on, as :class:`abstain.outputs.Columns` has
        them. Default: by their names, see the notes.

    Returns
    -------
    Outputs
        With ``understood()``, which says what was taken for what, and ``states``, if some answers have no verdict.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        No such file; a folder.
    ValueError
        An empty, truncated or unknown file; a column that is missing, ambiguous or has bad rows; a column that can be
        read in two ways.
    TypeError
        A column of the wrong type; a source that is no file, frame or dict.
    ImportError
        polars is needed and missing.

    Warns
    -----
    UserWarning
        As :class:`Outputs` does; errors that are more confident than right answers; classes that seem to come in
        another order; a last class that never occurs.

    Notes
    -----
    Every message is one line that starts with the path and names the column, the row and the remedy.

    Names that are recognised (in any case, words parted by anything), unless another argument has claimed the column:

    - labels: label, y, y_true, target, true_label, truth, gt, ground_truth, gold, reference, actual, ...
    - predictions: prediction, pred, y_pred, y_hat, predicted, predicted_label, ...; a nested ``{"label", "score"}``
    - confidence: confidence, conf, score, msp, max_prob, max_softmax, certainty, ...
    - uncertainty: uncertainty, entropy, predictive_entropy; positive_probability: prob_1 alone, prob_positive, ...
    - correct: correct, is_correct, acc, exact_match, grade, passed, ...; quality: quality; loss: loss, error
    - abstained, should_abstain (unanswerable, is_impossible), is_ood
    - where nothing else predicts: a matrix, or columns that are called alike or as the labels are, whose values sum
      to 1 in every row, are probabilities
    - sample_weight: weight, sample_weight; clusters: cluster
    - ids: id, sample_id; else the first of <name>_id, case, uuid and row in which no two rows have the same value
    - logits: a matrix logits, logit, logit_<name> or logits_<name>; else columns logit_0 … or logits_0 …
    - probabilities: a matrix or columns under probabilities, probability, probs, prob, proba, softmax, likewise
      (p_0 …: numbers only)
    - features: a matrix features or feature_<name>; columns feature_0 …
    - groups: group, groups, group_<name>; scores: score_<name> (prediction_<name> next to it: the predictions that
      it is about), and odin, gram, confidnet, reservation, ...
    - in an ``.npz`` also class_names, head_weight, head_bias and passes

    Two columns for one part are an error that names the argument to give; two matrices are left out where
    ``predictions`` or ``loss`` is given, which need none. ``y_prob``, ``proba`` and the like are refused next to two
    classes: they may be the probability of class 1 or a confidence. So is a column ``score`` from which the prediction
    follows while errors have more of it: name it to insist.

    Columns per class are sorted by their numbers, so logit_10 comes after logit_9. If they do not count 0, 1, 2, …,
    or carry words (prob_cat, in the order of the file), labels are looked up among these. Only the columns in use are
    read. A label of -1 is a class only next to +1 alone; elsewhere it is refused unless ``is_ood`` or ``ood_label``
    explains it.

    A CSV has no types. Its groups, clusters and ids keep their text, so "01" is not "1". Its labels and predictions are
    read as numbers, unless they are ``class_names``, or two of their codes, such as "01" and "1", would become one.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.csv"
    >>> _ = file.write_text("case,truth,p_0,p_1\na,0,0.8,0.2\nb,1,0.7,0.3\n")
    >>> abstain.read_outputs(file, labels="truth", ids="case")
    Outputs(n=2, n_classes=2, labels, probabilities, ids)
    >>> abstain.read_outputs({"y_true": [0, 1, 1], "prob_1": [0.2, 0.9, 0.4]}).understood()["prediction"]
    'the largest of 1 - p and p (p = `prob_1`, of class 1)'
    """
    refuse_unknown("read_outputs", columns)
    labels, task, ood_label = columns.get("labels"), columns.get("task"), columns.get("ood_label")
    class_names, cost_matrix = columns.get("class_names"), columns.get("cost_matrix")
    one_of(nan_policy, ("raise", "drop"), "nan_policy")
    name, read = name_of(source), None
    try:
        opened = open_source(source)
        judged_by = None if task is None else TASKS[one_of(task, TASKS, "task")]
        several = judged_by is not None and judged_by.multilabel
        plan = _names.plan(opened.columns.columns, columns, groups, scores, several)
        if cost_matrix is not None or task is not None:
            told = {"task": task} | {part: plan.single[part] for part in _VERDICTS if part in plan.told}
            both = ["cost_matrix="] if cost_matrix is not None else []
            both += [f"{part}={name!r}" for part, name in told.items() if name is not None]
            if len(both) > 1:
                raise ValueError(f"{both[0]} and {both[1]} both say what a row costs; give one of them")
            plan.drop(*_VERDICTS)
        if not unlabelled:
            _values.find_probabilities(plan, opened.columns)
            _require_loss(plan, opened.columns)
        elif labels is None and ood_label is None:
            plan.single.pop("labels", None)  # -1, or the classes of other data
        with damaged(name):
            _values.find_ids(plan, opened.columns)
            read = LoadedColumns(opened, plan, columns.get("where") or {}, part, nan_policy == "drop")
            answers = read.answers(class_names, ood_label, judged_by)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answers.sureness(columns.get("confidence_levels"))
            if judged_by is not None and not unlabelled:
                judge(answers, judged_by)
            elif judged_by is None:
                answers.either(unlabelled)
                answers.positive(class_names)
            states = None if unlabelled else answers.losses(columns.get("unscored"))
            if (unit := columns.get("abstain_class")) is not None:
                put_last(answers.fields, unit)
            outputs = _made(answers, states, read, unlabelled, columns)
            if not unlabelled:
                _plausibility.examine(outputs, plan)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        if isinstance(error, FileNotFoundError | IsADirectoryError):
            raise
        reason = error.strerror if isinstance(error, PermissionError) and error.strerror else _line(error)
        remedy = "ask for the right to read it" if isinstance(error, PermissionError) else "write it again"
        raise ValueError(f"{name}: cannot be read ({reason}); {remedy}") from error
    except (ValueError, TypeError, ImportError) as error:
        kind_of = next(kind for kind in (TypeError, ImportError, ValueError) if isinstance(error, kind))
        said = with_row(_line(error)) if name else _line(error)
        raise kind_of(_about(name, said if read is None else read.in_file(said))) from error
    for each in caught:
        warnings.warn(_about(name, str(each.message)), UserWarning, stacklevel=2)
    return outputs


def _about(name: str, message: str) -> str:
    """Put the path in front of a message, once."""
    return message if not name or message.startswith(f"{name}: ") else f"{name}: {message}"


def _require_loss(plan: _names.Plan, source: Source) -> None:
    columns = source.columns
    predicts = plan.matrix.keys() & {"logits", "probabilities", "predictions"} or "passes" in columns
    predicts = predicts or plan.single.keys() & {"predictions", "positive_probability"}
    labelled = "labels" in plan.single or "labels" in plan.matrix
    if plan.single.keys() & set(_VERDICTS) or (labelled and predicts):
        return
    taken = [name for name in plan.groups.values() if _names.plain(name) in _names.SINGLE["labels"]]
    if "labels" in plan.single and "either" in plan.single:
        either = plan.single["either"]
        missing = (
            f"nothing predicts a class; if {either!r} is the probability of the second of two classes give "
            f"positive_probability={either!r}, else logits=, probabilities=, predictions= or loss="
        )
    elif "labels" in plan.matrix:
        missing = (
            "nothing predicts the labels; give predictions= or probabilities= with a column for each, such as 'p_*'"
        )
    elif "labels" in plan.single and (named := _values.called_as_labels(plan, source)):
        missing = f"nothing predicts a class, but columns are called as the labels are; give logits={','.join(named)!r}"
        missing += " or probabilities= with them"
    elif "labels" in plan.single:
        missing = "nothing predicts a class; give logits=, probabilities=, predictions=, positive_probability= or loss="
    elif taken:
        missing = (
            f"column {taken[0]!r} is taken as a group, none is left as label or loss; give labels={taken[0]!r} too"
        )
    else:
        missing = "no column is recognised as label or loss; give "
        likely = [f"{part}={name!r}" for name in columns if (part := _names.likely(name))]
        missing += " or ".join(likely[:3]) + ", if it is that" if likely else "labels=, correct= or loss="
        missing += "" if likely else " (or unlabelled=True)"
    raise ValueError(f"{missing}; columns: {listed(columns)}")


def _made(answers: Answers, states: States | None, read: LoadedColumns, unlabelled: bool, given: Columns) -> Outputs:
    """Return the outputs, with how they were read."""
    plan, cost_matrix = answers.plan, given.get("cost_matrix")
    words = {field: f"`{name}`" for field, name in plan.single.items()}
    words |= {field: quoted(names) for field, names in plan.matrix.items()}
    labels, names = answers.fields.get("labels"), answers.fields.get("class_names")
    by_place = names is not None and names is plan.class_names and "labels" in plan.single
    if by_place and labels is not None and not is_text(labels):
        words["labels"] += ", numbers from 0 on in the order of the columns"
    if all(value is None or (isinstance(value, dict) and not value) for value in answers.fields.values()):
        raise ValueError(
            "no column is recognised as a confidence or a prediction; give confidence=, uncertainty=, predictions=, "
            f"logits= or probabilities=; columns: {listed(read.source.columns)}"
        )
    reading = Reading(
        given=cast(Columns, {name: value for name, value in given.items() if value is not None}),
        single=dict(plan.single),
        matrix=dict(plan.matrix),
        scores=dict(plan.scores),
        levels=answers.levels,
        words=words | answers.how,
        rows=read.said,
        notes=(*answers.notes, *read.unused_notes),
        unused=read.numbers,
    )
    outputs = Outputs(**answers.fields, unlabelled=unlabelled, states=states, reading=reading)
    if cost_matrix is not None and not unlabelled:
        outputs = _priced(outputs, reading, cost_matrix)
    return _verdict(outputs, plan)


def _priced(outputs: Outputs, reading: Reading, cost_matrix: CostMatrix) -> Outputs:
    """Return outputs whose loss is what each label and prediction costs."""
    if outputs.labels is None:
        raise ValueError("cost_matrix= needs labels and predictions; give labels=<column>")
    loss, strange = _losses.priced(outputs, cost_matrix)
    notes = [f"cost_matrix names {strange[0]!r}, of which there is no row"] if strange else []
    if outputs.passes is not None or outputs.score_predictions:
        notes.append("costs are those of the model's predictions, for scores of passes too")
    shown = cost_matrix if isinstance(cost_matrix, str) else ",".join(_losses.cost_texts(cost_matrix))
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    words = {**reading.words, "loss": f"the cost of label and prediction, `{shown}`"}
    reading = replace(reading, words=words, notes=(*reading.notes, *notes))
    with warnings.catch_warnings():  # said already
        warnings.simplefilter("ignore")
        return replace(outputs, loss=loss, reading=reading)


def _verdict(outputs: Outputs, plan: _names.Plan) -> Outputs:
    """Return outputs judged by labels and predictions where verdicts say the same; refuse where they differ."""
    if outputs.states is not None and np.isnan(outputs.states.loss).all():
        return replace(outputs, states=outputs.states.judged(outputs.loss_per_sample()))
    auto = "correct" in plan.single and "correct" not in plan.told
    if not auto or outputs.labels is None or outputs.loss is None:
        return outputs
    try:
        error = outputs.error
    except ValueError:  # labels alone
        return outputs
    differ = error != outputs.loss
    if differ.any():
        row, name = int(np.argmax(differ)), plan.single["correct"]
        raise ValueError(
            f"column {name!r} says otherwise than labels and predictions in {int(differ.sum())} of {outputs.n} rows "
            f"(first: data row {row + 1}); give correct={name!r} to go by it, or name the column of predictions"
        )
    with warnings.catch_warnings():  # said already
        warnings.simplefilter("ignore")
        return replace(outputs, loss=None)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
