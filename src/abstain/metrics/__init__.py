"""Metrics of a reject option: one family per module, one registry for the command line, the docs and the reports.

The functions themselves are at the top of the package; here is what describes them, and how to add one.
"""

from __future__ import annotations

from importlib import import_module
from os import listdir
from typing import Any, get_args

from abstain._checks import one_of
from abstain._registry import read_spec, split_specs
from abstain.metrics._augrc import augrc_from_auroc as augrc_from_auroc  # for higher packages
from abstain.metrics._augrc import augrc_partial_derivatives as augrc_partial_derivatives  # likewise
from abstain.metrics._calibration import ReliabilityCurve as ReliabilityCurve  # likewise
from abstain.metrics._calibration import reliability_of as reliability_of  # likewise
from abstain.metrics._declare import image_of as image_of
from abstain.metrics._declare import register
from abstain.metrics._facts import AcceptedLoss as AcceptedLoss
from abstain.metrics._facts import FromSums as FromSums
from abstain.metrics._facts import Image
from abstain.metrics._facts import Relative as Relative
from abstain.metrics._facts import Sums as Sums
from abstain.metrics._facts import Tail as Tail
from abstain.metrics._gradient import Derived as Derived  # likewise
from abstain.metrics._gradient import Gradient, Predictions, Value
from abstain.metrics._gradient import check_predictions as check_predictions  # likewise
from abstain.metrics._gradient import keeping_one as keeping_one  # likewise
from abstain.metrics._metric import METRICS, Input, Metric
from abstain.metrics._point import mean_of_terms as mean_of_terms  # likewise
from abstain.metrics._rank_weights import WeightEstimator as WeightEstimator  # likewise
from abstain.metrics._rank_weights import harmonic_difference as harmonic_difference  # likewise
from abstain.metrics._rank_weights import rank_weight_bias as rank_weight_bias  # likewise
from abstain.metrics._rank_weights import rank_weight_mse as rank_weight_mse  # likewise
from abstain.metrics._trust_curve import cwsa_sweep as cwsa_sweep  # likewise

#: What is reported next to the metric of a comparison: the cost of answering everything, the ranking alone, coverage.
BESIDE = {"errors": "risk", "ranking": "auroc_f", "coverage": "coverage_at_risk"}

__all__ = ["Gradient", "Image", "Metric", "Predictions", "Value", "get", "names", "parse", "register"]

#: The order in which tables print families; a module that is not named here comes after these.
_FIRST = (
    "_aurc", "_augrc", "_reference", "_excess", "_retention", "_point", "_detection", "_precision", "_accepted",
    "_trust", "_trust_curve", "_calibration", "_proper",
)  # fmt: skip


def _functions() -> dict[str, Any]:
    """Load all modules and return their public functions by name, for the front of the package."""
    found = {file.partition(".")[0] for folder in __path__ for file in listdir(folder) if file.startswith("_")}
    others = sorted(found - {*_FIRST, "__init__", "__pycache__"})
    modules = [import_module(f"{__name__}.{name}") for name in (*_FIRST, *others)]
    return {name: getattr(module, name) for module in modules for name in getattr(module, "__all__", ())}


FUNCTIONS = _functions()


def get(name: str, **options: object) -> Metric:
    """Return a metric by name, with options bound; call it on a table.

    Parameters
    ----------
    name : str
        A name of :func:`names`.
    **options
        Options of the metric, such as ``estimator="harmonic"``.

    Returns
    -------
    Metric

    Raises
    ------
    ValueError
        An unknown name; the message lists near ones.
    TypeError
        An unknown option; the message lists the known ones.

    Examples
    --------
    >>> import abstain
    >>> blocks = abstain.TieBlocks.from_samples([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    >>> abstain.metrics.get("coverage_at_risk", risk=0.3)(blocks)
    1.0
    """
    return METRICS[name].using(**options)


def names(*inputs: Input) -> list[str]:
    """Return the names of all metrics, family by family.

    Parameters
    ----------
    *inputs : {"blocks", "probabilities", "joint"}
        Only those that are called on these: tables of scores, class probabilities, scores of ID and OOD samples.

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        An unknown input.

    Examples
    --------
    >>> import abstain
    >>> "augrc" in abstain.metrics.names(), "joint.ds_f1" in abstain.metrics.names("blocks")
    (True, False)
    """
    for input in inputs:
        one_of(input, get_args(Input), "inputs")
    place = {name: k for k, name in enumerate(FUNCTIONS)}
    found = METRICS.loaded() if inputs and "joint" not in inputs else list(METRICS)
    chosen = [metric.name for metric in found if not inputs or metric.input in inputs]
    return sorted(chosen, key=lambda name: place.get(name, len(place)))


def parse(spec: str) -> Metric:
    """Return the metric that a text such as ``"aurc"`` or ``"coverage_at_risk(risk=0.01)"`` names.

    Parameters
    ----------
    spec : str
        A name, with options in parentheses; words need no quotes.

    Returns
    -------
    Metric

    Raises
    ------
    ValueError
        Not of that form, or an unknown name.
    TypeError
        An unknown option.

    Examples
    --------
    >>> import abstain
    >>> abstain.metrics.parse("aurc(estimator=harmonic)").identifier
    'aurc/harmonic'
    """
    name, options = read_spec(spec, "metric", "coverage_at_risk(risk=0.01)")
    return METRICS[name].using(**options)


def parse_list(text: str) -> list[Metric]:
    """Return the metrics of a comma-separated list; commas inside parentheses separate options.

    Parameters
    ----------
    text : str
        Texts as :func:`parse` reads them, with commas between them.

    Returns
    -------
    list of Metric
        Empty if the text holds nothing but commas and spaces.

    Raises
    ------
    ValueError, TypeError
        As :func:`parse`.

    Examples
    --------
    >>> import abstain
    >>> [metric.spec for metric in abstain.metrics.parse_list("augrc, cwsa(threshold=0.9, denominator=all)")]
    ['augrc', 'cwsa(threshold=0.9, denominator=all)']
    """
    return [parse(part) for part in split_specs(text)]
