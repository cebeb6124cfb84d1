"""Choices on validation sets: settings of models by each metric, settings of scores by detection."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from abstain import scores as scores_
from abstain._checks import one_of
from abstain._result import Column, Result, Row, Table
from abstain._typing import Document
from abstain.joint import auroc
from abstain.study._manifest import Study, read_study
from abstain.study._results import Mean, StudyResults
from abstain.study._sets import fit_outputs

#: ``name-key=value-key=value``, as ``abstain train --grid`` names the models of a grid.
_SETTINGS = re.compile(r"-(?=[A-Za-z_][\w.]*=)")


@dataclass(frozen=True)
class SettingChoice:
    """What one metric chose for one data set, family and score.

    Parameters
    ----------
    data, family, score, metric : str
        For what, and by what.
    chosen : str
        The model, or the score with its settings.
    settings : mapping
        What distinguishes it from the others.
    value : float
        Its value on validation, the mean over runs.
    n_candidates : int
    tied : tuple of str
        Others with the same value; the first one wins.

    Examples
    --------
    >>> from abstain.study import SettingChoice
    >>> SettingChoice("toy", "dg", "res", "augrc", "dg-reward=6", {"reward": "6"}, 0.1, 3).settings
    {'reward': '6'}
    """

    data: str
    family: str
    score: str
    metric: str
    chosen: str
    settings: Mapping[str, str]
    value: float
    n_candidates: int
    tied: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class SettingSelection(Result):
    """The result of :func:`select_settings` and :func:`select_scores`; ``results`` applies it to every other set.

    Examples
    --------
    >>> from abstain.study import SettingChoice, SettingSelection
    >>> choice = SettingChoice("toy", "dg", "res", "augrc", "dg-reward=6", {"reward": "6"}, 0.1, 3)
    >>> print(SettingSelection((choice,)).table("augrc"))
    Chosen by augrc on validation
            toy
    dg res  reward=6
    """

    _names = ("data", "family", "score", "metric")
    _values = ("value",)

    choices: tuple[SettingChoice, ...]
    measured: StudyResults | None = None

    def of(self, metric: str) -> list[SettingChoice]:
        """Return the choices of one metric."""
        one_of(metric, {each.metric for each in self.choices}, "metric that selected")
        return [each for each in self.choices if each.metric == metric]

    def table(self, metric: str | None = None, setting: str | None = None) -> Table:
        """Return the chosen settings, or one of them: families and scores x data sets (AUGRC paper, Tables 1 and 2)."""
        chosen = self.of(self.choices[0].metric if metric is None else metric)
        names = list(dict.fromkeys((each.family, each.score) for each in chosen))
        columns = list(dict.fromkeys(each.data for each in chosen))
        rows: list[Row] = []
        for name in names:
            cells = []
            for data in columns:
                found = [each for each in chosen if (each.family, each.score) == name and each.data == data]
                cells.append(_words(found[0].settings, setting) if found else "—")
            rows.append((" ".join(filter(None, name)), *cells))
        title = f"{setting or 'Chosen'} by {chosen[0].metric} on validation"
        return Table([Column(), *(Column(data, left=True) for data in columns)], rows, title, ranks=0)

    def results(self, metric: str) -> StudyResults:
        """Return the numbers of what a metric chose, on every set, the models called by their families.

        One choice per data set, family and score holds for all its shifts.
        """
        if self.measured is None:
            raise ValueError("this selection is of scores; give what it chose to abstain.study.evaluate")
        chosen = {(each.data, each.score, each.chosen): each.family for each in self.of(metric)}
        kept, numbers = [], []
        for k, row in enumerate(self.measured.numbers):
            family = chosen.get((row["data"], row["score"], row["model"]))
            if family is not None:
                kept.append(k)
                numbers.append({**row, "model": family})
        sums = self.measured.sums
        return replace(self.measured, numbers=tuple(numbers), sums=sums[kept] if len(sums) else sums)

    # ------------------------------------------------------------------ as a result

    def tables(self) -> list[Table]:
        """Return the choices with their values on validation, then one table of settings per metric."""
        heads = [Column(), Column("By", left=True), Column("Choice", left=True), Column("Validation", alike=False)]
        rows: list[Row] = [
            (" ".join(filter(None, (each.data, each.family, each.score))), each.metric, each.chosen, each.value)
            for each in self.choices
        ]
        metrics = dict.fromkeys(each.metric for each in self.choices)
        return [Table(heads, rows), *(self.table(metric) for metric in metrics)]

    def notes(self) -> list[str]:
        """Return how many candidates there were, and ties."""
        most = max((each.n_candidates for each in self.choices), default=0)
        ties = [
            f"{each.data} {each.family} {each.score}: the same {each.metric} for {', '.join((each.chosen, *each.tied))}"
            for each in self.choices
            if each.tied
        ]
        return [f"up to {most} candidates; a validation value of what was chosen is too good", *ties]

    def rows(self) -> list[Document]:
        """Return the choices, a dict each."""
        return [
            {**asdict(each), "settings": json.dumps(dict(each.settings)), "tied": ", ".join(each.tied)}
            for each in self.choices
        ]


def select_settings(
    results: StudyResults,
    metrics: Sequence[str] = ("augrc", "aurc"),
    *,
    families: Mapping[str, str] | None = None,
) -> SettingSelection:
    """Choose among the models of each family on the validation set, by each metric, once per data set.

    Parameters
    ----------
    results : StudyResults
        Of sets that include those of role validation.
    metrics : list of str
        Each selects on its own: the mean over runs, on validation.
    families : dict of str to str, optional
        Model to family. Default: the name without its settings, ``dg-reward=6-dropout=true`` is of the family ``dg``.

    Returns
    -------
    SettingSelection
        ``results(metric)`` gives the numbers of what was chosen, for all shifts of the data set.

    Raises
    ------
    ValueError
        No validation set; a metric that was not evaluated.

    References
    ----------
    Traub et al. (2024): Section A.2.2, Tables 1, 2 and both halves of 4.

    Examples
    --------
    >>> import tempfile, abstain
    >>> from abstain import study
    >>> folder = tempfile.mkdtemp()
    >>> for model, kind in (("dg-reward=3", "random"), ("dg-reward=6", "calibrated")):
    ...     for name in ("validation", "test"):
    ...         outputs = abstain.datasets.synthetic(kind, 300, 0)
    ...         made = study.add_outputs(folder, outputs, model=model, set=name, data="toy")
    >>> chosen = study.select_settings(study.evaluate(folder, metrics=["augrc", "aurc"]))
    >>> chosen.of("augrc")[0].chosen, chosen.results("augrc").only(set="test").values("model")
    ('dg-reward=6', ['dg'])
    """
    for model in families or ():
        one_of(model, results.values("model"), "model of families")
    valid = results.only(role="validation")
    if not valid.numbers:
        raise ValueError("no set of role validation was evaluated; add one, or evaluate it, too")
    choices: list[SettingChoice] = []
    for metric in metrics:
        groups: dict[tuple[str, str, str], list[Mean]] = {}
        for each in valid.means(metric):
            groups.setdefault(
                (each.data, (families or {}).get(each.model) or _family(each.model), each.score), []
            ).append(each)
        for (data, name, score), found in groups.items():
            sign = 1.0 if found[0].direction == "lower" else -1.0
            values = {each.model: sign * each.value for each in found}
            choices.append(_chosen((data, name, score, found[0].metric), values, sign))
    return SettingSelection(tuple(choices), results)


def select_scores(
    study: Study | str | os.PathLike[str],
    scores: Sequence[str],
    ood: str,
    *,
    validation: str = "validation",
    models: Sequence[str] | None = None,
) -> SettingSelection:
    """Choose the settings of scores by how well they distinguish validation from OOD data: AUROC, mean over runs.

    Parameters
    ----------
    study : Study, or str or path
    scores : list of str
        Candidates: scores with settings, ``gen(gamma=0.1)``, or columns ``odin-T=1000-eps=0.001``, a family by name.
    ood : str
        An OOD set that is kept for this and not reported.
    validation : str
        The set of the classes.
    models : list of str, optional
        Default: all that have both sets.

    Returns
    -------
    SettingSelection
        One choice per model and family of scores; ``data`` is the model.

    Raises
    ------
    ValueError
        No model has both sets.

    Notes
    -----
    This uses OOD data to choose, as the joint paper does (A.2) and OpenOOD. Without any at
    hand, numbers that did should not be reported.

    Examples
    --------
    >>> import tempfile, abstain
    >>> from abstain import study
    >>> folder, outputs = tempfile.mkdtemp(), abstain.datasets.load("cifar10_vgg16").select(slice(0, 300))
    >>> made = study.add_outputs(folder, outputs, model="vgg", set="validation")
    >>> far = abstain.Outputs(probabilities=outputs.probabilities[::-1], unlabelled=True)
    >>> made = study.add_outputs(folder, far, model="vgg", set="ood-val", role="ood")
    >>> study.select_scores(folder, ["gen(gamma=0.1)", "gen(gamma=0.5)"], "ood-val").choices[0].n_candidates
    2
    """
    study = read_study(study)
    values: dict[tuple[str, str], dict[str, list[float]]] = {}
    for run in study.runs:
        sets = {each.name: each for each in run.sets}
        if (models is not None and run.model not in models) or not {ood, validation} <= sets.keys():
            continue
        fits = fit_outputs(study, run, scores)
        inside, outside = (study.outputs(run.model, run.name, name) for name in (validation, ood))
        for name in scores:
            columns = [scores_.compute(name, each, fits.get(name)) for each in (inside, outside)]
            value = float(auroc(id_score=columns[0], ood_score=columns[1]))
            values.setdefault((run.model, _family(name)), {}).setdefault(name, []).append(value)
    if not values:
        raise ValueError(f"no model has the sets {validation!r} and {ood!r}; give sets that are there")
    choices = [
        _chosen((model, base, "", "joint.auroc"), {n: -float(np.mean(v)) for n, v in found.items()}, -1.0)
        for (model, base), found in values.items()
    ]
    return SettingSelection(tuple(choices))


def _chosen(where: tuple[str, str, str, str], values: Mapping[str, float], sign: float) -> SettingChoice:
    """Return the candidate with the least value."""
    known = {name: value for name, value in values.items() if not math.isnan(value)}
    if not known:
        raise ValueError(f"{where[3]} is undefined on validation for {' '.join(where[:3])}; choose augrc")
    best = min(known, key=lambda name: known[name])
    tied = tuple(name for name in known if name != best and known[name] == known[best])
    data, family, score, metric = where
    return SettingChoice(data, family, score, metric, best, _settings(best), sign * known[best], len(values), tied)


def _settings(name: str) -> dict[str, str]:
    """Return the settings of a model, or of a score, which has them in parentheses if it is computed."""
    inside = "(" in name and name.endswith(")")
    parts = name[name.index("(") + 1 : -1].split(",") if inside else _SETTINGS.split(name)[1:]
    return {key.strip(): value for key, _, value in (part.partition("=") for part in parts)}


def _family(name: str) -> str:
    return _SETTINGS.split(name.partition("(")[0])[0]


def _words(settings: Mapping[str, str], setting: str | None) -> str:
    if setting is not None:
        return settings.get(setting, "—")
    return ", ".join(f"{key}={value}" for key, value in settings.items()) or "as it is"
