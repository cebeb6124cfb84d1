"""Policies: saved, loaded, edited by hand, applied to files."""

import json

import numpy as np
import polars as pl
import pytest

import abstain
from abstain.thresholds import apply_policy
from tests.refusal import refused

RNG = np.random.default_rng(0)
SCORE = RNG.random(1000)
LOSS = (RNG.random(1000) > SCORE**0.1).astype(float)


def policy():
    """Return a certified policy."""
    return abstain.choose_threshold(LOSS, SCORE, risk=0.1, delta=0.05).policy(score="msp")


def computed(temperature=1.5):
    """Return a policy whose score is computed from three columns of logits."""
    found = abstain.choose_threshold(LOSS, SCORE, risk=0.1, delta=0.05)
    return found.policy(score="neg_entropy", logits=["z_0", "z_1", "z_2"], temperature=temperature)


def grouped():
    """Return a policy with a threshold for each of two sites."""
    site = np.where(np.arange(1000) % 2, "north", "south")
    return abstain.choose_threshold(LOSS, SCORE, coverage=0.5, groups=site).policy(score="msp", group="site")


SECOND = {"score": "t", "inputs": None, "temperature": None, "uncertainty": False, "threshold": 0.5}


def test_an_edited_policy_is_noticed(tmp_path):
    """Refused; or loaded without its guarantee if one insists."""
    path = tmp_path / "policy.json"
    policy().save(path)
    assert abstain.load_policy(path) == policy()
    path.write_text(json.dumps(json.loads(path.read_text()) | {"thresholds": {"": 0.1}}))
    refused(ValueError, "was edited after it was saved, so its guarantee is void", abstain.load_policy, path)
    loaded = abstain.load_policy(path, edited=True)
    assert (loaded.guarantee, loaded.thresholds) == (None, {"": 0.1})
    void = "the policy was edited, so what calibration had shown is void"
    assert abstain.monitor(loaded, [0.0], [0.5]).drift_undecided == void


@pytest.mark.parametrize(
    ("field", "values", "message"),
    [
        ("thresholds", [{"": each} for each in ("high", "0.5", "Infinity", None, True, [0.5], 10**400)], "be a number"),
        ("thresholds", [{}, {"a": 0.5}], "one threshold, or one per group"),
        ("thresholds", [{"": float("inf")}], "Infinity is no JSON number"),
        ("objective", [{"risk": float("nan")}], "NaN is no JSON number"), ("objective", [[], "x", 3], "be an object"),
        ("about", [[]], "be an object"), ("about", [{"model": 3}], "it must be an object of texts"),
        ("reading", [[]], "be an object"), ("calibration", [[]], "be an object"), ("extra", [1], "unknown: extra"),
        ("calibration__n", [-3, 0, 2.5, True, None, "9"], "whole number > 0"),
        ("guarantee", [{}, {"risk": 0.1}, [1]], "it needs risk, delta, max_loss and statement"),
        ("guarantee__risk", ["low", 0, -1, True], "must be a number > 0"), ("guarantee__delta", [1.0], "be below 1"),
        ("guarantee__max_loss", [0], "must be a number > 0"), ("format", ["other/2"], "is no policy of format"),
        ("classes", ["ab", [1, 2], {}, [None]], "it must be a list of names, or null"),
        ("group", [3], "name the column of the groups"), ("group", ["site"], "one threshold, or one per group"),
        ("score", ["", 3], "name the column of the score"), ("temperature", [2.0], "'msp' is a finished column"),
        ("inputs", [[], {}, {"logits": []}, {"logits": "z"}, {"logits": [1]}, {"features": ["f"]},
                    {"logits": ["z"], "probabilities": ["p"]}], 'it must be {"logits"'),
        ("temperature", ["hot", True, [1]], "must be a number > 0"),
        ("second", [[], 3, {"score": "t"}, SECOND | {"more": 1}], "second = .* is not valid"),
        *[(f"second__{part}", [value], message) for part, value, message in (
            ("score", "", "second.score"), ("inputs", {"x": ["y"]}, "second.inputs"), ("temperature", 2.0, "finished"),
            ("threshold", "high", r"second\['threshold'\]"), ("temperature", "hot", "second.temperature"))],
    ],
)  # fmt: skip
def test_edited_nonsense_is_refused_even_if_edits_are_allowed(tmp_path, field, values, message):
    """The message names the file, the field and the remedy."""
    path = tmp_path / "policy.json"
    for value in values:
        policy().save(path)
        content = json.loads(path.read_text())
        place, _, inner = field.partition("__")
        before = SECOND if place == "second" else content.get(place)
        path.write_text(json.dumps(content | {place: {**before, inner: value} if inner else value}))
        refused(ValueError, rf"policy\.json: .*{message}", abstain.load_policy, path, edited=True)


