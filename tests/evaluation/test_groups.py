"""Groups, look-ups and notes of an evaluation."""

import re

import numpy as np
import pytest

import abstain

RNG = np.random.default_rng(3)
N = 240
LOSS = (RNG.random(N) < 0.3).astype(float)
SCORE = RNG.random(N)
SITE = RNG.choice(["north", "south", "west"], N)
AGE = RNG.integers(30, 32, N)
WEIGHT = RNG.integers(1, 5, N).astype(float)


def outputs(**fields: object) -> abstain.Outputs:
    """Return outputs with two group columns and whatever else is wanted."""
    return abstain.Outputs(**({"loss": LOSS, "confidence": SCORE, "groups": {"site": SITE, "age": AGE}} | fields))


def test_metrics_of_the_probabilities_within_groups() -> None:
    """The probability vectors are those of the group, too."""
    rng = np.random.default_rng(4)
    probabilities = rng.dirichlet(np.ones(2), N)
    labels = rng.integers(0, 2, N)
    given = abstain.Outputs(labels=labels, probabilities=probabilities, groups={"age": AGE}, sample_weight=WEIGHT)
    result = abstain.evaluate(given, metrics="nll", groups="age")
    rows = AGE == 30
    wanted = abstain.nll(labels[rows], probabilities[rows], sample_weight=WEIGHT[rows])
    assert result.value("nll", group="age = 30") == pytest.approx(wanted, rel=1e-12)


def test_an_identifier_is_no_group() -> None:
    """A column of more than a thousand values would give a report that nobody reads."""
    given = abstain.Outputs(loss=np.zeros(1001), confidence=np.arange(1001.0), groups={"id": np.arange(1001)})
    with pytest.raises(
        ValueError, match="groups='id' has 1001 distinct values, more than 1000; give a column with fewer"
    ):
        abstain.evaluate(given, groups="id")


def test_groups_of_the_same_label_stay_apart() -> None:
    """Column "a" with value "b = c" and column "a = b" with value "c" are two groups."""
    groups = {"a": ["b = c", "b = c", "x"], "a = b": ["c", "x", "x"]}
    result = abstain.evaluate(
        abstain.Outputs(loss=[0, 1, 1], confidence=[3, 2, 1], groups=groups), metrics="risk", groups=["a", "a = b"]
    )
    assert len(result.groups) == 5
    assert result.value("risk", group="a = b = c") == 0.5
    assert result.value("risk", group="'a = b' = 'c'") == 0.0


@pytest.mark.parametrize("policy", ["drop", "reject"])
def test_a_group_where_nothing_counts(policy: str) -> None:
    """A group without weight, or without a score left, is undefined and does not spoil the rest."""
    given = abstain.Outputs(
        loss=[0, 1, 1, 0],
        scores={"s": [0.9, 0.8, np.nan, np.nan]},
        sample_weight=[1, 1, 1, 0],
        groups={"site": ["a", "a", "b", "c"]},
    )
    result = abstain.evaluate(given, "s", "risk", groups="site", nan_policy=policy)
    values = {group: result.value("risk", group=group) for group in result.groups}
    assert values["site = a"] == 0.5
    assert np.isnan(values["site = c"])
    assert np.isnan(values["site = b"]) == (policy == "drop")
    reasons = {entry.group: entry.reason for entry in result.measurements}
    assert reasons["site = c"] == "no sample of the group has a score and a positive weight"
    with pytest.raises(KeyError, match="no sample of it has a score and a weight"):
        result.curve("s", "site = c")
    assert re.search(r"^site = c  0( +—)+$", str(result), re.MULTILINE)


# ---------------------------------------------------------------------- look-ups


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"metric": "augcr"}, "no metric 'augcr' here; did you mean 'augrc'"),
        ({"metric": "augrc", "score": "confidenc"}, "no score 'confidenc' here; did you mean 'confidence'"),
        ({"metric": "augrc", "group": "site = nort"}, "no group 'site = nort' here; did you mean 'site = north'"),
    ],
)
def test_failed_look_ups_name_what_is_wrong(what: dict[str, str], message: str) -> None:
    """Metric, score or group: the message is about the one that is wrong."""
    result = abstain.evaluate(outputs(), metrics="augrc", groups="site")
    with pytest.raises(KeyError, match=message):
        result.value(**what)
    if "metric" not in message:
        with pytest.raises(KeyError, match=message):
            result.curve(what.get("score"), what.get("group"))


# ---------------------------------------------------------------------- notes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fit": "train.npz"}, "fit must be Outputs, got str; use abstain.read_outputs"),
        ({"scores": 3}, "scores must be a name or a list of names, got 3"),
        ({"scores": SCORE}, "scores must be a name or a list of names, got an array; give the column as confidence="),
        ({"scores": {"a": SCORE}}, r"got a dict; .* evaluate\({'loss': ..., 'a': ...}, loss=\"loss\", scores=\['a'\]"),
        ({"metrics": 3}, "metrics must be a name or a list of names, got 3"),
        ({"groups": 3}, "groups must be a name or a list of names, got 3"),
    ],
)
def test_arguments_of_a_wrong_type(options: dict[str, object], message: str) -> None:
    """The argument is named, whether or not anything needs it."""
    with pytest.raises(TypeError, match=message):
        abstain.evaluate(outputs(), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("confidence", r"confidence must be one column, got a dict; for several scores .* scores=\['a', 'b'\]"),
        ("sample_weight", "sample_weight must be one column, got a dict; give an array"),
    ],
)
def test_several_columns_for_one(column: str, message: str) -> None:
    """Arrays of several scores make a table: the message writes the call, and that call works."""
    both = {"a": SCORE, "b": SCORE**3}
    with pytest.raises(TypeError, match=message):
        abstain.evaluate(loss=LOSS, **{column: both})
    found = abstain.evaluate({"loss": LOSS, **both}, loss="loss", scores=["a", "b"])
    assert found.value("augrc", score="b") == abstain.augrc(LOSS, SCORE**3)


def test_provenance_identifies_the_input() -> None:
    """Equal input has equal hashes; another loss, score or group has another."""
    again = abstain.evaluate(outputs()).provenance
    assert abstain.evaluate(outputs(), metrics="augrc").provenance == again
    assert again["abstain"] == abstain.__version__
    assert (again["n"], again["binary_loss"], again["weighted"]) == (N, True, False)
    assert again["mean_loss"] == pytest.approx(LOSS.mean())
    others = [
        outputs(loss=np.roll(LOSS, 1)),
        outputs(confidence=np.nextafter(SCORE, 1)),
        outputs(groups={"site": SITE}),
        outputs(sample_weight=WEIGHT),
        outputs(scores={"s": SCORE}),
    ]
    hashes = {abstain.evaluate(each).provenance["fingerprint"] for each in others} | {again["fingerprint"]}
    assert len(hashes) == 6
    weighted = abstain.evaluate(outputs(sample_weight=WEIGHT)).provenance
    assert weighted["mean_loss"] == pytest.approx(np.average(LOSS, weights=WEIGHT))


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_metrics_that_lack_an_interval_for_one_reason_share_a_line(names: list[str]) -> None:
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
