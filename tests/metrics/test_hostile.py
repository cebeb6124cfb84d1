"""Hostile options, rows without weight, and rounding: a value that is meant, or an error that names the argument."""

import numpy as np
import pytest

import abstain
from abstain import metrics
from abstain.metrics import Predictions
from tests.refusal import refused

HOSTILE = (float("nan"), float("inf"), -1.0, -0.5, 2.0, 1e300, 0, 1, 10**30, True, None)
HOSTILE += ("x", b"x", [], [1.0], (0.2,), {}, 1j)
LOSS, SCORE = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
CASES = [(name, option) for name in metrics.names("blocks", "probabilities") for option in metrics.get(name).defaults]


@pytest.mark.parametrize(("name", "option"), CASES)
@pytest.mark.filterwarnings("ignore::abstain.UndefinedMetricWarning")
def test_a_hostile_option_gives_a_value_in_the_range_or_is_named(name, option):
    """No number outside the declared range, no other kind of error, and the first line names the option."""
    metric = metrics.get(name)
    data = abstain.TieBlocks.from_samples(LOSS, SCORE, oracle=True)
    if metric.input == "probabilities":
        data = Predictions(np.array([0, 1, 0, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.7, 0.3]]))
    for value in HOSTILE:
        try:
            found = metrics.get(name, **{option: value})(data)
        except (TypeError, ValueError) as error:
            if option not in str(error).splitlines()[0]:
                raise
            continue
        low, high = (end * (value if option == "factor" else 1.0) for end in metric.range)
        open_end = option in ("zero_division", "clip")
        assert np.isnan(found) or open_end or low - 1e-9 <= found <= high + 1e-9, value


@pytest.mark.parametrize("name", metrics.names("blocks"))
@pytest.mark.parametrize("graded", [False, True])
def test_a_row_of_weight_zero_is_no_row(name, graded):
    """A loss of .37 or 5 and a score that is missing count nothing: no value, no interval and no need."""
    metric = metrics.get(name)
    if graded and "binary" in metric.needs:
        return
    loss = [0.0, 1.0, 0.0, 0.5 if graded else 0.0, 1.0, 0.0]
    weight = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0]
    more = [*loss, 0.37, 5.0, 0.5], [*SCORE, 0.65, 0.7, np.nan], [*weight, 0.0, 0.0, 0.0]
    for policy in ("raise", "reject", "drop"):
        assert metric.of(*more, nan_policy=policy) == pytest.approx(metric.of(loss, SCORE, weight), rel=1e-12)
    if metric.inference_kind == "smooth" and not graded:
        one = abstain.confidence_interval(metric, loss, SCORE, sample_weight=weight)
        other = abstain.confidence_interval(metric, more[0][:-1], more[1][:-1], sample_weight=more[2][:-1])
        assert other[:4] == pytest.approx(one[:4], rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("policy", ["raise", "reject", "drop"])
def test_rows_of_weight_zero_need_nothing(policy):
    """No score and no 0/1 loss, from arrays and from frames, whatever the policy for missing scores."""
    columns = {"loss": [0.0, 1.0, 0.0, 0.5], "confidence": [0.9, 0.8, 0.7, np.nan], "sample_weight": [1.0, 1.0, 2.0, 0]}
    frame = pytest.importorskip("polars").DataFrame(columns)
    wanted = abstain.TieBlocks.from_samples(*(each[:3] for each in columns.values()))
    for table in (
        abstain.TieBlocks.from_samples(*columns.values(), nan_policy=policy, keep_samples=True),
        abstain.TieBlocks.from_frame(frame, **dict(zip(columns, columns, strict=True)), nan_policy=policy),
    ):
        assert (table.binary, table.n, table.n_rejected, table.n_dropped) == (True, 3, 0, 0)
        for column in ("score", "weight", "loss", "count"):
            assert getattr(table, column).tolist() == getattr(wanted, column).tolist()


# ---------------------------------------------------------------------- rounding


UNIT = [
    *(getattr(abstain, name) for name in ("ece", "mce", "cwsa", "cwsa_plus", "brier_confidence", "nll_confidence")),
    abstain.aumcc,
    lambda loss, score: abstain.ece(loss, score, bins=2, binning="equal_mass"),
    lambda loss, score: abstain.contributions("cwsa", loss, score).tolist(),
    lambda loss, score: abstain.standard_error("brier_confidence", loss, score),
    lambda loss, score: {name: list(column) for name, column in abstain.cwsa_sweep(loss, score).items()},
]


@pytest.mark.parametrize("metric", UNIT)
@pytest.mark.parametrize("beyond", [1e-7, 1e-3])
def test_a_confidence_a_hair_above_one_is_one(metric, beyond):
    """Means of float32 members are 1.0000001: clipped, also beside a true 1, with which it is one tie."""
    loss = [0, 1, 0, 1, 0, 0]
    assert metric(loss, [1.0 + beyond, 1.0, 0.7, 0.6, 0.0, -beyond]) == metric(loss, [1.0, 1.0, 0.7, 0.6, 0.0, 0.0])
    assert metric(loss, [1.0, 1.0, 0.7, 0.6, 0.0, -beyond]) == metric(loss, [1.0, 1.0, 0.7, 0.6, 0.0, 0.0])


@pytest.mark.parametrize("score", [1.002, -0.002])
def test_more_than_rounding_is_refused(score):
    """In a vector, and as an entry of a row."""
    refused(abstain.UnmetNeed, r"probabilities in \[0, 1\], but they span", abstain.ece, [0, 1], [score, 0.5])
    refused(abstain.UnmetNeed, r"confidences in \[0, 1\], but they span", abstain.cwsa_sweep, [0, 1], [score, 0.5])
    refused(ValueError, r"probabilities is outside \[0, 1\]", abstain.nll, [0], [[score, 1.0 - score]])


def test_sure_and_right_costs_no_less_than_nothing():
    """Squares and logarithms that rounding makes negative are 0."""
    sure = 1.0 - 1e-8 * np.random.default_rng(0).random(200)
    assert min(abstain.brier_score([0], [[p, 1.0 - p]]) for p in sure) == 0.0
    assert abstain.nll([0], [[1.0000005, 0.0]]) == 0.0


def test_what_was_clipped_is_said():
    """By ``evaluate``, where a metric reads the values and not only their order."""
    columns = {"loss": [0, 1, 0, 1], "confidence": [1.0000001, 0.5, 0.7, 0.8]}
    assert "leaves [0, 1] by 1e-07 at most" in " ".join(str(abstain.evaluate(**columns, metrics="ece")).split())
    assert "leaves [0, 1]" not in str(abstain.evaluate(**columns, metrics="augrc"))


@pytest.mark.parametrize("bins", [5, 10, 15])
@pytest.mark.parametrize("metric", [abstain.ece, abstain.mce])
def test_float32_and_float64_of_the_same_decimals_have_one_ece(metric, bins):
    """Decimals on the edges of the bins, which float32 rounds upwards."""
    rng = np.random.default_rng(0)
    score = rng.integers(0, 101, 2000) / 100
    loss = (rng.random(2000) > score) * 1.0
    assert metric(loss, np.float32(score), bins=bins) == pytest.approx(metric(loss, score, bins=bins), abs=1e-6)
