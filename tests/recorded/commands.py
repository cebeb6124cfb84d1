"""The command in this process, on files of one model: its exit code, and numbers and names of all that it writes."""

import json
import re
import shlex
import warnings
from contextlib import contextmanager
from functools import wraps
from pathlib import Path

import numpy as np
import polars as pl
from click.testing import CliRunner

from abstain.cli import run
from tests.recorded.sources import NAMES, column, folder, said, softmax

#: What depends on the day and on versions of libraries, and what is long and follows from the rest.
LEFT_OUT = {"abstain", "numpy", "python", "versions", "created", "digest", "sketch", "source", "bins"}


#: Columns of what is right, which rows out of distribution do not have.
TRUTH = ("y", "wrong", "name", "code")


def rows(seed, n, *, shift=0.0):
    """Return predictions of three classes with two scores, groups, clusters, days and ids."""
    rng = np.random.default_rng([20261126, seed])
    y = rng.integers(0, 3, n)
    logits = rng.normal(size=(n, 3)) + (2.2 - shift) * np.eye(3)[y]
    p = softmax(logits).round(6)
    frame = {"id": np.arange(n) + 1000 * seed, "y": y, "yhat": p.argmax(axis=1), "conf": p.max(axis=1).round(4)}
    frame |= {f"p_{k}": p[:, k] for k in range(3)} | {f"logit_{k}": logits[:, k].round(4) for k in range(3)}
    frame |= {"other": (p.max(axis=1) + rng.normal(0.0, 0.2, n)).round(3), "wrong": (p.argmax(axis=1) != y).astype(int)}
    frame |= {"site": np.array(["north", "south"])[rng.integers(0, 2, n)], "who": np.sort(rng.integers(0, n // 6, n))}
    frame |= {"day": np.arange(n) // max(1, n // 8), "w": rng.integers(1, 4, n), "name": NAMES[y], "code": y}
    return pl.DataFrame(frame | {"vague": rng.random(n).round(3)})


@contextmanager
def files():
    """Work where there are rows to choose from, other ones of this and of a worse model, and of no class."""
    with folder():
        rows(1, 300).write_csv("a.csv")
        rows(2, 250).write_csv("b.csv")
        rows(3, 250, shift=1.2).write_csv("worse.csv")
        rows(1, 300).with_columns(conf=pl.Series(rows(1, 300, shift=0.5)["conf"])).write_csv("model.csv")
        rows(4, 120, shift=2.2).drop(*TRUTH).write_csv("ood.csv")
        yield


def told(value):
    """Return a document without what depends on the day, each sentence as its numbers and names."""
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if key not in LEFT_OUT}
        found = {key: each.split() if key == "next" and each else told(each) for key, each in kept.items()}
        return {"said" if key == "notes" else key: each for key, each in found.items()}  # which are recorded, too
    if isinstance(value, list):
        return [told(each) for each in value]
    return said(value) if isinstance(value, str) and " " in value else value


def _of_file(path):
    if path.suffix == ".json":
        return told(json.loads(path.read_text()))
    if path.suffix in (".csv", ".parquet"):
        frame = pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)
        return {name: column(values) for name, values in frame.to_dict(as_series=False).items()}
    if path.suffix in (".md", ".tex", ".txt", ".prom", ".sql"):
        return [each for line in path.read_text().splitlines() if "timestamp" not in line for each in said(line)]
    return path.suffix


def done(line):
    """Return what a command leaves behind: exit code, document or printed numbers, what it says, new files."""
    old = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    with warnings.catch_warnings(), CliRunner().isolation() as (out, err, _):
        warnings.simplefilter("ignore")
        code = run(shlex.split(line))
        printed, spoken = out.getvalue().decode(), err.getvalue().decode()
    try:
        document = told(json.loads(printed))
    except ValueError:
        document = said(printed)
    every = [each for each in sorted(Path().rglob("*")) if not {"units", "__pycache__"} & set(each.parts)]
    new = [each for each in every if each.is_file() and old.get(each) != each.stat().st_mtime_ns]
    next_ = [each.split() for each in re.findall(r"^ *(?:next:|abstain ).*(?:\n  .*)*", printed, re.MULTILINE)]
    words = [said(each) for each in spoken.splitlines() if " units, " not in each]  # with the time that these may take
    return [code, document, printed.count("\n\n"), next_, words, {str(path): _of_file(path) for path in new}]


def heads_of(name):
    """Return sections, options and commands of a help page, in their order."""
    with CliRunner().isolation() as (out, _, _):
        run([*name.split(), "--help-all"])
        printed = out.getvalue().decode()
    return re.findall(r"^(?:[A-Z][^:\n]*:$|  (?:-\w, )?--[\w-]+|  [a-z]+(?= {2,}))", printed, re.MULTILINE)


def all_of(text):
    """Return what commands leave behind, several in a line by '|', with a shared start before ' : '."""
    found, start = {}, ""
    for row in text.strip().splitlines():
        start = start if row.strip()[0] == "|" else ""
        for each in row.strip().lstrip("| ").split(" | "):
            start, end = each.split(" : ") if " : " in each else (start, each)
            line = f"{start} {end}".strip()
            found[line] = done(line)
    return found


def ran(setting):
    """Record of a case what the commands that it returns leave behind in a setting."""

    def made(case):
        @wraps(case)
        def found():
            with setting():
                return all_of(case())

        return found

    return made
