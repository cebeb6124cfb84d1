"""Groups, look-ups and notes of an evaluation."""

import numpy as np
import pytest

import abstain
from tests.refusal import refused

RNG = np.random.default_rng(3)
N = 240
LOSS = (RNG.random(N) < 0.3).astype(float)
SCORE = RNG.random(N)
SITE = RNG.choice(["north", "south", "west"], N)
AGE = RNG.integers(30, 32, N)
WEIGHT = RNG.integers(1, 5, N).astype(float)


def outputs(**fields):
    """Return outputs with two group columns and whatever else is wanted."""
    return abstain.Outputs(**({"loss": LOSS, "confidence": SCORE, "groups": {"site": SITE, "age": AGE}} | fields))


def test_groups_are_evaluated_like_their_rows_alone():
    """Text and numbers make groups; values in a group are those of its rows, weights and probabilities included."""
    p, labels = RNG.dirichlet(np.ones(2), N), RNG.integers(0, 2, N)
    given = outputs(sample_weight=WEIGHT, labels=labels, probabilities=p)
    result = abstain.evaluate(given, metrics="augrc,nll", groups=["site", "age", "age"])
    assert result.groups == [None, "site = north", "site = south", "site = west", "age = 30", "age = 31"]
    for group, rows in (("site = south", SITE == "south"), ("age = 31", AGE == 31), (None, slice(None))):
        weight = {"sample_weight": WEIGHT[rows]}
        assert result.value("AUGRC", group=group) == abstain.augrc(LOSS[rows], SCORE[rows], **weight)
        wanted = abstain.nll(labels[rows], p[rows], **weight)
        assert result.value("nll", group=group) == pytest.approx(wanted, rel=1e-12)
    groups = {"a": ["b = c", "b = c", "x"], "a = b": ["c", "x", "x"]}  # two groups of one label
    given = abstain.Outputs(loss=[0, 1, 1], confidence=[3, 2, 1], groups=groups)
    result = abstain.evaluate(given, metrics="risk", groups=["a", "a = b"])
    assert [result.value("risk", group=group) for group in ("a = b = c", "'a = b' = 'c'")] == [0.5, 0.0]


# ---------------------------------------------------------------------- look-ups


def test_failed_look_ups_name_what_is_wrong():
    """Metric, score or group: the message is about the one that is wrong."""
    result = abstain.evaluate(outputs(), metrics="augrc", groups="site")
    for what, message in (
        ({"metric": "augcr"}, "no metric 'augcr' here; did you mean 'augrc'"),
        ({"score": "confidenc"}, "no score 'confidenc' here; did you mean 'confidence'"),
        ({"group": "site = nort"}, "no group 'site = nort' here; did you mean 'site = north'"),
    ):
        refused(KeyError, message, result.value, **({"metric": "augrc"} | what))
        if "metric" not in what:
            refused(KeyError, message, result.curve, **what)
    plain = abstain.evaluate(outputs())
    refused(KeyError, r"no group 'site = a' here; .*groups=<group column>", plain.curve, group="site = a")


# ---------------------------------------------------------------------- notes


