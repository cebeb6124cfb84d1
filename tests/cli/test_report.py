"""``--report`` of every command that has it: the page is written, names its command and files, and says the verdict."""

import hashlib
import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import abstain


@pytest.fixture
def folder(do):
    """Write files of two models and of new rows, a policy and a study."""
    rng = np.random.default_rng(0)
    score = rng.random(2000)
    wrong = (rng.random(2000) > 0.7 + 0.3 * score).astype(float)
    later = rng.random(1500)
    np.savez("a.npz", loss=wrong, confidence=score)
    np.savez("b.npz", loss=wrong, confidence=rng.random(2000))
    np.savez("new.npz", loss=(rng.random(1500) > 0.7 + 0.3 * later).astype(float), confidence=later)
    abstain.choose_threshold(wrong, score, risk=0.2, delta=0.05).save("policy.json", score="confidence")
    for model in ("ce", "mixup"):
        made = abstain.datasets.synthetic("calibrated", 300, len(model))
        abstain.study.add_outputs("study", made, model=model, run="seed0", set="test")


def words_of(page):
    """Return the text of a page without links and the marks of unbroken words; spaces are single and plain."""
    plain = re.sub(r'<a class="term"[^>]*>|</a>|</?span>', "", unescape(page.read_text("utf-8")))
    return " ".join(plain.split())


COMMANDS = {
    "evaluate a.npz": "a.npz",
    "compare a.npz b.npz": "b.npz",
    "threshold a.npz --risk 0.2 --delta 0.05": "a.npz",
    "monitor policy.json new.npz": "new.npz",
    "study evaluate study --workers 1": "study/study.json",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_writes_its_report(command, folder, do, monkeypatch):
    """All three forms; the verdict is printed, and is on the page in the same words."""
    monkeypatch.setenv("COLUMNS", "1000")
    for page in ("page.html", "page.md", "page.json"):
        done = do(f"{command} --report {page}")
        assert f"wrote {page}" in done.err
        text = words_of(Path(page))
        lines = [line.removeprefix("! ") for line in done.out.splitlines() if line.startswith("! ")]
        plain = text.replace("\\", "").replace("\xa0", " ")
        assert [line for line in lines if line.partition(". ")[0] not in plain] == []
        if page.endswith("html"):
            assert f"abstain {command} --report {page}" in text
            assert hashlib.sha256(Path(COMMANDS[command]).read_bytes()).hexdigest() in text


def test_open_shows_the_page(folder, do, monkeypatch):
    """In the browser of the user, after it was written."""
    shown = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    do("compare a.npz b.npz --report shown.html --open")
    assert shown == [Path("shown.html").resolve().as_uri()]


def test_a_plan_of_labels_has_a_page(folder, do):
    """``abstain plan --report``: how many rows to label, the chart of chances, and the stages."""
    do("plan a.npz --labels 100 --metric aurc --seed 1 -o plan.csv --report plan.json")
    page = json.loads(Path("plan.json").read_text())
    board = page["lead"]["board"]
    assert {"name": "Rows to label now", "value": "100"}.items() <= board["numbers"][0].items()
    assert board["chart"]["name"] == "chance"
    assert "abstain evaluate a.npz --plan plan.csv" in json.dumps(page)
    do("plan a.npz --labels 100 -o other.csv --open", 2)
    assert not Path("other.csv").exists()
