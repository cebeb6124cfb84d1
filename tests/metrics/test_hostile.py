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
    data = abstain.TieBlocks.from_samples(LOSS, SCORE, oracle=True)
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


# ---------------------------------------------------------------------- rounding


UNIT = [
    *(getattr(abstain, name) for name in ("ece", "mce", "cwsa", "cwsa_plus", "brier_confidence", "nll_confidence")),
    abstain.aumcc,
    lambda loss, score: abstain.ece(loss, score, bins=2, binning="equal_mass"),
    lambda loss, score: abstain.contributions("cwsa", loss, score).tolist(),
    lambda loss, score: abstain.standard_error("brier_confidence", loss, score),
    lambda loss, score: abstain.inference.bootstrap("cwsa", loss, score, n_resamples=20, rng=0).replicates.tolist(),
    lambda loss, score: {name: list(column) for name, column in abstain.cwsa_sweep(loss, score).items()},
]


@pytest.mark.parametrize("metric", UNIT)
@pytest.mark.parametrize("beyond", [1e-7, 1e-3])
def test_a_confidence_a_hair_above_one_is_one(metric, beyond):
    """Means of float32 members are 1.0000001: clipped, also beside a true 1, with which it is one tie."""
    loss = [0, 1, 0, 1, 0, 0]
    assert metric(loss, [1.0 + beyond, 1.0, 0.7, 0.6, 0.0, -beyond]) == metric(loss, [1.0, 1.0, 0.7, 0.6, 0.0, 0.0])


@pytest.mark.parametrize("score", [1.002, -0.002])
def test_more_than_rounding_is_refused(score):
    """In a vector, and as an entry of a row."""
    refused(abstain.UnmetNeed, r"probabilities in \[0, 1\], but they span", abstain.ece, [0, 1], [score, 0.5])
    refused(abstain.UnmetNeed, r"confidences in \[0, 1\], but they span", abstain.cwsa_sweep, [0, 1], [score, 0.5])
    refused(ValueError, r"probabilities is outside \[0, 1\]", abstain.nll, [0], [[score, 1.0 - score]])


def test_what_was_clipped_is_said():
    """By ``evaluate``, where a metric reads the values and not only their order."""
    columns = {"loss": [0, 1, 0, 1], "confidence": [1.0000001, 0.5, 0.7, 0.8]}
    assert "leaves [0, 1] by 1e-07 at most" in " ".join(str(abstain.evaluate(**columns, metrics="ece")).split())
    assert "leaves [0, 1]" not in str(abstain.evaluate(**columns, metrics="augrc"))
    rows = np.array([[1.000002, -0.000002], [0.3, 0.7]])
    assert abstain.brier_score([0, 1], rows) == pytest.approx(0.09)


@pytest.mark.parametrize("bins", [5, 10, 15])
def test_float32_and_float64_of_the_same_decimals_have_one_ece(bins):
    """Decimals on the edges of the bins, which float32 rounds upwards."""
    rng = np.random.default_rng(0)
    score = rng.integers(0, 101, 2000) / 100
    loss = (rng.random(2000) > score) * 1.0
    for metric in (abstain.ece, abstain.mce):
        assert metric(loss, np.float32(score), bins=bins) == pytest.approx(metric(loss, score, bins=bins), abs=1e-6)


def test_rows_of_weight_zero_need_nothing():
    """No score and no 0/1 loss, from arrays and from frames, and whatever the policy for missing scores."""
    loss, score, weight = [0.0, 1.0, 0.0, 0.5], [0.9, 0.8, 0.7, np.nan], [1, 1, 2, 0]
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"loss": loss, "score": score, "weight": [float(w) for w in weight]})
    wanted = abstain.TieBlocks.from_samples(loss[:3], score[:3], weight[:3])
    for policy in ("raise", "reject", "drop"):
        names = {"loss": "loss", "confidence": "score", "sample_weight": "weight"}
        for table in (
            abstain.TieBlocks.from_samples(loss, score, weight, nan_policy=policy),
            abstain.TieBlocks.from_samples(loss, score, weight, nan_policy=policy, keep_samples=True),
            abstain.TieBlocks.from_frame(frame, **names, nan_policy=policy),
        ):
            assert table.binary
            assert (table.n, table.n_rejected, table.n_dropped) == (3, 0, 0)
            for column in ("score", "weight", "loss", "count"):
                assert getattr(table, column).tolist() == getattr(wanted, column).tolist()
    for name in ("auroc_f", "e_aurc", "naurc", "fpr95_error", "average_precision_error", "f1_auc"):
        metric = getattr(abstain, name)
        assert metric(loss, score, sample_weight=weight) == metric(loss[:3], score[:3], sample_weight=weight[:3])
