"""The command: every command with its options, files that disagree, states that go on, and what is refused."""

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from abstain.thresholds import choose_pair
from tests.recorded.commands import TRUTH, files, heads_of, ran, rows
from tests.recorded.sources import NAMES, folder

OWN = """
def area(loss, confidence):
    order = sorted(range(len(loss)), key=lambda k: -confidence[k])
    sums = [sum(loss[k] for k in order[: n + 1]) / (n + 1) for n in range(len(loss))]
    return sum(sums) / len(sums)
"""
SURE, SOME = "--risk 0.2 --delta 0.1", "--workers 1 --scores msp,energy --metrics augrc,aurc"
COSTS = "--cost-matrix 0=5,1=2,2=1"


def _save(path, frame, *without):
    """Write the logits and labels of rows, as a network leaves them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    own = {"logits": frame.select("logit_0", "logit_1", "logit_2").to_numpy(), "labels": frame["y"].to_numpy()}
    np.savez(path, **{name: each for name, each in own.items() if name not in without})


@ran(files)
def evaluate_with_many_options():
    """Return documents of evaluations: columns, scores, groups, weights, clusters, levels, resamples, gates."""
    rows(1, 300).write_parquet("parts1.parquet")
    rows(2, 250).write_parquet("parts2.parquet")
    json, gate = "--metrics augrc,risk --json -", "--confidence conf --metrics augrc --gate"
    return f"""
        evaluate a.csv : --confidence conf {json} | --loss wrong --confidence other --clusters who {json}
        | --scores msp,softmax_margin --groups site --level 0.8 {json}
        | --labels name --predictions yhat --class-names ant,bee,cat --confidence conf {json}
        | --logits 'logit_*' --scores energy,msp --sample-weight w --level 0 {json}
        | --probabilities 'p_*' --scores klm --fit b.csv {json} | --uncertainty vague --where site=north {json}
        | {COSTS} --confidence conf {json} | --texts p_0 | --confidence nothing | --scores
        | --confidence conf --metrics 'coverage_at_risk(risk=0.1)' --resamples 40 --json - | --gate augrc
        | --confidence conf --metrics augrc --sweep 0.5,0.9 --denominator all | --sweep x | --metrics none
        | --confidence conf --metrics augrc --sweep paper --scale 100 --table t.md
        | --scores conf,other --metrics augrc --csv c.csv --table t.tex --verbose
        | {gate} 'augrc<=0.5' --gate 'risk<=0.01' --summary s.md | {gate} 'augrc<=0.5'
        | --loss wrong --confidence conf --at-random --unseen random --metrics risk --json -
        evaluate worse.csv {gate} 'augrc' --against a.csv --margin 0.01
        evaluate model.csv {gate} 'augrc' --against a.csv --margin 0.01 | evaluate none.csv
        evaluate 'parts*.parquet' --loss wrong --confidence conf --groups site --metrics augrc --json -"""


@ran(files)
def evaluate_as_people_read_it():
    """Return the numbers and next steps that are printed for one file, its groups, abstentions, without a score."""
    frame = rows(5, 200)
    frame.select("y", "yhat").write_csv("bare.csv")
    verdicts = pl.Series(["right", "wrong", "abstained", "unscored"])[(frame["y"] * 7 + frame["id"]) % 4]
    frame.select("conf", verdict=verdicts).write_csv("verdicts.csv")
    frame.select("y", "conf", yhat=pl.col("yhat"), group_site="site").write_csv("groups.csv")
    return """
        evaluate : a.csv --confidence conf | groups.csv | groups.csv --groups site --verbose | bare.csv
        | bare.csv --json - | verdicts.csv | worse.csv --confidence vague | a.csv --scores conf,other,vague
        | ood.csv | a.csv --loss wrong --scores vague --at-random | a.csv --confidence conf -o x
        threshold verdicts.csv --correct verdict --confidence conf --coverage 0.5 -o v.json
        apply v.json verdicts.csv -o dv.csv | apply v.json verdicts.csv -o dv.txt
        explain AUGRC aurc | explain | explain nothing | scores --json | plots"""


@ran(files)
def comparisons():
    """Return documents of comparisons of scores and of models, with margins, groups, methods and costs."""
    return """
        compare a.csv --json - --scores : conf,other,vague | conf,other --metric aurc --method influence
        | msp,conf --groups site | conf,other --level 0.8 --metric risk --sample-weight w
        | other,energy,klm --logits 'logit_*' --fit b.csv
        compare a.csv --json - --confidence conf --groups : site | site,day
        compare a.csv model.csv --confidence conf : --json - | --clusters who --metric risk --json -
        | --margin 0.01 --json - | --margin 0.02 --equivalent --metric risk --json -
        | --metric 'coverage_at_risk(risk=0.1)' --json - | --verbose --method influence | --margin 0.01
        compare b.csv worse.csv --confidence conf --clusters who --json -
        compare a.csv : --method influence | --scores conf | --scores conf,other,vague --method influence
        | --scores conf,other --table t.md --adjust max-t --method bootstrap --level 0.9"""


@ran(files)
def files_that_disagree():
    """Return comparisons of files of which one has class names, other weights, clusters, ids or labels."""
    frame = rows(1, 300)
    said = pl.Series(NAMES[frame["yhat"].to_numpy()])
    rows(1, 300, shift=0.4).select("conf", "y", "yhat").write_csv("bare.csv")
    frame.select("id", "conf", y=pl.col("name"), yhat=said).write_csv("named.csv")
    frame.with_columns(w=pl.col("w") + 1, who=pl.col("who") // 2).write_csv("heavy.csv")
    frame.rename({"w": "sample_weight"}).write_csv("weighted.csv")
    frame.with_columns(id=pl.col("id").reverse(), y=pl.col("y").reverse()).write_csv("turned.csv")
    frame.with_columns(id=pl.lit(7)).write_csv("once.csv")
    return """
        compare --confidence conf --method influence --json - a.csv : named.csv | bare.csv | heavy.csv
        | heavy.csv --sample-weight w | heavy.csv --clusters who | weighted.csv | turned.csv | turned.csv --ids id
        | once.csv --ids id | b.csv | b.csv --ids id | a.csv
        compare --confidence conf --method influence --json - : named.csv a.csv | bare.csv a.csv"""


@ran(folder)
def several_files():
    """Return policies and comparisons of rows in several Parquet files, and what is refused of these."""
    Path("parts").mkdir()
    for k in (1, 2):
        rows(k, 150).write_parquet(f"parts/{k}.parquet")
    return f"""
        threshold parts --loss wrong --confidence conf : {SURE} -o p.json | --coverage 0.5 --groups site --json
        | --coverage 0.5 --plot x.png | --cost 5 1 --clusters who --json
        threshold parts : --labels y --probabilities 'p_*' --score msp {SURE} -o m.json
        | --labels y --probabilities 'p_*' --score energy --coverage 0.5
        | --loss wrong --uncertainty vague --capacity .3 -o u.json --json
        compare parts --loss wrong --scores : conf,other --json - | conf | conf,other --groups site
        evaluate parts : --labels y --predictions yhat --probabilities 'p_*' --scores neg_gini --json -
        | --loss wrong --confidence conf --gate augrc<=0.1 | --loss wrong --scores nothing
        | --loss wrong --confidence conf --groups site --metrics augrc"""


@ran(files)
def thresholds():
    """Return policies and documents of every objective, by groups, of two scores, of computed scores and words."""
    frame = rows(6, 200)
    words = pl.Series(["low", "medium", "high"])[(frame["conf"] * 2.99).cast(int)]
    frame.select("wrong", sure=words).write_csv("words.csv")
    parts = [frame.with_columns(is_ood=pl.lit(0)), rows(7, 90, shift=2.2).with_columns(is_ood=pl.lit(1))]
    pl.concat(parts).write_csv("both.csv")
    pl.concat([rows(1, 200), rows(1, 200)]).write_csv("twice.csv")
    np.savez("half.npz", confidence=rows(1, 200)["conf"].to_numpy(), loss=rows(1, 200)["wrong"].to_numpy())
    return f"""
        threshold a.csv --confidence conf --json -o p.json : {SURE} | --risk 0.05 | --coverage 0.7 | --capacity .4
        | --cost 10 1 | {SURE} --groups site | {SURE} --max-loss 1 | --capacity 10/50 | {COSTS} --review-cost 1
        | {COSTS} --cost 2 1 | --cost 5 1 --review-cost 1 | --capacity 1/2/3 | --capacity x
        | {SURE} --ood-share 0.02 | {SURE} --clusters who --max-cluster 9 | --risk 0.2 --prevalence 0.2
        | --risk 0.003 --delta 0.05 --groups site
        threshold a.csv --confidence conf --json --risk 0.2 --groups : site,day | site --second other
        | site --plot x.png
        threshold a.csv : --logits 'logit_*' --temperature 0.5 --score energy --coverage 0.4 --json -o e.json
        | --score msp --confidence conf --risk 0.2 | --confidence conf | --confidence conf --risk 0.2 --coverage 0.5
        threshold : words.csv --loss wrong --confidence sure --coverage 0.5 -o w.json
        | both.csv --confidence conf --second other --risk 0.3 -o two.json
        | both.csv --confidence conf --risk 0.3 --delta 0.1 -o is.json
        | twice.csv --confidence conf --ids id {SURE} --json
        | half.npz --coverage 0.4 --json --model m --author a --note n -o h.json"""


@ran(files)
def policies_at_work():
    """Return decisions, audits, forms and monitoring of policies, and what comes next where they are violated."""
    rows(8, 100).write_parquet("new.parquet")
    pl.concat([rows(3, 250, shift=2.2)] * 2, rechunk=True).with_columns(id=pl.int_range(500)).write_csv("far.csv")
    both = rows(6, 300)
    pair = choose_pair(both["wrong"], both["conf"], both["other"], risk=0.2, delta=0.1, rng=1)
    pair.save("two.json", score="conf", second="other")
    return f"""
        threshold a.csv : --confidence conf {SURE} -o p.json --model m1 --author me --note so
        | --confidence conf {SURE} --groups site -o g.json | --logits 'logit_*' --score energy {SURE} -o e.json
        | --confidence conf --coverage 0.5 -o c.json | --logits 'logit_*' --temperature 2 {SURE} -o t.json
        | --confidence conf {COSTS} --risk 0.4 --delta 0.1 --max-loss 5 -o k.json
        | --probabilities 'p_*' --score softmax_margin {SURE} --groups site -o m.json
        | --confidence conf {SURE} --clusters who -o w.json
        apply : p.json b.csv -o d1.csv | g.json ood.csv -o d2.csv --column yes | e.json new.parquet -o d3.parquet
        | p.json b.csv -o d4.csv --audit 0.2 --seed 3 --ids id | p.json none.csv -o d5.csv
        | e.json a.csv -o d6.csv
        audit : p.json b.csv --json | g.json b.csv --groups site --json | c.json b.csv --json --level 0.8
        | p.json a.csv | p.json worse.csv | p.json worse.csv --json | e.json b.csv
        export : p.json --to python -o f.py | p.json --to sql | g.json --to sql --dialect duckdb -o f.sql
        | p.json --to schema -o f.json
        monitor : p.json b.csv --state m.state --json | p.json worse.csv --state m.state --json --metrics-file m.prom
        | p.json b.csv --time day --json --delta 0.1 | g.json worse.csv --time day --maturity 2
        | e.json worse.csv --json | g.json worse.csv --json | c.json b.csv
        | p.json b.csv | k.json far.csv {COSTS} | two.json far.csv --again | t.json far.csv --again
        | m.json far.csv --again | m.json far.csv --labels y --again --json
        | c.json far.csv --json --again --max-loss 1 --delta 0.1
        | w.json far.csv --json --again --state s.json --clusters who --returning skip
        | w.json --state s.json --json
        monitor p.json far.csv --again : --json --model m1 --since-first | --json --model m2
        | --json --window 100 --run-length 500 | --state p.json | --state far.csv"""


@ran(files)
def live_certificates():
    """Return what is counted live: groups that join, clusters, audits, late labels, grids, restarts, no rows."""
    for k in range(4):
        week = rows(20 + k, 400, shift=0.0 if k < 3 else 2.2)
        week = week.with_columns(day=pl.col("day") + 8 * k, who=pl.col("who") + 1000 * k)
        week.with_columns(chance=pl.lit(0.8), seen=pl.col("id") % 5 > 0).write_csv(f"w{k}.csv")
    rows(20, 400).head(0).write_csv("none.csv")
    late = [pl.read_csv(f"w{k}.csv") for k in (0, 1)]
    pl.concat([late[0].filter(pl.col("day") > 5), late[1]]).write_csv("late.csv")
    late[1].with_columns(site=pl.lit("west")).write_csv("west.csv")
    one, logits = "--loss wrong --confidence conf", "--loss wrong --logits 'logit_*'"
    groups, clusters, days = f"{one} --groups site", f"{one} --clusters who", f"{one} --time day"
    audit = f"{one} --label-probability chance --drawn seen"
    return f"""
        live w0.csv : --state g.json {groups} {SURE} --reserve 0.2 -o g1.json --json
        | --state c.json {clusters} {SURE} --max-cluster 20 --ood-share 0.01 --json
        | --state a.json {one} {SURE} --audit 0.5 -o a1.json | --state w0.csv {one} {SURE} | --state n.json {one}
        | --state t.json {days} {SURE} --maturity 2 --restarts 1 --json
        | --state m.json {one} --risk 1 --max-loss 2 --json
        | --state e.json {logits} --score energy {SURE} --grid w1.csv -o e1.json
        | --state e2.json {logits} --temperature 2 {SURE} -o e2p.json
        | --state s.json {one} --risk 0.15 --delta 0.1 -o p.json --json
        live west.csv : --state g.json {groups} | --state g.json {groups} --add-group west -o g2.json
        live w3.csv --state g.json {groups} -o g3.json
        live w1.csv : --state c.json {clusters} -o c.json | --state c.json {clusters} -o c1.json
        | --state a.json {audit} -o a2.json --json | --state a.json {audit} --ids id
        | --state e.json {logits} --score energy --temperature 2 | --state s.json {one} -o p.json --json
        live late.csv --state t.json {days} --as-of 30 --json -o t1.json
        live none.csv --state t.json {one} : -o t1.json | --restart
        live w2.csv : --state t.json {days} --restart | --state s.json {one}
        live w3.csv --state t.json {days} --restart --as-of 60
        live b.csv --state : s.json {one} --risk 0.2 | h.json {one} --risk 0.2 --grid a.csv --json"""


@ran(files)
def few_labels():
    """Return plans and evaluations of a few labels with every option, and what is refused of them."""
    rows(2, 250).with_columns(judge=(pl.col("wrong") + pl.col("id") % 5 // 4) % 2).write_csv("judged.csv")
    return """
        plan ood.csv --confidence conf : --labels 40 -o labels.csv --seed 1 --json
        | --halfwidth 0.1 -o half.csv --seed 1 | --labels 30 --metric augrc --design uniform -o uniform.csv --seed 2
        plan b.csv --confidence conf --labels 60 -o some.csv --seed 1 --loss wrong
        evaluate b.csv : --confidence conf --plan some.csv --metrics risk --json -
        | --loss wrong --confidence conf --plan some.csv --metrics risk,augrc --population
        plan a.csv --confidence conf --compare model.csv --labels 60 -o pair.csv --seed 1 --ids id
        compare a.csv model.csv --confidence conf --ids id --plan pair.csv : --json - | --verbose
        plan judged.csv --confidence conf --seed 1 --json : --labels 30 --judge judge -o j.csv --error-rate 0.1
        | --labels 30 --judge nothing -o x.csv | --labels 30 --region 0.4 -o r.csv --metric risk --level 0.8
        | --labels 30 --design levelled -o l.csv | --labels 30 --design adaptive -o t.csv --metric aurc
        | --halfwidth 0.08 --error-rate 0.3 --metric risk -o h.csv | -o x.csv
        plan judged.csv : --score energy --logits 'logit_*' --labels 25 --seed 2 --json -o e.csv
        | --extend t.csv --loss wrong --labels 20 --seed 3 --json -o t2.csv
        | --extend t.csv --loss wrong --labels 20 --level 0.9 -o t3.csv
        evaluate judged.csv --loss wrong --plan t2.csv --metrics aurc,risk --json -
        evaluate a.csv --loss wrong --at-random : --scores vague --metrics risk,augrc --level 0.8 --json -
        | --confidence conf --groups site --metrics risk --json - | --confidence conf --fit b.csv
        | --confidence conf --texts name --report t.html"""


@ran(files)
def pages_and_adapters():
    """Return reports, gates of files that are not paired, other metrics, what they are judged by, and training."""
    rows(1, 300).drop("id").write_csv("c.csv")
    rows(11, 300).drop("id").write_csv("d.csv")
    Path("own.py").write_text(OWN)
    return f"""
        evaluate c.csv : --confidence conf --metrics augrc --json r.json | --clusters id | --where site
        evaluate d.csv --confidence conf --metrics augrc --gate augrc --margin 0.01 --against : c.csv | b.csv
        | r.json | none.csv
        threshold a.csv --confidence conf {SURE} -o p.json --report no/p.html
        joint a.csv ood.csv --confidence conf : --scores other | --permutations 0
        | --scores other --permutations 0 --plot frontier.png
        metrics | metrics --json | plots --json | conformance | train ce --seeds x --data cifar10 -o o | train
        conformance own.py:none --metric aurc
        conformance own.py:area --metric augrc --call 'loss, confidence' --json -
        conformance own.py:area --metric aurc --call : 'loss, confidence' | 'loss, uncertainty' --json -
        | 'correct, confidence' --json - | 'labels, probabilities' --json -"""


@ran(files)
def joint():
    """Return joint evaluations of sets, groups, runs, layouts and gains."""
    rows(9, 100, shift=2.0).drop(*TRUTH).write_csv("far.csv")
    for run, (k, name) in product((1, 2), enumerate(("a", "ood", "far"))):
        Path(f"run{run}").mkdir(exist_ok=True)
        rows(30 + 10 * run + k, 150, shift=0.0 if name == "a" else 2.1).write_csv(f"run{run}/{name}.csv")
    two = "--confidence conf --scores other --permutations 0"
    return f"""
        joint a.csv ood.csv far.csv --confidence conf --scores other,vague : --permutations 3 --json -
        | --near ood --far far --prevalence 0.3 --permutations 0 --json - | --near none
        | --layout sets --metric ds_f1 --permutations 0 | --layout detection --permutations 0 --verbose
        | --layout tasks --permutations 2 --verbose --table t.md
        joint : a.csv ood.csv --logits 'logit_*' --scores energy,msp --permutations 0 --json - | a.csv
        | run1/a.csv run1/ood.csv run1/far.csv --also run2 {two} --json -
        | run1/a.csv run1/ood.csv --also x=run2 {two} --layout strategies
        | a.csv --where site=north --ood site=south {two} --json -
        | a.csv ood.csv --confidence conf --metric ds_f1"""


@ran(folder)
def studies_by_hand():
    """Return a study that is put together file by file, evaluated, ranked, selected, drawn and tabled."""
    lines, roles = [], {"validation": "validation", "test": "test", "far": "ood"}
    for (k, model), run, (j, name) in product(enumerate(("one", "two")), (1, 2), enumerate(roles)):
        frame = rows(200 + j, 90, shift=2.0 * (name == "far") + 0.4 * k + 0.1 * run)
        (frame.drop(*TRUTH, "yhat") if name == "far" else frame).write_csv(f"{model}{run}{name}.csv")
        more = f"--role {roles[name]} " + ("--unlabelled" if name == "far" else f"--setting w={k}")
        lines.append(f"study add s {model}{run}{name}.csv --model {model} --run {run} --set {name} {more}")
    added = "\n".join(lines)
    return f"""{added}
        study evaluate s {SOME} | study rank s --set test --scores msp,energy --metrics augrc,aurc
        study select s --workers 1 | study figures s -o f --plots nothing --set test
        study tables s --layout : sets | single-double | estimators | ranks | x
        study rank s | study select none | study evaluate none"""


@ran(folder)
def study_options():
    """Return what commands of studies give by every option: sets, models, workers, seeds, levels, forms, layouts."""
    sets = {"validation": 0.0, "test": 0.1, "near-x": 2.0, "fog-2": 0.7}
    for (k, model), run in product(enumerate(("ce-w=1", "ce-w=2", "other")), ("a", "b")):
        for seed, (name, shift) in enumerate(sets.items()):
            frame = rows(300 + seed, 40, shift=shift + 0.2 * k + 0.3 * (run == "b"))
            _save(Path(f"in/{model}/{run}/{name}.npz"), frame, *["labels"] * (name == "near-x"))
    rows(310, 60).write_csv("more.csv")
    return f"""
        study init s --from in --data toy | study init in --data digits
        study add s more.csv --model other --run a --labels y --logits 'logit_*' --set : odd --shift level
        | more --role shift --shift kind=corruption --shift level=4 --seed 5 | odd --unlabelled --plan none.csv
        | plain --setting network=small --setting objective=sele --data toy | odd --role nothing
        study evaluate s {SOME} : --level 0 --sets test,near-x --id-failures drop
        | --sets near-x --id-failures both --scale 1000 --models ce-w=1
        | --level 0.8 --models other --sets test --nan-policy reject --scale 100
        study evaluate s : --workers 1 --metrics none | --workers 0
        study rank s --scores : msp,energy --metrics risk --models other --level 0.8 --resamples 100 --seed 3
        | 'msp,gen(gamma=0.2)' --set validation --resamples 120 --scale 10
        study select s {SOME} --sets validation,test --scale 100
        study tables s {SOME} --layout : heat --metric risk --form markdown
        | ranks --metric risk --other augrc --sets test --form latex --scale 1000
        | single-double --model other --confidence energy | strategies --metric ds_aurc --group near-x
        | detection --model ce-w=2 --fpr both --form html | reliability --fpr id --models ce-w=1
        | reliability --fpr ood --models other | sets --metric ds_f1 --sets near-x | sets --fpr id --models other
        study figures s -o f {SOME} --plots : none | reliability_diagram"""


def help_pages():
    """Return sections and options of the help of every command."""
    names = "evaluate compare threshold apply audit export monitor live plan joint summarize merge study demo explain"
    names += " conformance train metrics plots"
    return {name: heads_of(name) for name in ["", *names.split(), "study init", "study evaluate", "study rank"]}


@ran(files)
def summaries():
    """Return what summaries of files say, by groups, of two scores, merged, and as SQL."""
    rows(1, 300).write_parquet("a.parquet")
    one = "--loss wrong --confidence conf"
    return f"""
        summarize : a.csv {one} -o s.parquet --json - | b.csv {one} -o t.parquet --metrics augrc,aurc
        merge s.parquet t.parquet -o m.parquet | summarize m.parquet : --json - | --metrics augrc
        summarize : a.parquet b.csv {one} --groups site --metrics augrc --json - | a.csv {one} --groups site
        | a.csv {one} --key real/10 --json - | a.csv --labels y --predictions yhat --confidence conf
        | a.csv {one} --detector other --detector-key real/9 --ood ood.csv --key probability/9 --json -
        | a.csv {one} --detector other --ood ood.csv -o j.parquet | j.parquet | {one} --sql --table logs
        | a.csv {one} --key real/7 | a.csv --confidence conf
        merge s.parquet j.parquet -o n.parquet | merge s.parquet | evaluate s.parquet"""
