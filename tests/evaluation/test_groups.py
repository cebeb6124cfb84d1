"""Groups, look-ups and notes of an evaluation."""

import re

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
    """Text and numbers make groups; the value in a group is that of its rows, weights included."""
    result = abstain.evaluate(outputs(sample_weight=WEIGHT), metrics="augrc", groups=["site", "age"])
    assert result.groups == [None, "site = north", "site = south", "site = west", "age = 30", "age = 31"]
    for group, rows in (("site = south", SITE == "south"), ("age = 31", AGE == 31), (None, slice(None))):
        wanted = abstain.augrc(LOSS[rows], SCORE[rows], sample_weight=WEIGHT[rows])
        assert result.value("augrc", group=group) == wanted
    assert abstain.evaluate(outputs(), metrics="augrc", groups="age").groups == [None, "age = 30", "age = 31"]
    assert abstain.evaluate(outputs(), metrics="augrc", groups=["age", "age"]).groups == [None, "age = 30", "age = 31"]


def test_metrics_of_the_probabilities_within_groups():
    """The probability vectors are those of the group, too."""
    rng = np.random.default_rng(4)
    probabilities = rng.dirichlet(np.ones(2), N)
    labels = rng.integers(0, 2, N)
    given = abstain.Outputs(labels=labels, probabilities=probabilities, groups={"age": AGE}, sample_weight=WEIGHT)
    result = abstain.evaluate(given, metrics="nll", groups="age")
    rows = AGE == 30
    wanted = abstain.nll(labels[rows], probabilities[rows], sample_weight=WEIGHT[rows])
    assert result.value("nll", group="age = 30") == pytest.approx(wanted, rel=1e-12)


def test_unknown_groups_get_the_nearest_name():
    """A wrong column in ``groups=`` is an error."""
    with pytest.raises(ValueError, match="groups='sit' is no group column; did you mean 'site'"):
        abstain.evaluate(outputs(), groups="sit")


def test_an_identifier_is_no_group():
    """A column of more than a thousand values would give a report that nobody reads."""
    given = abstain.Outputs(loss=np.zeros(1001), confidence=np.arange(1001.0), groups={"id": np.arange(1001)})
    many = "groups='id' has 1001 distinct values, more than 1000; give a column with fewer"
    refused(ValueError, many, abstain.evaluate, given, groups="id")


def test_groups_of_the_same_label_stay_apart():
    """Column "a" with value "b = c" and column "a = b" with value "c" are two groups."""
    groups = {"a": ["b = c", "b = c", "x"], "a = b": ["c", "x", "x"]}
    given = abstain.Outputs(loss=[0, 1, 1], confidence=[3, 2, 1], groups=groups)
    result = abstain.evaluate(given, metrics="risk", groups=["a", "a = b"])
    assert len(result.groups) == 5
    assert result.value("risk", group="a = b = c") == 0.5
    assert result.value("risk", group="'a = b' = 'c'") == 0.0


@pytest.mark.parametrize("policy", ["drop", "reject"])
def test_a_group_where_nothing_counts(policy):
    """A group without weight, or without a score left, is undefined and does not spoil the rest."""
    columns = {"scores": {"s": [0.9, 0.8, np.nan, np.nan]}, "groups": {"site": ["a", "a", "b", "c"]}}
    given = abstain.Outputs(loss=[0, 1, 1, 0], sample_weight=[1, 1, 1, 0], **columns)
    result = abstain.evaluate(given, "s", "risk", groups="site", nan_policy=policy)
    values = {group: result.value("risk", group=group) for group in result.groups}
    assert values["site = a"] == 0.5
    assert np.isnan(values["site = c"])
    assert np.isnan(values["site = b"]) == (policy == "drop")
    reasons = {entry.group: entry.reason for entry in result.measurements}
    assert reasons["site = c"] == "no sample of the group has a score and a positive weight"
    refused(KeyError, "no sample of it has a score and a weight", result.curve, "s", "site = c")
    assert re.search(r"^site = c  0( +—)+$", str(result), re.MULTILINE)


# ---------------------------------------------------------------------- look-ups


def test_value_by_spec_and_by_printed_name():
    """A number is found under the text that asked for it and under the name in the table."""
    result = abstain.evaluate(outputs(), metrics="coverage_at_risk(risk=0.25), augrc")
    assert result.value("coverage_at_risk(risk=0.25)") == result.value("Coverage at risk 25 %")
    assert result.value("AUGRC") == result.value("augrc")


