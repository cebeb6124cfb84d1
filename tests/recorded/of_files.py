"""What is read of files of every kind, of frames, and of what was written; and the bundled and synthetic data."""

import gzip
import json
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

import abstain
from tests.recorded import tried
from tests.recorded.sources import CONF, LOGITS, NAMES, PRED, SITE, WEIGHT, WHO, N, P, Y, column, folder, outcome, read

COLUMNS = {"y": Y, "pred": PRED, "conf": CONF.round(4), "site": SITE, "who": WHO, "weight": WEIGHT}
FRAME = pl.DataFrame(COLUMNS | {f"p_{k}": P[:, k].round(6) for k in range(3)} | {"name": NAMES[Y], "flag": Y == 1})
OPTIONS = {"groups": ["site", "flag"], "clusters": "who"}
CSV = FRAME.head(12).select("y", "pred", "conf", "site").write_csv()


def _text(name, text, **options):
    data = text.encode()
    Path(name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    return read(name, **options)


def kinds_of_files():
    """Return the readings of one table in every kind of file and frame."""
    table, rows, matrix = FRAME.to_dict(as_series=False), FRAME.to_dicts(), P.round(6).tolist()
    with folder():
        FRAME.write_parquet("a.parquet")
        FRAME.write_ndjson("a.jsonl")
        FRAME.write_csv("a.csv")
        FRAME.write_csv("a.tsv", separator="\t")
        FRAME.drop("p_0", "p_1", "p_2").with_columns(matrix=pl.Series(matrix)).write_parquet("lists.parquet")
        FRAME.with_columns(matrix=pl.Series(P, dtype=pl.Array(pl.Float64, 3))).write_ndjson("lists.jsonl")
        odd = FRAME.with_columns(pl.col("y").cast(pl.Decimal(8, 2)), pl.col("site").cast(pl.Categorical))
        odd.with_columns(group_day=pl.date(2026, 11, 1 + pl.col("who"))).write_parquet("odd.parquet")
        nested = FRAME.select(pl.struct("y", "pred", "conf").alias("data"), "site", "who", "flag")
        nested.write_parquet("nested.parquet")
        np.savez("a.npz", **COLUMNS, flag=Y == 1, logits=LOGITS, passes=np.stack([P, P[::-1]]), class_names=NAMES)
        kinds = [("y", int), ("pred", "i4"), ("conf", float)]
        np.save("a.npy", np.array([*zip(Y, PRED, CONF, strict=True)], dtype=kinds))
        np.save("plain.npy", P)
        every = [{"label": name, "score": P[:, j]} for j, name in enumerate(NAMES)]
        documents = {"rows": rows, "lists": table, "data": {"data": rows, "n": N}, "empty": [], "number": 3}
        documents["split"] = {"columns": FRAME.columns, "data": [list(row.values()) for row in rows]}
        documents["by row"] = {str(k): row for k, row in enumerate(rows)}
        rows_of = [str(k) for k in range(N)]
        documents["by column"] = {name: dict(zip(rows_of, each, strict=True)) for name, each in table.items()}
        documents["two"] = {"a": rows, "b": rows}
        documents["best"] = [row | {"out": [{"label": NAMES[PRED[k]], "score": CONF[k]}]} for k, row in enumerate(rows)]
        outs = [[each | {"score": each["score"][k]} for each in every] for k in range(N)]
        documents["all"] = [{"y": row["name"], "out": out} for row, out in zip(rows, outs, strict=True)]
        documents["deep"] = [{"a": row, "b": [P[k].tolist()]} for k, row in enumerate(rows)]
        documents["uneven"] = [{"y": 0, "logits": [1.0, 2.0]}, {"y": 1, "logits": [1.0]}]
        documents["mixed"] = [{"y": 0, "pred": 1, "conf": "0.5"}, {"y": 1, "conf": None, "pred": 1}]
        documents["mixed"] += [{"y": True, "pred": 0}]
        for name, document in documents.items():
            Path(f"{name}.json").write_text(json.dumps(document))
        several = ("a.parquet", "a.jsonl", "a.csv", "a.tsv", "odd.parquet", "nested.parquet")
        yield from [read(name, **OPTIONS) for name in several]
        names = ("lists.parquet", "lists.jsonl", "a.npz", "a.npy", "plain.npy", "odd.parquet", "no.csv", ".")
        yield from [read(name) for name in (*names, *(f"{name}.json" for name in documents))]
    whole = FRAME.to_pandas()
    whole["p_1"] = whole["p_1"].astype("Float64")
    more = [pl.col("site").cast(pl.Categorical), pl.struct("y", "pred").alias("s"), pl.Series("q", P.tolist())]
    frames = (FRAME, FRAME.lazy(), whole, FRAME.to_arrow(), FRAME.with_columns(*more), whole[whole["y"] > 0])
    yield from [read(frame, **OPTIONS) for frame in frames]
    holes = FRAME.with_columns(pl.when(pl.col("y") > 0).then("conf").alias("conf"))
    yield from [read(source) for source in (holes, FRAME.clear(), {}, [1, 2], pa.table({"y": []}))]


def texts():
    """Return the readings of tables as text: separators, decimal commas, marks, blank lines, codes, missing words."""
    comma = CSV.replace(".", ";").replace(",", "|").replace(";", ",").replace("|", ";")
    tabs, all_ = CSV.replace(",", "\t"), {"confidence": "conf, all"}
    ten = "\n".join(["y,pred,p", *(f"{k % 2},{k % 2},0.{k}" for k in range(1, 10))])
    coded = [[f"0{k % 3},{end}{k % 2},00{k},0{k % 2}\n" for k in range(9)] for end in ("0", "", "x")]
    coded = ["y,pred,id,group_g\n" + "".join(each) for each in coded]
    named, long = "y,pred,p_0,p_1\n01,1,0.4,0.6\n00,0,0.7,0.3\n", CSV + "0,1,0.5,north,9\n"
    tables = [CSV.replace(",", ";"), comma, CSV.replace(",", "|"), tabs, "\ufeff" + CSV, CSV.replace("\n", "\n\n")]
    tables += [long, CSV + ",,,\n\n\n", CSV.replace("conf", "pred"), "y;pred\n0;1\n", "y\n0\n", '"y;z"\n0\n']
    tables += ["y,pred,conf\n", '"y;z",pred\n0,1\n', "loss\n0\n1\n0\n", "", *coded, "y,pred\n01,1\n1,01\n2,2\n"]
    tables += [ten.replace("0.5", word) for word in ("", "NA", "nan", "none", "-", "0,5", " 0.5 ")]
    tables += [ten.replace("1,1,0.5", f"{word},1,0.5") for word in ("", "NA", "-1", "x")]
    tables += [ten.replace("0.5", "-").replace("0.6", "-"), "y;probs\n0;[0.2, 0.8]\n1;[0.9 0.1]\n"]
    tables += ["y;probs\n0;[0.2, 0.8]\n1;[1]\n", 'y,probs\n0,"(0.2, 0.8)"\n1,"[1e-1,9E-1]"\n', "y,probs\n0,[1 ... 2]\n"]
    lines = ['{"y": 1, "pred": 0}\n\n{"y": 0, "pred": 0}\n', '{"y": 1}\n[2]\n', '{"y": 1, "pred": NaN}\n', "\n"]
    others = [("a.tsv", tabs), ("a.csv.gz", tabs), ("a.tsv", CSV), ("a.csv.gz", "\ufeff" + CSV.replace("\n", "\r\n"))]
    others += [("a.ndjson", '\ufeff{"y": 1, "pred": 0}\n'), ("a.json", '[{"y": 1}'), ("a.json.gz", CSV)]
    with folder():
        yield from [_text("a.csv", table) for table in tables]
        yield from [_text("a.jsonl", line) for line in lines]
        yield from [_text(*each) for each in (*others, ("a.txt", CSV), ("a.pt", CSV))]
        yield _text("a.tsv", tabs.replace("conf", "conf, all"), **all_)
        yield _text("a.csv", CSV.replace("conf", '"conf, all"'), **all_)
        yield from [_text("a.csv", named, class_names=each) for each in (None, ["00", "01"], ["0", "1"], ["a", "b"])]
        yield _text("a.csv", "y,pred,who,group_g\n1.0,1.0,1.0,2.50\n0.0,1.0,2.0,2.5\n", clusters="who")
        yield _text("a.csv", CSV, where={"site": "north"})


def written_and_read():
    """Return what is read of written outputs, their fingerprints, and what parts of them are."""
    base = {"labels": Y, "sample_weight": WEIGHT, "groups": {"site": SITE}, "ids": np.arange(N)}
    logits, score, words = np.round(LOGITS, 3), np.round(CONF, 3), {"labels": NAMES[Y], "predictions": NAMES[PRED]}
    sets = {"logits": base | {"logits": logits, "features": np.round(P, 3).astype(np.float32)}}
    sets |= {"names": base | words | {"scores": {"a": score}}, "order": words | {"class_names": NAMES[::-1]}}
    sets |= {"all": base | {"logits": logits, "head": (np.eye(3), np.zeros(3)), "class_names": NAMES}}
    sets |= {"passes": {"labels": Y, "passes": np.stack([P, P[::-1]])}}
    sets |= {"loss": {"loss": np.round(CONF, 2), "confidence": score, "clusters": WHO}}
    sets |= {"unlabelled": {"confidence": score, "unlabelled": True}}
    sets |= {"none of the names": {"loss": np.ones(N), "class_names": NAMES}}
    with folder(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, columns in sets.items():
            outputs, more = abstain.Outputs(**columns), {"unlabelled": True} if name == "unlabelled" else {}
            for kind in ("npz", "parquet", "csv"):
                done = tried(abstain.write_outputs, outputs, f"a.{kind}")
                yield done if isinstance(done, str) else read(f"a.{kind}", **more)
            yield [outcome(outputs.select(rows)) for rows in (Y == 1, [5, -1, 5], slice(3, 40, 7))]
            yield [tried(outputs.select, rows) for rows in ([60], [-61], [True], [], [0.5], [[1]])]
            yield [outputs.predicted()] if name in ("logits", "names", "order", "all") else None
            yield [str(outputs).split(), None if name == "passes" else outputs.fingerprint]  # which rests on exp()
    for given in ({"logits": [[60.0, 0.0], [-3.0, 2.0]]}, {"probabilities": [[1.0, 0.0], [0.25, 0.75]]}):
        yield abstain.Outputs(labels=[0, 1], **given).log_probabilities()


def bundled_and_synthetic():
    """Return what the bundled data holds, and rows of the synthetic models."""
    for name in abstain.datasets.names():
        outputs = abstain.datasets.load(name)
        loss = outputs.loss_per_sample() if (outputs.labels is not None or outputs.loss is not None) else np.zeros(1)
        columns = [outputs.confidence, outputs.labels, *(outputs.groups or {}).values()]
        yield [outputs.n, outputs.n_classes, loss.sum(), column(loss), sorted(outputs.scores or {})]
        yield [column(each) for each in columns if each is not None]
    several = ({}, {"n": 7, "rng": 3}, {"p_correct": 0.3, "correct": (0.5, 0.6), "wrong": (0.1, 0.1)})
    for kind, options in product(("calibrated", "overconfident", "underconfident", "random", "perfect"), several):
        outputs = abstain.datasets.synthetic(kind, **{"n": 12, **options})
        yield [outputs.labels, outputs.predictions, outputs.confidence]
    for bad in ({"n": 0}, {"p_correct": 1.5}, {"correct": (0.5, 0.4)}, {"wrong": (0.5, 1.4)}, {"correct": (-0.1, 1)}):
        yield tried(abstain.datasets.synthetic, "random", **bad)
