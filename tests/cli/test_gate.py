"""``abstain evaluate --gate``: exit codes, the other model, the summary for a pull request."""

import json
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain.cli import run

pl = pytest.importorskip("polars")

N = 2000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with the outputs of three models on the same rows, and an evaluation of one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    wrong = rng.random(N) < 0.3
    main = rng.random(N) - 0.5 * wrong
    for name, score in (("main", main), ("same", main + 1e-3 * rng.random(N)), ("bad", rng.random(N))):
        pl.DataFrame({"loss": wrong * 1.0, "confidence": score}).write_csv(f"{name}.csv")
    assert run(["evaluate", "main.csv", "--json", "main.json"]) == 0
    return tmp_path


def gate(*arguments: str) -> int:
    """Run the command on the outputs that are named first."""
    return run(["evaluate", arguments[0], "--metrics", "augrc", *arguments[1:]])


@pytest.mark.parametrize(("limit", "code"), [("<=0.2", 0), ("<= 0.2", 0), ("<0.2", 0), ("<=0.02", 1), ("<=0.0709", 1)])
def test_a_limit_decides_the_exit_code(folder: Path, limit: str, code: int) -> None:
    """Kept for sure, broken for sure, and unclear, which fails."""
    assert gate("main.csv", "--gate", f"augrc{limit}") == code


def test_unclear_may_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If one says so; what is broken for sure fails all the same."""
    value = abstain.evaluate("main.csv").value("augrc")
    limit = f"augrc<={value:.4f}"
    assert gate("main.csv", "--gate", limit) == 1
    assert "unclear counts as fail" in capsys.readouterr().out
    assert gate("main.csv", "--gate", limit, "--unclear", "pass") == 0
    assert gate("main.csv", "--gate", limit, "--gate", "augrc<=0.01", "--unclear", "pass") == 1
    assert gate("main.csv", "--gate", f"augrc<={value + 1e-9}", "--level", "0") == 0
    assert gate("main.csv", "--gate", f"augrc<={value - 1e-9}", "--level", "0") == 1


def test_metrics_of_gates_are_evaluated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also those that were not asked for; of some larger is better."""
    assert gate("main.csv", "--gate", "coverage_at_risk(risk=0.25)>=0.3", "--gate", "accuracy>=0.6") == 0
    assert "Coverage at risk 25 %" in capsys.readouterr().out
    assert gate("main.csv", "--gate", "accuracy>=0.8") == 1


@pytest.mark.parametrize("against", ["main.json", "main.csv"])
def test_no_worse_than_the_model_in_use(folder: Path, capsys: pytest.CaptureFixture[str], against: str) -> None:
    """By its saved evaluation, or paired by its outputs: a margin that is wide enough, and one that is not."""
    assert gate("same.csv", "--against", against, "--margin", "0.05") == 0
    assert gate("bad.csv", "--against", against, "--margin", "0.01") == 1
    shown = capsys.readouterr().out
    assert "its interval lies above the margin" in shown
    assert ("paired, sample by sample" in shown) == against.endswith("csv")
    tight = gate("same.csv", "--against", against, "--margin", "0.002")
    assert tight == (0 if against.endswith("csv") else 1)  # only the paired test can tell so little
    assert gate("same.csv", "--gate", "aurc", "--against", against, "--margin", "0.05", "--gate", "augrc<=0.2") == 0


def with_ids(name: str, seed: int, first: int = 0) -> str:
    """Write a model again with identifiers, in another order; from another first row on."""
    table = pl.read_csv(f"{name}.csv").with_columns(pl.Series("id", np.arange(N)))
    table[first:].sample(fraction=1.0, shuffle=True, seed=seed).write_csv(f"{name}_ids.csv")
    return f"{name}_ids.csv"


def test_the_same_rows_are_paired_in_any_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By their identifiers, by the test of not being worse; other rows are taken as independent, which is said."""
    more = ["--against", with_ids("main", 1), "--margin", "0.002", "--summary", "-"]
    assert gate(with_ids("same", 2), *more) == 0
    (line,) = (each for each in capsys.readouterr().out.splitlines() if each.startswith("| augrc"))
    files = {name: pl.read_csv(f"{name}.csv") for name in ("same", "main")}  # of two models, which may err apart
    loss, scores = (
        {name: each[column].to_numpy() for name, each in files.items()} for column in ("loss", "confidence")
    )
    shown = abstain.inference.non_inferiority(loss, scores, margin=0.002, level=0.975)
    assert shown.shown
    assert f"{shown.high:.6f}" in line
    assert gate(with_ids("same", 2, first=200), *more) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "taken as independent" in told
    assert "not paired: 1800 of 1800 identifiers are in main_ids.csv, with 2000" in told
    for name, rows in (("part", 900), ("same", N)):  # the score that is judged is a column of each
        pl.read_csv(f"{name.replace('part', 'main')}.csv")[:rows].rename({"confidence": "sure"}).write_csv(
            f"{name}.csv"
        )
    assert gate("same.csv", "--against", "part.csv", "--margin", "0.05", "--scores", "sure") == 0
    assert "not paired: same.csv has 2000 rows, part.csv has 900" in " ".join(capsys.readouterr().out.split())


def test_rows_without_identifiers_are_matched_by_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where labels agree, which is said; files of other labels are taken as independent."""
    rng = np.random.default_rng(1)
    label, score = rng.integers(0, 2, N), rng.random(N)
    predicted = np.where(rng.random(N) < 0.2, 1 - label, label)
    for name, rows in (("a", slice(None)), ("c", slice(None)), ("b", slice(None, None, -1))):
        frame = {"label": label[rows], "prediction": predicted[rows], "confidence": score[rows]}
        pl.DataFrame(frame).write_csv(f"{name}.csv")
    assert gate("a.csv", "--against", "c.csv", "--margin", "0.02") == 0
    assert "matched by their places: not both files" in " ".join(capsys.readouterr().out.split())
    assert gate("a.csv", "--against", "b.csv", "--margin", "0.05") == 0
    assert "not paired: labels differ from those of b.csv" in " ".join(capsys.readouterr().out.split())


