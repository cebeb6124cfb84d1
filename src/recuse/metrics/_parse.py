"""Read metrics from text, as the command line and configuration files write them."""

from __future__ import annotations

import ast
from typing import Any

from recuse.metrics._metric import METRICS, Metric


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
    >>> import recuse
    >>> recuse.metrics.parse("aurc(estimator=harmonic)").identifier
    'aurc/harmonic'
    """
    form = 'write a name, or a name with options: "coverage_at_risk(risk=0.01)"'
    try:
        tree = ast.parse(spec.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"metric {spec!r} cannot be read; {form}") from None
    if isinstance(tree, ast.Name):
        return METRICS[tree.id]
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.args:
        raise ValueError(f"metric {spec!r} cannot be read; {form}")
    options = {keyword.arg: _option(keyword.value, spec) for keyword in tree.keywords if keyword.arg is not None}
    return METRICS[tree.func.id].using(**options)


def _option(node: ast.expr, spec: str) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(f"metric {spec!r} has an option that is no number or word") from None


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
    >>> import recuse
    >>> [metric.spec for metric in recuse.metrics.parse_list("augrc, cwsa(threshold=0.9, denominator=all)")]
    ['augrc', 'cwsa(threshold=0.9, denominator=all)']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [parse(part) for part in parts if part.strip()]
