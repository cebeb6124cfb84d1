"""The tables of the pages on training, from the committed numbers: ``python -m experiments.openood.pages``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.openood._claims import claims
from experiments.openood._rows import STUDY
from experiments.openood._scores import TABLE_1, TABLE_5, by_score, by_training, counted, steps_counted
from experiments.openood._tables import beside, by_seeds, labelled, read

#: Setting -> seeds of its rows at equal passes (None: all).
SETTINGS: Mapping[str, str | None] = {"fashion_small": None, "cifar10": "0", "fashion_mnist": "0"}
RESULTS = Path(__file__).parent / "results"

_PAIRED = "DS-F1 and DS-AURC by {} and the maximum probability"
LABELLED = (
    ("Test set:", labelled("test")),
    ("Fifteen corruptions, a metric per level, then the mean of the five:", labelled("corruption")),
)
KNN = (f"With OOD data, by `knn`; {_PAIRED.format('`knn`')}:", beside("knn"))
FOREIGN = (
    ("With OOD data, by the maximum probability alone:", beside("msp")),
    KNN,
    (f"With OOD data, by ViM; {_PAIRED.format('ViM')}:", beside("vim")),
)
#: Settings whose runs have every score of the paper's tables.
SCORED = ("fashion_scores", "cifar10_scores")
#: A heading, and the columns of its table.
Titled = tuple[str, tuple[tuple[str, str, float], ...]]


def shown(setting: str) -> list[str]:
    """Return what a page shows of a setting, in order: tables with their headings, and the claims.

    All rows with cross-entropy; where there are rows at equal passes, these with their own shorter ones, and with
    cross-entropy of as many passes.
    """
    rows, seed = read(RESULTS / f"{setting}.csv"), SETTINGS[setting]
    models = list(dict.fromkeys(job.model for job in STUDY.jobs("cpu") if job.setting.name == setting))
    longer = [model for model in models if model.endswith("_equal_passes")]
    first = [row for row in rows if seed in (None, row["seed"])]
    own = {model: model.removesuffix("_equal_passes") for model in longer}
    others = [*longer[1:], "sure_plus"]
    at_equal_passes = [
        _titled(first, longer, (*LABELLED, KNN), own),
        _titled(first, others, (*LABELLED, KNN), dict.fromkeys(others, "ce_equal_passes")),
    ]
    return [
        _titled(rows, [m for m in models if seed is None or m not in longer], (*LABELLED, *FOREIGN)),
        *(at_equal_passes if longer else []),
        claims(rows, setting),
    ]


def shown_scores(setting: str) -> list[str]:
    """Return the tables of the page on seventeen scores: 1, what is counted in it, 5, 2 and 3, counts, claims."""
    rows = read(RESULTS / f"{setting}.csv")
    alone = [by_score(rows, TABLE_1), counted(rows), by_score(rows, TABLE_5)]
    nine = [by_training(rows, metric, group) for metric in ("DS-F1", "DS-AURC") for group in ("near", "far")]
    return [*alone, *nine, steps_counted(rows), claims(rows, setting)]


def _titled(
    rows: Sequence[dict[str, object]], models: Sequence[str], tables: Sequence[Titled],
    bases: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    return "\n\n".join(f"{title}\n\n{by_seeds(rows, models, columns, bases)}" for title, columns in tables)


if __name__ == "__main__":
    for name in SETTINGS:
        print("\n\n".join([f"# {name}", *shown(name)]), end="\n\n")
    for name in SCORED:
        print("\n\n".join([f"# {name}", *shown_scores(name)]), end="\n\n")
