"""``abstain joint``: saved outputs of an ID test set and of OOD sets, evaluated together with two scores."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click

import abstain
from abstain._pace import paced
from abstain._result import Column, Row, Table, json_text, plain
from abstain.cli._columns import MODEL, reads, words
from abstain.cli._group import Options, command
from abstain.cli._input import about, column_names, read, read_fit, score_names, unread_scores
from abstain.cli._next import GUARANTEE, with_threshold
from abstain.cli._ood import beside, marked
from abstain.cli._output import Output, writes
from abstain.cli._show import print_result, print_table, say_written, verbose


class _Set(NamedTuple):
    """An OOD set: its name, its file, and which rows of it, if not all."""

    name: str
    file: Path
    rows: dict[str, str] | None = None


#: What says how right and how sure the rows of ID_FILE are, if its columns have other names.
_OWN = ("predictions", "positive_probability", "loss", "correct", "uncertainty")
#: Rows, times permutations, times gains, that take seconds; and permutations where all would take more.
_SECONDS, _FEW = 2_000_000, 10
LAYOUTS = ["single-double", "strategies", "tasks", "detection", "sets"]
#: Options of the table, and the layouts that have them.
_SHAPED = {"metric": ["sets", "strategies"], "group": ["strategies"]}


@command.command("joint")
@click.argument("id_file", type=Path)
@click.argument("ood_files", type=Path, nargs=-1)
@click.option(
    "--ood", multiple=True, metavar="COLUMN=VALUE", help="Rows of ID_FILE that are an OOD set; --where: the ID rows."
)
@click.option("--near", help="OOD sets close to the ID data, separated by commas: file names without ending.")
@click.option("--far", help="OOD sets far from the ID data.")
@click.option("--also", multiple=True, help="Folder of another run, same file names; NAME=FOLDER: trained otherwise.")
@click.option("--confidence", help="The ID score of the pair.  [the given confidence, else msp]")
@click.option("--scores", help="Detector scores to pair it with, high = known.  [all that can be computed]")
@click.option("--fit", "fit_file", type=Path, help="Training outputs, for scores that are fitted, such as knn.")
@click.option("--prevalence", type=float, help="Share of OOD samples to weigh to, in [0, 1).  [as in the data]")
@click.option("--layout", default="single-double", show_default=True, type=click.Choice(LAYOUTS), help="Of the table.")
@click.option("--metric", help="Of --layout sets and strategies.  [default: ds_f1]")
@click.option("--group", help="near, far or an OOD set, of --layout strategies.  [all sets]")
@click.option(
    "--permutations",
    "n_permutations",
    type=click.IntRange(min=0),
    help="Useless scores to compare gains with; 0: none.  [as many as needed, if that takes seconds; else 10]",
)
@reads(*MODEL, *_OWN)
@writes("json", ("joint", "frontier"), "table", "report", "scale")
def joint_command(
    id_file: Path, ood_files: tuple[Path, ...], ood: tuple[str, ...], near: str | None, far: str | None,
    also: tuple[str, ...], confidence: str | None, scores: str | None, fit_file: Path | None,
    prevalence: float | None, layout: str, metric: str | None, group: str | None, n_permutations: int | None,
    columns: Options, to: Output,
) -> None:  # fmt: skip
    """Evaluate failures on ID_FILE and out-of-distribution inputs of OOD_FILES together.

    Without OOD_FILES, the rows of ID_FILE that its column is_ood (or the label -1) marks are the OOD set, or those that
    --ood names.

    Every detector score alone, and paired with the confidence; values per set, then means of groups, then of runs.

    Examples
    --------
    abstain joint test.npz cifar10.npz mnist.npz --near cifar10 --far mnist
    abstain joint test.npz mnist.npz --scores energy,knn --fit train.npz --prevalence 0.5 --table table.tex
    abstain joint basic/test.npz basic/mnist.npz --also mixup=mixup0 --also mixup=mixup1 --layout strategies
    """
    from abstain.joint import protocol, with_gains

    parts = _parts(ood, columns)
    if not ood_files and not parts:
        ood_files, columns = (id_file,), columns if marked(id_file, columns) else columns | {"ood_label": -1}
    shape = {name: given for name, given in (("metric", metric), ("group", group)) if given is not None}
    for name in shape:
        if layout not in _SHAPED[name]:
            raise click.UsageError(f"--{name} is for --layout {' and '.join(_SHAPED[name])}, not {layout}")
    files = (id_file, *ood_files, *([] if fit_file is None else [fit_file]))
    others = [each.partition("=")[::2] if "=" in each and not Path(each).is_dir() else ("", each) for each in also]
    sources = [*files, *(Path(folder) / file.name for _, folder in others for file in files)]
    to.check(*sources)
    sets = [_Set(file.stem, file) for file in ood_files] + [_Set(name, id_file, rows) for name, rows in parts.items()]
    groups = _groups([each.name for each in sets], words(near), words(far))
    first_run, inside = _scored(id_file, sets, fit_file, confidence, score_names(scores), columns)
    first, *rest = first_run.id_scores
    own = id_file.resolve().parent.name
    runs = {own: [first_run]}
    for strategy, folder in others:
        there = [each._replace(file=Path(folder) / each.file.name) for each in sets]
        fit = None if fit_file is None else Path(folder) / fit_file.name
        run, _ = _scored(Path(folder) / id_file.name, there, fit, first, rest or [first], columns)
        runs.setdefault(strategy or own, []).append(run)
    with about(id_file):
        result = protocol(runs, groups, confidence=first, prevalence=prevalence)
    table = result.table(layout, **shape).scaled(to.scale)
    gains = _gains(first_run, result, _enough(first_run) if n_permutations is None else n_permutations)
    if to.json_path is not None:
        _write_json(result, gains, to.json_path)
    answered = beside(first_run, first, *map(float, GUARANTEE[1::2]))
    verdict = with_gains(result.verdict, gains).but(*answered, instead=["ood_answered"] if answered else [])
    verdict = with_threshold(verdict, id_file, columns, first)
    if not scores and (unread := unread_scores([id_file, *ood_files], inside)):
        shown = ", ".join(unread[:3]) + (f" and {len(unread) - 3} more" if len(unread) > 3 else "")
        click.echo(f"not evaluated, though all files hold it: {shown} (--scores NAME, high = known)", err=True)
    title = f"Failures and OOD inputs: {', '.join(dict.fromkeys(Path(file).name for file in files))}"
    to.report(result, title=title, files=files, gains=gains, verdict=verdict)
    to.table(table)
    if to.plots:
        _draw(to, first_run, first, rest, prevalence)
    if not to.instead:
        print_result(result, verdict=verdict, tables=False)
        click.echo()
        print_table(table)
        if gains and verbose():
            click.echo()
            print_table(_gain_table(gains).scaled(to.scale))


def _draw(to: Output, run: abstain.joint.ScoredRun, first: str, rest: list[str], prevalence: float | None) -> None:
    """Write figures of the first OOD set, the confidence and the first other score; say so where there are more."""
    if not rest:
        raise click.UsageError("--plot draws two scores; name a second one with --scores")
    name, outside = next(iter(run.ood_scores.items()))
    result = abstain.joint.evaluate(
        run.id_loss, id_confidence=run.id_scores[first], id_detector=run.id_scores[rest[0]],
        ood_confidence=outside[first], ood_detector=outside[rest[0]], prevalence=prevalence,
    )  # fmt: skip
    to.draw(result, note=f": confidence {first}, detector {rest[0]}, OOD set {name}")


def _parts(ood: tuple[str, ...], columns: Options) -> dict[str, dict[str, str]]:
    """Return OOD sets in the ID file: the value of a column, and the rows that have it."""
    found = {}
    for pair in ood:
        name, sign, value = (each.strip() for each in pair.partition("="))
        if not sign or not value:
            raise click.UsageError(f"--ood takes COLUMN=VALUE, got {pair!r}")
        if not columns["where"] or value in found:
            raise click.UsageError(
                f"--ood {pair} is given twice" if value in found else "--ood needs --where, which chooses the ID rows"
            )
        found[value] = {name: value}
    return found


def _groups(sets: list[str], near: list[str], far: list[str]) -> dict[str, list[str]]:
    """Return the named groups; sets in no group are one of their own."""
    if len(set(sets)) < len(sets):
        raise ValueError("two OOD files have the same name; rename one, names distinguish sets")
    for name in near + far:
        if name in near and name in far:
            raise ValueError(f"{name!r} is both near and far; choose one, or values count twice")
        if name not in sets:
            from abstain._checks import closest

            raise ValueError(f"{name!r} is no OOD file; {closest(name, sets)}")
    rest = [name for name in sets if name not in near + far]
    named = {"near": near, "far": far, "OOD" if not near + far else "other": rest}
    return {group: names for group, names in named.items() if names}


def _scored(
    file: Path, sets: list[_Set], fit_file: Path | None, confidence: str | None, wanted: list[str],
    columns: Options,
) -> tuple[abstain.joint.ScoredRun, abstain.Outputs]:  # fmt: skip
    """Return the scores of one network on the ID file and on the OOD sets, the confidence first; and the ID outputs."""
    inside, listed, _ = read(file, _asked(file, confidence, wanted), [], **columns)
    fit = read_fit(fit_file, columns)
    first = confidence or abstain.scores.default(inside)
    names = list(dict.fromkeys([first, *(listed if wanted else abstain.scores.available(inside, fit))]))
    fits: dict[str, abstain.scores.FittedScore | None] = {}
    found: list[Options] = []
    for each in (None, *sets):
        outputs = (
            inside if each is None else _outside(each, inside, confidence, wanted, columns, both=each.file == file)
        )
        found.append({})
        for name in names:
            try:
                with about(file if each is None else each.file):
                    _loss_of(inside, name, first)
                    if name not in fits:
                        fits[name] = _fitted(name, inside, fit)
                    found[-1][name] = abstain.scores.compute(name, outputs, fits[name])
            except ValueError as error:  # such as a score of rectified features, where these are signed
                if wanted or name == first:
                    raise
                click.echo(f"left out: {error}", err=True)
        names = list(found[-1])
    id_scores, *ood_scores = [{name: column[name] for name in names} for column in found]
    named = dict(zip((each.name for each in sets), ood_scores, strict=True))
    return abstain.joint.ScoredRun(_loss_of(inside, first, first), id_scores, named), inside


def _loss_of(outputs: abstain.Outputs, name: str, first: str) -> Any:
    """Return the loss of the predictions that both scores are about."""
    loss, own = (abstain.scores.judged(score, outputs).loss_per_sample() for score in (first, name))
    if (loss != own).any():
        raise ValueError(
            f"{first} and {name} are about different predictions, those of the network and those of its repeated "
            "passes; name scores of one kind with --confidence and --scores"
        )
    return loss


def _asked(file: Path, confidence: str | None, wanted: list[str]) -> list[str]:
    """Return the scores to look for among the columns; the confidence may be one of them."""
    if confidence is None:
        return wanted
    columns = [name.removeprefix("score_") for name in column_names(file) if name.startswith("score_")]
    return [confidence, *(wanted or columns)]


def _outside(
    which: _Set, inside: abstain.Outputs, confidence: str | None, wanted: list[str], columns: Options, *, both: bool
) -> abstain.Outputs:
    """Return the outputs on an OOD set, whose labels are none of the network's; ``both``: a part of the ID file."""
    file = which.file
    if sys.stderr is not None and sys.stderr.isatty():
        click.echo(f"scoring {file}", err=True)
    own = columns
    if not both or which.rows is not None:
        of_id = dict.fromkeys(("labels", "is_ood", "ood_label", "loss", "correct"))
        own = columns | of_id | {"where": which.rows}
    outputs, _, _ = read(file, _asked(file, confidence, wanted), [], say=False, unlabelled=True, part="ood", **own)
    predicting = [each.logits is not None or each.probabilities is not None for each in (outputs, inside)]
    if all(predicting) and outputs.n_classes != inside.n_classes:
        raise ValueError(f"{file}: {outputs.n_classes} classes, but the ID set has {inside.n_classes}; one network?")
    return outputs


