"""Files as people have them: written by scikit-learn, pandas, polars, a pipeline of Hugging Face and by tools.

Every file comes with the truth: the losses and the confidence that a careful reader would take from it. ``remedy``
holds what has to be added where a file can be read in two ways.
"""

import gzip
import json
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from tests.readers.layouts import fd_shifts, openood, softmax

N = 120
FIXTURES = Path(__file__).parents[1] / "readers" / "fixtures"
DATE = "2026-11-22T03-00-00.000000"


@dataclass(frozen=True)
class File:
    """A file, what is in it, and how it has to be read.

    ``wrong`` and ``sure``: the loss of each row, and a confidence in its order; ``refused``: part of the message
    without the remedy; ``remedy``: arguments with which it is read.
    """

    path: Path
    wrong: Any
    sure: Any = None
    refused: str = ""
    remedy: dict[str, Any] = field(default_factory=dict)


def model(seed=0):
    """Return what a classifier of two classes, and one of three, says of its rows."""
    found = {}
    for k in (2, 3):
        rng = np.random.default_rng([seed, k])
        y = rng.integers(0, k, N)
        p = softmax(rng.normal(size=(N, k)) + 1.2 * np.eye(k)[y])
        found[str(k)] = {"y": y, "p": p, "pred": p.argmax(1), "wrong": (p.argmax(1) != y).astype(float)}
    return found


def write(kind, path, **columns):
    """Write columns with the library that people would use."""
    import pandas as pd
    import polars as pl

    path = path.with_name(f"{path.name}.{kind}")
    plain = {name: np.asarray(column).tolist() for name, column in columns.items()}
    if kind == "npz":
        np.savez(path, **columns)
    elif kind == "parquet":
        pl.DataFrame(plain).write_parquet(path)
    elif kind == "jsonl":
        pl.DataFrame(plain).write_ndjson(path)
    elif kind == "json":
        pd.DataFrame(plain).to_json(path, orient="records")
    elif kind == "csv.gz":
        with gzip.open(path, "wt") as file:
            pd.DataFrame(plain).to_csv(file, index=False)
    else:
        pd.DataFrame(plain).to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    return path


def maker(folder, wrong, sure):
    """Return a function that writes columns into a file of its own, and the truth unless they have another."""
    numbers = count()

    def made(kind, refused="", remedy=None, wrong=wrong, sure=sure, **columns):
        return File(write(kind, folder / f"{next(numbers)}", **columns), wrong, sure, refused, remedy or {})

    return made


def binary(folder):
    """Return files of two classes."""
    two = model()["2"]
    y, pred, p, wrong = two["y"], two["pred"], two["p"][:, 1], two["wrong"]
    sure, names = np.maximum(p, 1 - p), np.array(["no", "yes"])
    of = maker(folder, wrong, sure)
    words = {"True Label": names[y], "Predicted Label": names[pred], "Confidence Score": sure}
    return {
        "p1_as_score": of("csv", "probability of one class", {"positive_probability": "score"},
                          y_true=y, y_pred=pred, score=p),
        "sklearn_y_score": of("csv", "nothing predicts", {"positive_probability": "y_score"}, y_true=y, y_score=p),
        "minus_plus": of("csv", y_true=2 * y - 1, y_pred=2 * pred - 1, confidence=sure),
        "minus_plus_p": of("csv", y=2 * y - 1, prob_1=p),
        "booleans": of("parquet", y_true=y == 1, y_pred=pred == 1, conf=sure),
        "text_labels": of("csv", **words),
        "text_and_p_yes": of("csv", "nothing predicts", {"positive_probability": "p_yes"}, actual=names[y], p_yes=p),
        "uncertainty_as_conf": of("csv", y_true=y, y_pred=pred, entropy=1 - sure),
        "acc_and_labels": of("csv", gt=y, pred=pred, max_softmax=sure, acc=1 - wrong),
        "tabs": of("tsv", "may be the probability of class 1", {"confidence": "probability"},
                   label=y, prediction=pred, probability=sure),
        "per_cent": of("csv.gz", label=y, pred=pred, confidence=[f"{100 * s:.6f} %" for s in sure]),
    }  # fmt: skip


