"""``abstain live``: week by week, with audits."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import abstain
from abstain.cli import run


def week(folder: Path, k: int, threshold: float = np.inf) -> Path:
    """Write a week of rows, of which a fifth of the answers and all others are labelled."""
    rng = np.random.default_rng(k)
    score = rng.random(1500)
    wrong = (rng.random(1500) < 0.3 * (1 - score) ** 1.5).astype(float)
    chance = np.where(score >= threshold, 0.2, 1.0)
    drawn = rng.random(1500) < chance
    frame = pl.DataFrame({"conf": score, "chance": chance})
    frame = frame.with_columns(err=pl.when(pl.Series(drawn)).then(pl.Series(wrong)))
    frame.write_csv(folder / f"week{k}.csv")
    return folder / f"week{k}.csv"


def live(file: Path, folder: Path, *options: str) -> int:
    """Run the command on one week."""
    fixed = ["--loss", "err", "--confidence", "conf", "--state", str(folder / "live.json")]
    return run(["live", str(file), *fixed, "-o", str(folder / "policy.json"), *options])


def test_weeks_of_a_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The policy of each week answers from the threshold that is certified then, and the state counts every row."""
    begin = ("--risk", "0.05", "--delta", "0.05", "--audit", "0.2")
    assert live(week(tmp_path, 1), tmp_path, *begin) == 0
    assert live(week(tmp_path, 2), tmp_path) == 0
    threshold = abstain.live.load_live(tmp_path / "live.json").threshold
    policy = abstain.load_policy(tmp_path / "policy.json")
    assert policy.thresholds[""] == threshold < 1.0
    assert live(week(tmp_path, 3, threshold), tmp_path, "--label-probability", "chance", "--json") == 0
    found = json.loads(capsys.readouterr().out.rpartition("\n{")[2].join(["{", ""]))
    assert found["verdict"]["status"] == "certified"
    assert abstain.live.load_live(tmp_path / "live.json").result().groups[""].rows == 4500


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "needs a limit"),
        (("--risk", "0.05", "--label-probability", "chances"), "chances"),
    ],
)
def test_what_cannot_begin(
    options: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a limit, or a column that is not there, nothing is written."""
    assert live(week(tmp_path, 1), tmp_path, *options) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "live.json").exists()


def test_rows_and_options_that_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A week twice, another limit, and chances below those in force are refused; the state stays as it was."""
    assert live(week(tmp_path, 1), tmp_path, "--risk", "0.05") == 0
    before = (tmp_path / "live.json").read_bytes()
    assert live(tmp_path / "week1.csv", tmp_path) == 2
    assert live(week(tmp_path, 2), tmp_path, "--risk", "0.1") == 2
    assert live(week(tmp_path, 3, 0.5), tmp_path, "--label-probability", "chance") == 2
    said = capsys.readouterr().err
    assert all(each in said for each in ("sent before", "fixed at the start", "smallest chance in force"))
    assert (tmp_path / "live.json").read_bytes() == before


def test_audits_from_a_policy_to_the_next_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``apply --audit`` draws by names; what comes back counts with its chance, and a row that comes twice does not."""
    rng = np.random.default_rng(3)
    state, policy = str(tmp_path / "live.json"), str(tmp_path / "policy.json")
    fixed = ["--loss", "err", "--confidence", "conf", "--ids", "id", "--state", state, "-o", policy]
    pl.DataFrame({"conf": rng.random(1000)}).write_csv(tmp_path / "others.csv")  # neither labels nor names
    for k in range(3):
        score = rng.random(2500)
        wrong = (rng.random(2500) < 0.3 * (1 - score) ** 1.5).astype(float)
        frame = pl.DataFrame({"id": np.arange(2500) + 2500 * k, "conf": score, "err": wrong})
        frame.write_csv(tmp_path / "week.csv")
        if k == 0:
            begin = ["--risk", "0.05", "--audit", "0.2", "--grid", str(tmp_path / "others.csv")]
            assert run(["live", str(tmp_path / "week.csv"), *fixed, *begin]) == 0
            continue
        drawn = ["--audit", "0.2", "--ids", "id", "--seed", "s"]
        assert run(["apply", policy, str(tmp_path / "week.csv"), "-o", str(tmp_path / "out.csv"), *drawn]) == 0
        told = pl.read_csv(tmp_path / "out.csv")
        assert told.filter("accepted")["label_drawn"].mean() == pytest.approx(0.2, abs=0.05)
        assert told.filter(~pl.col("accepted"))["label_drawn"].all()
        told.with_columns(err=pl.when("label_drawn").then("err")).write_csv(tmp_path / "back.csv")
        chances = ["--label-probability", "label_probability", "--drawn", "label_drawn"]
        assert run(["live", str(tmp_path / "back.csv"), *fixed, *chances]) == 0
    live = abstain.live.load_live(state)
    assert (live.result().groups[""].rows, live.threshold < 1) == (7500, True)
    told.head(3).with_columns(err=1).write_csv(tmp_path / "again.csv")
    assert run(["live", str(tmp_path / "again.csv"), *fixed, *chances]) == 2
    assert "by their ids" in capsys.readouterr().err


def test_audits_need_their_chances(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that ``apply --audit`` wrote is not counted as if all its labels had been drawn."""
    file = week(tmp_path, 1)
    pl.read_csv(file).rename({"chance": "label_probability"}).drop_nulls().write_csv(file)
    assert live(file, tmp_path, "--risk", "0.05") == 2
    assert "give --label-probability label_probability" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "live.json").exists()