def test_what_is_no_policy_is_refused(tmp_path):
    """No JSON, no file, a folder, and the format of the former name, not even marked as edited."""
    path = tmp_path / "p.json"
    former = json.dumps({"format": "rec" + "use.policy/1"}), r"was written when .*; write it again with 'abstain thresh"
    for text, message in (("{", r"cannot be read as a policy.*; write one with"), former):
        path.write_text(text)
        refused(ValueError, rf"p\.json: .*{message}", abstain.load_policy, path, edited=True)
    refused(ValueError, r"cannot be read as a policy \(Is a directory\); write one with", abstain.load_policy, tmp_path)
    refused(FileNotFoundError, "no such policy", abstain.load_policy, tmp_path / "q.json")


def written(frame, path):
    """Write a frame as its extension says, and return the path."""
    (frame.write_csv if path.suffix == ".csv" else frame.write_parquet)(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("make", [policy, grouped])
def test_applying_to_a_file_is_accept(tmp_path, kind, make):
    """The new column is the mask; other columns are unchanged; nulls and NaN are rejected."""
    score = [*np.random.default_rng(1).random(500).tolist(), None, float("nan")]
    site = [["north", "south", "west"][i % 3] for i in range(502)]
    source = written(pl.DataFrame({"msp": score, "site": site, "note": "007"}), tmp_path / f"new.{kind}")
    chosen, target = make(), tmp_path / f"decided.{kind}"
    done = apply_policy(chosen, source, target)
    decided = pl.read_csv(target, infer_schema=False) if kind == "csv" else pl.read_parquet(target)
    numbers = [np.nan if value is None else value for value in score]
    expected = chosen.accept(numbers, None if chosen.group is None else site)
    assert [str(each).lower() == "true" for each in decided["accepted"]] == expected.tolist()
    assert (done.n, done.n_accepted, done.n_unscored) == (502, expected.sum(), 2)
    assert set(decided["note"]) == {"007"}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    "column",
    [[True, False], [1e-5, 1e16], [0.5, 1.0], np.array([0.1, 1.0], dtype=np.float32), [0, 1], [np.int8(3), np.int8(4)]],
    ids=str,
)
def test_groups_have_one_name_in_memory_and_in_files(tmp_path, kind, column):
    """Truth values and numbers too: a group that is not recognized is rejected in silence."""
    group, score = np.tile(column, 100), np.linspace(0.0, 1.0, 200)
    found = abstain.choose_threshold(np.zeros(200), score, coverage=0.5, groups=group)
    frame = pl.DataFrame({"s": score, "g": group})
    if kind == "csv" and frame["g"].dtype.is_float():
        frame = frame.with_columns(g=pl.Series([str(value) for value in group]))
    source = written(frame, tmp_path / f"new.{kind}")
    done = apply_policy(found.policy(score="s", group="g"), source, tmp_path / f"out.{kind}")
    assert done.n_accepted == found.accept(score, group).sum() == 100