def several(folder):
    """Return files of three classes, of losses and of answers in words."""
    three = model()["3"]
    y, pred, p, wrong = three["y"], three["pred"], three["p"], three["wrong"]
    sure, names = p.max(1), np.array(["ant", "bee", "cat"])
    np.save(folder / "z.npy", np.log(p))
    fields = np.array(list(zip(y, pred, sure, strict=True)), dtype=[("label", int), ("pred", int), ("conf", float)])
    np.save(folder / "named.npy", fields)
    marked = np.r_[y, np.full(40, -1)]
    more = np.r_[p, softmax(np.random.default_rng(1).normal(size=(40, 3)))]
    of = maker(folder, wrong, sure)
    rank = np.digitize(sure, [0.5, 0.8])
    return {
        "y_prob_of_three": of("csv", y_true=y, y_pred=pred, y_prob=sure),
        "class_columns": of("csv", label=names[y], **{f"prob_{name}": p[:, k] for k, name in enumerate(names)}),
        "plain_npy": File(folder / "z.npy", wrong, sure, "without names"),
        "named_npy": File(folder / "named.npy", wrong, sure),
        "words": of("csv", sure=rank, y_true=y, y_pred=pred, confidence=np.array(["low", "medium", "high"])[rank]),
        "probs_as_percent": of("csv", "fractions instead of per cent", label=y,
                               **{f"p_{k}": 100 * p[:, k] for k in range(3)}),
        "marked_ood": of("npz", labels=marked, probs=more, is_ood=np.arange(N + 40) >= N),
        "ood_label": of("npz", "out of distribution", {"ood_label": -1}, labels=marked, probs=more),
        "quality": of("csv", wrong=1 - wrong / 4, id=range(N), quality=wrong / 4, confidence=sure),
        "two_labels": of("csv", "could be 'label' or 'y_true'", {"labels": "y_true"},
                         label=y, y_true=y, pred=pred, conf=sure),
    }  # fmt: skip


def shapes(folder):
    """Return files whose names say little, so that values have to tell."""
    import pandas as pd

    three = model()["3"]
    y, p, wrong, sure, pred = three["y"], three["p"], three["wrong"], three["p"].max(1), three["pred"]
    names = np.array(["ant", "bee", "cat"])
    pd.DataFrame(p).assign(y=y).to_csv(folder / "numbers.csv", index=False)
    pd.DataFrame({"label": y, "probs": [str(row.tolist()) for row in p]}).to_csv(folder / "lists.csv", index=False)
    rng = np.random.default_rng(3)
    real, spread = rng.normal(size=N), rng.gamma(2.0, 0.3, N)
    guess = real + spread * rng.normal(size=N)
    several, marginal = (rng.random((N, 4)) < 0.3).astype(int), rng.random((N, 4))
    hits = (marginal >= 0.5) == several
    of = maker(folder, wrong, sure)
    below = (p[:, 0] < 0.5) * 1
    sigmoid = {"wrong": (below != (y > 0)) * 1.0, "sure": np.maximum(p[:, 0], 1.0 - p[:, 0])}
    return {
        "columns_0_1_2": File(folder / "numbers.csv", wrong, sure),
        "keras_one_hot": of("npz", y_true=np.eye(3)[y], y_pred=p),
        "keras_sigmoid": of("npz", **sigmoid, y_true=(y > 0) * 1, y_pred=1.0 - p[:, :1]),
        "a_matrix_of_logits": of("npz", "do not sum to 1", {"logits": "y_pred"}, targets=y, y_pred=np.log(p)),
        "lists_as_text": File(folder / "lists.csv", wrong, sure),
        "regression": of("csv", "measured numbers", {"task": "regression"}, (real - guess) ** 2, -spread,
                         y_true=real, y_pred=guess, y_std=spread),
        "several_labels": of("npz", "several labels per row", {"task": "multilabel"}, 1.0 - hits.mean(axis=1),
                             np.maximum(marginal, 1.0 - marginal).mean(axis=1), y_true=several, y_prob=marginal),
        "said_abstain": of("csv", wrong=wrong[sure >= 0.5], sure=sure[sure >= 0.5],
                           label=names[y], conf=sure, pred=np.where(sure < 0.5, "abstain", names[pred])),
        "other_names": of("csv", "differ by case alone", label=names[y], pred=np.char.upper(names[pred]), conf=sure),
        "camel_case": of("jsonl", isCorrect=wrong == 0, MeanTokenEntropy=-sure),
        "row_per_model": of("npz", "if each is one model, write its column to a file of its own",
                            labels=y, pred=np.tile(pred, (2, 1))),
        "decision_value": of("csv", "distance from the threshold",
                             y_true=(y > 0) * 1, y_pred=below, y_score=3 * (0.5 - p[:, 0])),
        "free_text": of("csv", "answers in words are no classes", {"correct": "judged"}, confidence=sure,
                        prediction=[f"{k}" for k in range(N)], reference=[f"it is {k}" for k in range(N)],
                        judged=1 - wrong),
    }  # fmt: skip


