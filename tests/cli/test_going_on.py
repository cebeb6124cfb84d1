"""What a verdict says to who would go on: OOD rows, groups, and the way back from a violated guarantee."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import abstain
from abstain._result import percent
from abstain.cli import command

pytest.importorskip("polars")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name files shortly, so that no line of the terminal breaks a name."""
    monkeypatch.chdir(tmp_path)


def run(*arguments: Any, codes: tuple[int, ...] = (0,)) -> str:
    """Run the command, which must end as expected, and return what it printed, in lines that are not broken."""
    result = CliRunner().invoke(command, [*map(str, arguments)])
    assert result.exit_code in codes, result.output
    return " ".join(result.stdout.split())


def typed(text: str) -> list[str]:
    """Return the command that a verdict names, as words."""
    found = re.search(r"next: abstain (.*?--delta [\d.]+)", text)
    assert found is not None, text
    return shlex.split(found[1])


def written(path: Path, n: int, seed: int, *, ood: int = 0, worse: float = 0.0) -> tuple[Any, Any, Any]:
    """Write labels, two probabilities and a site; return loss, score and site. ``worse``: errors added in a tenth."""
    rng = np.random.default_rng(seed)
    score, site = rng.uniform(0.5, 1.0, n), np.where(rng.random(n) < 0.1, "far", "near")
    wrong = rng.random(n) < 0.2 * (1.0 - score) + worse * (site == "far")
    label = np.where(wrong, 0, 1)
    label[n - ood :] = -1
    score = np.round(np.where(label < 0, 0.5 + 0.4 * (score - 0.5), score), 6)
    lines = [f"{y},{1 - s:.6f},{s:.6f},{g}" for y, s, g in zip(label, score, site, strict=True)]
    path.write_text("\n".join(["label,p_0,p_1,site", *lines]) + "\n")
    return wrong.astype(float), score, site


def test_foreign_rows_that_a_threshold_would_answer_are_counted() -> None:
    """Left out of the choice, and most below it: share and mix stand beside the guarantee and the command of joint."""
    file = Path("both.csv")
    loss, score, _ = written(file, 3000, 0, ood=1000)
    columns = ("--labels", "label", "--probabilities", "p_*", "--ood-label=-1")
    text = run("threshold", file, *columns, "--risk", 0.05, "--delta", 0.05, "--report", Path("page.html"))
    found = abstain.choose_threshold(loss[:2000], score[:2000], risk=0.05, delta=0.05)
    answered = int((score[2000:] >= found.threshold).sum())
    assert answered > 100
    bad = percent((found.risk * found.n_accepted + answered) / (found.n_accepted + answered))
    share = percent(answered / 1000)
    said = (
        f"{share} of 1,000 OOD rows would be answered at this threshold, chosen without OOD rows; {bad} of all answers"
    )
    assert said in text
    assert "would be answered at this threshold" in Path("page.html").read_text("utf-8")
    by_site = run("threshold", file, *columns, "--risk", 0.05, "--delta", 0.05, "--groups", "site", codes=(0, 1))
    assert "of 1,000 OOD rows would be answered at these thresholds" in by_site
    inside = run("threshold", file, "--labels", "label", "--probabilities", "p_*", "--where", "label=1",
                 "--risk", 0.05, "--delta", 0.05)  # fmt: skip
    assert "OOD rows" not in inside
    joint = run("joint", file, *columns, "--scores", "msp,neg_entropy")
    assert f"! {share} of 1,000 OOD rows would be answered at the threshold for 5 % ({found.printed}), chosen" in joint
    assert f"{bad} of all answers are then wrong or OOD" in joint
    words = typed(joint)
    assert f"{share} of 1,000 OOD rows would be answered" in run(*words)


