"""The commands that choose, apply, judge and watch a policy, and certify live."""

import polars as pl

from tests.recorded.commands import all_of, files, rows
from tests.recorded.sources import folder


def thresholds():
    """Return policies and documents of every objective, by groups, of two scores, of computed scores and words."""
    with folder():
        files()
        frame = rows(6, 200)
        words = pl.Series(["low", "medium", "high"])[(frame["conf"] * 2.99).cast(int)]
        frame.select("wrong", sure=words).write_csv("words.csv")
        pl.concat(
            [frame.with_columns(is_ood=pl.lit(0)), rows(7, 90, shift=2.2).with_columns(is_ood=pl.lit(1))]
        ).write_csv("both.csv")
        one = "threshold a.csv --confidence conf --json -o p.json"
        return all_of(
            f"{one} --risk 0.2 --delta 0.1",
            f"{one} --risk 0.05",
            f"{one} --coverage 0.7",
            f"{one} --capacity .4",
            f"{one} --cost 10 1",
            f"{one} --risk 0.001 --delta 0.05",
            f"{one} --risk 0.2 --delta 0.1 --groups site",
            f"{one} --risk 0.2 --delta 0.1 --clusters who",
            f"{one} --risk 0.2 --delta 0.1 --max-loss 1",
            f"{one} --coverage 0.6 --groups site",
            f"{one} --capacity 10/50",
            "threshold a.csv --logits 'logit_*' --score energy --risk 0.2 --delta 0.1 -o e.json",
            "threshold a.csv --logits 'logit_*' --temperature 2 --coverage 0.5 -o t.json",
            "threshold a.csv --probabilities 'p_*' --score msp --risk 0.2 --delta 0.1 -o m.json",
            "threshold words.csv --loss wrong --confidence sure --coverage 0.5 -o w.json",
            "threshold both.csv --confidence conf --second other --risk 0.3 -o two.json",
            "threshold both.csv --confidence conf --risk 0.3 --delta 0.1 -o is.json",
            "threshold a.csv --confidence conf --cost-matrix 0=5,1=2,2=1 --risk 0.9 --delta 0.1 --max-loss 5 -o c.json",
            "threshold a.csv --uncertainty vague --coverage 0.5 -o u.json",
            "threshold a.csv --confidence conf --risk 0.2 --delta 0.1",
            "threshold a.csv --confidence conf",
            "threshold a.csv --confidence conf --risk 0.2 --coverage 0.5",
            "threshold a.csv --score msp --confidence conf --risk 0.2",
        )


def policies_at_work():
    """Return decisions, audits, forms and monitoring of policies."""
    with folder():
        files()
        rows(8, 100).write_parquet("new.parquet")
        return all_of(
            "threshold a.csv --confidence conf --risk 0.2 --delta 0.1 -o p.json",
            "threshold a.csv --confidence conf --risk 0.2 --delta 0.1 --groups site -o g.json",
            "threshold a.csv --logits 'logit_*' --score energy --risk 0.2 --delta 0.1 -o e.json",
            "threshold a.csv --confidence conf --coverage 0.5 -o c.json",
            "apply p.json b.csv -o d1.csv",
            "apply g.json ood.csv -o d2.csv --column yes",
            "apply e.json new.parquet -o d3.parquet",
            "apply p.json b.csv -o d4.csv --audit 0.2 --seed 3 --ids id",
            "apply p.json none.csv -o d5.csv",
            "apply e.json a.csv -o d6.csv",
            "audit p.json b.csv --json",
            "audit p.json worse.csv --json",
            "audit g.json b.csv --groups site --json",
            "audit c.json b.csv --json --level 0.8",
            "audit p.json a.csv",
            "audit p.json worse.csv",
            "audit e.json b.csv",
            "export p.json --to python -o f.py",
            "export p.json --to sql",
            "export g.json --to sql --dialect duckdb -o f.sql",
            "export p.json --to schema -o f.json",
            "monitor p.json b.csv --state m.json --json",
            "monitor p.json worse.csv --state m.json --json --metrics-file m.prom",
            "monitor p.json b.csv --time day --json --delta 0.1",
            "monitor g.json worse.csv --time day --maturity 2",
            "threshold a.csv --confidence conf --cost-matrix 0=5,1=2,2=1 --risk 0.4 --delta 0.1 --max-loss 5 -o k.json",
            "monitor k.json worse.csv --cost-matrix 0=5,1=2,2=1 --json",
            "monitor e.json worse.csv --json",
            "monitor g.json worse.csv --json",
            "monitor c.json b.csv",
            "monitor p.json b.csv",
        )


def live_certificates_and_few_labels():
    """Return what is counted live, plans of labels, and what a few labels say."""
    with folder():
        files()
        for k in range(3):
            rows(20 + k, 400).write_csv(f"week{k}.csv")
        return all_of(
            "live week0.csv --state s.json --loss wrong --confidence conf --risk 0.15 --delta 0.1 -o p.json --json",
            "live week1.csv --state s.json --loss wrong --confidence conf -o p.json --json",
            "live week2.csv --state s.json --loss wrong --confidence conf",
            "live worse.csv --state g.json --loss wrong --confidence conf --risk 0.1 --delta 0.1 --groups site",
            "live b.csv --state g.json --loss wrong --confidence conf --risk 0.2",
            "live b.csv --state h.json --loss wrong --confidence conf --risk 0.2 --grid a.csv --json",
            "plan ood.csv --confidence conf --labels 40 -o labels.csv --seed 1 --json",
            "plan ood.csv --confidence conf --halfwidth 0.1 -o half.csv --seed 1",
            "plan ood.csv --confidence conf --labels 30 --metric augrc --design uniform -o uniform.csv --seed 2",
            "plan b.csv --confidence conf --labels 60 -o some.csv --seed 1 --loss wrong",
            "evaluate b.csv --confidence conf --plan some.csv --metrics risk --json -",
            "evaluate b.csv --loss wrong --confidence conf --plan some.csv --metrics risk,augrc --population",
        )
