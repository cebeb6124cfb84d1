"""The commands of several files: joint, study, summarize, merge; and of training."""

from itertools import product
from pathlib import Path

import numpy as np

from tests.recorded.commands import TRUTH, all_of, files, heads_of, rows
from tests.recorded.sources import folder


def joint():
    """Return joint evaluations of sets, groups, runs, layouts and gains."""
    with folder():
        files()
        rows(9, 100, shift=2.0).drop(*TRUTH).write_csv("far.csv")
        for run in (1, 2):
            Path(f"run{run}").mkdir()
            for k, name in enumerate(("a", "ood", "far")):
                rows(30 + 10 * run + k, 150, shift=0.0 if name == "a" else 2.1).write_csv(f"run{run}/{name}.csv")
        two = "--confidence conf --scores other --permutations 0"
        some = "joint a.csv ood.csv far.csv --confidence conf --scores other,vague"
        return all_of(
            f"{some} --permutations 20 --json -",
            f"{some} --near ood --far far --prevalence 0.3 --permutations 0 --json -",
            f"{some} --layout sets --metric ds_f1 --permutations 0",
            f"{some} --layout detection --permutations 0 --verbose",
            f"{some} --layout tasks --permutations 5 --verbose --table t.md",
            f"{some} --near none",
            "joint a.csv ood.csv --logits 'logit_*' --scores energy,msp --permutations 0 --json -",
            f"joint run1/a.csv run1/ood.csv run1/far.csv --also run2 {two} --json -",
            f"joint run1/a.csv run1/ood.csv --also x=run2 {two} --layout strategies",
            f"joint a.csv --where site=north --ood site=south {two} --json -",
            "joint a.csv",
            "joint a.csv ood.csv --confidence conf --metric ds_f1",
        )


def studies():
    """Return tables of studies of saved outputs in folders."""
    with folder():
        for (k, model), run in product(enumerate(("one", "two")), (1, 2)):
            Path(f"s/{model}/{run}").mkdir(parents=True)
            for j, (name, shift) in enumerate({"test": 0.0, "ood": 2.0}.items()):
                frame = rows(100 + 20 * k + 4 * run + j, 120, shift=shift + 0.3 * k)
                own = {"logits": frame.select("logit_0", "logit_1", "logit_2").to_numpy()}
                own |= {"labels": frame["y"].to_numpy()}
                np.savez(f"s/{model}/{run}/{name}.npz", **own)
        return all_of(
            "study init s --data digits",
            "study evaluate s --workers 1 --metrics augrc,aurc --scores msp,energy",
            "study evaluate s --workers 1 --metrics augrc,aurc --scores msp,energy --id-failures both --scale 1000",
            "study tables s",
            "study tables s --layout x",
            "study rank s --set test",
            "study rank s",
            "study select s",
            "study evaluate none",
        )


def help_pages():
    """Return sections and options of the help of every command."""
    names = "evaluate compare threshold apply audit export monitor live plan joint summarize merge study demo explain"
    names += " conformance train metrics plots"
    return {name: heads_of(name) for name in ["", *names.split(), "study init", "study evaluate", "study rank"]}


def summaries():
    """Return what summaries of files say, by groups, of two scores, merged, and as SQL."""
    with folder():
        files()
        rows(1, 300).write_parquet("a.parquet")
        one = "--loss wrong --confidence conf"
        return all_of(
            f"summarize a.csv {one} -o s.parquet --json -",
            f"summarize b.csv {one} -o t.parquet --metrics augrc,aurc",
            "merge s.parquet t.parquet -o m.parquet",
            "summarize m.parquet --json -",
            "summarize m.parquet --metrics augrc",
            f"summarize a.parquet b.csv {one} --groups site --metrics augrc --json -",
            f"summarize a.csv {one} --groups site",
            f"summarize a.csv {one} --key real/10 --json -",
            "summarize a.csv --labels y --predictions yhat --confidence conf",
            f"summarize a.csv {one} --detector other --detector-key real/9 --ood ood.csv --key probability/9 --json -",
            f"summarize a.csv {one} --detector other --ood ood.csv -o j.parquet",
            "summarize j.parquet",
            f"summarize {one} --sql --table logs",
            f"summarize a.csv {one} --key real/7",
            "merge s.parquet j.parquet -o n.parquet",
            "summarize a.csv --confidence conf",
            "merge s.parquet",
            "evaluate s.parquet",
        )
