"""Edges of the command: options that must arrive, files that disagree, states that go on, and what is refused."""

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from abstain.thresholds import choose_pair
from tests.recorded.commands import all_of, files, rows
from tests.recorded.of_command_more import OWN
from tests.recorded.sources import NAMES, folder


def files_that_disagree():
    """Return comparisons of files of which one has class names, other weights, clusters, ids or labels."""
    with folder():
        files()
        frame = rows(1, 300)
        said = pl.Series(NAMES[frame["yhat"].to_numpy()])
        rows(1, 300, shift=0.4).select("conf", "y", "yhat").write_csv("bare.csv")
        frame.select("id", "conf", y=pl.col("name"), yhat=said).write_csv("named.csv")
        frame.with_columns(w=pl.col("w") + 1, who=pl.col("who") // 2).write_csv("heavy.csv")
        frame.rename({"w": "sample_weight"}).write_csv("weighted.csv")
        frame.with_columns(id=pl.col("id").reverse(), y=pl.col("y").reverse()).write_csv("turned.csv")
        frame.with_columns(id=pl.lit(7)).write_csv("once.csv")
        one = "--confidence conf --metric augrc --json -"
        return all_of(
            f"compare a.csv named.csv {one}",
            f"compare named.csv a.csv {one}",
            f"compare a.csv bare.csv {one}",
            f"compare bare.csv a.csv {one}",
            f"compare a.csv heavy.csv {one}",
            f"compare a.csv heavy.csv {one} --sample-weight w",
            f"compare a.csv heavy.csv {one} --clusters who",
            f"compare a.csv weighted.csv {one}",
            f"compare a.csv turned.csv {one}",
            f"compare a.csv turned.csv {one} --ids id",
            f"compare a.csv once.csv {one} --ids id",
            f"compare a.csv b.csv {one}",
            f"compare a.csv b.csv {one} --ids id",
            f"compare a.csv a.csv {one}",
            "compare a.csv --scores msp,conf --groups site --json -",
            "compare a.csv --confidence conf --groups site,day --json -",
            "compare a.csv --scores conf,other --level 0.8 --metric risk --sample-weight w --json -",
            "compare a.csv --scores other,energy,klm --logits 'logit_*' --fit b.csv --json -",
        )


def few_labels():
    """Return plans and evaluations of a few labels with every option, and what is refused of them."""
    with folder():
        files()
        rows(2, 250).with_columns(judge=(pl.col("wrong") + pl.col("id") % 5 // 4) % 2).write_csv("judged.csv")
        one = "plan judged.csv --confidence conf --seed 1 --json"
        return all_of(
            f"{one} --labels 30 --judge judge -o j.csv --error-rate 0.1",
            f"{one} --labels 30 --judge nothing -o x.csv",
            f"{one} --labels 30 --region 0.4 -o r.csv --metric risk --level 0.8",
            f"{one} --labels 30 --design levelled -o l.csv",
            f"{one} --labels 30 --design adaptive -o t.csv --metric aurc",
            f"{one} --halfwidth 0.08 --error-rate 0.3 --metric risk -o h.csv",
            f"{one} -o x.csv",
            "plan judged.csv --score energy --logits 'logit_*' --labels 25 --seed 2 --json -o e.csv",
            "plan judged.csv --extend t.csv --loss wrong --labels 20 --seed 3 --json -o t2.csv",
            "plan judged.csv --extend t.csv --loss wrong --labels 20 --level 0.9 -o t3.csv",
            "evaluate judged.csv --loss wrong --plan t2.csv --metrics aurc,risk --json -",
            "evaluate a.csv --loss wrong --scores vague --at-random --metrics risk,augrc --level 0.8 --json -",
            "evaluate a.csv --loss wrong --scores vague --at-random",
            "evaluate a.csv --loss wrong --confidence conf --at-random --groups site --metrics risk --json -",
            "evaluate a.csv --loss wrong --confidence conf --at-random --fit b.csv",
        )


def violated_policies():
    """Return what is said next where a guarantee is violated: of words, costs, two scores, groups, logits."""
    with folder():
        files()
        pl.concat([rows(3, 250, shift=2.2)] * 2, rechunk=True).with_columns(id=pl.int_range(500)).write_csv("far.csv")
        both = rows(6, 300)
        pair = choose_pair(both["wrong"], both["conf"], both["other"], risk=0.2, delta=0.1, rng=1)
        pair.save("two.json", score="conf", second="other")
        costs = "--cost-matrix 0=5,1=2,2=1"
        sure = "--risk 0.2 --delta 0.1"
        return all_of(
            f"threshold a.csv --confidence conf {costs} --risk 0.4 --delta 0.1 --max-loss 5 -o k.json",
            f"monitor k.json far.csv {costs}",
            "monitor two.json far.csv --again",
            f"threshold a.csv --logits 'logit_*' --temperature 2 {sure} -o t.json",
            "monitor t.json far.csv --again",
            f"threshold a.csv --probabilities 'p_*' --score softmax_margin {sure} --groups site -o g.json",
            "monitor g.json far.csv --again",
            "monitor g.json far.csv --labels y --again --json",
            "threshold a.csv --confidence conf --coverage 0.5 -o c.json",
            "monitor c.json far.csv --json --again",
            "monitor c.json far.csv --json --again --max-loss 1 --delta 0.1",
            f"threshold a.csv --confidence conf {sure} -o p.json --model m1 --author me --note so",
            "monitor p.json far.csv --json --again --model m1 --since-first",
            "monitor p.json far.csv --json --again --model m2",
            "monitor p.json far.csv --json --again --window 100 --run-length 500",
            f"threshold a.csv --confidence conf {sure} --clusters who -o w.json",
            "monitor w.json far.csv --json --again --state s.json --clusters who --returning skip",
            "monitor w.json --state s.json --json",
            "monitor p.json far.csv --again --state p.json",
            "monitor p.json far.csv --again --state far.csv",
        )


def live_options():
    """Return certificates with every option: groups that join, clusters, audits, late labels, restarts, no rows."""
    with folder():
        for k in range(4):
            week = rows(20 + k, 400, shift=0.0 if k < 3 else 2.2)
            week = week.with_columns(day=pl.col("day") + 8 * k, who=pl.col("who") + 1000 * k)
            week.with_columns(chance=pl.lit(0.8), seen=pl.col("id") % 5 > 0).write_csv(f"w{k}.csv")
        rows(20, 400).head(0).write_csv("none.csv")
        late = [pl.read_csv(f"w{k}.csv") for k in (0, 1)]
        pl.concat([late[0].filter(pl.col("day") > 5), late[1]]).write_csv("late.csv")
        late[1].with_columns(site=pl.lit("west")).write_csv("west.csv")
        one = "--loss wrong --confidence conf"
        begin = "--risk 0.2 --delta 0.1"
        energy = "live w0.csv --state e.json --loss wrong --logits 'logit_*' --score energy"
        return all_of(
            f"live w0.csv --state g.json {one} {begin} --groups site --reserve 0.2 -o g1.json --json",
            f"live west.csv --state g.json {one} --groups site",
            f"live west.csv --state g.json {one} --groups site --add-group west -o g2.json",
            f"live w3.csv --state g.json {one} --groups site -o g3.json",
            f"live w0.csv --state c.json {one} {begin} --clusters who --max-cluster 20 --ood-share 0.01 --json",
            f"live w1.csv --state c.json {one} --clusters who -o c.json",
            f"live w1.csv --state c.json {one} --clusters who -o c1.json",
            f"live w0.csv --state a.json {one} {begin} --audit 0.5 -o a1.json",
            f"live w1.csv --state a.json {one} --label-probability chance --drawn seen -o a2.json --json",
            f"live w1.csv --state a.json {one} --label-probability chance --drawn seen --ids id",
            f"live w0.csv --state t.json {one} {begin} --time day --maturity 2 --restarts 1 --json",
            f"live late.csv --state t.json {one} --time day --as-of 30 --json -o t1.json",
            "live none.csv --state t.json --loss wrong --confidence conf -o t1.json",
            "live none.csv --state t.json --loss wrong --confidence conf --restart",
            f"live w2.csv --state t.json {one} --time day --restart",
            f"live w3.csv --state t.json {one} --time day --restart --as-of 60",
            f"{energy} {begin} --grid w1.csv -o e1.json",
            "live w1.csv --state e.json --loss wrong --logits 'logit_*' --score energy --temperature 2",
            f"live w0.csv --state e2.json --loss wrong --logits 'logit_*' --temperature 2 {begin} -o e2p.json",
            f"live w0.csv --state w0.csv {one} {begin}",
            f"live w0.csv --state m.json {one} --risk 1 --max-loss 2 --json",
            f"live w0.csv --state n.json {one}",
        )


def adapters():
    """Return what a metric of somebody is judged by, called with each kind of column."""
    with folder():
        Path("own.py").write_text(OWN)
        calls = ("loss, confidence", "loss, uncertainty", "correct, confidence", "labels, probabilities")
        return all_of(*(f"conformance own.py:area --metric aurc --call '{each}' --json -" for each in calls))


def sources_in_parts():
    """Return objectives of thresholds with every option, and of rows in several files."""
    with folder():
        files()
        one = "threshold a.csv --confidence conf --json"
        pl.concat([rows(1, 200), rows(1, 200)]).write_csv("twice.csv")
        np.savez("half.npz", confidence=rows(1, 200)["conf"].to_numpy(), loss=rows(1, 200)["wrong"].to_numpy())
        return all_of(
            f"{one} --cost-matrix 0=5,1=2,2=1 --review-cost 1",
            f"{one} --cost-matrix 0=5,1=2,2=1 --cost 2 1",
            f"{one} --cost 5 1 --review-cost 1",
            f"{one} --capacity 1/2/3",
            f"{one} --capacity x",
            f"{one} --risk 0.2 --delta 0.1 --ood-share 0.02 -o o.json",
            f"{one} --risk 0.2 --delta 0.1 --clusters who --max-cluster 9 -o m.json",
            f"{one} --risk 0.2 --prevalence 0.2",
            f"{one} --risk 0.2 --groups site,day",
            f"{one} --risk 0.2 --groups site --second other",
            f"{one} --risk 0.2 --groups site --plot x.png",
            f"{one} --risk 0.003 --delta 0.05 --groups site -o none.json",
            "threshold twice.csv --confidence conf --ids id --risk 0.2 --delta 0.1 --json",
            "threshold half.npz --coverage 0.4 --json --model m --author a --note n -o h.json",
            "threshold a.csv --logits 'logit_*' --temperature 0.5 --score energy --coverage 0.4 --json -o e.json",
        )


def study_options():
    """Return what commands of studies give by every option: sets, models, workers, seeds, levels, forms, layouts."""
    with folder():
        for (k, model), run in product(enumerate(("ce-w=1", "ce-w=2", "other")), ("a", "b")):
            for seed, (name, shift) in enumerate({"validation": 0.0, "test": 0.1, "near-x": 2.0, "fog-2": 0.7}.items()):
                frame = rows(300 + seed, 60, shift=shift + 0.2 * k + 0.3 * (run == "b"))
                own = {"logits": frame.select("logit_0", "logit_1", "logit_2").to_numpy(), "labels": frame["y"]}
                if name == "near-x":
                    own.pop("labels")
                Path(f"in/{model}/{run}").mkdir(parents=True, exist_ok=True)
                np.savez(f"in/{model}/{run}/{name}.npz", **own)
        rows(310, 60).write_csv("more.csv")
        some = "--workers 1 --scores msp,energy --metrics augrc,aurc"
        add = "study add s more.csv --model other --run a --labels y --logits 'logit_*'"
        lines = ["study init s --from in --data toy"]
        lines += [f"{add} --set more --role shift --shift kind=corruption --shift level=4 --seed 5"]
        lines += [f"{add} --set plain --setting network=small --setting objective=sele --data toy"]
        lines += [f"{add} --set odd --shift level", f"{add} --set odd --unlabelled --plan none.csv"]
        lines += [f"{add} --set odd --role nothing"]
        lines += [f"study evaluate s {some} --level 0 --sets test,near-x --id-failures drop"]
        lines += [f"study evaluate s {some} --level 0.8 --models other --nan-policy reject --scale 100"]
        lines += ["study evaluate s --workers 1 --metrics none", "study evaluate s --workers 0"]
        lines += ["study rank s --scores msp,energy --metrics risk --models other --level 0.8 --resamples 100 --seed 3"]
        lines += ["study rank s --scores 'msp,gen(gamma=0.2)' --set validation --resamples 120 --scale 10"]
        lines += [f"study select s {some} --sets validation,test --scale 100"]
        lines += [f"study tables s {some} --layout heat --metric risk --form markdown"]
        lines += [f"study tables s {some} --layout ranks --metric risk --other augrc --sets test"]
        lines += [f"study tables s {some} --layout ranks --form latex --scale 1000"]
        lines += [f"study tables s {some} --layout single-double --model other --confidence energy"]
        lines += [f"study tables s {some} --layout strategies --metric ds_aurc --group near-x"]
        lines += [f"study tables s {some} --layout detection --model ce-w=2 --fpr both --form html"]
        lines += [f"study tables s {some} --layout reliability --fpr id --models ce-w=1"]
        lines += [f"study tables s {some} --layout reliability --fpr ood"]
        lines += [f"study tables s {some} --layout sets --metric ds_f1 --sets near-x"]
        lines += [f"study tables s {some} --layout sets --fpr id"]
        lines += [f"study tables s {some} --layout estimators --models other"]
        lines += [f"study figures s -o f {some} --plots none"]
        lines += [f"study figures s -o f {some} --plots reliability_diagram"]
        return all_of(*lines)
