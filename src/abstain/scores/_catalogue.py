"""Where each score is; a leaf is loaded when one of its scores is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from abstain._registry import not_known

if TYPE_CHECKING:
    from abstain.scores._score import Score

#: The scores of each leaf, in the order of the list of all scores.
LEAVES = {
    "softmax": ("msp", "neg_log_error", "neg_entropy", "softmax_margin", "neg_gini"),
    "logits": ("max_logit", "logit_margin", "energy"),
    "gen": ("gen",),
    "pnorm": ("max_logit_pnorm",),
    "temperature": ("temp_msp", "temp_neg_log_error"),
    "klm": ("klm",),
    "openmax": ("openmax",),
    "mds": ("mds", "rmds"),
    "knn": ("knn",),
    "vim": ("vim", "residual"),
    "react": ("react",),
    "dice": ("dice",),
    "ash": ("ash_p", "ash_b", "ash_s", "scale"),
    "gradnorm": ("gradnorm",),
    "she": ("she",),
    "nnguide": ("nnguide",),
    "fdbd": ("fdbd",),
    "sirc": ("sirc_msp_l1", "sirc_msp_res", "sirc_neg_entropy_l1", "sirc_neg_entropy_res"),
    "passes": (
        "pass_msp",
        "pass_neg_predictive_entropy",
        "pass_neg_expected_entropy",
        "pass_neg_mutual_information",
        "pass_vote_agreement",
    ),
    "combination": ("platt", "combine_logistic", "combine_ranks"),
    "external": ("confidence", "column"),
}

#: Scores made of other scores, or of a column that has to be named: never listed as available.
COMPOSED = ("platt", "combine_logistic", "combine_ranks", "column")

LEAF_OF = {name: leaf for leaf, names in LEAVES.items() for name in names}


def score_of(name: str) -> Score:
    """Return a score by name."""
    if name not in LEAF_OF:
        raise not_known("score", name, LEAF_OF)
    found: tuple[Score, ...] = import_module(f"abstain.scores._{LEAF_OF[name]}").SCORES
    return next(score for score in found if score.name == name)