def test_groups_that_break_a_guarantee_lead_to_a_threshold_for_each() -> None:
    """The verdict begins with not yet, its command chooses by group, and a policy of the page notes the group."""
    file, page = Path("rows.csv"), Path("page.html")
    written(file, 4000, 1, worse=0.2)
    columns = ("--labels", "label", "--probabilities", "p_*")
    text = run("evaluate", file, *columns, "--groups", "site", "--report", page)
    assert "More than 5 % of the answers are wrong in site far (" in text
    words = typed(text)
    assert words[-6:] == ["--groups", "site", "--risk", "0.05", "--delta", "0.05"]
    assert "near" in run(*words, codes=(0, 1))
    html = page.read_text("utf-8")
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', html, re.DOTALL)[1])  # type: ignore[index]
    notes = [json.loads(each["note"]) for one in data["scores"] for each in one["certified"].values()]
    assert sum("far" in each for each in notes) == 1
    text = run("evaluate", file, *columns)
    assert "! Columns that may be groups were not used: site. (--groups site)" in text
    assert "next: abstain evaluate rows.csv --labels label --probabilities 'p_*' --groups site" in text


def test_columns_that_may_be_groups() -> None:
    """Two to a tenth of the rows or 40 values, no fractions, no names of rows; no more like the labels than by half."""
    n, file = 200, Path("rows.csv")
    label, rows = np.arange(n) % 2, np.arange(n)
    p = np.where(rows % 5 == 0, 1 - label, label) * 0.6 + 0.2  # kappa with the labels: 0.6
    columns = {
        "label": label, "p_0": 1 - p, "p_1": p, "two": rows // 100, "twenty": rows % 20, "twentyone": rows % 21,
        "one": 0 * rows, "share": (rows % 3) / 2, "user_id": rows % 4, "my_preds": rows % 4,
        "half": np.where(rows < 50, 1 - label, label), "most": np.where(rows < 48, 1 - label, label),
        "wrong": np.where(rows % 5 == 0, "yes", "no"), "same": (p > 0.5).astype(int),
        "word": np.where(rows % 3, "a", "b"),
    }  # fmt: skip

    def write(columns: dict[str, Any]) -> None:
        lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
        file.write_text("\n".join([",".join(columns), *lines]))

    write(columns)
    told = ("--labels", "label", "--probabilities", "p_*")
    text = run("evaluate", file, *told)
    assert "! Columns that may be groups were not used: two, twenty, half, word. (--groups two)" in text
    for count, seen in ((19, True), (20, False)):  # twenty columns are looked at
        extra = {f"x{k}": 0 * rows for k in range(count)} | {"site": rows // 100}
        given = {name: columns[name] for name in ("label", "p_0", "p_1")} | extra
        write(given)
        assert ("were not used: site. (--groups site)" in run("evaluate", file, *told)) is seen


def test_a_broken_guarantee_stops_and_names_how_to_start_again() -> None:
    """Nothing is guaranteed any more; the command, for new rows, chooses a threshold of the same score and risk."""
    file, later = Path("rows.csv"), Path("later.csv")
    written(file, 3000, 2)
    written(later, 3000, 3, worse=0.9)
    for groups in ((), ("--groups", "site"), ("--score", "neg_gini")):
        policy = Path(f"policy{len(''.join(groups))}.json")
        run("threshold", file, "--labels", "label", "--probabilities", "p_*", "--risk", 0.1, "--delta", 0.05, *groups,
            "-o", policy)  # fmt: skip
        text = run("monitor", policy, later, codes=(1,))
        stop = (
            "Stop answering in far by this policy."
            if "site" in groups
            else "Stop answering by this policy: error rate "
        )
        assert text.startswith(stop)
        assert ("first seen after " in text) is ("site" not in groups)
        assert ("first seen in " in text) is ("site" in groups)
        words = typed(text)
        assert words[:2] == ["threshold", "NEW_ROWS.csv"]
        assert words[-4 - len(groups) :] == [*groups, "--risk", "0.1", "--delta", "0.05"]
        assert "at most 10 % of the answers are wrong" in run(words[0], file, *words[2:])
