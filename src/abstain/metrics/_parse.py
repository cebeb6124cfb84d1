"""Read metrics from text, as the command line and configuration files write them."""

from __future__ import annotations

from abstain._specs import read_spec, split_specs
from abstain.metrics._metric import METRICS, Metric


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
