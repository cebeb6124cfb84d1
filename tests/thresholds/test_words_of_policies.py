"""What a policy says where it guarantees nothing, and where rows or model are not those that it was made for."""

from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain.cli import run
from abstain.monitoring import monitor
from abstain.thresholds import audit

pl = pytest.importorskip("polars")


def rows(n: int, seed: int, power: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and losses, fewer errors at the top."""
    rng = np.random.default_rng(seed)
    score = rng.random(n) ** power
    return score, (rng.random(n) > 0.6 + 0.4 * score).astype(float)


def test_no_guarantee_is_no_open_question() -> None:
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
def test_apply_notes_another_model(
    power: float, noted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model that nobody checked is noted, and a share of accepted rows that chance does not explain."""
    monkeypatch.chdir(tmp_path)
    score, loss = rows(2000, 0)
    pl.DataFrame({"s": score, "e": loss}).write_csv("cal.csv")
    pl.DataFrame({"s": rows(2000, 5, power)[0]}).write_csv("new.csv")
    made = ["threshold", "cal.csv", "--confidence", "s", "--loss", "e", "--coverage", "0.5", "--model", "rf-1"]
    assert run([*made, "-o", "p.json"]) == 0
    capsys.readouterr()
    assert run(["apply", "p.json", "new.csv", "-o", "out.csv"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "made for the model 'rf-1', and new.csv does not say which one scored it: give --model" in said
    assert ("chance does not explain it" in said) == noted
    assert run(["apply", "p.json", "new.csv", "-o", "out2.csv", "--model", "rf-1"]) == 0
    assert "which one scored it" not in capsys.readouterr().err
