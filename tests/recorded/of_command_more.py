"""More of the command: files of several parts and other kinds, plans of pairs, pages, studies by hand, refusals."""

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from tests.recorded.commands import TRUTH, all_of, files, rows
from tests.recorded.sources import folder

OWN = """
def area(loss, confidence):
    order = sorted(range(len(loss)), key=lambda k: -confidence[k])
    sums = [sum(loss[k] for k in order[: n + 1]) / (n + 1) for n in range(len(loss))]
    return sum(sums) / len(sums)
"""


def several_files():
    """Return policies and comparisons of rows in several Parquet files, and what is refused of these."""
    with folder():
        Path("parts").mkdir()
        for k in (1, 2):
            rows(k, 150).write_parquet(f"parts/{k}.parquet")
        one = "threshold parts --loss wrong --confidence conf"
        return all_of(
            f"{one} --risk 0.2 --delta 0.1 -o p.json",
            f"{one} --coverage 0.5 --groups site --json",
            "threshold parts --labels y --probabilities 'p_*' --score msp --risk 0.2 --delta 0.1 -o m.json",
            "threshold parts --labels y --probabilities 'p_*' --score energy --coverage 0.5",
            f"{one} --coverage 0.5 --plot x.png",
            "threshold parts --loss wrong --uncertainty vague --capacity .3 -o u.json --json",
            f"{one} --cost 5 1 --clusters who --json",
            "compare parts --loss wrong --scores conf,other --json -",
            "compare parts --loss wrong --scores conf",
            "compare parts --loss wrong --scores conf,other --groups site",
            "evaluate parts --labels y --predictions yhat --probabilities 'p_*' --scores neg_gini --json -",
            "evaluate parts --loss wrong --confidence conf --gate augrc<=0.1",
            "evaluate parts --loss wrong --scores nothing",
            "evaluate parts --loss wrong --confidence conf --groups site --metrics augrc",
        )


def other_kinds_of_files():
    """Return decisions on files of other kinds, and audits of them."""
    with folder():
        files()
        frame = rows(8, 40)
        frame.write_ndjson("new.jsonl")
        verdict = pl.Series(["right", "wrong", "abstained"])[frame["id"] * 7 % 3]
        frame.select("conf", verdict=verdict).write_csv("verdicts.csv")
        frame.write_csv("new.tsv", separator="\t")
        frame.write_csv("semi.csv", separator=";")
        own = {"conf": frame["conf"].to_numpy(), "site": frame["site"].to_numpy().astype(str)}
        own |= {"wrong": frame["wrong"].to_numpy()}
        np.savez("new.npz", **own, matrix=np.zeros((40, 2)), class_names=["a", "b"], head_bias=np.zeros(2))
        frame.select(pl.struct("id", "day").alias("out"), "conf", "site").write_ndjson("nested.jsonl")
        Path("new.json").write_text(frame.write_json())
        Path("long.csv").write_text("conf,site\n0.9,a\n0.5,b,c\n")
        kinds = ["new.jsonl", "new.tsv", "semi.csv", "new.npz", "nested.jsonl", "new.json", "long.csv"]
        ends = [f"apply g.json {name} -o d{k}.csv" for k, name in enumerate(kinds)]
        return all_of(
            "threshold verdicts.csv --correct verdict --confidence conf --coverage 0.5 -o v.json",
            "apply v.json verdicts.csv -o dv.csv",
            "threshold a.csv --confidence conf --risk 0.2 --delta 0.1 --groups site -o g.json",
            *ends,
            "apply g.json new.jsonl -o d.jsonl",
            "audit g.json new.npz --loss wrong",
            "apply g.json new.json -o d.json",
            "apply g.json new.json -o d.txt",
        )


def plans_of_pairs_and_pages():
    """Return plans for two models, reports, demo, gates of files that are not paired, other metrics, training."""
    with folder():
        files()
        rows(1, 300).drop("id").write_csv("c.csv")
        rows(11, 300).drop("id").write_csv("d.csv")
        Path("own.py").write_text(OWN)
        gate = "evaluate d.csv --confidence conf --metrics augrc --gate augrc --margin 0.01 --against"
        return all_of(
            "plan a.csv --confidence conf --compare model.csv --labels 60 -o pair.csv --seed 1 --ids id",
            "compare a.csv model.csv --confidence conf --ids id --plan pair.csv --json -",
            "compare a.csv model.csv --confidence conf --ids id --plan pair.csv",
            f"{gate} c.csv",
            f"{gate} b.csv",
            f"{gate} none.csv",
            "evaluate c.csv --confidence conf --metrics augrc --json r.json",
            f"{gate} r.json",
            "threshold a.csv --confidence conf --risk 0.2 --delta 0.1 -o p.json --report p.html",
            "joint a.csv ood.csv --confidence conf --scores other --permutations 0 --plot frontier.png",
            "joint a.csv ood.csv --confidence conf --scores other",
            "joint a.csv ood.csv --confidence conf --permutations 0",
            "evaluate a.csv --loss wrong --confidence conf --at-random --texts name --report t.html",
            "metrics",
            "metrics --json",
            "plots --json",
            "conformance",
            "conformance own.py:area --metric aurc --call 'loss, confidence'",
            "conformance own.py:area --metric augrc --call 'loss, confidence' --json -",
            "conformance own.py:none --metric aurc",
            "train ce --seeds x --data cifar10 -o o",
            "train",
            "evaluate c.csv --clusters id",
            "evaluate c.csv --where site",
            "evaluate a.csv --confidence conf -o x",
        )


def studies_by_hand():
    """Return a study that is put together file by file, evaluated, ranked, selected, drawn and tabled."""
    with folder():
        lines = []
        for (k, model), run in product(enumerate(("one", "two")), (1, 2)):
            for j, (name, shift) in enumerate({"validation": 0.0, "test": 0.0, "far": 2.0}.items()):
                frame = rows(200 + j, 90, shift=shift + 0.4 * k + 0.1 * run)
                frame = frame.drop(*TRUTH, "yhat") if name == "far" else frame
                frame.write_csv(f"{model}{run}{name}.csv")
                role = {"validation": "validation", "test": "test", "far": "ood"}[name]
                more = "--unlabelled" if name == "far" else f"--setting w={k}"
                given = f"--model {model} --run {run} --set {name} --role {role} {more}"
                lines.append(f"study add s {model}{run}{name}.csv {given}")
        some = "--workers 1 --scores msp,energy --metrics augrc,aurc"
        return all_of(
            *lines,
            f"study evaluate s {some}",
            "study rank s --set test --scores msp,energy --metrics augrc,aurc",
            "study select s --workers 1",
            "study tables s --layout heat",
            "study tables s --layout sets",
            "study tables s --layout single-double",
            "study tables s --layout estimators --form markdown",
            "study figures s -o f --plots nothing --set test",
            "study tables s --layout ranks",
        )
