"""``abstain threshold``: choose a threshold, or two, and write the policy."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import abstain
from abstain._result import Verdict
from abstain.cli._columns import ANSWERS, MODEL, SURE, reads, words
from abstain.cli._group import Options, command
from abstain.cli._input import about, read, understood
from abstain.cli._next import apply_line, scored_as, with_unread_groups
from abstain.cli._ood import choose, left_out, pair_options
from abstain.cli._output import Output, writes
from abstain.cli._several import is_several, threshold_of_files
from abstain.cli._show import say_written

#: What a threshold can be chosen for; each is an option of its own.
_OBJECTIVES = ("risk", "coverage", "capacity", "cost")


def _how(
    outputs: abstain.Outputs, score: str | None, temperature: float | None, given: Options
) -> abstain.policy.ScoreReading:
    """Return how a policy comes by the confidence of each row in new files."""
    if given["confidence"] and not (score is None and temperature is None):
        raise click.UsageError(
            "--score and --temperature compute a confidence from --logits or --probabilities; leave --confidence out"
        )
    return abstain.policy.score_reading(outputs, score, temperature)


def _say_repeated(outputs: abstain.Outputs) -> None:
    """Say if rows share an id: a guarantee would count them as independent."""
    import numpy as np

    if outputs.ids is not None and (distinct := len(np.unique(outputs.ids))) < len(outputs.ids):
        warnings.warn(
            f"{len(outputs.ids)} rows have {distinct} ids, and the guarantee counts each row as independent; if rows "
            "of an id belong together, name it with --clusters",
            abstain.thresholds.CopiedRowsWarning,
            stacklevel=2,
        )


def policies_of(outputs: abstain.Outputs, scores: Iterable[str]) -> dict[str, Options]:
    """Return how new files hold each score, as arguments of a policy; a score that none can name is left out."""
    found = {}
    for name in scores:
        with suppress(ValueError, TypeError):  # no policy can be made of it, which the page says
            found[name] = abstain.policy.score_reading(outputs, name).arguments()
    return found


def _capacity(_context: click.Context, _option: click.Parameter, text: str | None) -> Any:
    """Return a share, or cases that can be reviewed out of those that come in the same time."""
    if text is None:
        return None
    parts = text.split("/")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise click.UsageError(f"--capacity takes a share, or cases of all cases as in 500/2500; got {text!r}")
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


@command.command("threshold")
@click.argument("file", type=Path)
@reads(*MODEL, *ANSWERS, *SURE, "ids", "clusters")
@click.option("--score", help="Score to compute from logits or probabilities, in new files too.  [default: msp]")
@click.option("--temperature", type=float, help="Divides the logits first; it must not come from these rows.")
@click.option("--risk", type=float, help="Largest selective risk; with --delta it is certified.")
@click.option("--delta", type=float, help="Error probability of the certificate.")
@click.option("--coverage", type=float, help="Smallest share to answer.")
@click.option("--capacity", callback=_capacity, help="Largest share that reviewers can take: .2, or 500/2500 cases.")
@click.option("--cost", nargs=2, type=float, metavar="ERROR REVIEW", help="Costs of an error and of a review.")
@click.option("--review-cost", type=click.FloatRange(min=0.0), help="Cost of asking a person, in units of the loss.")
@click.option("--max-loss", type=float, help="Largest possible loss, for certificates of losses that are not 0/1.")
@click.option(
    "--ood-share", type=float, help="Share of the answers that may be of an unseen kind and wrong; with --delta."
)
@click.option("--max-cluster", type=int, help="Largest possible number of rows of one of --clusters: certify rows.")
@click.option("--groups", help="Group column: one threshold for each value, delta shared.")
@pair_options
@click.option("--model", help="Of which model the policy is, such as a version or a hash; written into it.")
@click.option("--author", help="Written into the policy.")
@click.option("--note", help="Written into the policy.")
@click.option("-o", "--output", type=Path, help="Write the policy as JSON.")
@writes(("threshold", "trade_off"), "rows", "report", "print-json")
@click.pass_context
def threshold_command(
    context: click.Context, /, file: Path, columns: Options, score: str | None,
    temperature: float | None, groups: str | None, output: Path | None,
    second: str | None, prevalence: float | None, review_cost: float | None, to: Output, **objective: Any,
) -> None:  # fmt: skip
    """Choose a threshold on calibration rows; exit code 1 if the objective is not attainable, in any group.

    The groups that attain it are written all the same; the rows of the others are then rejected.

    Examples
    --------
    abstain threshold val.csv --loss err --confidence conf --risk 0.05 --delta 0.05 -o policy.json
    abstain threshold val.parquet --labels y --logits 'z_*' --temperature 1.5 --capacity 0.2 -o policy.json
    """
    more = {name: objective.pop(name) for name in ("model", "author", "note")}
    wanted = {name: value for name, value in objective.items() if value not in (None, ())}
    if review_cost is not None:
        if "cost" in wanted:
            raise click.UsageError("--cost and --review-cost both name the cost of a review; give one of them")
        wanted["cost"] = (1.0, review_cost)
    elif "cost" in wanted and columns["cost_matrix"] is not None:
        raise click.UsageError(
            "--cost-matrix says what each error costs, and --cost would multiply it; give "
            f"--review-cost {wanted['cost'][1]:g}, the cost of a review in the same units, in the place of --cost"
        )
    if len(wanted.keys() & _OBJECTIVES) != 1:
        raise click.UsageError(f"give exactly one of {', '.join(f'--{name}' for name in _OBJECTIVES)}, --review-cost")
    by = words(groups)
    if len(by) > 1:
        raise click.UsageError("--groups takes one group column here")
    more |= {"group": by[0]} if by else {}
    beside = to.columns_of(file)
    to.check(file, output=output)
    if by and second:
        raise click.UsageError(
            f"--groups {by[0]} is not offered with --second; take a pair in each group, with --where {by[0]}=VALUE and "
            "--delta divided by the number of groups, or leave --second out"
        )
    if second and "ood_share" in wanted:
        raise click.UsageError("--ood-share is not offered with --second; leave one of them out")
    if to.plots and (by or second):
        raise click.UsageError("--plot shows one threshold; leave --groups and --second out, or --plot")
    if prevalence is not None and second is None:
        raise click.UsageError("--prevalence belongs to --second")
    if is_several(file):
        apart = {"--second": second, "--temperature": temperature, "--plot": to.plots, "--report": to.report_path}
        found, how = threshold_of_files(
            file, columns, by, wanted, apart, lambda first: _how(first, score, None, columns)
        )
        _finish(context, file, found, how, output, to, more, scored_as(found.verdict, how))
        return
    outputs, _, names = read(file, [second] if second else [], by, beside=beside, score=score, **columns)
    if "delta" in wanted and outputs.largest_loss is not None:
        wanted.setdefault("max_loss", outputs.largest_loss)
    if second is not None:
        with about(file):
            how = _how(outputs, score, temperature, columns)
            found, more["second"] = choose(file, outputs, columns, second, prevalence, wanted, how)
        to.write(found, files=[file], title=f"Two thresholds: {file.name}")
        _finish(context, file, found, how, output, to, more)
        return
    with about(file):
        how = _how(outputs, score, temperature, columns)
        column = how.confidence(outputs)
        chosen = None if not by else (outputs.groups or {})[names[0]]
        if "delta" in wanted and outputs.clusters is None:
            _say_repeated(outputs)
        found = abstain.choose_threshold(
            outputs.loss_per_sample(), column, groups=chosen, clusters=outputs.clusters, nan_policy="reject", **wanted
        )
        found = found.about_answered() if outputs.declines else found
    verdict = with_unread_groups(scored_as(found.verdict, how), file, outputs)
    verdict = verdict.but(*left_out(file, found, outputs.loss_per_sample(), columns, by, how))
    if output is not None and any(one.attainable for one in _each(found).values()):
        verdict = replace(verdict, next=apply_line(output, file))
    to.write(
        found, files=[file], outputs=outputs, title=f"{f'Thresholds by {by[0]}' if by else 'Threshold'}: {file.name}",
        draw=(found, outputs.loss_per_sample(), column), loss=outputs.loss_per_sample(), confidence=column,
        dependent=outputs.clusters is not None, groups=chosen, policies={how.score: how.arguments()},
        cost=objective.get("cost"), verdict=verdict, **to.rows_of(file, outputs, beside),
    )  # fmt: skip
    _finish(context, file, found, how, output, to, more, verdict)


def _each(found: Any) -> Mapping[str, Any]:
    """Return what was found for each group, of one threshold for all under the empty name."""
    return found.groups if isinstance(found, abstain.thresholds.GroupThresholds) else {"": found}


def _say_words(file: Path, how: abstain.policy.ScoreReading, each: Mapping[str, Any]) -> None:
    """Say which word a threshold on a scale of words is."""
    levels = list(how.reading.get("confidence_levels") or ())
    for name, one in each.items():
        place = one.threshold if levels and levels != ["%"] else float("nan")
        if place in range(1, len(levels) + 1):
            group = f" in {name}" if name else ""
            understood.append(f"{file}: {place:g} is the word '{levels[int(place) - 1]}': accepted from it on{group}")


def _finish(
    context: click.Context, file: Path, found: Any, how: abstain.policy.ScoreReading, output: Path | None, to: Output,
    more: Options, verdict: Verdict | None = None,
) -> None:  # fmt: skip
    """Write the policy, print what was found, and leave with the exit code."""
    arguments = how.arguments() | more
    if "second" in more:  # which meets OOD rows, too
        ood = ("is_ood", "ood_label")
        arguments["reading"] = {name: value for name, value in arguments["reading"].items() if name not in ood}
    each = _each(found)
    failed = [name for name, one in each.items() if not one.attainable]
    outcome = "not attainable"
    if output is not None and len(failed) == len(each):
        outcome += f", so {output} was not written"
    elif output is not None:
        found.save(output, **arguments)
        say_written(output)
        from abstain._checks import listed

        outcome += f" for {listed(failed)}: their rows are rejected"
        verdict = None if verdict is None else replace(verdict, next=apply_line(output, file))
    to.show(found, verdict)
    _say_words(file, how, each)
    if failed:
        click.echo(outcome, err=True)
        context.exit(1)
