"""``abstain joint``: files in, tables and gains out."""

import numpy as np
import pytest

#: Scores without permutations.
ENERGY = "--scores energy --permutations 0"


@pytest.fixture
def folder(tmp_path, do):
    """An ID test set and two OOD sets with logits."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 150)
    np.savez(tmp_path / "test.npz", labels=labels, logits=rng.normal(size=(150, 4)) + 3.0 * np.eye(4)[labels])
    for name, size, scale in (("close", 60, 1.5), ("far", 90, 0.5)):
        np.savez(tmp_path / f"{name}.npz", logits=scale * rng.normal(size=(size, 4)))
    return tmp_path


GAIN = {"set": "far", "score": "energy", "metric": "ds_f1", "gain": 0.03, "null_mean": 0.01, "null_sd": 0.01, "p": 0.01}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"p": 0.049}], "is shown that a second threshold on energy helps (gain in DS-F1 0.0300, by chance 0.0100, p"),
        ([{"p": 0.05}], "it is not shown that a second threshold on energy helps"),
        ([{"p": 0.02}, {"gain": 0.02, "set": "close"}], "On far, it is shown"),
        ([{}, {"metric": "ds_aurc"}], "(gain in DS-AURC 0.0300"),
        ([{"p": 0.05, "n_permutations": 20}], "0.0300, by chance 0.0100, p = 0.050)"),
        ([{"p": 0.05, "n_permutations": 19}], "by chance 0.0100, not tested, which takes 20 permutations)."),
        ([{"p": 0.06, "n_permutations": 39}, {"set": "close", "gain": 0.0}], "which takes 40 permutations)."),
        ([{"p": 0.049, "n_permutations": 9}], "helps (gain in DS-F1 0.0300, by chance 0.0100, p = 0.049)."),
        ([{"gain": 0.0, "null_mean": 0.0, "p": 1.0, "n_permutations": 9}], "by chance 0.0000, p = 1.000)."),
    ],
)  # fmt: skip
def test_the_largest_gain_of_each_metric_is_judged(folder, do, monkeypatch, rows, said):
    """P times all gains, below 5 %; no test where so few permutations could show none."""
    gains = [{**GAIN, "n_permutations": 99, **row} for row in rows]
    monkeypatch.setattr("abstain.cli._joint._gains", lambda *_: gains)
    assert said in do("joint test.npz close.npz far.npz --scores energy").text


def test_scores_that_the_data_refuse_are_left_out_unless_asked_for(do):
    """Signed features, as of a transformer, have no ASH; 40 rows of training have no 50 neighbours."""
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(4, 6))
    for name, size in (("train", 40), ("test", 60), ("far", 50)):
        features = rng.normal(size=(size, 6))
        logits = features @ weight.T
        labels = np.where(rng.random(size) < 0.8, logits.argmax(axis=1), np.arange(size) % 4)
        head = {"head_weight": weight, "head_bias": np.zeros(4)}
        np.savez(f"{name}.npz", labels=labels, features=features, logits=logits, **head)
    line = "joint test.npz far.npz --fit train.npz --permutations 0"
    shown = do(line)
    assert {line.split()[0] for line in shown.out.splitlines() if line} >= {"msp", "energy", "mds", "vim"}
    assert shown.err.count("left out: test.npz: ") == 5
    for name in ("knn", "ash_p", "ash_b", "ash_s", "scale"):
        assert f"left out: test.npz: {name} needs" in shown.err
        assert f"\n{name} " not in shown.out
    assert "ash_p needs features >= 0" in do(f"{line} --scores energy,ash_p", 2).err


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("--confidence votes --scores energy", ["votes", "energy"]),
        ("--confidence energy --scores 'v*,neg_gini'", ["energy", "votes", "neg_gini"]),
        ("--confidence votes", ["votes", "ext", "energy"]),
        ("", ["msp", "ext", "energy"]),
    ],
)
def test_columns_are_scores(folder, do, options, names):
    """The confidence and the OOD scores may be columns; what only some files hold is left out, unless asked for."""
    rng = np.random.default_rng(0)
    for file, n, more in (("test", 150, {"score_own": rng.random(150)}), ("far", 90, {})):
        with np.load(f"{file}.npz") as archive:
            np.savez(f"{file}.npz", **archive, **more, votes=rng.random(n), score_ext=rng.random(n))
    shown = do(f"joint test.npz far.npz --permutations 0 {options}")
    rows = [line.split()[0] for line in shown.out.partition("\n\n")[2].splitlines()[2:] if line]
    assert rows[0] == names[0]
    assert set(names) <= set(rows)
    assert "own" not in rows
    assert ("left out: far.npz: score 'own' is not known" in shown.err) == ("--scores" not in options)


@pytest.mark.parametrize("labels", [np.full(90, -1), np.array(["bird"] * 90), np.full(90, np.nan)])
def test_labels_of_ood_files_are_not_read(folder, do, labels):
    """They are -1, or the classes of other data, which the network does not have."""
    expected = do(f"joint test.npz far.npz {ENERGY}").out
    with np.load("far.npz") as archive:
        np.savez("far.npz", labels=labels, logits=archive["logits"])
    assert do(f"joint test.npz far.npz {ENERGY}").out == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("far.npz --near fr", "'fr' is no OOD file; did you mean 'far'?"),
        ("far.npz --near far --far far", "'far' is both near and far; choose one"),
        ("far.npz far.npz", "two OOD files have the same name"),
        ("far.npz --table table.doc", "extension '.doc' is no table; use .md, .tex, .html"),
        ("nothing.npz", "nothing.npz"),
        ("far.npz --also elsewhere", "elsewhere/test.npz: no such file"),
        ("far.npz --scores enrgy", "'enrgy' is neither a score nor a column; did you mean 'energy'?"),
        ("far.npz --metric oscr", "--metric is for --layout sets and strategies, not single-double"),
        ("far.npz --layout sets --group far", "--group is for --layout strategies, not sets"),
        ("far.npz --scores knn", "test.npz: knn "),
        ("far.npz --fit close.npz --json close.npz", "close.npz: is an input and would be replaced"),
        ("far.npz --also . --json ./far.npz", "far.npz: is an input and would be replaced"),
        ("empty.npz", "empty.npz: logits is empty"),
        ("nan.npz", "nan.npz: logits is not finite: logits[3, 1] = nan"),
        ("three.npz", "three.npz: 3 classes, but the ID set has 4; one network?"),
    ],
)
def test_wrong_usage_is_one_line(folder, do, line, message):
    """Exit code 2, one line on standard error, with the remedy."""
    gap = np.where(np.arange(20) == 13, np.nan, 1.0).reshape(5, 4)
    for name, logits in (("empty", np.zeros((0, 4))), ("nan", gap), ("three", np.ones((5, 3)))):
        np.savez(folder / f"{name}.npz", logits=logits)
    shown = do(f"joint test.npz {line}", 2)
    assert shown.out == ""
    assert message in shown.err
    assert len(shown.err.strip().splitlines()) == 1