def ood(folder):
    """Return files of lm-eval, Inspect, FD-Shifts and OpenOOD."""
    lines = [json.loads(line) for line in (FIXTURES / f"samples_sums_{DATE}.jsonl").read_text().splitlines()]
    said = softmax(np.array([[float(each[0]) for each in line["filtered_resps"]] for line in lines])).max(1)
    text = [json.loads(line) for line in (FIXTURES / f"samples_sums_text_{DATE}.jsonl").read_text().splitlines()]
    strict = np.array([line["exact_match"] for line in text if line["filter"] == "strict"])
    three = fd_shifts(folder, sets=3)
    rows, p = three["dataset"] == 1, softmax(three["logits"])
    outside = openood(folder)["inside"]
    log = json.loads((FIXTURES / "inspect.json").read_text())["samples"]
    found = [(str(each["id"]), (each["scores"].get("judge") or {}).get("value")) for each in log]
    loss = {"C": 0.0, "P": 0.5, "I": 1.0}
    judged = [(name, loss.get(value, 1.0) if isinstance(value, str) else 1.0) for name, value in found if value != "N"]
    verdicts = [each for _, each in judged]
    packed = [each for _, each in sorted(judged, key=lambda each: each[0])]  # members of a packed log, by name
    return {
        "lm_eval": File(FIXTURES / f"samples_sums_{DATE}.jsonl", [1 - line["acc"] for line in lines], said),
        "lm_eval_text": File(FIXTURES / f"samples_sums_text_{DATE}.jsonl", 1 - strict, None, "choose one with where",
                             {"where": {"filter": "strict"}}),
        "inspect_log": File(FIXTURES / "inspect.json", verdicts),
        "inspect_frame": File(FIXTURES / "inspect_samples.parquet", verdicts),
        "inspect_eval": File(FIXTURES / "inspect.eval", packed),
        "fd_shifts_sets": File(folder / "raw_logits.npz", (p.argmax(1) != three["labels"])[rows], p.max(1)[rows],
                               "choose one with where", {"where": {"dataset": 1}}),
        "openood": File(folder / "cifar10.npz", outside[0] != outside[2], outside[1]),
        "openood_ood": File(folder / "svhn.npz", None, None, "nothing to be right about"),
        "openood_pickle": File(folder / "msp.pkl", None, None, "never opened"),
    }  # fmt: skip


MAKERS = (binary, several, shapes, ood)
