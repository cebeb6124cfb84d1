"""Policies: saved, loaded, edited by hand, applied to files."""

import json

import numpy as np
import polars as pl
import pytest

import abstain
from abstain.monitoring import monitor
from abstain.thresholds import apply_policy, audit
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


@pytest.mark.parametrize("make", [policy, grouped, computed])
def test_what_is_saved_is_loaded(tmp_path, make):
    """Bit for bit, thresholds included."""
    make().save(tmp_path / "policy.json")
    assert abstain.load_policy(tmp_path / "policy.json") == make()


def edit(path, **changes):
    """Change fields of the file as an editor would; a field "a.b" is inside "a"."""
    content = json.loads(path.read_text())
    for name, value in changes.items():
        place, _, inner = name.partition("__")
        content[place] = {**content[place], inner: value} if inner else value
    path.write_text(json.dumps(content))


def test_a_policy_of_the_former_name_is_refused_with_the_remedy(tmp_path):
    """No file is read under two names, not even one marked as edited."""
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"format": "rec" + "use.policy/1"}))
    with pytest.raises(ValueError, match=r"old\.json: was written when .*; write it again with 'abstain threshold'"):
        abstain.load_policy(path, edited=True)


SECOND = {"score": "t", "inputs": None, "temperature": None, "uncertainty": False, "threshold": 0.5}


def test_an_edited_policy_is_noticed(tmp_path):
    """Refused; or loaded without its guarantee if one insists."""
    path = tmp_path / "policy.json"
    policy().save(path)
    edit(path, thresholds={"": 0.1})
    refused(ValueError, "was edited after it was saved, so its guarantee is void", abstain.load_policy, path)
    loaded = abstain.load_policy(path, edited=True)
    assert loaded.guarantee is None
    void = "the policy was edited, so what calibration had shown is void"
    assert monitor(loaded, [0.0], [0.5]).drift_undecided == void
    assert loaded.thresholds == {"": 0.1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"thresholds": {"": "high"}}, "must be a number"),
        ({"thresholds": {"": None}}, "must be a number"),
        ({"thresholds": {"a": 0.5}}, "one threshold, or one per group"),
        ({"thresholds": {}}, "one threshold, or one per group"),
        ({"score": ""}, "name the column"),
        ({"guarantee__delta": 5}, "must be below 1"),
        ({"guarantee__risk": "low"}, "must be a number > 0"),
        ({"calibration__n": -3}, "whole number > 0"),
        ({"guarantee__max_loss": 0}, "must be a number > 0"),
        ({"temperature": "hot"}, "must be a number > 0, or null"),
        ({"temperature": 2.0}, "the score 'msp' is a finished column"),
        ({"inputs": {"features": ["f"]}}, 'it must be {"logits"'),
        ({"inputs": {"logits": ["z"]}, "score": "mps"}, "'mps' is not known"),
        ({"format": "other/2"}, "is no policy of format"),
        ({"extra": 1}, "fields missing or unknown: extra"),
        ({"thresholds": {"": float("inf")}}, "Infinity is no JSON number"),
        ({"objective": {"risk": float("nan")}}, "NaN is no JSON number"),
        ({"thresholds": {"": 10**400}}, "must be a number"),
        *[({"thresholds": {"": each}}, "must be a number") for each in (True, "Infinity", [0.5], "0.5")],
        *[({"objective": each}, "it must be an object") for each in ([], "x", 3)],
        *[({name: []}, "it must be an object") for name in ("thresholds", "about", "reading", "calibration")],
        *[({"calibration__n": each}, "whole number > 0") for each in (0, 2.5, True, None, "9")],
        *[({"guarantee": each}, "it needs risk, delta, max_loss and statement") for each in ({}, {"risk": 0.1}, [1])],
        *[({"guarantee__risk": each}, "must be a number > 0") for each in (0, -1, True)],
        ({"guarantee__delta": 1.0}, "must be below 1"),
        *[({"classes": each}, "it must be a list of names, or null") for each in ("ab", [1, 2], {}, [None])],
        ({"about": {"model": 3}}, "it must be an object of texts"), ({"group": 3}, "name the column of the groups"),
        ({"group": "site"}, "one threshold, or one per group"), ({"score": 3}, "name the column of the score"),
        *[({"inputs": each}, 'it must be {"logits"') for each in (
            [], {}, {"logits": []}, {"logits": "z"}, {"logits": [1]}, {"logits": ["z"], "probabilities": ["p"]})],
        *[({"temperature": each}, "must be a number > 0") for each in (True, [1])],
        *[({"second": each}, "second = .* is not valid") for each in ([], 3, {"score": "t"})],
        *[({"second": SECOND | change}, message) for change, message in (
            ({"score": ""}, "second.score"), ({"inputs": {"x": ["y"]}}, "second.inputs"), ({"more": 1}, "second = "),
            ({"threshold": "high"}, r"second\['threshold'\]"), ({"temperature": "hot"}, "second.temperature"),
            ({"temperature": 2.0}, "'t' is a finished column"))],
    ],
)  # fmt: skip
def test_edited_nonsense_is_refused_even_if_edits_are_allowed(tmp_path, changes, message):
    """The message names the file, the field and the remedy."""
    path = tmp_path / "policy.json"
    policy().save(path)
    edit(path, **changes)
    with pytest.raises(ValueError, match=message) as error:
        abstain.load_policy(path, edited=True)
    assert str(path) in str(error.value)


