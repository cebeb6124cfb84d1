"""``abstain compare``: several models (a file each) or several scores of one file, on the same samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import abstain.outputs
from abstain._result import Verdict
from abstain.cli._columns import ANSWERS, MODEL, SAMPLE, SURE, reads, words
from abstain.cli._group import Options, command
from abstain.cli._input import about, read, read_fit, score_names
from abstain.cli._next import with_threshold
from abstain.cli._output import Output, writes
from abstain.cli._several import comparison_of_files, is_several


@command.command("compare")
@click.argument("files", type=Path, nargs=-1, required=True)
@click.option(
    "--metric", default="augrc", show_default=True, help="A name of 'abstain metrics', with options if wanted."
)
@click.option("--level", default=0.95, show_default=True, help="Of intervals; tests are at 1 - level.")
@click.option(
    "--adjust",
    default="holm",
    show_default=True,
    type=click.Choice(["holm", "max-t", "none"]),
    help="How p-values of many pairs are adjusted.",
)
@click.option(
    "--method",
    default="auto",
    show_default=True,
    type=click.Choice(["auto", "influence", "bootstrap", "permutation"]),
    help="How p-values are had; influence allows for an error that is missing in the sample.",
)
@click.option("--scores", help="Of one file: scores to compare; of several: the score to use in each.")
@click.option("--margin", type=float, help="Show that the first is not worse than the second by this much or more.")
@click.option("--equivalent", is_flag=True, help="With --margin: neither worse nor better by it.")
@click.option("--groups", "by", help="Of one file and one score: groups of this column against each other.")
@click.option("--fit", "fit_file", type=Path, help="Outputs to fit the scores of one file on; see 'abstain scores'.")
@reads(*MODEL, *ANSWERS, *SURE, *SAMPLE)
@click.option("--plan", "plan_file", type=Path, help="Plan of 'abstain plan --compare': only its rows are labelled.")
@writes("json", ("comparison", "forest"), "report", "table", "scale")
def compare_command(
    files: tuple[Path, ...], metric: str, level: float, adjust: Any, method: Any, scores: str | None,
    fit_file: Path | None, columns: Options, plan_file: Path | None, margin: float | None, equivalent: bool,
    by: str | None, to: Output,
) -> None:  # fmt: skip
    """Say which score or model is better: paired tests on the same samples.

    One FILE: its scores against each other. Several: the models against each other, matched by --ids or by row. With
    --margin two of them, the new one first; exit code 1 if it is not shown. With --groups: the groups of one file.

    Examples
    --------
    abstain compare resnet.npz vit.npz --metric aurc
    abstain compare answers.parquet --loss wrong --scores msp,max_logit,verbal
    abstain compare test.npz --scores 'msp,knn(neighbours=10)' --fit train.npz
    abstain compare small.npz large.npz --margin 0.002
    abstain compare answers.parquet --loss wrong --scores msp --groups site
    """
    if by is not None:
        others = {"--margin": margin is not None, "--plan": plan_file is not None, "--plot": to.plots}
        others |= {"all FILEs but one": files[1:], "--adjust": adjust != "holm", "--method": method != "auto"}
        for option, given in others.items():
            if given:
                raise click.UsageError(f"--groups compares groups of rows by one score; leave {option} out")
    if margin is not None and (plan_file is not None or to.plots or method != "auto"):
        raise click.UsageError("--margin makes one test of two; leave --plan, --plot and --method out")
    if equivalent and margin is None:
        raise click.UsageError("--equivalent says what --margin claims; give --margin, too")
    chosen = abstain.metrics.parse(metric)
    if fit_file is not None and len(files) > 1:
        raise click.UsageError("--fit holds outputs of one model; give one FILE, whose scores are compared")
    how: Options = {"adjust": adjust, "method": method}
    sources = files if fit_file is None else (*files, fit_file)
    to.check(*sources)
    for file in files:
        if file.suffix.lower() == ".parquet" and abstain.summaries.is_summary(file):
            raise ValueError(
                f"{file}: is a summary, not rows; a test is about pairs of scores, which it does not hold. Of a "
                "difference it says bounds: those of 'abstain summarize', least of one less most of the other"
            )
    wanted = score_names(scores)
    score, first = next(iter(wanted), None), None
    result: Any
    if plan_file is not None:
        result, first = _planned(files, plan_file, wanted, chosen, level, columns)
        sources = (*files, plan_file)
        verdict = with_threshold(result.verdict, files[0], columns, score, new=True)
    elif any(map(is_several, files)):
        apart = {"all FILEs but one": files[1:], "--groups": by, "--margin": margin is not None, "--fit": fit_file}
        result = comparison_of_files(files[0], wanted, columns, apart, metric=chosen, level=level, **how)
        sources, verdict = (), _judged(result.verdict, files, columns, wanted)
    elif by is not None:
        result = _of_groups(files[0], wanted, by, read_fit(fit_file, columns), chosen, level, columns)
        differ = words(by) if any(each.significant for each in result.differences) else ()
        verdict = with_threshold(result.verdict, files[0], columns, score, groups=differ)
    else:
        if len(files) == 1:
            losses, candidates, first = _scores_of(files[0], wanted, read_fit(fit_file, columns), columns)
        else:
            losses, candidates, first = models_of(files, wanted, columns)
        options: Options = {"sample_weight": first.sample_weight, "clusters": first.clusters, "level": level}
        with about(*files):
            if margin is None:
                result = abstain.compare(losses, candidates, chosen, **how, **options)
            else:
                options |= {"margin": margin, "claim": "equivalent" if equivalent else "non-inferior"}
                result = abstain.inference.non_inferiority(losses, candidates, chosen, **options)
        verdict = _judged(result.verdict, files, columns, wanted)
    title = f"Comparison: {', '.join(file.name for file in files)}"
    to.write(result, title=title, files=sources, outputs=first if margin is None else None, verdict=verdict)
    to.show(result, verdict)
    if margin is not None and not result.shown:
        click.get_current_context().exit(1)


def _judged(verdict: Verdict, files: tuple[Path, ...], columns: Options, wanted: list[str]) -> Verdict:
    """Return the verdict with the command that chooses a threshold for the winner: a score of one file, or a model."""
    if len(files) == 1:
        return with_threshold(verdict, files[0], columns, verdict.score, new=True)
    winner = dict(zip(names_of(files), files, strict=True))[verdict.score]
    return with_threshold(verdict, winner, columns, wanted[0] if wanted else None, new=True)


def _planned(
    files: tuple[Path, ...],
    plan_file: Path,
    wanted: list[str],
    metric: str | abstain.metrics.Metric,
    level: float,
    columns: dict[str, Any],
) -> tuple[Any, abstain.Outputs]:
    """Return the comparison of two models from the rows of a plan, and the outputs of the first."""
    if len(files) != 2:
        raise click.UsageError("--plan compares two models: give two FILEs, in the order of 'abstain plan'")
    plan = abstain.pool.load_plan(plan_file)
    losses, confidences, found = {}, {}, list[Any]()
    for k, (name, file) in enumerate(zip(names_of(files), files, strict=True)):
        outputs, loss = abstain.outputs.read_pool(file, **columns)
        found.append(outputs)
        with about(file):
            score = wanted[0] if wanted else abstain.scores.default(outputs)
            column = abstain.scores.compute(score, outputs)
            order = abstain.pool.places(plan if k == 0 else plan.of_second(), column, outputs.ids)
        losses[name], confidences[name] = loss[order], column[order]
    with about(*files):
        return abstain.compare(losses, confidences, metric, level=level, plan=plan), found[0]


def _of_groups(
    file: Path,
    wanted: list[str],
    by: str,
    fit: abstain.Outputs | None,
    metric: str | abstain.metrics.Metric,
    level: float,
    options: Options,
) -> Any:
    """Return the comparison of the groups of a column, by one score of one file."""
    outputs, names, found = read(file, wanted, words(by), **options)
    for option, given in (("--scores", names), ("--groups", found)):
        if len(given) > 1:
            raise ValueError(f"{file}: {option} names {', '.join(given)}; groups are compared by one score and column")
    with about(file):
        score = names[0] if names else abstain.scores.default(outputs)
        column = abstain.scores.compute(score, outputs, fit)
        loss = abstain.scores.judged(score, outputs).loss_per_sample()
        return abstain.inference.compare_groups(
            loss, column, (outputs.groups or {})[found[0]], metric, level=level, sample_weight=outputs.sample_weight,
            clusters=outputs.clusters,
        )  # fmt: skip


def _scores_of(
    file: Path, wanted: list[str], fit: abstain.Outputs | None, options: Options
) -> tuple[Any, dict[str, Any], abstain.Outputs]:
    """Several scores of one file, each under the loss of the predictions that it is about."""
    outputs, names, _ = read(file, wanted, [], **options)
    names = names or abstain.scores.available(outputs, fit)
    if len(names) < 2:
        raise ValueError(f"{file}: holds {len(names)} score to compare; name two with --scores, or give several files")
    with about(file):
        columns = {name: abstain.scores.compute(name, outputs, fit) for name in names}
        judged = {name: abstain.scores.judged(name, outputs) for name in names}
    if all(each is outputs for each in judged.values()):
        return outputs.loss_per_sample(), columns, outputs
    return {name: each.loss_per_sample() for name, each in judged.items()}, columns, outputs


def models_of(
    files: tuple[Path, ...], wanted: list[str], options: Options
) -> tuple[dict[str, Any], dict[str, Any], abstain.Outputs]:
    """One score of each of several files, each under its own loss, on the samples that the first file has."""
    if len(wanted) > 1:
        raise ValueError(f"--scores names {len(wanted)} scores for several files; one score is used in each")
    losses: dict[str, Any] = {}
    columns: dict[str, Any] = {}
    first: abstain.Outputs | None = None
    for file, name in zip(files, names_of(files), strict=True):
        outputs, names, _ = read(file, wanted, [], **options)
        first = first or outputs
        outputs = matched(outputs, first, file, files[0])
        _require_same(outputs, first, file, files[0])
        with about(file):
            score = names[0] if names else abstain.scores.default(outputs)
            columns[name] = abstain.scores.compute(score, outputs)
            losses[name] = abstain.scores.judged(score, outputs).loss_per_sample()
    assert first is not None
    return losses, columns, first


def names_of(files: tuple[Path, ...]) -> list[str]:
    """Names of models: file names without ending where that distinguishes them."""
    for candidates in ([file.stem for file in files], [file.name for file in files], list(map(str, files))):
        if len(set(candidates)) == len(files):
            return candidates
    raise ValueError("a file is given twice; name each model once")


def matched(outputs: abstain.Outputs, first: abstain.Outputs, file: Path, reference: Path) -> abstain.Outputs:
    """Return the outputs in the order of the first file's samples."""
    import numpy as np

    if outputs.ids is not None and first.ids is not None:
        ids, wanted = _of_one_type(outputs.ids, first.ids)
        for column, where in ((ids, file), (wanted, reference)):
            if len(np.unique(column)) < len(column):
                raise ValueError(f"{where}: identifiers occur more than once; samples cannot be matched by them")
        order = np.argsort(ids)
        place = np.minimum(np.searchsorted(ids, wanted, sorter=order), len(ids) - 1)
        if len(ids) != len(wanted) or not np.array_equal(ids[order[place]], wanted):
            missing = int(np.sum(~np.isin(wanted, ids)))
            raise ValueError(
                f"{file}: is not on the samples of {reference}: {len(ids)} against {len(wanted)} identifiers, "
                f"{missing} of them missing here; keep the samples that all files have"
            )
        return outputs.select(order[place])
    if outputs.n != first.n:
        raise ValueError(f"{file}: has {outputs.n} samples, {reference} has {first.n}; models need the same samples")
    return outputs


