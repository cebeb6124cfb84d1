"""``abstain threshold``: choose a threshold, or two, and write the policy."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abstain.cli._columns import ANSWERS, MODEL, SURE, reads
from abstain.cli._foreign import left_out
from abstain.cli._group import command, example_lines, words
from abstain.cli._input import about, read, understood
from abstain.cli._next import Told, by_score, together, unread_groups
from abstain.cli._pair import choose, pair_options
from abstain.cli._plots import Wanted, draw, plot_option, plot_targets, say_written
from abstain.cli._report import check_opened, report_options, write_report
from abstain.cli._several import is_several, threshold_of_files
from abstain.cli._show import check_destinations, print_result
from abstain.cli._shown import columns_of, shown_options, source_of

if TYPE_CHECKING:
    from abstain.outputs import Origin, Outputs

#: What a threshold can be chosen for; each is an option of its own.
_OBJECTIVES = ("risk", "coverage", "capacity", "cost")


def _scored(
    outputs: Outputs, score: str | None, temperature: float | None, given: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return the confidence of each row, and how a policy comes by it in new files."""
    from abstain.policy import compute, inputs_of

    origin = outputs.origin
    assert origin is not None
    if score is None and temperature is None and outputs.confidence is not None:
        return outputs.confidence, {"score": _finished(origin)}
    if given["confidence"]:
        raise click.UsageError(
            "--score and --temperature compute a confidence from --logits or --probabilities; leave --confidence out"
        )
    if outputs.logits is None and outputs.probabilities is None:
        raise ValueError(_no_score(score if temperature is None else score or "msp", origin.rest))
    probabilities = outputs.logits is None or (given["probabilities"] and not given["logits"])
    kind: Any = "probabilities" if probabilities else "logits"
    names = origin.matrix.get(kind) or [origin.single["positive_probability"]]
    how: dict[str, Any] = {"score": score or "msp", kind: names, "temperature": temperature}
    inputs_of(how["score"], how.get("logits"), how.get("probabilities"), temperature)
    with noted():
        return compute(how["score"], kind, getattr(outputs, kind), temperature), how


def _no_score(score: str | None, columns: Sequence[str]) -> str:
    """Return why nothing tells how sure each row is, and what does."""
    from abstain._checks import listed
    from abstain.scores import names

    if score is not None and score.partition("(")[0] not in names():
        return f"no score that is computed is called {score!r}; a finished column is given as confidence="
    if score is None:
        others = f", one of the other columns: {listed(columns)}" if columns else ""
        return f"nothing says how sure each row is; give confidence= or uncertainty={others}"
    return (
        f"{score!r} is computed from logits or probabilities, which the file does not hold, and a finished column "
        "cannot be scaled; give logits= or probabilities=, or confidence= alone"
    )


def _say_repeated(outputs: Outputs) -> None:
    """Say if rows share an id: a promise would count them as independent."""
    import numpy as np

    from abstain.thresholds import CopiedRowsWarning

    if outputs.ids is not None and (distinct := len(np.unique(outputs.ids))) < len(outputs.ids):
        warnings.warn(
            f"{len(outputs.ids)} rows have {distinct} ids, and the promise counts each row as independent; if rows of "
            "an id belong together, name it with --clusters",
            CopiedRowsWarning,
            stacklevel=2,
        )


def show_found(result: Any, as_json: bool, told: Told | None = None) -> None:
    if as_json:
        click.echo(result.to_json())
    else:
        print_result(result, told=told)


def _finished(origin: Origin) -> str:
    """Return the column that new files have the confidence in."""
    if "confidence" in origin.single:
        return origin.single["confidence"]
    if "uncertainty" in origin.single:
        return origin.single["uncertainty"]
    name = origin.single.get("positive_probability")
    other = "" if name is None else f", not {name!r}"
    raise ValueError(
        f"a policy compares a column of confidence with its threshold, but this confidence is "
        f"{origin.columns['confidence']}; write it into a column of its own, here and in new files{other}"
    )