def test_no_json_and_no_file(tmp_path):
    """One line each."""
    (tmp_path / "p.json").write_text("{")
    refused(ValueError, r"cannot be read as a policy.*; write one with", abstain.load_policy, tmp_path / "p.json")
    refused(ValueError, r"cannot be read as a policy \(Is a directory\); write one with", abstain.load_policy, tmp_path)
    refused(FileNotFoundError, "no such policy", abstain.load_policy, tmp_path / "q.json")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("make", [policy, grouped])
def test_applying_to_a_file_is_accept(tmp_path, kind, make):
    """The new column is the mask; other columns are unchanged; nulls and NaN are rejected."""
    score = [*np.random.default_rng(1).random(500).tolist(), None, float("nan")]
    site = [["north", "south", "west"][i % 3] for i in range(502)]
    frame = pl.DataFrame({"msp": score, "site": site, "note": ["007"] * 502})
    source, target = tmp_path / f"new.{kind}", tmp_path / f"decided.{kind}"
    (frame.write_csv if kind == "csv" else frame.write_parquet)(source)
    chosen = make()
    done = apply_policy(chosen, source, target)
    decided = pl.read_csv(target, infer_schema=False) if kind == "csv" else pl.read_parquet(target)
    mask = decided["accepted"].cast(pl.String).to_numpy() == "true"
    groups = None if chosen.group is None else site
    expected = chosen.accept([np.nan if value is None else value for value in score], groups)
    np.testing.assert_array_equal(mask, expected)
    assert (done.n, done.n_accepted, done.n_unscored) == (502, expected.sum(), 2)
    assert decided["note"].to_list() == ["007"] * 502


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
    getattr(frame, f"write_{kind}")(tmp_path / f"new.{kind}")
    done = apply_policy(found.policy(score="s", group="g"), tmp_path / f"new.{kind}", tmp_path / f"out.{kind}")
    assert done.n_accepted == found.accept(score, group).sum() == 100


def test_bad_files_are_refused_and_leave_nothing(tmp_path):
    """A score column that is missing or no number, a column that exists, the input as output."""
    source, target = tmp_path / "new.csv", tmp_path / "out.csv"
    source.write_text("mps,site\n0.5,a\n")
    with pytest.raises(ValueError, match="column 'msp' of the policy is missing; did you mean 'mps'"):
        apply_policy(policy(), source, target)
    source.write_text("msp,accepted\n0.5,a\n")
    refused(ValueError, "column 'accepted' exists already", apply_policy, policy(), source, target)
    source.write_text("msp\n0.5\nhigh\n")
    no_number = r"column 'msp' must hold numbers, but data row 2 holds 'high'; repair the file$"
    refused(ValueError, no_number, apply_policy, policy(), source, target)
    source.write_text("msp,label_drawn\n0.5,true\n")  # a name that apply --audit needs, and no other
    assert apply_policy(policy(), source, tmp_path / "kept.csv").n == 1
    (tmp_path / "kept.csv").unlink()
    refused(ValueError, "is the input itself", apply_policy, policy(), source, source)
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]
    lists = tmp_path / "lists.parquet"
    pl.DataFrame({"msp": [0.5], "logits": [[1.0, 2.0]]}).write_parquet(lists)
    with pytest.raises(ValueError, match=r"out.csv: a CSV has no place for column 'logits' of .*; use .parquet"):
        apply_policy(policy(), lists, target)
    with pytest.raises(FileNotFoundError, match=r"none.csv: no such file; did you mean 'new.csv'"):
        apply_policy(policy(), tmp_path / "none.csv", source)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError, match=r"folder.csv: is a folder; give one file of it"):
        apply_policy(policy(), tmp_path / "folder.csv", target)