def _of_one_type(*columns: Any) -> list[Any]:
    """Return columns as text if one is text: what is a number in one file may be text in another."""
    import numpy as np

    arrays = list(map(np.asarray, columns))
    return [array.astype(str) for array in arrays] if any(array.dtype.kind == "U" for array in arrays) else arrays


def _require_same(outputs: abstain.Outputs, first: abstain.Outputs, file: Path, reference: Path) -> None:
    """Refuse files that disagree about their samples: labels, weights and clusters are no opinion of a model."""
    import numpy as np

    if outputs.labels is not None and first.labels is not None:
        labels, others = np.asarray(outputs.labels), np.asarray(first.labels)
        if outputs.class_names is not None and first.class_names is not None:  # of text, those that a file happens on
            labels, others = np.array(outputs.class_names)[labels], np.array(first.class_names)[others]
        if not np.array_equal(labels, others):
            row = int(np.argmax(labels != others))
            raise ValueError(
                f"{file}: label {labels[row]} is {others[row]} in {reference} [data row {row + 1} there]; "
                "rows must be the same samples in the same order, or be matched by --ids"
            )
    for name in ("sample_weight", "clusters"):
        ours, theirs = getattr(outputs, name), getattr(first, name)
        if (ours is None) != (theirs is None) or not (ours is None or np.array_equal(*_of_one_type(ours, theirs))):
            raise ValueError(f"{file}: {name} is not that of {reference}; every file needs the same {name}")
