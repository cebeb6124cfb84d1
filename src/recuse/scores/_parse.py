"""Read scores from text, as the command line and configuration files write them."""

from __future__ import annotations

import ast
from typing import Any

from recuse.scores._catalogue import LEAF_OF, score_of
from recuse.scores._score import Score

_FORM = 'write a name, or a name with options: "knn(neighbours=10)"'


def parse(spec: str) -> Score:
    """Return the score that a text such as ``"msp"`` or ``"knn(neighbours=10)"`` names.

    Parameters
    ----------
    spec : str
        A name, with options in parentheses; words need no quotes.

    Returns
    -------
    Score

    Raises
    ------
    ValueError
        Not of that form, or an unknown name.
    TypeError
        An unknown option.

    Examples
    --------
    >>> import recuse
    >>> recuse.scores.parse("knn(neighbours=10)").settings["neighbours"]
    10
    """
    if spec in LEAF_OF:
        return score_of(spec)
    try:
        tree = ast.parse(spec.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"score {spec!r} cannot be read; {_FORM}") from None
    if isinstance(tree, ast.Name):
        return score_of(tree.id)
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.args:
        raise ValueError(f"score {spec!r} cannot be read; {_FORM}")
    options = {keyword.arg: _option(keyword.value, spec) for keyword in tree.keywords if keyword.arg is not None}
    return score_of(tree.func.id).using(**options)


def parse_list(text: str) -> list[str]:
    """Return the parts of a comma-separated list; commas inside parentheses separate options.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str

    Examples
    --------
    >>> import recuse
    >>> recuse.scores.parse_list("msp, gen(gamma=0.5, top=10),")
    ['msp', 'gen(gamma=0.5, top=10)']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _option(node: ast.expr, spec: str) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_option(entry, spec) for entry in node.elts)
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(f"score {spec!r} has an option that is no number or word") from None
