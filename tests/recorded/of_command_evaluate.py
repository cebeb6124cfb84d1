"""The commands evaluate and compare."""

import polars as pl

from tests.recorded.commands import all_of, files, rows
from tests.recorded.sources import folder


def evaluate_with_many_options():
    """Return documents of evaluations: columns, scores, groups, weights, clusters, levels, resamples, gates."""
    with folder():
        files()
        rows(1, 300).write_parquet("parts1.parquet")
        rows(2, 250).write_parquet("parts2.parquet")
        json = "--metrics augrc,risk --json -"
        return all_of(
            f"evaluate a.csv --confidence conf {json}",
            f"evaluate a.csv --loss wrong --confidence other --clusters who {json}",
            f"evaluate a.csv --scores msp,softmax_margin --groups site --level 0.8 {json}",
            f"evaluate a.csv --labels name --predictions yhat --class-names ant,bee,cat --confidence conf {json}",
            f"evaluate a.csv --logits 'logit_*' --scores energy,msp --sample-weight w --level 0 {json}",
            f"evaluate a.csv --probabilities 'p_*' --scores klm --fit b.csv {json}",
            f"evaluate a.csv --uncertainty vague --where site=north {json}",
            f"evaluate a.csv --cost-matrix 0=5,1=2,2=1 --confidence conf {json}",
            "evaluate a.csv --confidence conf --metrics 'coverage_at_risk(risk=0.1)' --resamples 40 --json -",
            "evaluate a.csv --confidence conf --metrics augrc --sweep 0.5,0.9 --denominator all",
            "evaluate a.csv --confidence conf --metrics augrc --sweep paper --scale 100",
            "evaluate a.csv --scores conf,other --metrics augrc --csv c.csv --table t.md",
            "evaluate a.csv --scores conf,other --metrics augrc --table t.tex --verbose",
            "evaluate a.csv --confidence conf --metrics augrc --gate 'augrc<=0.5' --gate 'risk<=0.01' --summary s.md",
            "evaluate a.csv --confidence conf --metrics augrc --gate 'augrc<=0.5'",
            "evaluate worse.csv --confidence conf --metrics augrc --gate 'augrc' --against a.csv --margin 0.01",
            "evaluate model.csv --confidence conf --metrics augrc --gate 'augrc' --against a.csv --margin 0.01",
            "evaluate 'parts*.parquet' --loss wrong --confidence conf --groups site --metrics augrc --json -",
            "evaluate a.csv --loss wrong --confidence conf --at-random --unseen random --metrics risk --json -",
            "evaluate a.csv --sweep x",
            "evaluate a.csv --metrics none",
            "evaluate none.csv",
            "evaluate a.csv --gate augrc",
            "evaluate a.csv --confidence nothing",
            "evaluate a.csv --scores",
            "evaluate a.csv --texts p_0",
        )


def evaluate_as_people_read_it():
    """Return the numbers and next steps that are printed for one file, its groups, abstentions, without a score."""
    with folder():
        files()
        frame = rows(5, 200)
        frame.select("y", "yhat").write_csv("bare.csv")
        verdicts = pl.Series(["right", "wrong", "abstained", "unscored"])[(frame["y"] * 7 + frame["id"]) % 4]
        frame.select("conf", verdict=verdicts).write_csv("verdicts.csv")
        frame.select("y", "conf", yhat=pl.col("yhat"), group_site="site").write_csv("groups.csv")
        return all_of(
            "evaluate a.csv --confidence conf",
            "evaluate groups.csv",
            "evaluate groups.csv --groups site --verbose",
            "evaluate bare.csv",
            "evaluate bare.csv --json -",
            "evaluate verdicts.csv",
            "evaluate worse.csv --confidence vague",
            "evaluate a.csv --scores conf,other,vague",
            "explain AUGRC aurc",
            "explain",
            "scores --json",
            "evaluate ood.csv",
            "explain nothing",
            "plots",
        )


def comparisons():
    """Return documents of comparisons of scores and of models, with margins, groups, methods and costs."""
    with folder():
        files()
        json = "--json -"
        return all_of(
            f"compare a.csv --scores conf,other,vague {json}",
            f"compare a.csv --scores conf,other --metric aurc --method influence {json}",
            f"compare a.csv --confidence conf --groups site {json}",
            f"compare a.csv model.csv --confidence conf {json}",
            f"compare a.csv model.csv --confidence conf --clusters who --metric risk {json}",
            f"compare a.csv model.csv --confidence conf --margin 0.01 {json}",
            f"compare a.csv model.csv --confidence conf --margin 0.02 --equivalent --metric risk {json}",
            f"compare b.csv worse.csv --confidence conf --clusters who {json}",
            f"compare a.csv model.csv --confidence conf --metric 'coverage_at_risk(risk=0.1)' {json}",
            "compare a.csv --scores conf,other,vague",
            "compare a.csv model.csv --confidence conf --verbose",
            "compare a.csv model.csv --confidence conf --margin 0.01",
            "compare a.csv",
            "compare a.csv --scores conf",
            "compare a.csv --scores conf,other,vague --table t.md --adjust max-t --method bootstrap --level 0.9",
        )
