"""``abstain evaluate --gate``: exit codes, the other model, the summary for a pull request."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import abstain
from abstain.inference import non_inferiority
from tests.command import csv
from tests.refusal import refused

N = 2000
RNG = np.random.default_rng(0)
WRONG = RNG.random(N) < 0.3
MAIN = RNG.random(N) - 0.5 * WRONG
SCORES = {"main": MAIN, "same": MAIN + 1e-3 * RNG.random(N), "bad": RNG.random(N)}


@pytest.fixture
def gate(do):
    """Write the outputs of three models on the same rows, and an evaluation of one; return the command."""
    for name, score in SCORES.items():
        csv(f"{name}.csv", loss=WRONG * 1.0, confidence=score)
    do("evaluate main.csv --metrics aurc,augrc --json main.json")

    def call(options, code=0):
        return do(f"evaluate --metrics augrc {options}", code)

    return call


VALUE = abstain.augrc(WRONG, MAIN)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("--gate 'augrc<=0.2'", 0),
        ("--gate 'augrc <= 0.2'", 0),
        ("--gate augrc<0.2", 0),
        ("--gate augrc<=0.02", 1),
        (f"--gate augrc<={VALUE:.4f}", 1),
        (f"--gate augrc<={VALUE:.4f} --unclear pass", 0),
        (f"--gate augrc<={VALUE:.4f} --gate augrc<=0.01 --unclear pass", 1),
        (f"--gate augrc<={VALUE + 1e-9} --level 0", 0),
        (f"--gate augrc<={VALUE - 1e-9} --level 0", 1),
        ("--gate 'coverage_at_risk(risk=0.25)>=0.3' --gate accuracy>=0.6", 0),
        ("--gate accuracy>=0.8", 1),
    ],
)
def test_a_limit_decides_the_exit_code(gate, options, code):
    """Satisfied with confidence, violated, and unclear, which fails unless one says so; of some larger is better."""
    shown = gate(f"main.csv {options}", code).out
    assert ("unclear counts as fail" in shown) is (options == f"--gate augrc<={VALUE:.4f}")


@pytest.mark.parametrize("against", ["main.json", "main.csv"])
def test_no_worse_than_the_model_in_use(gate, against):
    """By its saved evaluation, or paired by its outputs: a margin that is wide enough, and one that is not."""
    paired = against.endswith("csv")
    shown = gate(f"same.csv --against {against} --margin 0.05").out
    shown += gate(f"bad.csv --against {against} --margin 0.01", 1).out
    assert "its interval lies above the margin" in shown
    assert ("paired, sample by sample" in shown) == paired
    gate(f"same.csv --against {against} --margin 0.002", 0 if paired else 1)  # only the paired test can tell so little
    gate(f"same.csv --gate aurc --against {against} --margin 0.05 --gate augrc<=0.2")


def with_ids(name, seed, first=0):
    """Write a model again with identifiers, in another order; from another first row on."""
    table = pl.read_csv(f"{name}.csv").with_row_index("id")
    table[first:].sample(fraction=1.0, shuffle=True, seed=seed).write_csv(f"{name}_ids.csv")
    return f"{name}_ids.csv"


def test_the_same_rows_are_paired_in_any_order(gate):
    """By their identifiers, by the test of not being worse; other rows are taken as independent, which is said."""
    against = f"--against {with_ids('main', 1)} --margin 0.002 --summary -"
    shown = gate(f"{with_ids('same', 2)} {against}").out
    (line,) = (each for each in shown.splitlines() if each.startswith("| augrc"))
    scores = {name: SCORES[name] for name in ("same", "main")}
    same = non_inferiority(dict.fromkeys(scores, WRONG), scores, margin=0.002, level=0.975)  # which may err apart
    assert same.shown
    assert f"{same.high:.6f}" in line
    told = gate(f"{with_ids('same', 2, first=200)} {against}", 1).text
    assert "taken as independent" in told
    assert "not paired: 1800 of 1800 identifiers are in main_ids.csv, with 2000" in told
    for name, rows in (("main", 900), ("same", N)):  # the score that is judged is a column of each
        pl.read_csv(f"{name}.csv")[:rows].rename({"confidence": "sure"}).write_csv(f"{name}.csv")
    told = gate("same.csv --against main.csv --margin 0.05 --scores sure").text
    assert "not paired: same.csv has 2000 rows, main.csv has 900" in told
    label = np.arange(N) % 2  # without identifiers, by place, where labels agree
    for name, step in (("a", 1), ("c", 1), ("b", -1)):
        csv(f"{name}.csv", label=label[::step], prediction=(label ^ WRONG)[::step], confidence=MAIN[::step])
    assert "matched by their places: not both files" in gate("a.csv --against c.csv --margin 0.02").text
    assert "not paired: labels differ from those of b.csv" in gate("a.csv --against b.csv --margin 0.05").text


def test_few_errors_cannot_show_it(gate):
    """Two models without an error on the rows are no proof: unclear, whatever the margin."""
    for name, seed in (("few", 1), ("new", 2)):
        csv(f"{name}.csv", loss=[1.0] * 5 + [0.0] * 295, confidence=np.random.default_rng(seed).random(300))
    few = "new.csv --against few.csv --margin 0.5"
    assert "loss holds 5 errors (or successes, if fewer), too few" in gate(few, 1).text
    gate(f"{few} --unclear pass")
    gate("bad.csv --gate 'selective_risk(coverage=0.3)' --against main.csv --margin 0.4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--gate augrc", "has no limit"),
        ("--gate augrc>=0.1", "lower is better: write <="),
        ("--gate agurc<=1", "is not known; did you mean"),
        ("--against main.json", "--against and --margin belong together"),
        ("--summary s.md", "that of a gate"),
        ("--gate augrc<=1 --summary main.csv", "input"),
        ("--against nothing.json --margin 1", "nothing.json: cannot be read"),
        ("--against main.json --margin 1 --level 0.9", "evaluate both at one level"),
        ("--against main.json --margin -1", "margin must be"),
        ("--gate 'selective_risk(coverage=0.3)' --against main.json --margin 1", "against has no sel"),
    ],
)
def test_wrong_use_is_no_failed_gate(gate, options, message):
    """Exit code 2, and the remedy."""
    before = Path("main.csv").read_bytes()
    assert message in gate(f"main.csv {options}", 2).err
    assert not Path("s.md").exists()
    assert Path("main.csv").read_bytes() == before


def test_a_gate_in_python():
    """Evaluations, dicts and comparisons; several scores are refused."""
    new, main = (abstain.evaluate(loss=WRONG, confidence=SCORES[name], metrics="augrc") for name in ("bad", "main"))
    both = {"new": SCORES["bad"], "main": MAIN}
    paired = abstain.compare(WRONG, both, "augrc")
    tested = non_inferiority(WRONG, both, "augrc", margin=0.01, level=0.975)
    for against in (main, json.loads(main.to_json()), [paired], [tested]):
        (check,) = abstain.gate(new, [], against=against, margin=0.01).checks
        assert (check.metric, check.verdict, check.low > 0.01) == ("augrc", "fail", True)
        assert check.value == pytest.approx(new.value("augrc") - main.value("augrc"), abs=1e-12)
    assert abstain.gate(main, "augrc", against=new, margin=0.0).passed  # better is no worse
    several = abstain.evaluate(abstain.Outputs(loss=WRONG, scores=SCORES), ["main", "bad"])
    refused(ValueError, "a gate is about one score", abstain.gate, several, "augrc<=1")
    refused(TypeError, "belong together", abstain.gate, main, "augrc<=1", margin=0.1)
    tested = [non_inferiority(WRONG, both, margin=0.01)]
    refused(ValueError, "evaluation it needs 0.975", abstain.gate, new, [], against=tested, margin=0.01)
    refused(ValueError, "no condition", abstain.gate, main, [])
