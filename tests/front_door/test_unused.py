"""What is left unused, left out or missing is said: columns of scores, rows without a number, no confidence."""

from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain import read_outputs
from abstain._checks import UnmetNeed
from abstain.cli import run
from tests.front_door.files import FIXTURES

N = 90


def saved(folder: Path) -> list[str]:
    """Write outputs of three classes beside a finished score, in and out of distribution."""
    rng = np.random.default_rng(3)
    files = []
    for name in ("test", "far"):
        logits = rng.normal(size=(N, 3)) * 2.0
        labels = {"labels": np.where(rng.random(N) < 0.2, 0, logits.argmax(axis=1))} if name == "test" else {}
        np.savez(folder / f"{name}.npz", logits=logits, energy=np.log(np.exp(logits).sum(axis=1)), **labels)
        files.append(str(folder / f"{name}.npz"))
    return files


@pytest.mark.parametrize("command", ["evaluate", "joint", "threshold", "compare"])
def test_a_score_that_is_not_used_is_named(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By every command, with the option that takes it; not once it is taken."""
    inside, outside = saved(tmp_path)
    options = {
        "evaluate": [inside], "joint": [inside, outside, "--scores", "msp", "--permutations", "0"],
        "threshold": [inside, "--coverage", "0.5"], "compare": [inside, "--scores", "msp,max_logit"],
    }[command]  # fmt: skip
    assert run([command, *options]) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert "not used: `energy`; --confidence 'energy' takes that one as the confidence" in said
    if command in ("evaluate", "threshold"):
        assert run([command, *options, "--confidence", "energy"]) == 0
        assert "not used" not in "".join(capsys.readouterr())


def test_a_row_that_lacks_a_probability_is_dropped_where_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--nan-policy drop`` leaves it out and says so; the numbers are those of the other rows; else it is refused."""
    rng = np.random.default_rng(1)
    p, y = rng.dirichlet(np.ones(3), size=N), rng.integers(3, size=N)
    lines = [f"{y[i]},{p[i, 0]!r},{'' if i in (7, 30) else repr(p[i, 1])},{p[i, 2]!r}" for i in range(N)]
    (tmp_path / "a.csv").write_text("\n".join(["y,p_0,p_1,p_2", *lines]).replace("np.float64(", "").replace(")", ""))
    assert run(["evaluate", str(tmp_path / "a.csv")]) == 2
    assert run(["evaluate", str(tmp_path / "a.csv"), "--nan-policy", "drop"]) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert "2 rows lack numbers in `p_0`, `p_1`, `p_2` (first: data row 8) and are left out" in said
    holes = p.copy()
    holes[[7, 30], 1] = np.nan
    kept = ~np.isnan(holes).any(axis=1)
    for columns in (
        {"labels": y, "probabilities": holes},
        {"labels": y, "logits": 9.0 * holes},
    ):
        found = abstain.evaluate(**columns, metrics="augrc", nan_policy="drop")
        whole = abstain.evaluate(metrics="augrc", **{name: column[kept] for name, column in columns.items()})
        assert found.value("augrc") == whole.value("augrc")
        assert found.provenance["n"] == N - 2
    with pytest.raises(ValueError, match="every row lacks a number"):
        read_outputs({"labels": y, "probabilities": p * np.nan}, probabilities="probabilities", nan_policy="drop")


TEXT = str(next(FIXTURES.glob("samples_sums_text_*.jsonl")))


def test_answers_without_a_confidence_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The four states need none: the table stands, a note says what is missing, and no flag is offered in its place."""
    assert run(["evaluate", TEXT, "--where", "filter=strict", "--abstained", "invalid"]) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert "abstained 18 45.0%" in said
    assert "24 of 80 answers (of all filters) were not parsed" in said
    assert "Undecided: these outputs have no confidence; add a column of it" in said
    assert run(["evaluate", TEXT, "--where", "filter=strict", "--report", str(tmp_path / "page.html")]) == 0
    assert "<td" in (tmp_path / "page.html").read_text()
    capsys.readouterr()
    for asked in (["--plot", str(tmp_path / "a.png")], ["--metrics", "augrc"], ["--gate", "augrc<=1"]):
        assert run(["evaluate", TEXT, "--where", "filter=strict", *asked]) == 2
        said = capsys.readouterr().err
        assert "these outputs have no confidence; add a column of it" in said
        assert "invalid" not in said
    assert not (tmp_path / "a.png").exists()
    with pytest.raises(KeyError, match="no score here: these outputs have no confidence"):
        abstain.evaluate(TEXT, where={"filter": "strict"}).value("augrc")


def test_no_confidence_stays_an_error_where_nothing_else_is_known() -> None:
    """Labels and predictions alone say how many are right, which is no evaluation of a reject option."""
    with pytest.raises(UnmetNeed, match="have no confidence"):
        abstain.evaluate({"label": [0, 1, 1], "prediction": [0, 1, 0]})


def test_lists_and_levels_as_on_the_command_line() -> None:
    """Scores in one text, and a level of 0 for none, mean in Python what they mean there."""
    outputs = abstain.Outputs(labels=[0, 1, 1], logits=[[2.0, 0.5], [0.0, 1.0], [3.0, 0.0]])
    found = abstain.evaluate(outputs, "msp, gen(gamma=0.5, top=2)", "augrc", level=0)
    assert found.scores == ["msp", "gen(gamma=0.5, top=2)"]
    assert np.isnan(found.measurements[0].low)
    with pytest.raises(ValueError, match="level"):
        abstain.evaluate(outputs, level=1.5)


def test_tables_for_a_paper_from_evaluate_and_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One option writes the table in the form of its ending; another ending is refused before the work begins."""
    inside, _ = saved(tmp_path)
    for command in (["evaluate", inside, "--scores", "msp,energy"], ["compare", inside, "--scores", "msp,max_logit"]):
        for ending, sign in ((".tex", "\\toprule"), (".md", "| "), (".html", "<table")):
            file = tmp_path / f"table{ending}"
            assert run([*command, "--table", str(file), "--scale", "1000"]) == 0
            assert sign in file.read_text()
            assert f"wrote {file}" in capsys.readouterr().err
        assert run([*command, "--table", str(tmp_path / "table.docx")]) == 2
        assert "extension '.docx' is no table; use .md, .tex, .html" in capsys.readouterr().err


def test_a_series_as_groups() -> None:
    """A column of the frame, or one beside arrays, is taken as what it is; another one of the same name is refused."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"loss": rng.integers(2, size=60), "confidence": rng.random(60), "site": ["a", "b"] * 30})
    named = abstain.evaluate(frame, groups="site").groups
    assert abstain.evaluate(frame, groups=frame["site"]).groups == named
    arrays = {"loss": frame["loss"], "confidence": frame["confidence"]}
    assert abstain.evaluate(**arrays, groups=frame["site"]).groups == named
    with pytest.raises(TypeError, match="names of its columns, got a column called 'site'"):
        abstain.evaluate(frame, groups=frame["site"].str.upper())