def test_bad_files_are_refused_and_leave_nothing(tmp_path):
    """A score column that is missing or no number, a column that exists, the input as output, a folder, lists."""
    source, target = tmp_path / "new.csv", tmp_path / "out.csv"
    lists = written(pl.DataFrame({"msp": [0.5], "logits": [[1.0, 2.0]]}), tmp_path / "lists.parquet")
    (tmp_path / "folder.csv").mkdir()
    for text, given, output, message in (
        ("mps,site\n0.5,a\n", source, target, "column 'msp' of the policy is missing; did you mean 'mps'"),
        ("msp,accepted\n0.5,a\n", source, target, "column 'accepted' exists already"),
        ("msp\n0.5\nhigh\n", source, target,
         r"column 'msp' must hold numbers, but data row 2 holds 'high'; repair the file$"),
        ("msp\n0.5\n", source, source, "is the input itself"),
        ("", lists, target, r"out.csv: a CSV has no place for column 'logits' of .*; use .parquet"),
        ("", tmp_path / "none.csv", source, r"none.csv: no such file; did you mean 'new.csv'"),
        ("", tmp_path / "folder.csv", target, r"folder.csv: is a folder; give one file of it"),
    ):  # fmt: skip
        source.write_text(text)
        refused((ValueError, OSError), message, apply_policy, policy(), given, output)
        assert not target.exists()
        assert source.read_text() == text
    source.write_text("msp,label_drawn\n0.5,true\n")  # a name that apply --audit needs, and no other
    assert apply_policy(policy(), source, target).n == 1


# ---------------------------------------------------------------------- scores that are computed


@pytest.mark.parametrize(("kind", "form"), [("csv", "columns"), ("parquet", "columns"), ("parquet", "lists")])
@pytest.mark.parametrize("temperature", [None, 4.0])
def test_the_temperature_is_applied(tmp_path, kind, form, temperature):
    """The decisions are those of the entropy of softmax(z/T), rows with a missing logit are rejected."""
    logits = np.random.default_rng(2).normal(0.0, 4.0, (400, 3))
    scaled = logits / (temperature or 1.0)
    p = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    entropy = np.sum(p * np.log(p), axis=1)
    names = ["z_0", "z_1", "z_2"] if form == "columns" else ["z"]
    found = abstain.choose_threshold(np.zeros(400), entropy, coverage=0.5)
    chosen = found.policy(score="neg_entropy", logits=names, temperature=temperature)
    rows = [[None, 0.0, 0.0], *logits.tolist()]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if form == "columns" else {"z": [None, *rows[1:]]}
    source = written(pl.DataFrame({**columns, "neg_entropy": [0.0] * 401}), tmp_path / f"new.{kind}")
    done = apply_policy(chosen, source, tmp_path / "decided.parquet")
    decided = pl.read_parquet(tmp_path / "decided.parquet")["accepted"].to_numpy()
    assert (done.n, done.n_unscored, decided[0]) == (401, 1, False)
    clear = np.abs(entropy - found.threshold) > 1e-9
    np.testing.assert_array_equal(decided[1:][clear], (entropy > found.threshold)[clear])


def test_a_finished_column_does_not_stand_in_for_a_computed_score(tmp_path):
    """Nobody knows with which temperature it was computed."""
    source = tmp_path / "new.csv"
    source.write_text("neg_entropy,z_0\n-0.5,1.0\n")
    message = "'z_1' is missing: .* score 'neg_entropy' is computed from z_0, z_1, z_2 with temperature 1.5, not"
    refused(ValueError, message, apply_policy, computed(), source, tmp_path / "out.csv")
    refused(ValueError, "takes its score from the column 'msp'", policy().confidence, [[0.0, 1.0]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 1.5}, "the score 'msp' is a finished column"),
        ({"temperature": 0.0, "logits": ["a", "b"]}, "temperature must be a finite number > 0"),
        ({"logits": ["a"], "probabilities": ["b"]}, "not both"),
        ({"score": "max_logit", "probabilities": ["a", "b"]}, "needs logits"),
        ({"score": "knn", "logits": ["a", "b"]}, "knn"),
        *[({"score": name}, r"score must be text, got .*; name the column in new files") for name in ("", 3, None)],
    ],
)
def test_scores_that_cannot_be_computed_or_named_are_refused(options, message):
    """When the policy is made, not when it is used, on another machine."""
    chosen = abstain.choose_threshold(LOSS, SCORE, coverage=0.5)
    refused((ValueError, TypeError), message, chosen.policy, **{"score": "msp", **options})
