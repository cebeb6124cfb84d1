"""Hostile options and rows without weight: a value that is meant, or an error that names the argument."""

import numpy as np
import pytest

import abstain
from abstain import metrics
from abstain.metrics import Predictions

HOSTILE = (float("nan"), float("inf"), -1.0, -0.5, 2.0, 1e300, 0, 1, 10**30, True, None)
HOSTILE += ("x", b"x", [], [1.0], (0.2,), {}, 1j)
LOSS, SCORE = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
MASKED = np.ma.masked_equal([1, 9, 2, 2, 1, 1], 9)
CASES = [
    pytest.param(name, option, value, id=f"{name}-{option}-{value!r:.12}")
    for name in metrics.names("blocks", "probabilities")
    for option in metrics.get(name).defaults
    for value in HOSTILE
]


@pytest.mark.parametrize(("name", "option", "value"), CASES)
@pytest.mark.filterwarnings("ignore::abstain.UndefinedMetricWarning")
def test_a_hostile_option_gives_a_value_in_the_range_or_is_named(name, option, value):
    """No number outside the declared range, no other kind of error, and the first line names the option."""
    metric = metrics.get(name)
    blocks = abstain.TieBlocks.from_samples(LOSS, SCORE, oracle=True)
    data = blocks
    if metric.input == "probabilities":
        data = Predictions(np.array([0, 1, 0, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.7, 0.3]]))
    try:
        found = metrics.get(name, **{option: value})(data)
    except (TypeError, ValueError) as error:
        if option not in str(error).splitlines()[0]:
            raise
        return
    low, high = metric.range
    factor = value if option == "factor" else 1.0
    open_end = option in ("zero_division", "clip")
    assert np.isnan(found) or open_end or low * factor - 1e-9 <= found <= high * factor + 1e-9


def test_what_was_accepted_in_silence_is_refused():
    """Each of these gave a number without a word."""
    for call, named in (
        (lambda: abstain.sele(LOSS, SCORE, factor=float("nan")), "factor"),
        (lambda: abstain.coverage_at_risk(LOSS, SCORE, risk=2), "risk must lie in"),
        (lambda: abstain.nll([0, 1], [[0.5, 0.5], [0.2, 0.8]], clip=1), "clip"),
        (lambda: abstain.prevalence_weights([0.0, 1.0, float("nan")]), r"labels\[2\] is missing"),
        (lambda: abstain.prevalence_weights(np.ma.array([0, 1, 1], mask=[0, 1, 0])), r"labels\[1\] is missing"),
        (lambda: abstain.standard_error("augrc", LOSS, SCORE, clusters=MASKED), r"clusters\[1\] is masked"),
        (lambda: abstain.standard_error("augrc", LOSS, SCORE, strata=MASKED), r"strata\[1\] is masked"),
        (lambda: abstain.inference.permutation_test(LOSS, SCORE, SCORE, n_permutations=10**12), "n_permutations"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=named):
            call()


@pytest.mark.parametrize("name", metrics.names("blocks"))
@pytest.mark.parametrize("graded", [False, True])
def test_a_row_of_weight_zero_is_no_row(name, graded):
    """A loss of .37 or 5 that counts nothing changes no value, no interval and no need."""
    metric = metrics.get(name)
    if graded and "binary" in metric.needs:
        return
    loss = [0.0, 1.0, 0.0, 0.5 if graded else 0.0, 1.0, 0.0]
    weight = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0]
    more = [*loss, 0.37, 5.0], [*SCORE, 0.65, 0.7], [*weight, 0.0, 0.0]
    assert metric.of(loss, SCORE, weight) == pytest.approx(metric.of(*more), rel=1e-12, nan_ok=True)
    if metric.inference_kind == "smooth" and not graded:
        one = abstain.confidence_interval(metric, loss, SCORE, sample_weight=weight)
        other = abstain.confidence_interval(metric, *more[:2], sample_weight=more[2])
        assert other[:4] == pytest.approx(one[:4], rel=1e-9, nan_ok=True)
