"""Data at the edge, and names that mean harm: a picture without a warning, or a refusal in words."""

import warnings
from functools import cache

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import abstain
from abstain import plots
from tests.report import hostile

RNG = np.random.default_rng(0)
N = 60
SURE = RNG.random(N)
WRONG = (RNG.random(N) > SURE).astype(float)
EDGES = {
    "one row": {"loss": [1.0], "confidence": [0.5]},
    "all right": {"loss": np.zeros(N), "confidence": SURE},
    "one score": {"loss": WRONG, "confidence": np.ones(N)},
    "infinite": {"loss": WRONG, "confidence": np.where(np.arange(N) < 3, -np.inf, 1e200 * SURE)},
    "graded": {"loss": 0.5 * WRONG + 0.1 * SURE, "confidence": SURE},
    "weighted": {"loss": WRONG, "confidence": SURE, "sample_weight": RNG.random(N)},
}


@cache
def evaluation(name):
    """Return the evaluation of data at the edge, or of scores with hostile names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "hostile":
            scores = {each: RNG.random(N) for each in hostile.NAMES.values() if each}
            outputs = abstain.Outputs(loss=WRONG, scores=scores)
            return abstain.evaluate(outputs, list(scores)[:6], ["aurc", "augrc"])
        columns = EDGES[name]
        outputs = abstain.Outputs(**columns, groups={"g": np.arange(len(columns["loss"])) % 2})
        return abstain.evaluate(outputs, metrics=["aurc", "augrc"], groups="g")


#: Every third pair is drawn in the quick run; a figure and a case each have about a third of theirs there.
PAIRS = [
    pytest.param(name, figure, marks=[pytest.mark.slow] if (i + k) % 3 else [])
    for i, name in enumerate([*EDGES, "hostile"])
    for k, figure in enumerate(plots.names("evaluation"))
]


@pytest.mark.parametrize(("name", "figure"), PAIRS)
def test_data_at_the_edge(name, figure):
    """Every figure of an evaluation is drawn, or says why not; a warning would be an error here."""
    refused = ""
    try:
        plots.get(figure).draw("evaluation", evaluation(name)).figure_.draw_without_rendering()
    except (ValueError, KeyError) as refusal:
        refused = str(refusal)
    if refused:
        assert len(refused) > 20
        assert name != "hostile" or figure in ("groups", "estimates_by_score")
