"""Read scores from text, as the command line and configuration files write them."""

from __future__ import annotations

from abstain._specs import read_spec, split_specs
from abstain.scores._catalogue import score_of
from abstain.scores._score import Score


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
    >>> import abstain
    >>> abstain.scores.parse("knn(neighbours=10)").settings["neighbours"]
    10
    """
    name, options = read_spec(spec, "score", "knn(neighbours=10)")
    return score_of(name).using(**options)


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
    >>> import abstain
    >>> abstain.scores.parse_list("msp, gen(gamma=0.5, top=10),")
    ['msp', 'gen(gamma=0.5, top=10)']
    """
    return split_specs(text)
