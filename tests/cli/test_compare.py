"""``abstain compare``: models by file, scores of one file, matching by identifier, clear errors."""

from pathlib import Path

import numpy as np
import pytest

import abstain
from tests.command import csv
from tests.evaluation.test_judged import OUTPUTS

pytestmark = pytest.mark.usefixtures("models")
TWO = "compare sharp.npz dull.npz"


@pytest.fixture
def models(do):
    """Two models on the same 400 samples; the second file has its rows shuffled, with identifiers."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 400)
    for name, noise in (("sharp", 1.0), ("dull", 4.0)):
        logits = 3.0 * np.eye(3)[labels] + rng.normal(0, noise, (400, 3))
        order = np.arange(400) if name == "sharp" else rng.permutation(400)
        np.savez(f"{name}.npz", labels=labels[order], logits=logits[order], ids=order + 1000)


def estimate(found, name):
    """Return the value of a score in the table of a comparison."""
    return float(next(row["estimate"] for row in found["table"] if row["name"] == name))


def test_models_are_matched_by_identifier(do):
    """Shuffled rows are put in order: the result is that of compare() on aligned arrays."""
    found = do(f"{TWO} --metric augrc --json -").json
    first, second = map(abstain.read_outputs, ("sharp.npz", "dull.npz"))
    second = second.select(np.argsort(np.asarray(second.ids)))
    losses = {"sharp": first.loss_per_sample(), "dull": second.loss_per_sample()}
    scores = {"sharp": abstain.scores.compute("msp", first), "dull": abstain.scores.compute("msp", second)}
    assert found["differences"] == abstain.compare(losses, scores, "augrc").to_dict()["differences"]
    assert [row["name"] for row in found["table"]] == ["sharp", "dull"]
    assert found["letters"] == {"sharp": "a", "dull": "b"}


def test_scores_of_one_file(do):
    """One file: its scores against each other; a picture on request."""
    options = "--scores msp,neg_entropy --metric 'aurc(estimator=plugin)' --adjust max-t --plot forest.png"
    shown = do(f"compare sharp.npz {options}")
    for text in ("msp", "neg_entropy", "share a letter"):
        assert text in shown.out
    assert Path("forest.png").read_bytes().startswith(b"\x89PNG")
    assert "wrote" in shown.err


def test_scores_of_repeated_passes_are_judged_by_their_own_predictions(do):
    """Two scores of one file, two losses: their values are those of an evaluation; joint does not mix them."""
    abstain.write_outputs(OUTPUTS, "a.npz")
    found = do("compare a.npz --scores msp,pass_msp --metric augrc --json -").json
    wanted = abstain.evaluate(OUTPUTS, ["msp", "pass_msp"], "augrc")
    for score in ("msp", "pass_msp"):
        assert estimate(found, score) == pytest.approx(wanted.value("augrc", score=score))
    joint = "joint a.npz a.npz --permutations 0"
    assert "left out: a.npz: msp and pass_msp are about different predictions" in do(joint).err
    assert "name scores of one kind" in do(f"{joint} --scores msp,pass_msp", 2).err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("sharp.npz missing.npz", "missing.npz"),
        ("sharp.npz sharp.npz", "given twice"),
        ("sharp.npz --metric augrk", "did you mean"),
        ("sharp.npz --scores msp", "name two with --scores"),
        ("sharp.npz dull.npz --scores msp,energy", "one score is used in each"),
        ("sharp.npz dull.npz --level 95", "level"),
        ("sharp.npz short.npz", "is not on the samples of"),
        ("bare.npz shorter.npz", "models need the same samples"),
        ("bare.npz other.npz", "matched by --ids"),
        ("sharp.npz mixed.npz", "mixed.npz: label "),
        ("sharp.npz heavy.npz", "heavy.npz: sample_weight is not that of sharp.npz"),
        ("sharp.npz dull.npz --fit sharp.npz", "--fit holds outputs of one model"),
        ("sharp.npz --scores msp,knn", "sharp.npz: knn "),
    ],
)
def test_bad_input_is_one_line_and_status_2(do, arguments, message):
    """What cannot be compared is refused in one line that names the file and the remedy."""
    arrays = dict(np.load("sharp.npz"))
    bare, other = arrays | {}, (arrays["labels"] + 1) % 3
    del bare["ids"]
    np.savez("short.npz", **{name: each[:300] for name, each in arrays.items()})
    np.savez("mixed.npz", **arrays | {"labels": other})
    np.savez("heavy.npz", **arrays, sample_weight=np.arange(400.0))
    np.savez("bare.npz", **bare)
    np.savez("shorter.npz", **{name: each[:200] for name, each in bare.items()})
    np.savez("other.npz", **bare | {"labels": other})
    shown = do(f"compare {arguments}", 2)
    assert shown.out == ""
    (told,) = (line for line in shown.err.splitlines() if not line.startswith("note: "))  # labels and classes differ
    assert message in told


@pytest.mark.parametrize("name", ["sharp.npz", "dull.npz"])
def test_no_input_is_replaced(do, name):
    """Neither the first nor a later file."""
    before = Path(name).read_bytes()
    assert "is an input and would be replaced; give --json another name" in do(f"{TWO} --json {name}", 2).err
    assert Path(name).read_bytes() == before


def test_labels_that_are_text_are_the_same_whatever_else_a_model_predicts(do):
    """One model guesses a class that the other never names: the labels are still the same."""
    truth = ["cat", "dog"] * 20
    for name, wrong in (("first", "cat"), ("second", "ant")):
        csv(f"{name}.csv", y=truth, pred=[y if k % 7 else wrong for k, y in enumerate(truth)], conf=np.arange(40))
    assert do("compare first.csv second.csv --json -").json["n"] == 40


def test_scores_with_options_fitted_on_another_file(do):
    """--fit gives what knn looks up, and commas inside parentheses belong to the score."""
    rng = np.random.default_rng(1)
    outputs = {}
    for name in ("train", "test"):
        labels = rng.integers(0, 3, 200)
        features = 2.0 * np.eye(3)[labels] + rng.normal(size=(200, 3))
        outputs[name] = abstain.Outputs(labels=labels, logits=features, features=features)
        abstain.write_outputs(outputs[name], f"{name}.npz")
    wanted = ["gen(gamma=0.5,top=2)", "knn(neighbours=5)"]
    found = do(f"compare test.npz --scores '{','.join(wanted)}' --fit train.npz --json -").json
    loss = outputs["test"].loss_per_sample()
    for name in wanted:
        score = abstain.scores.compute(name, outputs["test"], outputs["train"])
        assert estimate(found, name) == abstain.augrc(loss, score)
    assert "is an input and would be replaced" in do("compare test.npz --fit train.npz --json train.npz", 2).err


def test_identifiers_and_clusters_match_whether_text_or_numbers(do):
    """One file may hold 1000 and another "1000": the same samples."""
    expected = do(f"{TWO} --json -").json["differences"][0]["difference"]
    for name, kind in (("sharp", int), ("dull", str)):
        arrays = dict(np.load(f"{name}.npz"))
        ids = arrays["ids"].astype(kind)
        np.savez(f"{name}.npz", **arrays | {"ids": ids, "clusters": ids})
    assert do(f"{TWO} --json -").json["differences"][0]["difference"] == expected


def test_not_worse_by_a_margin(do):
    """The first is not worse than the second by the margin: 0; not shown: 1; too few errors, or half an option: 2."""
    two = "compare dull.npz --scores msp,neg_entropy"
    shown = do(f"{two} --margin 0.05").out
    assert "It is shown that msp is not worse than neg_entropy by 0.05 or more (AUGRC" in shown
    found = do(f"{two} --margin 1e-7 --equivalent --json -", 1).json
    assert (found["claim"], found["shown"], found["new"]) == ("equivalent", False, "msp")
    assert "give --margin" in do(f"{two} --equivalent", 2).err
    said = do("compare sharp.npz --scores msp,neg_entropy --margin 0.05", 2).err
    assert "errors (or successes, if fewer), too few" in said


@pytest.fixture
def sites(do):
    """Write 600 answers from three sites, of which one is worse, and return losses, scores and sites."""
    rng = np.random.default_rng(4)
    site = np.repeat(["a", "b", "c"], 200)
    wrong = rng.random(600) < np.where(site == "b", 0.4, 0.1)
    score = rng.random(600) - 0.3 * wrong
    csv("answers.csv", wrong=wrong * 1, sure=score, again=score, site=site, day=np.arange(600) % 7)
    return wrong, score, site


GROUPS = "compare answers.csv --loss wrong --scores sure --groups site"


def test_groups_of_one_file(do, sites):
    """The same as compare_groups, printed and as JSON; the worst group is named with its interval."""
    expected = abstain.inference.compare_groups(*sites, metric="risk")
    found = do(f"{GROUPS} --metric risk --json -").json
    assert found["intervals"]["b"]["low"] == pytest.approx(expected.intervals["b"].low)
    assert (found["worst"], found["may_be_worst"]) == ("b", ["b"])
    shown = do(f"{GROUPS} --metric risk").text
    assert "b is the worst of 3 groups by " in shown
    assert f"true value in [{expected.worst_low:.4g}, {expected.worst_high:.4g}]" in shown


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("--margin 0.1", "leave --margin out"),
        ("--adjust none", "leave --adjust out"),
        ("--groups site,day", "--groups names site, day; groups are compared by one score and column"),
        ("--scores sure,again", "--scores names sure, again"),
        ("--groups sit", "did you mean 'site'"),
    ],
)
def test_what_groups_cannot_be_compared_with(do, sites, more, message):
    """Options of other comparisons, several scores or columns, a column that is not there."""
    assert message in do(f"{GROUPS} {more}", 2).said