def test_a_group_of_one_cluster_has_values_without_intervals():
    """Resampled or not: one small group is no reason to refuse the whole."""
    cluster = np.where(SITE == "west", -1, np.arange(N) // 4)
    metrics = ["augrc", "coverage_at_risk(risk=0.2)"]
    result = abstain.evaluate(outputs(clusters=cluster), metrics=metrics, groups="site", n_resamples=50)
    for entry in result.measurements:
        assert np.isnan(entry.low) == (entry.group == "site = west")
        assert not np.isnan(entry.value)
        if entry.group == "site = west":
            assert str(entry.warning).startswith("no interval: clusters holds a single cluster")


def test_provenance_identifies_the_input():
    """Equal input has equal hashes; another loss, score or group has another."""
    again = abstain.evaluate(outputs()).provenance
    assert abstain.evaluate(outputs(), metrics="augrc").provenance == again
    assert (again["n"], again["binary_loss"], again["weighted"], again["abstain"]) == (
        N,
        True,
        False,
        abstain.__version__,
    )
    others = {"loss": np.roll(LOSS, 1), "confidence": np.nextafter(SCORE, 1), "groups": {"site": SITE}}
    others |= {"scores": {"s": SCORE}, "sample_weight": WEIGHT}
    each = [abstain.evaluate(outputs(**{name: column})).provenance for name, column in others.items()]
    assert len({one["fingerprint"] for one in (*each, again)}) == 6
    means = [again["mean_loss"], each[-1]["mean_loss"]]
    assert means == pytest.approx([LOSS.mean(), np.average(LOSS, weights=WEIGHT)])


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("one", "other", "policy", "same"),
    [
        (-1, -1, "drop", True), (3, -1, "drop", False), (-1, 3, "drop", False), (3, -1, "reject", True),
        (3, 3, "drop", True), (3, 4, "drop", False),
    ],
)  # fmt: skip
def test_scores_that_lack_other_rows_are_measured_on_other_samples(one, other, policy, same, lazy):
    """Only where rows are dropped; a scan of single scores does not show whether two lack the same rows."""
    polars = pytest.importorskip("polars")
    n = np.arange(20)
    columns = {"loss": n % 2 * 1.0} | {
        name: np.where(n == row, np.nan, n / 20) for name, row in (("a", one), ("b", other))
    }
    frame = polars.LazyFrame(columns) if lazy else polars.DataFrame(columns)
    found = abstain.evaluate(frame, ["a", "b"], "risk", loss="loss", nan_policy=policy)
    known = same and not (lazy and policy == "drop" and (one, other) == (3, 3))
    assert found.provenance["same_samples"] == known
    assert any("measured on other samples" in note for note in found.notes()) != known
    assert abstain.evaluate(frame, ["a"], "risk", loss="loss", nan_policy=policy).provenance["same_samples"]


def test_rows_of_other_groups_are_no_copies():
    """Nor are rows that differ in another score; all that is known of them counts."""
    rng = np.random.default_rng(0)
    loss, score = np.tile((rng.random(400) < 0.1) * 1.0, 2), np.tile(rng.random(400), 2)
    for more, said in (
        ({}, True), ({"groups": {"half": np.arange(800) // 400}}, False),
        ({"groups": {"same": np.arange(800) % 400 // 200}}, True), ({"scores": {"s": np.arange(800.0)}}, False),
    ):  # fmt: skip
        verdict = abstain.evaluate(abstain.Outputs(loss=loss, confidence=score, **more), "confidence", "risk").verdict
        assert ("copied_rows" in [each.kind for each in verdict.caveats]) == said


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_metrics_that_lack_an_interval_for_one_reason_share_a_line(names):
    """Of one score all are named; of several the first four, and how many more."""
    loss = (np.arange(60) % 10 == 5) * 1.0
    scores = {"a": np.arange(60.0), "b": np.arange(60.0)[::-1]}
    specs = [f"coverage_at_risk(risk={risk / 10})" for risk in range(1, 6)]
    clusters = np.arange(60) // 20
    found = abstain.evaluate(abstain.Outputs(loss=loss, scores=scores, clusters=clusters), names, specs)
    (line,) = [note for note in found.notes() if note.startswith("no interval of")]
    every = [f"{each.label} of {each.score}" for each in found.measurements]
    shown = every if len(names) == 1 else [*every[:4]]
    assert line.startswith(f"no interval of {', '.join(shown)}" + (" and 6 more: " if len(names) > 1 else ": "))


def test_a_group_where_nothing_counts_is_undefined_and_spoils_nothing():
    columns = {"loss": [0, 1, 1, 0], "confidence": [0.9, 0.8, 0.7, 0.6], "groups": {"site": list("aabc")}}
    result = abstain.evaluate(abstain.Outputs(**columns, sample_weight=[1, 1, 1, 0]), metrics="risk", groups="site")
    assert [result.value("risk", group=f"site = {name}") for name in "ab"] == [0.5, 1.0]
    empty = result.measurements[-1]
    assert np.isnan(empty.value)
    assert empty.reason == "no sample of the group has a score and a positive weight"
    refused(KeyError, "no sample of it has a score and a weight", result.curve, "confidence", "site = c")
    for column, how in (
        ("confidence", r"; for several scores .* scores=\['a'\]"),
        ("sample_weight", "; give an array"),
    ):
        message = f"{column} must be one column, got a dict{how}"
        refused(TypeError, message, abstain.evaluate, loss=LOSS, **{column: {"a": SCORE}})