def test_an_empty_week(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without rows is a week without rows, after which the policy of the week before stands."""
    policy = str(tmp_path / "next.json")
    assert live(week(tmp_path, 1), tmp_path, "--risk", "0.15", "-o", policy) == 0
    capsys.readouterr()
    (tmp_path / "none.csv").write_text("conf,chance,err\n")
    assert live(tmp_path / "none.csv", tmp_path, "-o", policy) == 0
    assert live(tmp_path / "none.csv", tmp_path, "--restart") == 2
    said = capsys.readouterr()
    assert "next.json is not written, and the policy of the week before stands" in said.err
    assert "  answer if conf >= " in said.out
    assert len(abstain.live.load_live(tmp_path / "live.json").result().history) == 2


def test_groups_that_join(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Groups are those of the first file; a later one joins by name, with a part of the reserve."""
    pl.read_csv(week(tmp_path, 1)).with_columns(site=pl.lit("a")).write_csv(tmp_path / "first.csv")
    pl.read_csv(week(tmp_path, 2)).with_columns(site=pl.lit("b")).write_csv(tmp_path / "second.csv")
    assert live(tmp_path / "first.csv", tmp_path, "--risk", "0.05", "--groups", "site", "--reserve", "0.5") == 0
    assert live(tmp_path / "second.csv", tmp_path, "--groups", "site") == 2
    assert "'b' is not known" in capsys.readouterr().err
    assert live(tmp_path / "second.csv", tmp_path, "--groups", "site", "--add-group", "b") == 0
    assert set(abstain.load_policy(tmp_path / "policy.json").thresholds) == {"a", "b"}


def test_a_share_of_unseen_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--ood-share`` certifies a stricter limit, once and week by week, and is written into the policy."""
    rng = np.random.default_rng(8)
    score = rng.random(9000)
    wrong = (rng.random(9000) < 0.3 * (1 - score) ** 1.5).astype(int)
    pl.DataFrame({"conf": score, "err": wrong}).write_csv(tmp_path / "rows.csv")
    fixed = [str(tmp_path / "rows.csv"), "--loss", "err", "--confidence", "conf", "--risk", "0.05", "--delta", "0.05"]
    once = ["threshold", *fixed, "-o", str(tmp_path / "once.json")]
    assert run([*once, "--ood-share", "0.01"]) == 0
    assert run([*once, "--ood-share", "0.01", "--second", "err"]) == 2
    assert "--second" in capsys.readouterr().err
    state = ["--state", str(tmp_path / "live.json"), "-o", str(tmp_path / "live-policy.json")]
    assert run(["live", *fixed, *state, "--ood-share", "0.01"]) == 0
    assert "It holds while at most 1 % of the answered cases" in capsys.readouterr().out
    for name in ("once.json", "live-policy.json"):
        assert abstain.load_policy(tmp_path / name).objective.ood_share == 0.01


def test_a_violated_certificate_answers_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once the risk of the answers has risen, the exit code is 1, and the policy rejects all until a restart."""
    options = ("--risk", "0.05", "--restarts", "1")
    assert live(week(tmp_path, 1), tmp_path, *options) == 0
    assert live(week(tmp_path, 2), tmp_path) == 0
    rows = pl.read_csv(week(tmp_path, 3)).with_columns(
        err=pl.Series(np.random.default_rng(0).random(1500) < 0.5).cast(int)
    )
    rows.write_csv(tmp_path / "changed.csv")
    assert live(tmp_path / "changed.csv", tmp_path) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "Stop answering by this policy" in said
    assert "It is violated, with 95 % confidence, first seen after" in said
    policy = abstain.load_policy(tmp_path / "policy.json")
    assert (policy.guarantee, policy.thresholds[""]) == (None, np.inf)
    assert live(week(tmp_path, 4), tmp_path, "--restart") == 0
