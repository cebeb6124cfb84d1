"""Files as version 0.2.0 wrote them, and what it made of them; run with its sources, commit 8e066771.

PYTHONPATH=CHECKOUT/src python tests/data/version_0_2_0/make.py FOLDER
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import abstain
from abstain import study
from abstain.cli import run

assert abstain.__version__ == "0.2.0"
out = Path(sys.argv[1])
shutil.rmtree(out, ignore_errors=True)
out.mkdir()
os.chdir(out)
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
n = 300
p, q = np.round(rng.random(n), 2), np.round(rng.random(n), 2)
wrong = (rng.random(n) > 0.4 + 0.58 * p).astype(int)
columns = {
    "id": [f"r{i}" for i in range(n)],
    "wrong": wrong,
    "p": p,
    "q": q,
    "site": np.where(np.arange(n) % 2, "n", "s"),
    "day": [f"2026-11-{1 + i // 60:02d}" for i in range(n)],
}
pl.DataFrame(columns).write_csv("rows.csv")
logits = np.round(rng.normal(size=(40, 3)) * 2, 2)
labels = np.where(rng.random(40) < 0.8, logits.argmax(1), rng.integers(0, 3, 40))
outputs = abstain.Outputs(labels=labels, logits=logits)
abstain.write_outputs(outputs, "outputs.npz")
FILE = ["rows.csv", "--loss", "wrong", "--confidence", "p"]


def cli(*words: str) -> None:
    code = run(list(words))
    assert code in (0, 1), (words, code)


cli("threshold", *FILE, "--risk", "0.2", "--delta", "0.1", "-o", "policy.json", "--model", "m1", "--note", "first")
cli("threshold", *FILE, "--risk", "0.25", "--delta", "0.1", "--groups", "site", "-o", "groups.json")
cli("threshold", *FILE, "--second", "q", "--risk", "0.25", "--delta", "0.1", "-o", "pair.json")
cli("threshold", *FILE, "--capacity", "0.3", "-o", "capacity.json")
cli(
    "threshold", "outputs.npz", "--logits", "logits", "--temperature", "1.5", "--coverage", "0.5", "-o", "computed.json"
)
cli("monitor", "policy.json", "rows.csv", "--state", "watch.json", "--time", "day")
abstain.plan_labels(p[:100], 30, seed=1).save("plan.json")
fitted = abstain.scores.get("temp_msp").fit(outputs)
fitted.save("temp_msp.npz")
BINS = ["--loss", "wrong", "--confidence", "p", "--key", "probability/8"]
cli("summarize", "rows.csv", *BINS, "-o", "summary.parquet", "--csv", "summary.csv")
cli("summarize", "rows.csv", *BINS, "--groups", "site", "-o", "sites.parquet", "--csv", "sites.csv")
cli("evaluate", *FILE, "--metrics", "augrc,aurc", "--json", "evaluation.json")
far = abstain.Outputs(logits=np.round(rng.normal(size=(20, 3)), 2), unlabelled=True)
abstain.write_outputs(far, "far.npz")
for seed in (0, 1):
    folder = Path("study") / "ce" / f"seed{seed}"
    folder.mkdir(parents=True)
    abstain.write_outputs(outputs.select(slice(seed, None)), folder / "test.npz")
    abstain.write_outputs(far, folder / "far.npz")
    sets = (study.SavedSet("test", "test", 40 - seed), study.SavedSet("far", "foreign", 20, {"kind": "new-class"}))
    study.add_run("study", study.Run("ce", f"seed{seed}", "toy", seed, sets))
results = study.evaluate(study.read_study("study"), ["msp", "energy"], ["augrc", "accuracy"], workers=1)
results.to_polars().select("run", "set", "score", "metric", "value", "low", "high").write_csv("results.csv")
accepted = {}
for name in ("policy", "groups", "pair", "capacity", "computed"):
    abstain.thresholds.apply_policy(
        abstain.load_policy(f"{name}.json"), "outputs.npz" if name == "computed" else "rows.csv", "decided.parquet"
    )
    accepted[name] = pl.read_parquet("decided.parquet")["accepted"].cast(pl.Int8).to_list()
os.unlink("decided.parquet")
monitored = {}
for name, options, more in (
    ("watch", {}, {}),
    ("groups", {}, {"groups": columns["site"]}),
    ("late", {"maturity": 2.0, "period": 7.0}, {"time": np.arange(n) / 20.0, "as_of": 15.0}),
):
    policy = abstain.load_policy("groups.json" if name == "groups" else "policy.json")
    file = "watch.json" if name == "watch" else f"watch-{name}.json"
    if name == "watch":
        watch = abstain.thresholds.load_watch(file, policy)
    else:
        watch = abstain.thresholds.Watch(policy, **options)
        watch.update(wrong, p, **more)
        watch.save(file)
    seen = watch.result()
    monitored[file] = [seen.n, seen.n_accepted, seen.evidence, seen.risk]
    if name == "watch":
        watch.update(1 - wrong[:60], p[:60] + 0.001, time=["2026-11-09"] * 60)
        monitored["later"] = [watch.result().n, watch.result().n_accepted, watch.result().evidence, watch.result().risk]
expected = {
    "accepted": accepted,
    "monitored": monitored,
    "fitted": fitted.score(outputs).tolist(),
    "plan": abstain.pool.load_plan("plan.json").rows_to_label.tolist(),
}
Path("expected.json").write_text(json.dumps(expected), encoding="utf-8")
for name in ("far.npz", "sites.csv"):
    os.unlink(name)
shutil.rmtree("study/units")