def test_few_errors_cannot_show_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two models without an error on the rows are no proof: unclear, whatever the margin."""
    for name, seed in (("few", 1), ("new", 2)):
        score = np.random.default_rng(seed).random(300)
        pl.DataFrame({"loss": [1.0] * 5 + [0.0] * 295, "confidence": score}).write_csv(f"{name}.csv")
    assert gate("new.csv", "--against", "few.csv", "--margin", "0.5") == 1
    assert "loss holds 5 errors (or successes, if fewer), too few" in " ".join(capsys.readouterr().out.split())
    assert gate("new.csv", "--against", "few.csv", "--margin", "0.5", "--unclear", "pass") == 0
    assert gate("bad.csv", "--gate", "selective_risk(coverage=0.3)", "--against", "main.csv", "--margin", "0.4") == 0


def test_the_summary_is_markdown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table with every condition, printed or written; nothing is written where usage is wrong."""
    assert gate("main.csv", "--gate", "augrc<=0.2", "--gate", "augrc<=0.01", "--summary", "s.md") == 1
    lines = Path("s.md").read_text().splitlines()
    assert lines[0] == "gate: fail · 1 pass, 1 fail"
    assert sum(line.startswith("| augrc") for line in lines) == 2
    capsys.readouterr()
    assert gate("main.csv", "--gate", "augrc<=0.2", "--summary", "-") == 0
    assert "| Gate | Value |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gate", "augrc"], "has no limit"), (["--gate", "augrc>=0.1"], "lower is better: write <="),
        (["--gate", "augrc<=low"], "has no number behind <="), (["--gate", "agurc<=1"], "is not known; did you mean"),
        (["--against", "main.json"], "--against and --margin belong together"), (["--margin", "1"], "belong together"),
        (["--summary", "s.md"], "that of a gate"), (["--gate", "augrc<=1", "--summary", "main.csv"], "input"),
        (["--against", "nothing.json", "--margin", "1"], "nothing.json: cannot be read"),
        (["--against", "main.json", "--margin", "1", "--level", "0.9"], "evaluate both at one level"),
        (["--against", "main.json", "--margin", "-1"], "margin must be"),
        (["--gate", "selective_risk(coverage=0.3)", "--against", "main.json", "--margin", "1"], "against has no sel"),
    ],
)  # fmt: skip
def test_wrong_use_is_no_failed_gate(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Exit code 2, and the remedy."""
    before = Path("main.csv").read_bytes()
    assert gate("main.csv", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not Path("s.md").exists()
    assert Path("main.csv").read_bytes() == before


def test_a_gate_in_python(folder: Path) -> None:
    """Evaluations, dicts and comparisons; several scores are refused."""
    wrong = pl.read_csv("main.csv")["loss"].to_numpy()
    scores = {name: pl.read_csv(f"{name}.csv")["confidence"].to_numpy() for name in ("main", "bad")}
    new, main = (abstain.evaluate(loss=wrong, confidence=scores[name], metrics=["augrc"]) for name in ("bad", "main"))
    paired = abstain.compare(wrong, {"new": scores["bad"], "main": scores["main"]}, "augrc")
    both = {"new": scores["bad"], "main": scores["main"]}
    tested = abstain.inference.non_inferiority(wrong, both, "augrc", margin=0.01, level=0.975)
    for against in (main, json.loads(main.to_json()), [paired], [tested]):
        found = abstain.gate(new, [], against=against, margin=0.01)
        assert [(each.metric, each.verdict) for each in found.checks] == [("augrc", "fail")]
        assert found.checks[0].low > 0.01
        assert abs(found.checks[0].value - (new.value("augrc") - main.value("augrc"))) < 1e-12
    assert abstain.gate(main, "augrc", against=new, margin=0.0).passed  # better is no worse
    outputs = abstain.Outputs(loss=wrong, scores=scores)
    with pytest.raises(ValueError, match="a gate is about one score"):
        abstain.gate(abstain.evaluate(outputs, ["main", "bad"]), "augrc<=1")
    with pytest.raises(TypeError, match="belong together"):
        abstain.gate(main, "augrc<=1", margin=0.1)
    with pytest.raises(ValueError, match=r"has level 0.95; with this evaluation it needs 0.975"):
        abstain.gate(new, [], against=[abstain.inference.non_inferiority(wrong, both, margin=0.01)], margin=0.01)
    with pytest.raises(ValueError, match="no condition"):
        abstain.gate(main, [])
