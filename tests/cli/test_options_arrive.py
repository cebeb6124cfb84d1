"""Options of the command reach what it calls."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain
from tests.cli.conftest import Done


def csv(path: Path, **columns: Any) -> Path:
    """Write columns as a CSV."""
    pl.DataFrame(columns).write_csv(path)
    return path


def test_a_margin_knows_the_clusters(tmp_path: Path, abstain_: Callable[..., Done]) -> None:
    """The p-value of the command is that of the function with clusters."""
    rng, who = np.random.default_rng(0), np.repeat(np.arange(60), 50)
    side, wrong = rng.random(60)[who], (rng.random(3000) < 0.15).astype(int)
    scores = [1 - 0.5 * wrong - rng.random(3000) * (0.2 + each) for each in (side, 1 - side)]
    files = [csv(tmp_path / f"{k}.csv", id=np.arange(3000), err=wrong, conf=c, who=who) for k, c in enumerate(scores)]
    options = ("--loss", "err", "--confidence", "conf", "--clusters", "who", "--margin", "0.005", "--json", "-")
    found = json.loads(abstain_("compare", *files, *options).out)
    named = dict(zip("01", scores, strict=True))
    same = abstain.inference.non_inferiority(wrong, named, margin=0.005, clusters=who)
    assert (found["n_clusters"], found["p_value"]) == (60, pytest.approx(same.p_value))


def test_comparisons_by_the_command_say_what_they_assume(tmp_path: Path, abstain_: Callable[..., Done]) -> None:
    """The method arrives, its default names the other one wherever it is read, and a margin has none."""
    rng, wrong = np.random.default_rng(0), np.arange(300) % 10 == 0
    scores = {name: rng.normal(size=300) - wrong for name in ("one", "two")}
    file, page = csv(tmp_path / "a.csv", err=wrong * 1, **scores), tmp_path / "a.html"
    options = ("compare", file, "--loss", "err", "--scores", "one,two")
    usual, cautious = (abstain_(*options, *more).out for more in ((), ("--method", "influence")))
    texts = [" ".join(each.split()) for each in (usual, cautious)]
    abstain_(*options, "--report", page, "--json", tmp_path / "a.json")
    texts += [page.read_text(encoding="utf-8"), " ".join(json.loads((tmp_path / "a.json").read_text())["notes"])]
    found = ["no important kind of error is missing" in each and "allows for one" in each for each in texts]
    assert found == [True, False, True, True]
    assert abstain_(*options, "--margin", "0.1", "--method", "influence").code == 2


def test_live_ends_with_1_if_any_group_is_violated(tmp_path: Path, abstain_: Callable[..., Done]) -> None:
    """A job that runs every night stops for one group."""
    options = ("--state", tmp_path / "s.json", "--loss", "err", "--confidence", "conf", "--groups", "site")
    codes = []
    for week, bad in enumerate((False, True)):
        rng = np.random.default_rng(week)
        conf, site = rng.random(4000), rng.integers(0, 2, 4000)
        chance = np.where((site == 1) & bad, 0.6, 0.25 * (1 - conf) ** 2)
        wrong = (rng.random(4000) < chance).astype(int)
        file = csv(tmp_path / f"{week}.csv", conf=conf, err=wrong, site=np.array(["a", "b"])[site])
        first = () if week else ("--risk", "0.05", "--delta", "0.05", "-o", tmp_path / "p.json")
        codes.append(abstain_("live", file, *options, *first).code)
    assert codes == [0, 1]


def test_audit_takes_its_level(tmp_path: Path, abstain_: Callable[..., Done]) -> None:
    """The interval is that of the level that was asked for."""
    rng = np.random.default_rng(0)
    conf, policy = rng.random(800), tmp_path / "p.json"
    file = csv(tmp_path / "a.csv", conf=conf, err=(rng.random(800) < 0.3 * (1 - conf)).astype(int))
    chosen = abstain.choose_threshold([0, 1, 0] * 50, np.linspace(0.1, 0.9, 150), coverage=0.5)
    chosen.policy(score="conf").save(policy)
    called = [abstain_("audit", policy, file, "--loss", "err", "--level", level, "--json") for level in (0.8, 0.99)]
    found = [json.loads(each.out) for each in called]
    assert [each["level"] for each in found] == [0.8, 0.99]
    assert found[1]["risk_interval"][0] < found[0]["risk_interval"][0]


def test_a_state_does_not_replace_the_rows(tmp_path: Path, abstain_: Callable[..., Done]) -> None:
    """The file of the rows, or the policy, as the state is refused."""
    policy = tmp_path / "p.json"
    file = csv(tmp_path / "a.csv", conf=[0.9, 0.8, 0.7], err=[0, 1, 0])
    chosen = abstain.choose_threshold([0.0] * 150, np.linspace(0.1, 0.9, 150), risk=0.1, delta=0.05)
    chosen.policy(score="conf").save(policy)
    for state in (file, policy):
        before = state.read_bytes()
        assert abstain_("monitor", policy, file, "--loss", "err", "--state", state).code == 2
        assert state.read_bytes() == before
