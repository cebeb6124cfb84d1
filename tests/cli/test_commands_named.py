"""Commands that a verdict names run on the file they name; ``joint`` takes columns of any name and passes over none."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("polars")
pytest.importorskip("click")

from click.testing import CliRunner, Result

import abstain.cli
from abstain.cli import command

OWN = ("--labels", "truth", "--predictions", "guess")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Known rows and OOD ones with finished scores: under names of their own, and under usual ones."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    n, far = 900, 400
    wrong = rng.random(n) < 0.08
    truth = rng.integers(0, 5, n)
    guess = np.where(wrong, (truth + 1) % 5, truth)
    sure = np.clip(0.9 - 0.3 * wrong + 0.1 * rng.normal(size=n), 0.01, 0.99)
    near, site = rng.normal(2.0, 1.0, n), rng.choice(["north", "south"], n)
    known = [f"{t},{g},{s:.4f},{k:.4f},{p}" for t, g, s, k, p in zip(truth, guess, sure, near, site, strict=True)]
    ood = zip(rng.integers(0, 5, far), rng.uniform(0.3, 0.95, far), rng.normal(0.0, 1.0, far), strict=True)
    unknown = [f"{g},{s:.4f},{k:.4f}" for g, s, k in ood]
    for suffix, names in (("", "truth,guess,sureness,nearness"), ("2", "labels,predictions,confidence,nearness")):
        Path(f"known{suffix}.csv").write_text("\n".join([f"{names},site", *known]) + "\n")
        Path(f"unknown{suffix}.csv").write_text("\n".join([names.partition(",")[2], *unknown]) + "\n")


def run(*arguments: str, codes: tuple[int, ...] = (0,)) -> Result:
    """Run a command that must end so."""
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code in codes, result.output
    return result


@pytest.mark.parametrize(
    "call",
    [
        ("joint", "known2.csv", "unknown2.csv", "--permutations", "0"),
        ("joint", "known2.csv", "unknown2.csv", "--confidence", "nearness", "--permutations", "0"),
        ("joint", "known.csv", "unknown.csv", *OWN, "--confidence", "sureness", "--scores", "nearness"),
        ("evaluate", "known.csv", *OWN, "--confidence", "sureness"),
        ("evaluate", "known2.csv", "--scores", "confidence,nearness"),
        ("compare", "known.csv", *OWN, "--scores", "sureness,nearness"),
        ("compare", "known2.csv", "--scores", "confidence,nearness"),
        ("threshold", "known.csv", *OWN, "--confidence", "sureness", "--risk", "0.02", "--delta", "0.05"),
        ("threshold", "known2.csv", "--risk", "0.01", "--delta", "0.05"),
    ],
)
def test_every_command_that_a_verdict_names_runs(call: tuple[str, ...]) -> None:
    """As it is printed, but for what stands for new rows and for a column of groups."""
    lines = run(*call, codes=(0, 1)).stdout.replace("\n  ", " ").splitlines()
    named = [line.removeprefix("next: abstain ") for line in lines if line.startswith("next: abstain ")]
    assert len(named) == 1 or call[0] in ("threshold", "evaluate")
    for each in named:
        run(*(call[1] if word == "NEW_ROWS.csv" else word for word in shlex.split(each)), codes=(0, 1))


def test_the_default_of_permutations_can_tell() -> None:
    """So many that a p-value below 5 % can come, adjusted; and no gain is a negative nothing."""
    text = " ".join(run("joint", "known2.csv", "unknown2.csv", "--scores", "nearness").stdout.split())
    assert re.search(
        r"On unknown2, it is shown that a second threshold on nearness helps \(gain in DS-F1 0\.\d+, by ", text
    )
    assert "not tested" not in text
    assert " -0 " not in text
    few = run("joint", "known2.csv", "unknown2.csv", "--scores", "nearness", "--permutations", "10").stdout
    assert re.search(r"not tested, which takes \d+ permutations", " ".join(few.split()))


def test_a_score_that_all_files_hold_is_named_where_it_is_not_evaluated() -> None:
    """Beside the table and in the sentence that asks for another score; not where scores were chosen."""
    shown = run("joint", "known2.csv", "unknown2.csv")
    assert "not evaluated, though all files hold it: nearness (--scores NAME, high = known)" in shown.stderr
    chosen = run("joint", "known2.csv", "unknown2.csv", "--scores", "nearness", "--permutations", "0")
    assert "not evaluated" not in chosen.output


def test_a_detector_the_wrong_way_round_comes_first() -> None:
    """A distance is named before anything is said of it; as nearness it is not."""
    for name in ("known2.csv", "unknown2.csv"):
        lines = Path(name).read_text().replace("nearness", "distance").splitlines()
        place = lines[0].split(",").index("distance")
        rows = [line.split(",") for line in lines[1:]]
        flipped = [[*row[:place], f"{-float(row[place]):.4f}", *row[place + 1 :]] for row in rows]
        Path(f"far_{name}").write_text("\n".join([lines[0], *map(",".join, flipped)]) + "\n")
    said = "! distance is higher where it should be lower: AUROC 0.0"
    text = run("joint", "far_known2.csv", "far_unknown2.csv", "--scores", "distance").stdout
    assert text[text.index("! ") :].startswith(said)
    turned = " ".join(run("joint", "far_known2.csv", "far_unknown2.csv", "--uncertainty", "distance").stdout.split())
    assert "next: abstain threshold far_known2.csv --uncertainty distance --risk" in turned
    assert "higher where" not in turned + run("joint", "known2.csv", "unknown2.csv", "--scores", "nearness").stdout


def test_files_of_own_names_are_told_how_to_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    """``study init`` names ``study add``, having no options of columns; ``plan`` asks for no label; both list them."""
    Path("runs/a/seed0").mkdir(parents=True)
    Path("runs/a/seed0/test.csv").write_text(Path("known.csv").read_text())
    assert abstain.cli.run(["study", "init", "study", "--from", "runs"]) == 2
    said = capsys.readouterr().err
    assert "columns: truth, guess, sureness, nearness, site; or add this file with 'abstain study add'" in said
    added = ["study", "add", "study", "known.csv", "--model", "a", "--set", "test", *OWN, "--confidence", "sureness"]
    assert abstain.cli.run(added) == 0
    Path("pool.csv").write_text(Path("unknown.csv").read_text())
    assert abstain.cli.run(["plan", "pool.csv", "--labels", "50", "-o", "plan.csv"]) == 2
    said = capsys.readouterr().err
    assert "no column is recognised as a confidence or a prediction; give --confidence, --uncertainty," in said
    assert "columns: guess, sureness, nearness" in said
    assert abstain.cli.run(["plan", "pool.csv", "--confidence", "sureness", "--labels", "50", "-o", "plan.csv"]) == 0


def test_a_column_that_nobody_named_stands_in_no_way(capsys: pytest.CaptureFixture[str]) -> None:
    """Where scores were named and right answers are known, ``p`` may be what it likes; named itself it is asked for."""
    rng = np.random.default_rng(0)
    gold, right, scores = rng.choice(["x", "y"], 300), rng.random(300) < 0.7, rng.random((300, 3)).round(4)
    rows = [f"{g},{int(r)},{a},{b},{p}" for g, r, (a, b, p) in zip(gold, right, scores, strict=True)]
    Path("llm.csv").write_text("\n".join(["gold,verdict,first,least,p", *rows]) + "\n")
    for call in ("compare", "evaluate"):
        assert abstain.cli.run([call, "llm.csv", "--correct", "verdict", "--scores", "first,least"]) == 0
        shown = capsys.readouterr()
        assert "not used: `p`" in " ".join((shown.out + shown.err).split())
    assert abstain.cli.run(["evaluate", "llm.csv", "--correct", "verdict"]) == 2
