"""How a source is read: the arguments that name its columns, declared once, and which column then plays which part."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypedDict, get_type_hints

if TYPE_CHECKING:
    from abstain.outputs._outputs import Outputs

#: The name of a column (the key, in an ``.npz`` or dict); where no source is given, the column itself.
Column: TypeAlias = Any


class ScoredColumns(TypedDict, total=False):
    """Columns that functions such as :func:`choose_threshold` also take as arrays, under arguments of the same names.

    Attributes
    ----------
    confidence, loss, clusters, sample_weight : str, optional
        Name of the column (the key, in an ``.npz`` or dict). Default: by its name, see :func:`read_outputs`.
    """

    confidence: Annotated[Column, "Column of confidence, higher = more confident; numbers, per cent or words."]
    loss: Annotated[Column, "Column of losses >= 0; default: 0/1 from labels and predictions."]
    clusters: Annotated[Column, "Column of clusters (patients, images, ...)."]
    sample_weight: Annotated[Column, "Column of sample weights."]


class FurtherColumns(TypedDict, total=False):
    """All other columns, and how they are read.

    Attributes
    ----------
    labels, predictions, ids : str, optional
        Name of the column. Default: by its name.
    uncertainty : str, optional
        A column that is higher where the model is less confident; its negative is the confidence.
    positive_probability : str, optional
        The probability of the second of two classes, as ``predict_proba(X)[:, 1]`` gives it.
    correct, quality : str, optional
        Verdicts (truth values, 1 and 0, or words such as correct, wrong, partial, abstained, unparseable); or 1 - loss.
    abstained, should_abstain : str, optional
        Whether the model itself gave no answer, and whether it ought not to: yes or no. Or a column of answers, some of
        which say that they are none ("I don't know").
    is_ood : str, optional
        Whether a row is out of distribution; see ``part`` of :func:`read_outputs`.
    logits, probabilities, features : str or sequence of str, optional
        A column or key that holds a whole matrix (2-D array, lists), a pattern such as ``"logit_*"`` for one
        column per class, or the names of these columns.
    class_names : sequence of str, optional
        Names in the order of the class columns, for files whose labels are text.
    confidence_levels : sequence of str, optional
        Words of a confidence in words, lowest first, if they are of no usual scale. ``"a|b"`` are
        two words for one place; ``["%"]``: per cent or shares.
    where : dict of str to value, optional
        Read only rows in which these columns have these values.
    unscored : {"wrong", "drop"}, optional
        What answers without a verdict are: errors, or left out. Default: wrong where the verdict says that there is
        none (unscored, unparseable); an error where it is missing.
    ood_label : int or str, optional
        The label that marks rows out of distribution, such as -1.
    abstain_class : int or str, optional
        The class column, by its place or name, that means "I abstain" (Deep Gamblers): it is removed from logits,
        probabilities and passes, and kept as a score; see ``abstention_unit`` of :class:`Outputs`.
    cost_matrix : path, str, sequence of str or dict, optional
        What wrong answers cost, in the place of the 0/1 loss: a CSV table with a line for each label and a column for
        each prediction; ``"ill=50,well=1"`` for every wrong prediction of a class, ``"ill:well=50"`` for one; or dicts
        ``{"ill": 50}``, ``{"ill": {"well": 50}}``. Right answers cost 0 unless it says otherwise.
    task : {"regression", "regression-absolute", "multilabel", "multilabel-exact"}, optional
        Judge labels and predictions by the squared or absolute error, by the share of labels that are wrong, or whether
        one is. Labels of several per row are a matrix of 0 and 1, or a column each (``labels="y_*"``); predictions too,
        or their probabilities, from which a confidence then follows: 1 minus the expected loss.
    """

    labels: Annotated[Column, "Column of true classes.  [found by name: label, y, y_true, target, ...]"]
    logits: Annotated[Column, "Columns or array of logits: a name or a pattern such as 'logit_*'."]
    probabilities: Annotated[Column, "Columns or array of class probabilities: a name or a pattern such as 'p_*'."]
    predictions: Annotated[Column, "Column of predicted classes."]
    uncertainty: Annotated[Column, "Column of uncertainty, higher = less confident: its negative is the confidence."]
    positive_probability: Annotated[Column, "Column of the probability of the second of two classes."]
    correct: Annotated[Column, "Column of verdicts: 1 and 0, or words such as correct, wrong, abstained."]
    quality: Annotated[Column, "Column of qualities in [0, 1]: the loss is 1 minus it."]
    abstained: Annotated[Column, "Column that says which questions the model itself did not answer."]
    should_abstain: Annotated[Column, "Column that says which questions have no answer."]
    unscored: Annotated[Literal["wrong", "drop"] | None, "What answers without a verdict are: wrong, or dropped."]
    is_ood: Annotated[Column, "Column that marks rows out of distribution; left out, but by 'joint'."]
    ood_label: Annotated[int | str | None, "Label that marks rows out of distribution, such as -1."]
    abstain_class: Annotated[
        int | str | None, "Class column that means 'I abstain' (Deep Gamblers): its place or name."
    ]
    cost_matrix: Annotated[
        Any, "What wrong answers cost: 'ill=50,well=1', 'ill:well=50', or a CSV table, label x prediction."
    ]
    task: Annotated[
        str | None,
        "Of numbers or several labels per row: regression, regression-absolute, multilabel, multilabel-exact.",
    ]
    features: Annotated[Column, "Columns or array of features, for scores such as knn."]
    ids: Annotated[Column, "Column of sample identifiers."]
    class_names: Annotated[
        Sequence[str] | None, "Classes in the order of their columns, by commas; for labels that are text."
    ]
    confidence_levels: Annotated[Sequence[str] | None, "Words of confidence, lowest first, by commas."]
    where: Annotated[
        Mapping[str, object] | None, "Only rows whose column has this value, as COLUMN=VALUE; may be repeated."
    ]


class Columns(ScoredColumns, FurtherColumns, total=False):
    """The arguments that say which column of a file or frame is what, and how it is read.

    See :class:`ScoredColumns` and :class:`FurtherColumns` for each. :func:`read_outputs`, :func:`evaluate`, policies
    and the commands take them all; functions that have a ``loss`` or ``confidence`` of their own take the further ones.
    """


class ColumnsOrArrays(Columns, total=False):
    """The same as arrays, where no source is given; and two fields of :class:`Outputs` that are no columns.

    Attributes
    ----------
    passes, head : array-like, optional
    """

    passes: Column
    head: Any


#: Arguments that are never columns: they hold for arrays, too.
OPTIONS = (
    "class_names", "where", "unscored", "ood_label", "abstain_class", "cost_matrix", "task", "confidence_levels",
)  # fmt: skip


def described() -> dict[str, str]:
    """Return each argument of :class:`Columns` with one line about it."""
    hints = get_type_hints(Columns, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


def refuse_unknown(
    function: str, given: Collection[str], known: Collection[str] = tuple(Columns.__annotations__)
) -> None:
    """Refuse an argument that is none of these."""
    from abstain._checks import closest

    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise TypeError(f"{function} has no argument {unknown!r}; {closest(unknown, known)}")


_MOST_CLASSES = 4


@dataclass(frozen=True)
class Reading:
    """How a source was read; :func:`read_outputs` makes it, once, and :class:`Outputs` keeps it.

    Parameters
    ----------
    given : Columns
        The arguments that the caller gave.
    single, matrix : dict
        Field -> the name of its column as it stands, and the names of the columns of its matrix.
    scores : dict of str to str
        Score -> its column.
    levels : list of str or None
        By which ``confidence_levels`` a confidence in words or per cent was read.
    words : dict of str to str
        Field of ``Outputs`` -> the column, or how it was made, in words.
    rows : str
        Which rows were read, if not all.
    notes : tuple of str
        What the reader should know.
    unused : tuple of str
        Columns that are not used, but for those of truth values.
    labelled : dict of str to str
        Of a pool of which some rows are labelled: what was understood of these that the others do not have.

    Examples
    --------
    >>> import abstain
    >>> reading = abstain.read_outputs({"y": [0, 1], "pred": [0, 0], "entropy": [0.1, 0.6]}).reading
    >>> reading.single["uncertainty"], reading.words["confidence"]
    ('entropy', 'minus `entropy`')
    """

    given: Columns = field(default_factory=Columns)
    single: Mapping[str, str] = field(default_factory=dict)
    matrix: Mapping[str, list[str]] = field(default_factory=dict)
    scores: Mapping[str, str] = field(default_factory=dict)
    levels: list[str] | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    rows: str = ""
    notes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    labelled: Mapping[str, str] = field(default_factory=dict)

    def column(self, name: str) -> str:
        """Return the column of a field in words."""
        return self.words.get(name, "as given")


def understood(outputs: Outputs, default: str = "", loss: Column = None) -> dict[str, str]:
    """Return part -> what it is, in words.

    ``default`` names the score that stands for the confidence, where that is no column. ``loss``: that of all rows,
    where these are the first.
    """
    reading = outputs.reading or Reading()
    found: dict[str, str] = {}
    if reading.rows:
        found["rows"] = reading.rows
    labelled = outputs.labels is not None
    if labelled:
        found["labels"] = f"{reading.column('labels')} ({_classes(outputs, reading)})"
    found |= reading.labelled
    matrix = next((name for name in ("logits", "probabilities") if getattr(outputs, name) is not None), "")
    columns = reading.words.get(matrix, matrix)
    if outputs.predictions is not None:
        found["prediction"] = reading.column("predictions")
    elif labelled and (matrix or outputs.passes is not None):
        found["prediction"] = f"the largest of {columns}" if matrix else "the largest mean of the passes"
    found.setdefault("prediction", "")  # the order of what is said
    if outputs.confidence is not None and default in ("", "confidence"):
        found["confidence"] = reading.column("confidence")
    elif default not in ("", "msp"):
        found["confidence"] = default
    elif matrix:
        found["confidence"] = f"the largest {'softmax ' * (matrix == 'logits')}of {columns}"
    before = found.pop("loss", "")
    if outputs.loss is not None:
        values = outputs.loss if loss is None else loss
        found["loss"] = f"{reading.column('loss')} ({float(values.min()):.4g} to {float(values.max()):.4g})"
    else:
        found["loss"] = "0/1" if labelled else before
    one = {"clusters": "cluster", "sample_weight": "weights", "ids": "id", "features": "features", "passes": "passes"}
    for name, called in one.items():
        if getattr(outputs, name) is not None:
            found[called] = reading.column(name)
    for name, called in (("groups", "groups"), ("scores", "other scores")):
        if getattr(outputs, name):
            found[called] = ", ".join(f"`{each}`" for each in list(getattr(outputs, name))[:6])
    return {part: text for part, text in found.items() if text}


def sentence(parts: Mapping[str, str]) -> str:
    """Return what was understood as one line."""
    return " · ".join(f"{part} {text}" for part, text in parts.items())


def _classes(outputs: Outputs, reading: Reading) -> str:
    if outputs.class_names is None:
        columns = reading.matrix.get("logits") or reading.matrix.get("probabilities") or []
        if len(columns) != outputs.n_classes or all(name.endswith(str(k)) for k, name in enumerate(columns)):
            return f"{outputs.n_classes} classes"
        order = ", ".join(f"{k} is `{name}`" for k, name in enumerate(columns[:_MOST_CLASSES]))
        return (
            f"{outputs.n_classes} classes by the order of the columns: {order}{', …' * (len(columns) > _MOST_CLASSES)}"
        )
    names = list(outputs.class_names)
    shown = ", ".join(names[:_MOST_CLASSES]) + (", …" if len(names) > _MOST_CLASSES else "")
    return f"{len(names)} classes: {shown}"


def quoted(names: Iterable[str]) -> str:
    """Return columns of a matrix as a sentence names them."""
    names = list(names)
    if len(names) <= 3:
        return ", ".join(f"`{name}`" for name in names)
    return f"`{names[0]}` … `{names[-1]}` ({len(names)} columns)"