def _reading(outputs: Outputs, given: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    """Return how new files are read: what was named, what rows are units, and what says that the model declined."""
    from abstain.outputs import cost_texts
    from abstain.policy import READING

    assert outputs.origin is not None
    single, computed = outputs.origin.single, how.keys() & {"logits", "probabilities"}
    kept = {"clusters", *(() if computed else ("uncertainty",))}
    if _declined(outputs):
        kept.add(next(part for part in ("abstained", "correct", "predictions") if part in single))
    found = {part: name for part, name in single.items() if part in kept}
    options = {name: given.get(name) for name in READING if name != "uncertainty"}
    if given["cost_matrix"] is not None:
        options["cost_matrix"] = cost_texts(given["cost_matrix"])
    found |= {name: value for name, value in options.items() if value is not None}
    levels = None if computed or "uncertainty" in found else outputs.origin.levels
    finished = levels is not None and how["score"] == single.get("confidence")
    return {name: value for name, value in found.items() if name != "confidence_levels"} | (
        {"confidence_levels": levels} if finished else {}
    )


def how_of(outputs: Outputs, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return how new files hold a score, as arguments of a policy: a finished column, or what it is computed from."""
    if name in (outputs.scores or {}):
        how: dict[str, Any] = {"score": name}
    else:
        kept = {part: given.get(part) for part in ("confidence_levels", "confidence", "logits", "probabilities")}
        finished = name == "confidence"
        if not finished:
            kept["confidence"] = None
        how = _scored(outputs, None if finished else name, None, kept)[1]
    return how | {"reading": _reading(outputs, given, how)} | _classes(outputs, how)


def policies_of(outputs: Outputs, scores: Iterable[str], given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return how new files hold each score, as arguments of a policy; a score that none can name is left out."""
    found = {}
    for name in scores:
        try:
            found[name] = how_of(outputs, name, given)
        except (ValueError, TypeError, click.UsageError):  # no policy can be made of it, which the page says
            continue
    return found


def _classes(outputs: Outputs, how: dict[str, Any]) -> dict[str, Any]:
    if not how.keys() & {"logits", "probabilities"}:
        return {}
    return {"class_names": list(outputs.class_names or map(str, range(outputs.n_classes or 0))) or None}


def _graded(outputs: Outputs) -> bool:
    """Whether losses are 1 minus a quality, or minus verdicts of which some are partial; verdicts are else 0/1."""
    found = set() if outputs.origin is None else outputs.origin.single.keys()
    return "quality" in found or ("correct" in found and bool(set(outputs.loss_per_sample()) - {0.0, 1.0}))


def _declined(outputs: Outputs) -> bool:
    """Whether the file says of some rows, or could, that the model itself did not answer them."""
    assert outputs.origin is not None
    states = outputs.states
    return "abstained" in outputs.origin.single or (states is not None and states.counts["abstained"] > 0)


def _capacity(_context: Any, _option: Any, text: str | None) -> Any:
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


@contextmanager
def noted() -> Iterator[None]:
    """Leave unsaid what is odd about the logits of a file: it was said when they were read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@command.command(
    "threshold",
    epilog=example_lines(
        "abstain threshold val.csv --loss err --confidence conf --risk 0.05 --delta 0.05 -o policy.json",
        "abstain threshold val.parquet --labels y --logits 'z_*' --temperature 1.5 --capacity 0.2 -o policy.json",
    ),
)
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
@click.option("--groups", help="Group column: one threshold for each value, delta shared.")
@pair_options
@click.option("--model", help="Of which model the policy is, such as a version or a hash; written into it.")
@click.option("--author", help="Written into the policy.")
@click.option("--note", help="Written into the policy.")
@click.option("-o", "--output", type=Path, help="Write the policy as JSON.")
@plot_option("threshold", "trade_off")
@shown_options
@report_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def threshold_command(
    context: click.Context, /, file: Path, columns: dict[str, Any], score: str | None,
    temperature: float | None, groups: str | None, output: Path | None, as_json: bool, plots: Wanted,
    model: str | None, author: str | None, note: str | None,
    second: str | None, prevalence: float | None, review_cost: float | None, report_path: Path | None,
    opened: bool, texts: str | None, images: str | None, **objective: Any,
) -> None:  # fmt: skip
    """Choose a threshold on calibration rows; exit code 1 if the objective is not attainable, in any group.

    The groups that attain it are written all the same; the rows of the others are then rejected.
    """
    from abstain.thresholds import choose_threshold

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
    check_opened(report_path, opened)
    beside = columns_of(file, report_path, texts, images)
    check_destinations({"output": output, "report_path": report_path, **plot_targets(plots)}, [file])
    if by and second:
        raise click.UsageError(
            f"--groups {by[0]} is not offered with --second; take a pair in each group, with --where {by[0]}=VALUE and "
            "--delta divided by the number of groups, or leave --second out"
        )
    if plots and (by or second):
        raise click.UsageError("--plot shows one threshold; leave --groups and --second out, or --plot")
    if is_several(file):
        apart = {"--second": second, "--prevalence": prevalence, "--temperature": temperature, "--plot": plots,
                 "--report": report_path}  # fmt: skip
        found, outputs, how = threshold_of_files(file, columns, by, wanted, apart,
                                                 lambda first: _scored(first, score, None, columns)[1])  # fmt: skip
        _finish(context, file, outputs, columns, found, how, output, as_json, (model, author, note), by,
                by_score(how["score"], _reading(outputs, columns, how)))  # fmt: skip
        return
    outputs, _, names = read(file, [second] if second else [], by, beside=beside, score=score, **columns)
    if "delta" in wanted and _graded(outputs):
        wanted.setdefault("max_loss", 1.0)
    if "delta" in wanted and columns["cost_matrix"] is not None:
        from abstain.outputs import largest_cost

        wanted.setdefault("max_loss", largest_cost(columns["cost_matrix"]))
    if prevalence is not None and second is None:
        raise click.UsageError("--prevalence belongs to --second")
    if second is not None:
        with about(file):
            found, how = choose(file, outputs, columns, second, prevalence, wanted,
                                lambda part: _scored(part, score, temperature, columns))  # fmt: skip
        write_report(found, report_path, opened, files=[file], title=f"Two thresholds: {file.name}")
        _finish(context, file, outputs, columns, found, how, output, as_json, (model, author, note), [])
        return
    with about(file):
        column, how = _scored(outputs, score, temperature, columns)
        chosen = None if not by else (outputs.groups or {})[names[0]]
        if "delta" in wanted and outputs.clusters is None:
            _say_repeated(outputs)
        found = choose_threshold(
            outputs.loss_per_sample(), column, groups=chosen, clusters=outputs.clusters, nan_policy="reject",
            answered=_declined(outputs), **wanted,
        )  # fmt: skip
    scored = ["--scores", how["score"]] if how.keys() & {"logits", "probabilities"} else []
    told = together(
        by_score(how["score"], _reading(outputs, columns, how)),
        {} if by else unread_groups("evaluate", file, outputs, columns, scored),
        left_out(file, found, outputs.loss_per_sample(), columns, by,
                 lambda part: _scored(part, score, temperature, columns)[0]),
    )  # fmt: skip
    if report_path is not None:
        policy = how | {"reading": _reading(outputs, columns, how)} | _classes(outputs, how)
        write_report(
            found, report_path, opened, files=[file], outputs=outputs,
            title=f"{f'Thresholds by {by[0]}' if by else 'Threshold'}: {file.name}",
            loss=outputs.loss_per_sample(), confidence=column, dependent=outputs.clusters is not None,
            groups=chosen,
            policies={how["score"]: policy}, cost=objective.get("cost"), told=told,
            **source_of(file, outputs, beside, texts, images),
        )  # fmt: skip
    say_written(draw(plots, "threshold", found, outputs.loss_per_sample(), column))
    _finish(context, file, outputs, columns, found, how, output, as_json, (model, author, note), by, told)


def _say_words(file: Path, how: dict[str, Any], each: Mapping[str, Any]) -> None:
    """Say which word a threshold on a scale of words is."""
    levels = how["reading"].get("confidence_levels")
    for name, one in each.items():
        place = one.threshold if levels and levels != ["%"] else float("nan")
        if place in range(1, len(levels or ()) + 1):
            group = f" in {name}" if name else ""
            understood.append(f"{file}: {place:g} is the word '{levels[int(place) - 1]}': accepted from it on{group}")


def _finish(
    context: click.Context, file: Path, outputs: Outputs, columns: dict[str, Any], found: Any, how: dict[str, Any],
    output: Path | None, as_json: bool, about_it: tuple[str | None, str | None, str | None], by: list[str],
    told: Told | None = None,
) -> None:  # fmt: skip
    """Write the policy, print what was found, and leave with the exit code."""
    from abstain.thresholds import GroupThresholds

    how |= dict(zip(("model", "author", "note"), about_it, strict=True)) | {"reading": _reading(outputs, columns, how)}
    if "second" in how:  # which meets OOD rows, too
        how["reading"] = {name: value for name, value in how["reading"].items() if name not in ("is_ood", "ood_label")}
    how |= _classes(outputs, how)
    each: Mapping[str, Any] = found.groups if isinstance(found, GroupThresholds) else {"": found}
    failed = [name for name, one in each.items() if not one.attainable]
    outcome = "not attainable"
    if output is not None and len(failed) == len(each):
        outcome += f", so {output} was not written"
    elif output is not None:
        found.save(output, **how | ({"group": by[0]} if by else {}))
        say_written([output])
        from abstain._checks import listed

        outcome += f" for {listed(failed)}: their rows are rejected"
    show_found(found, as_json, told)
    _say_words(file, how, each)
    if failed:
        click.echo(outcome, err=True)
        context.exit(1)
