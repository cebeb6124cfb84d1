"""What a verdict says to who would go on: OOD rows, groups, and the way back from a violated guarantee."""

import re
from pathlib import Path

import numpy as np

import abstain
from abstain._result import percent
from tests.command import csv

COLUMNS = "rows.csv --labels said --probabilities p_*"


def named(text):
    """Return the command that a verdict names."""
    found = re.search(r"next: abstain (.*?--delta [\d.]+)", text)
    assert found is not None, text
    return found[1]


def written(name, n, seed, *, ood=0, worse=0.0):
    """Write labels, two probabilities and a site; return loss and score. ``worse``: errors added in a tenth."""
    rng = np.random.default_rng(seed)
    score, site = rng.uniform(0.5, 1.0, n), np.where(rng.random(n) < 0.1, "far", "near")
    wrong = rng.random(n) < 0.2 * (1.0 - score) + worse * (site == "far")
    label = np.where(wrong, 0, 1)
    label[n - ood :] = -1
    score = np.round(np.where(label < 0, 0.5 + 0.4 * (score - 0.5), score), 6)
    csv(name, said=label, p_0=(1 - score).round(6), p_1=score, site=site)
    return wrong.astype(float), score


def test_foreign_rows_that_a_threshold_would_answer_are_counted(do):
    """Left out of the choice, and most below it: share and mix stand next to the guarantee and the command of joint."""
    loss, score = written("rows.csv", 3000, 0, ood=1000)
    found = abstain.choose_threshold(loss[:2000], score[:2000], risk=0.05, delta=0.05)
    answered = int((score[2000:] >= found.threshold).sum())
    assert answered > 100
    bad = percent((found.risk * found.n_accepted + answered) / (found.n_accepted + answered))
    told = f"{percent(answered / 1000)} of 1,000 OOD rows would be answered"
    choose = f"threshold {COLUMNS} --risk 0.05 --delta 0.05"
    text = do(f"{choose} --ood-label=-1 --report page.html").text
    assert f"{told} at this threshold, chosen without OOD rows; {bad} of all answers" in text
    assert "would be answered at this threshold" in Path("page.html").read_text("utf-8")
    assert "OOD rows" not in do(f"{choose} --where said=1").text
    joint = do(f"joint {COLUMNS} --ood-label=-1 --scores msp,neg_entropy --permutations 0").text
    assert f"! {told} at the threshold for 5 % ({found.printed}), chosen" in joint
    assert f"{bad} of all answers are then wrong or OOD" in joint
    assert told in do(named(joint)).text
    by_site = do(f"{choose} --ood-label=-1 --groups site", 1).text
    assert "of 1,000 OOD rows would be answered at these thresholds" in by_site


def test_columns_that_may_be_groups(do):
    """Two to a tenth of the rows or 40 values, no fractions, no names of rows; no more like the labels than by half."""
    rows = np.arange(200)
    label = rows % 2
    p = np.where(rows % 5 == 0, 1 - label, label) * 0.6 + 0.2  # kappa with the labels: 0.6
    given = {"said": label, "p_0": 1 - p, "p_1": p}
    csv("rows.csv", **given, two=rows // 100, twenty=rows % 20, twentyone=rows % 21, one=0 * rows, share=(rows % 3) / 2,
        user_id=rows % 4, my_preds=rows % 4, half=np.where(rows < 50, 1 - label, label),
        most=np.where(rows < 48, 1 - label, label), wrong=np.where(rows % 5 == 0, "yes", "no"),
        same=(p > 0.5).astype(int), word=np.where(rows % 3, "a", "b"))  # fmt: skip
    text = do(f"evaluate {COLUMNS}").text
    assert "! Columns that may be groups were not used: two, twenty, half, word. (--groups two)" in text
    for count, seen in ((19, True), (20, False)):  # twenty columns are looked at
        csv("rows.csv", **given, **{f"x{k}": 0 * rows for k in range(count)}, site=rows // 100)
        assert ("were not used: site. (--groups site)" in do(f"evaluate {COLUMNS}").text) is seen