# ---------------------------------------------------------------------- scores that are computed


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("form", ["columns", "lists"])
@pytest.mark.parametrize("temperature", [None, 4.0])
def test_the_temperature_is_applied(tmp_path, kind, form, temperature):
    """The decisions are those of the entropy of softmax(z/T), rows with a missing logit are rejected."""
    if (kind, form) == ("csv", "lists"):
        pytest.skip("a CSV holds no lists")
    logits = np.random.default_rng(2).normal(0.0, 4.0, (400, 3))
    scaled = logits / (temperature or 1.0)
    p = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    entropy = np.sum(p * np.log(p), axis=1)
    names = ["z_0", "z_1", "z_2"] if form == "columns" else ["z"]
    found = abstain.choose_threshold(np.zeros(400), entropy, coverage=0.5)
    limit = found.threshold
    chosen = found.policy(score="neg_entropy", logits=names, temperature=temperature)
    rows = [[None, 0.0, 0.0], *logits.tolist()]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if form == "columns" else {"z": [None, *rows[1:]]}
    source, target = tmp_path / f"new.{kind}", tmp_path / "decided.parquet"
    frame = pl.DataFrame({**columns, "neg_entropy": [0.0] * 401})
    (frame.write_csv if kind == "csv" else frame.write_parquet)(source)
    done = apply_policy(chosen, source, target)
    decided = pl.read_parquet(target)["accepted"].to_numpy()
    assert (done.n, done.n_unscored, decided[0]) == (401, 1, False)
    clear = np.abs(entropy - limit) > 1e-9
    np.testing.assert_array_equal(decided[1:][clear], (entropy > limit)[clear])


def test_scaled_probabilities_are_scaled_logits():
    """p^(1/T), normalised, is softmax(z/T); a probability of 0 stays one."""
    logits = np.random.default_rng(3).normal(0.0, 3.0, (50, 4))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    found = abstain.choose_threshold([0, 1], [0.9, 0.1], coverage=0.5)
    one = found.policy(score="msp", logits=["a", "b"], temperature=2.5).confidence(logits)
    two = found.policy(score="msp", probabilities=["a", "b"], temperature=2.5).confidence(p)
    np.testing.assert_allclose(one, two, rtol=1e-12)
    certain = found.policy(score="msp", probabilities=["a", "b"], temperature=0.1)
    np.testing.assert_allclose(certain.confidence([[1.0, 0.0], [np.nan, 1.0]]), [1.0, np.nan])


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
    ],
)
def test_scores_that_cannot_be_computed_are_refused(options, message):
    """When the policy is made, not when it is used."""
    with pytest.raises((ValueError, TypeError), match=message):
        abstain.choose_threshold(LOSS, SCORE, coverage=0.5).policy(**{"score": "msp", **options})


@pytest.mark.parametrize("name", ["", 3, None])
def test_columns_of_a_policy_are_named_by_text(name):
    """Not when the file is read again, on another machine."""
    single = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5)
    grouped = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5, groups=["a", "b"])
    refused(TypeError, r"score must be text, got .*; name the column in new files", single.policy, score=name)
    refused(TypeError, "group must be text, got", grouped.policy, score="msp", group=name)


# ---------------------------------------------------------------------- what a policy says


def rows(n, seed, power=1.0):
    """Return scores and losses, fewer errors at the top."""
    rng = np.random.default_rng(seed)
    score = rng.random(n) ** power
    return score, (rng.random(n) > 0.6 + 0.4 * score).astype(float)


def test_no_guarantee_is_no_open_question():
    """An empirical policy is neither satisfied nor violated: the words say that nothing is guaranteed."""
    score, loss = rows(800, 0)
    policy = abstain.choose_threshold(loss, score, coverage=0.5).policy(score="s")
    new, errors = rows(300, 1)
    for seen in (monitor(policy, errors, new), audit(policy, errors, new)):
        assert seen.headline().startswith(("this policy guarantees nothing", "this policy has no guarantee"))
        assert "undecided" not in seen.headline()
    assert "undecided" not in str(audit(policy, errors, new))
    certified = abstain.choose_threshold(loss, score, risk=0.3, delta=0.05).policy(score="s")
    assert monitor(certified, errors, new).headline().startswith("guarantee violated: ")
    assert audit(certified, errors, new).headline().startswith("guarantee: ")


@pytest.mark.parametrize(("power", "noted"), [(1.0, False), (0.7, True)])
def test_apply_notes_another_model(power, noted, do):
    """A model that nobody checked is noted, and a share of accepted rows that chance does not explain."""
    score, loss = rows(2000, 0)
    pl.DataFrame({"s": score, "e": loss}).write_csv("cal.csv")
    pl.DataFrame({"s": rows(2000, 5, power)[0]}).write_csv("new.csv")
    do("threshold cal.csv --confidence s --loss e --coverage 0.5 --model rf-1 -o p.json")
    said = do("apply p.json new.csv -o out.csv").said
    assert "made for the model 'rf-1', and new.csv does not say which one scored it: give --model" in said
    assert ("chance does not explain it" in said) == noted
    assert "which one scored it" not in do("apply p.json new.csv -o out2.csv --model rf-1").err
