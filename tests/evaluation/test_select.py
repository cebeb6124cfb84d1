"""Selection on a validation split, reported on the test split."""

import numpy as np
import pytest

import abstain
from tests.refusal import refused


def candidates(seed=0, n=400, runs=None):
    """Temperatures of unlike quality."""
    rng = np.random.default_rng(seed)

    def split(sd):
        shape = (n,) if runs is None else (runs, n)
        difficulty = rng.standard_normal(shape)
        loss = (rng.random(shape) < np.minimum(0.2 * np.exp(difficulty - 0.5), 1.0)).astype(float)
        return loss, -difficulty + sd * rng.standard_normal(shape)

    return {f"T={sd}": {"validation": split(sd), "test": split(sd)} for sd in (3.0, 0.3, 1.0)}


def test_it_takes_the_best_of_the_validation_split_and_reports_the_test_split():
    given = candidates()
    result = abstain.select(given, ["augrc", "auroc_f"])
    for spec, choice in result.choices.items():
        function = getattr(abstain, spec)
        values = {name: function(*each["validation"]) for name, each in given.items()}
        best = (min if choice.direction == "lower" else max)(values, key=values.__getitem__)
        assert choice.name == best
        assert choice.validation == pytest.approx(values[best])
        assert result.validation[spec] == pytest.approx(values)
        assert choice.test == abstain.confidence_interval(spec, *given[best]["test"])
        assert choice.by_metric["augrc"] == pytest.approx(abstain.augrc(*given[best]["test"]))
    assert result.chosen == result.choices["augrc"].name
    assert result.others() == {"auroc_f": result.choices["auroc_f"].name}


def test_pairs_and_single_splits_are_taken():
    """Ties are named, and the first wins."""
    given = candidates()
    pairs = {name: (each["validation"], each["test"]) for name, each in given.items()}
    assert abstain.select(pairs).to_dict() == abstain.select(given).to_dict()
    alone = abstain.select({name: each["validation"] for name, each in given.items()})
    assert (alone.choices["augrc"].test, alone.n_test, alone.chosen) == (None, None, abstain.select(given).chosen)
    loss, score = np.array([0, 1, 0, 0] * 10), np.arange(40)
    tied = abstain.select({"x": (loss, score), "y": (loss, 2 * score)}, "augrc")
    assert (tied.chosen, tied.choices["augrc"].tied) == ("x", ("y",))
    assert "the same for x and y" in str(tied)


@pytest.mark.parametrize(
    ("spec", "method"), [("augrc", "log-t, runs"), ("auroc_f", "logit-t, runs"), ("coverage_at_risk(risk=0.2)", "none")]
)
def test_runs_are_averaged(spec, method):
    """Validation and test values; without an influence function there is no interval, and it says so."""
    given, metric = candidates(runs=3), abstain.metrics.parse(spec)
    choice = (result := abstain.select(given, [spec, "risk"])).choices[spec]
    mean = lambda split: np.mean([metric.of(*run) for run in zip(*split, strict=True)])  # noqa: E731
    values = {name: mean(each["validation"]) for name, each in given.items()}
    assert result.validation[spec] == pytest.approx(values)
    assert choice.name == (min if metric.direction == "lower" else max)(values, key=values.__getitem__)
    test = given[choice.name]["test"]
    assert choice.test.estimate == choice.by_metric[spec] == pytest.approx(mean(test))
    assert choice.by_metric["risk"] == pytest.approx(test[0].mean())
    assert (choice.test.method, choice.test.level) == (method, 0.95)
    assert np.isnan(choice.test.low) == (method == "none") == ("gets no interval" in str(choice.test.warning))


PAIR = ([0, 1, 0], [3, 2, 1])


@pytest.mark.parametrize(
    ("given", "metric", "message"),
    [
        ({}, "augrc", "candidates must be a dict"),
        ([PAIR], "augrc", "candidates must be a dict"),
        ({"a": {"valid": PAIR}}, "augrc", "got the keys valid"),
        ({"a": (PAIR, PAIR), "b": {"validation": PAIR}}, "augrc", "'b'.*no test split but others have"),
        ({"a": 3}, "augrc", "got int"),
        ({"a": {"validation": [1, 2, 3]}}, "augrc", "a split is a pair"),
        ({"a": PAIR, "b": ([0, 1], [1, 2])}, "augrc", "lengths differ"),
        ({"a": ([0, 1], [np.nan, 1])}, "augrc", "holds NaN"),
        ({"a": ([0, 0], [1, 2])}, "auroc_f", "undefined on the validation split"),
        ({"a": PAIR}, [], "metric is empty"),
        ({"a": PAIR}, "nll", "nll takes probabilities"),
        ({"a": PAIR}, ["augrc", 5], "metric must be a name .* got 5"),
    ],
)
def test_bad_input(given, metric, message):
    refused((ValueError, TypeError), message, abstain.select, given, metric)


def test_a_candidate_that_attains_no_such_risk_accepts_nothing():
    result = abstain.select({"never": ([1, 0], [2, 1]), "half": ([1, 0], [1, 2])}, "coverage_at_risk(risk=0.1)")
    assert result.validation["coverage_at_risk(risk=0.1)"] == {"never": 0.0, "half": 0.5}
    assert result.chosen == "half"