def test_failed_look_ups_name_what_is_wrong():
    """Metric, score or group: the message is about the one that is wrong."""
    result = abstain.evaluate(outputs(), metrics="augrc", groups="site")
    for what, message in (
        ({"metric": "augcr"}, "no metric 'augcr' here; did you mean 'augrc'"),
        ({"metric": "augrc", "score": "confidenc"}, "no score 'confidenc' here; did you mean 'confidence'"),
        ({"metric": "augrc", "group": "site = nort"}, "no group 'site = nort' here; did you mean 'site = north'"),
    ):
        refused(KeyError, message, result.value, **what)
        if "metric" not in message:
            refused(KeyError, message, result.curve, what.get("score"), what.get("group"))


def test_look_up_of_a_group_without_groups():
    """The message says how groups are made."""
    with pytest.raises(KeyError, match=r"no group 'site = a' here; .*groups=<group column>"):
        abstain.evaluate(outputs()).curve(group="site = a")


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


def test_a_missing_interval_is_said_where_the_data_lack_it():
    """Once for metrics with the same reason; one that has none by its kind says why."""
    metrics = ["augrc", "aurc", "ece", "coverage_at_risk(risk=0.2)"]
    of_ece = "no interval of ECE of confidence: its bias does not vanish compared with its spread"
    assert abstain.evaluate(outputs(), metrics=metrics).notes() == [of_ece]
    notes = abstain.evaluate(outputs(clusters=np.zeros(N, dtype=int)), metrics=metrics).notes()
    assert of_ece in notes
    shared = "no interval of AUGRC of confidence, AURC of confidence: clusters"
    assert sum(note.startswith(shared) for note in notes) == 1


def test_several_columns_for_one():
    """Arrays of several scores make a table: the message writes the call, and that call works."""
    both = {"a": SCORE, "b": SCORE**3}
    for column, message in (
        ("confidence", r"confidence must be one column, got a dict; for several scores .* scores=\['a', 'b'\]"),
        ("sample_weight", "sample_weight must be one column, got a dict; give an array"),
    ):
        refused(TypeError, message, abstain.evaluate, loss=LOSS, **{column: both})
        refused(
            TypeError, "evaluate has no argument 'wrog'; known: ", abstain.evaluate, {"loss": LOSS, **both}, wrog="a"
        )
        found = abstain.evaluate({"loss": LOSS, **both}, loss="loss", scores=["a", "b"])
        assert found.value("augrc", score="b") == abstain.augrc(LOSS, SCORE**3)


def test_provenance_identifies_the_input():
    """Equal input has equal hashes; another loss, score or group has another."""
    again = abstain.evaluate(outputs()).provenance
    assert abstain.evaluate(outputs(), metrics="augrc").provenance == again
    assert again["abstain"] == abstain.__version__
    assert (again["n"], again["binary_loss"], again["weighted"]) == (N, True, False)
    assert again["mean_loss"] == pytest.approx(LOSS.mean())
    others = {"loss": np.roll(LOSS, 1), "confidence": np.nextafter(SCORE, 1), "groups": {"site": SITE}}
    others |= {"sample_weight": WEIGHT, "scores": {"s": SCORE}}
    each = [abstain.evaluate(outputs(**{name: column})).provenance for name, column in others.items()]
    hashes = {one["fingerprint"] for one in (*each, again)}
    assert len(hashes) == 6
    weighted = abstain.evaluate(outputs(sample_weight=WEIGHT)).provenance
    assert weighted["mean_loss"] == pytest.approx(np.average(LOSS, weights=WEIGHT))


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("one", "other", "policy", "same"),
    [
        (None, None, "drop", True), (3, None, "drop", False), (None, 3, "drop", False), (3, None, "reject", True),
        (3, 3, "drop", True), (3, 4, "drop", False),
    ],
)  # fmt: skip
def test_scores_that_lack_other_rows_are_measured_on_other_samples(one, other, policy, same, lazy):
    """Only where rows are dropped; a scan of single scores does not show whether two lack the same rows."""
    polars = pytest.importorskip("polars")
    columns = {"loss": [0.0, 1.0] * 10, "a": [k / 20 for k in range(20)], "b": [k * 7 % 20 / 20 for k in range(20)]}
    for name, row in (("a", one), ("b", other)):
        if row is not None:
            columns[name][row] = np.nan
    frame = polars.LazyFrame(columns) if lazy else polars.DataFrame(columns)
    found = abstain.evaluate(frame, ["a", "b"], "risk", loss="loss", nan_policy=policy)
    known = same and not (lazy and policy == "drop" and (one, other) == (3, 3))
    assert found.provenance["same_samples"] == known
    assert any("measured on other samples" in note for note in found.notes()) != known
    alone = abstain.evaluate(frame, ["a"], "risk", loss="loss", nan_policy=policy)
    assert alone.provenance["same_samples"]


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
