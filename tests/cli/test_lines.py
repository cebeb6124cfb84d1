"""How much a terminal is told: lines on standard output at 80 columns, of every command that decides something."""

import re

import numpy as np
import pytest

import abstain
from abstain.cli import command, run
from abstain.study import add_outputs
from tests.command import csv

CHURN = "--labels churn --positive-probability churn_probability"

#: Lines that are not blank, at most; and those before the first table.
BARS = {
    "demo --output demo": (35, 14),
    f"evaluate churn.csv {CHURN}": (28, 10),
    f"threshold churn.csv {CHURN} --risk 0.05 --delta 0.05": (14, 14),
    "monitor policy.json later.csv": (12, 12),
    f"compare churn.csv {CHURN} --scores msp,neg_entropy": (20, 6),
    "compare llama.csv --loss wrong --scores msp,max_logit": (20, 6),
    "audit policy.json later.csv": (12, 12),
    "apply policy.json later.csv -o decided.csv": (3, 3),
    "joint known.csv unknown.csv --scores nearness": (30, 12),
    "plan churn.csv --positive-probability churn_probability --labels 300 --seed 1 -o plan.csv": (14, 14),
    "study evaluate study": (30, 12),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write the demo's data, a synthetic churn file, a policy of it, known and unknown rows, and a study."""
    where = tmp_path_factory.mktemp("lines")
    rng = np.random.default_rng(0)
    for name in ("churn", "later"):
        latent = rng.normal(0.0, 1.0, 5000)
        share = 1.0 / (1.0 + np.exp(0.3 - 2.2 * latent))
        churn, given = rng.random(5000) < share, np.clip(share + rng.normal(0.0, 0.03, 5000), 0.001, 0.999)
        region, month = rng.choice(["north", "south", "east", "west"], 5000), rng.integers(1, 7, 5000)
        columns = {"customer_id": [f"C{k:06d}" for k in range(5000)], "region": region}
        columns |= {"month": [f"2026-{k:02d}" for k in month], "churn": churn * 1, "churn_pred": (given > 0.5) * 1}
        csv(where / f"{name}.csv", **columns, churn_probability=given.round(5))
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    csv(where / "llama.csv", wrong=outputs.loss_per_sample().astype(int), **outputs.scores)
    for name, n, low in (("known", 900, 0.5), ("unknown", 400, 0.3)):
        sure, near = rng.uniform(low, 1.0, n), rng.normal(2.0 if name == "known" else 0.0, 1.0, n)
        answer = rng.integers(0, 5, n)
        truth = np.where(rng.random(n) < 1.0 - sure, (answer + 1) % 5, answer)
        labels = {"labels": truth} if name == "known" else {}
        csv(where / f"{name}.csv", predictions=answer, confidence=sure, nearness=near, **labels)
    labels = rng.integers(0, 5, 1000)
    for model, size in (("large", 3.0), ("small", 1.0)):
        logits = rng.normal(size=(1000, 5))
        logits[np.arange(1000), labels] += size
        add_outputs(where / "study", abstain.Outputs(labels=labels, logits=logits), model=model, run="0", set="test")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        assert run([*f"threshold churn.csv {CHURN} --risk 0.05 --delta 0.05 -o policy.json".split()]) == 0
    return where


@pytest.mark.parametrize("typed", BARS)
def test_lines_are_few(typed, folder, monkeypatch, capsys):
    """The answer comes first, no sentence and no command twice, and one line says how a file was read."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    (folder / "plan.csv").unlink(missing_ok=True)
    assert run(typed.split()) in (0, 1)
    out, err = capsys.readouterr()
    lines = [line for line in out.splitlines() if line.strip()]
    whole, before = BARS[typed]
    assert len(lines) <= whole, out
    assert max(map(len, lines)) <= 80
    sentences = [line for line in out.replace("\n  ", " ").splitlines() if line.startswith(("! ", "next: "))]
    assert len(sentences) == len(set(sentences))
    assert sum(line.startswith("next: ") for line in sentences) <= 1
    assert sum(line.startswith("! ") for line in sentences) <= 3
    parts = out.split("\n\n")
    verdict = "\n".join(parts[:2] if typed.startswith(("evaluate", "demo")) else parts[:1])  # a title, then the answer
    assert len(verdict.splitlines()) <= before, out
    read_as = [line for line in err.splitlines() if " · loss " in line]
    assert len(read_as) == len(set(read_as))
    assert "churn_pred" not in out
    assert not any("customer_id" in line for line in sentences)


def test_help_shows_at_most_twenty_options_and_says_where_the_others_are(do):
    """Under headings, help as the last; ``--help-all`` lists every option that the command takes."""
    for name in command.list_commands(None):
        each = command.commands[name]
        if hasattr(each, "commands"):
            continue
        short, every = do(f"{name} --help").out, do(f"{name} --help-all").out
        shown = re.findall(r"^  (?:-\w, )?(--[\w-]+)", short, re.MULTILINE)
        assert len(shown) <= 20, name
        params = [param for param in each.params if not getattr(param, "hidden", False)]
        listed = [opt for param in params for opt in param.opts if opt.startswith("--")]
        assert [opt for opt in listed if opt not in every] == []
        assert ("--help-all" in short.rpartition("more options")[2]) is (len(shown) <= len(listed))