def _fitted(name: str, inside: abstain.Outputs, fit: abstain.Outputs | None) -> abstain.scores.FittedScore | None:
    """Return the fitted score; a column of the file is none."""
    if name in (inside.scores or {}):
        return None
    score = abstain.scores.parse(name)
    score.require(inside)
    return score.fit(fit)


def _enough(run: abstain.joint.ScoredRun) -> int:
    """Return how many permutations may find a p-value below 5 %, adjusted for all gains; few if these take long."""
    gains = 2 * len(run.ood_scores) * (len(run.id_scores) - 1)
    rows = max(len(run.id_loss) + len(next(iter(each.values()))) for each in run.ood_scores.values())
    return 20 * gains if 20 * gains * gains * rows <= _SECONDS else _FEW


def _gains(run: abstain.joint.ScoredRun, result: abstain.joint.ProtocolResult, n_permutations: int) -> list[Options]:
    """Gain of each second score on each set of the first run, next to that of the same score permuted."""
    if not n_permutations:
        return []
    first, found = result.confidence, []
    scores = [score for score in run.id_scores if score != first]
    for name, score, metric in paced(list(product(run.ood_scores, scores, ("ds_f1", "ds_aurc"))), "gains and noise"):
        outside = run.ood_scores[name]
        each = abstain.joint.null_gain(
            run.id_loss,
            id_confidence=run.id_scores[first],
            id_detector=run.id_scores[score],
            ood_confidence=outside[first],
            ood_detector=outside[score],
            metric=metric,
            n_permutations=n_permutations,
            prevalence=result.prevalence,
        )
        row = {"set": name, "score": score, "metric": metric, "gain": each.gain, "n_permutations": n_permutations}
        found.append(row | {"null_mean": each.null_mean, "null_sd": each.null_sd, "p": each.p_value})
    return found


def _gain_table(gains: list[Options]) -> Table:
    """Return the gains of each set and score in both metrics, next to those of noise."""
    columns = [Column("Set, score"), *(Column(name) for name in ("DS-F1", "noise", "DS-AURC", "noise"))]
    rows: list[Row] = [
        (f"{f1['set']}, {f1['score']}", *(round(row[key], 12) for row in (f1, area) for key in ("gain", "null_mean")))
        for f1, area in zip(gains[::2], gains[1::2], strict=True)
    ]
    return Table(columns, rows, title="Gain over the confidence alone, and that of the same score permuted (noise)")


def _write_json(result: abstain.joint.ProtocolResult, gains: list[Options], path: Path) -> None:
    from abstain._files import write_text

    text = json_text({**result.to_dict(), "gains": plain(gains)})
    if str(path) == "-":
        click.echo(text)
    else:
        write_text(path, text + "\n")
        say_written(path)
