"""``abstain compare``: models by file, scores of one file, matching by identifier, clear errors."""

import json
from pathlib import Path

import numpy as np
import pytest

import abstain
from tests.command import csv
from tests.evaluation.test_judged import OUTPUTS

TWO = "compare sharp.npz dull.npz"
ONE = "compare answers.csv --loss wrong --scores sure --groups site"


@pytest.fixture(autouse=True)
def _models(do):
    """Two models on the same 400 samples; the second file has its rows shuffled, with identifiers; answers of sites."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 400)
    for name, noise in (("sharp", 1.0), ("dull", 4.0)):
        logits = 3.0 * np.eye(3)[labels] + rng.normal(0, noise, (400, 3))
        order = np.arange(400) if name == "sharp" else rng.permutation(400)
        np.savez(f"{name}.npz", labels=labels[order], logits=logits[order], ids=order + 1000)
    site = np.repeat(["a", "b", "c"], 200)
    wrong = rng.random(600) < np.where(site == "b", 0.4, 0.1)
    score = rng.random(600) - 0.3 * wrong
    csv("answers.csv", wrong=wrong * 1, sure=score, again=score, site=site, day=np.arange(600) % 7)


def test_models_are_matched_by_identifier(do):
    """Shuffled rows are put in order, whether identifiers are text or numbers: as compare() on aligned arrays."""
    found = do(f"{TWO} --metric augrc --json -").json
    first, second = map(abstain.read_outputs, ("sharp.npz", "dull.npz"))
    second = second.select(np.argsort(np.asarray(second.ids)))
    losses = {"sharp": first.loss_per_sample(), "dull": second.loss_per_sample()}
    scores = {"sharp": abstain.scores.compute("msp", first), "dull": abstain.scores.compute("msp", second)}
    assert found["differences"] == abstain.compare(losses, scores, "augrc").to_dict()["differences"]
    assert found["letters"] == {"sharp": "a", "dull": "b"}
    for name, kind in (("sharp", int), ("dull", str)):
        arrays = dict(np.load(f"{name}.npz"))
        ids = arrays["ids"].astype(kind)
        np.savez(f"{name}.npz", **arrays | {"ids": ids, "clusters": ids})
    assert do(f"{TWO} --json -").json["differences"][0]["difference"] == found["differences"][0]["difference"]


def test_scores_of_repeated_passes_are_judged_by_their_own_predictions(do):
    """Two scores of one file, two losses: their values are those of an evaluation; joint does not mix them."""
    abstain.write_outputs(OUTPUTS, "a.npz")
    found = do("compare a.npz --scores msp,pass_msp --metric augrc --json - --plot forest.png").json
    wanted = abstain.evaluate(OUTPUTS, ["msp", "pass_msp"], "augrc")
    values = [wanted.value("augrc", score=row["name"]) for row in found["table"]]
    assert [float(row["estimate"]) for row in found["table"]] == pytest.approx(values)
    assert Path("forest.png").read_bytes().startswith(b"\x89PNG")
    joint = "joint a.npz a.npz --permutations 0"
    assert "left out: a.npz: msp and pass_msp are about different predictions" in do(joint).err
    assert "name scores of one kind" in do(f"{joint} --scores msp,pass_msp", 2).err


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("compare sharp.npz missing.npz", "missing.npz"),
        ("compare sharp.npz sharp.npz", "given twice"),
        ("compare sharp.npz --metric augrk", "did you mean"),
        ("compare sharp.npz --scores msp", "name two with --scores"),
        (f"{TWO} --scores msp,energy", "one score is used in each"),
        (f"{TWO} --json sharp.npz", "is an input and would be replaced; give --json another name"),
        (f"{TWO} --json dull.npz", "is an input and would be replaced; give --json another name"),
        ("compare sharp.npz --fit dull.npz --json dull.npz", "is an input and would be replaced"),
        (f"{TWO} --open", "--open shows the --report; give --report FILE"),
        ("compare sharp.npz short.npz", "short.npz: is not on the samples of sharp.npz: 300 against 400 "),
        ("compare bare.npz shorter.npz", "shorter.npz: has 200 samples, bare.npz has 400; models need the same"),
        ("compare bare.npz other.npz", "matched by --ids"),
        ("compare sharp.npz mixed.npz", "mixed.npz: label 0 is 2 in sharp.npz [data row 1 there]"),
        ("compare sharp.npz heavy.npz", "heavy.npz: sample_weight is not that of sharp.npz"),
        (f"{TWO} --fit sharp.npz", "--fit holds outputs of one model"),
        ("compare sharp.npz --scores msp,knn", "sharp.npz: knn "),
        ("compare dull.npz --scores msp,neg_entropy --equivalent", "give --margin"),
        ("compare dull.npz --scores msp,neg_entropy --margin 0.1 --method influence", "leave --plan, --plot and --met"),
        ("compare sharp.npz --scores msp,neg_entropy --margin 0.05", "errors (or successes, if fewer), too few"),
        (f"{ONE} --margin 0.1", "leave --margin out"),
        (f"{ONE} --groups site,day", "--groups names site, day; groups are compared by one score and column"),
        (f"{ONE} --scores sure,again", "--scores names sure, again"),
        (f"{ONE} --groups sit", "did you mean 'site'"),
    ],
)
def test_bad_input_is_one_line_and_status_2(do, typed, message):
    """What cannot be compared is refused in one line that names the file and the remedy; no input is replaced."""
    arrays = dict(np.load("sharp.npz"))
    bare, other = arrays | {}, (arrays["labels"] + 1) % 3
    del bare["ids"]
    np.savez("short.npz", **{name: each[:300] for name, each in arrays.items()})
    np.savez("mixed.npz", **arrays | {"labels": other})
    np.savez("heavy.npz", **arrays, sample_weight=np.arange(400.0))
    np.savez("bare.npz", **bare)
    np.savez("shorter.npz", **{name: each[:200] for name, each in bare.items()})
    np.savez("other.npz", **bare | {"labels": other})
    before = {path: path.read_bytes() for path in Path().iterdir()}
    shown = do(typed, 2)
    assert shown.out == ""
    (told,) = (line for line in shown.err.splitlines() if line.startswith("abstain: "))
    assert message in told
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_verdicts_of_margins_and_groups(do):
    """Not worse by the margin: 0; not shown: 1; the worst group is named with its interval."""
    two = "compare dull.npz --scores msp,neg_entropy"
    shown = do(f"{two} --margin 0.05").out
    assert "It is shown that msp is not worse than neg_entropy by 0.05 or more (AUGRC" in shown
    found = do(f"{two} --margin 1e-7 --equivalent --json -", 1).json
    assert (found["claim"], found["shown"], found["new"]) == ("equivalent", False, "msp")
    found = do(f"{ONE} --metric risk --json -").json
    assert (found["worst"], found["may_be_worst"]) == ("b", ["b"])
    shown = do(f"{ONE} --metric risk").text
    assert "b is the worst of 3 groups by " in shown
    assert f"true value in [{found['worst_low']:.4g}, {found['worst_high']:.4g}]" in shown


def test_a_margin_knows_the_clusters(do):
    """The p-value of the command is that of the function with clusters."""
    rng, who = np.random.default_rng(0), np.repeat(np.arange(60), 50)
    side, wrong = rng.random(60)[who], (rng.random(3000) < 0.15).astype(int)
    scores = [1 - 0.5 * wrong - rng.random(3000) * (0.2 + each) for each in (side, 1 - side)]
    for k, score in enumerate(scores):
        csv(f"{k}.csv", id=np.arange(3000), err=wrong, conf=score, who=who)
    found = do("compare 0.csv 1.csv --loss err --confidence conf --clusters who --margin 0.005 --json -", 1).json
    named = dict(zip("01", scores, strict=True))
    same = abstain.inference.non_inferiority(wrong, named, margin=0.005, clusters=who)
    assert (found["n_clusters"], found["p_value"]) == (60, pytest.approx(same.p_value))


def test_comparisons_by_the_command_say_what_they_assume(do):
    """The method arrives, and its default names the other one wherever it is read."""
    rng, wrong = np.random.default_rng(0), np.arange(300) % 10 == 0
    csv("a.csv", err=wrong * 1, **{name: rng.normal(size=300) - wrong for name in ("one", "two")})
    compare = "compare a.csv --loss err --scores one,two"
    texts = [do(compare).text, do(f"{compare} --method influence").text]
    do(f"{compare} --report a.html --json a.json")
    texts += [Path("a.html").read_text(encoding="utf-8"), " ".join(json.loads(Path("a.json").read_text())["notes"])]
    found = ["no important kind of error is missing" in each and "allows for one" in each for each in texts]
    assert found == [True, False, True, True]
