"""``gate``: may this model be merged? Limits of metrics, and how much worse than another model it may be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from abstain import metrics
from abstain._checks import closest, not_negative, one_of
from abstain._result import Column, Estimate, Result, Row, Table
from abstain.evaluation._comparison import Comparison
from abstain.evaluation._result import Evaluation
from abstain.inference import NonInferiority

Verdict = Literal["pass", "fail", "unclear"]


@dataclass(frozen=True)
class Check:
    """One condition of a gate with its verdict.

    Parameters
    ----------
    condition : str
    metric : str
        As :func:`abstain.metrics.parse` reads it.
    verdict : {"pass", "fail", "unclear"}
    why : str
        The verdict in words.
    value, low, high : float
        The metric with its interval; or by how much it is worse than in the other model.
    limit : float
        What the value is held against; or the margin.
    relative : bool
        Whether this is about the other model.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("digits_logreg")
    >>> abstain.gate(abstain.evaluate(outputs), ["augrc<=0.01"]).checks[0].why
    'its interval lies below the limit'
    """

    condition: str
    metric: str
    verdict: Verdict
    why: str
    value: float
    low: float
    high: float
    limit: float
    relative: bool = False


@dataclass(frozen=True, repr=False)
class Gate(Result):
    """The result of :func:`gate`: every condition with its verdict.

    Parameters
    ----------
    checks : tuple of Check
    unclear : {"fail", "pass"}
        What counts where the data do not decide.
    level : float or None
        Of the intervals; None: values alone decided.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("digits_logreg")
    >>> abstain.gate(abstain.evaluate(outputs), ["augrc<=0.01", "accuracy>=0.99"]).passed
    False
    """

    _names = ("condition",)
    _values = ("value", "low", "high", "limit")

    checks: tuple[Check, ...]
    unclear: Literal["fail", "pass"]
    level: float | None
    remarks: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no condition failed, and none is unclear unless that passes."""
        bad = {"fail"} if self.unclear == "pass" else {"fail", "unclear"}
        return not bad & {each.verdict for each in self.checks}

    def headline(self) -> str:
        """Return the verdict on all conditions."""
        count = {word: sum(each.verdict == word for each in self.checks) for word in ("pass", "fail", "unclear")}
        told = ", ".join(f"{number} {word}" for word, number in count.items() if number)
        treated = f" (unclear counts as {self.unclear})" if count["unclear"] else ""
        return f"gate: {'pass' if self.passed else 'fail'} · {told}{treated}"

    def tables(self) -> list[Table]:
        """Return the limits, then the differences from the other model."""
        found = []
        for relative, title, value in ((False, "", "Value"), (True, "Against the other model", "Worse by")):
            checks = [each for each in self.checks if each.relative == relative]
            rows: list[Row] = []
            for each in checks:
                rows.append((each.condition, Estimate(each.value, each.low, each.high), each.verdict, each.why))
            columns = [Column("Gate"), Column(value, alike=False)]
            columns += [Column("verdict", left=True), Column("why", left=True)]
            found += [Table(columns, rows, title)] if rows else []
        return found

    def notes(self) -> list[str]:
        """Return how was decided."""
        how = "decided by the values alone: no interval was asked for"
        if self.level is not None:
            how = (
                f"decided by two-sided {100.0 * self.level:g} % intervals: a model that violates a limit passes with "
                f"probability at most about {50.0 * (1.0 - self.level):g} %"
            )
        return [*self.remarks, how]

    def rows(self) -> list[dict[str, Any]]:
        """Return the conditions, a dict each."""
        return [vars(each) for each in self.checks]


@dataclass(frozen=True)
class Untested:
    """A metric that was not tested against the other model, and why: it is unclear."""

    metric: str
    reason: str


def gate(
    evaluation: Evaluation,
    conditions: str | Sequence[str],
    *,
    against: Evaluation | Mapping[str, Any] | Iterable[NonInferiority | Comparison | Untested] | None = None,
    margin: float | None = None,
    unclear: Literal["fail", "pass"] = "fail",
) -> Gate:
    """Decide by intervals whether an evaluation meets its conditions.

    Parameters
    ----------
    evaluation : Evaluation
        Of one score.
    conditions : str or sequence of str
        Such as ``"augrc<=0.06"`` or ``"coverage_at_risk(risk=0.05)>=0.5"``; a metric alone, such as ``"aurc"``, is
        held against the other model. The evaluation must hold these metrics.
    against : Evaluation, dict or tests, optional
        Of the model that is in use: an evaluation, or what :meth:`Evaluation.to_dict` or the file of ``--json`` holds
        (both taken as independent, by the intervals of both); or one
        :func:`abstain.inference.non_inferiority` per metric on the same samples, the new model first, which is paired
        and sharper. Its ``level`` is one-sided: 0.975 for an evaluation at 0.95. For a metric without an influence
        function :func:`abstain.compare` of two models that are called ``"new"`` and ``"main"``.
    margin : float >= 0, optional
        With ``against``: by how much the metrics that stand alone, else AUGRC, may be worse, in their own unit.
    unclear : {"fail", "pass"}
        What counts where an interval holds the limit, or where there is none.

    Returns
    -------
    Gate
        ``passed``, and a verdict per condition: pass if the whole interval satisfies the limit, fail if no part does,
        else unclear. By the value alone if the evaluation was made with ``level=None``.

    Raises
    ------
    ValueError, TypeError
        A condition that cannot be read, that asks for a worse metric, or whose metric was not evaluated; several
        scores; ``against`` without ``margin``; another level or another convention there.

    Notes
    -----
    All conditions must hold, so testing several of them makes no pass more likely. Differences of two independent
    evaluations combine the distances of each end of the intervals from its value, squared (Zou and Donner 2008).

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("digits_logreg")
    >>> found = abstain.gate(abstain.evaluate(outputs), ["augrc<=0.01", "augrc<=0.0027", "augrc<=0.001"])
    >>> [check.verdict for check in found.checks], found.passed
    (['pass', 'unclear', 'fail'], False)
    """
    one_of(unclear, ("fail", "pass"), "unclear")
    if not isinstance(evaluation, Evaluation):
        raise TypeError(f"evaluation must be what abstain.evaluate returns, got {type(evaluation).__name__}")
    try:
        texts = [conditions] if isinstance(conditions, str) else list(conditions)
    except TypeError:
        message = f"conditions must be texts such as 'augrc<=0.06', got {type(conditions).__name__}"
        raise TypeError(message) from None
    read = [_read(text, against is not None) for text in texts]
    if (against is None) != (margin is None):
        raise TypeError("against= and margin= belong together: how much worse than that model may this one be?")
    if len(evaluation.scores) != 1:
        raise ValueError(f"a gate is about one score, got {len(evaluation.scores)}; evaluate one of them")
    level = evaluation.provenance.get("level")
    checks = [_limited(text, *parts, evaluation, level) for text, parts in zip(texts, read, strict=True) if parts[1]]
    remarks: tuple[str, ...] = ()
    if against is not None and margin is not None:
        margin = not_negative(margin, "margin")
        names = list(dict.fromkeys(spec for spec, sign, _ in read if not sign)) or ["augrc"]
        found, remarks = _relative(evaluation, names, against, margin, level)
        checks += found
    if not checks:
        raise ValueError("no condition; give one, such as 'augrc<=0.06'")
    return Gate(tuple(checks), unclear, level, remarks)


def metrics_of(conditions: Iterable[str], against: bool) -> tuple[list[str], list[str]]:
    """Return the metrics that conditions name, and those that are held against another model."""
    read = [_read(text, against) for text in conditions]
    alone = list(dict.fromkeys(spec for spec, sign, _ in read if not sign)) or ["augrc"]
    return list(dict.fromkeys(spec for spec, _, _ in read)), alone if against else []


def _read(text: str, alone: bool) -> tuple[str, str, float]:
    """Return metric, sign and limit of a condition; the sign is empty where the metric stands alone."""
    if not isinstance(text, str):
        raise TypeError(f"a condition must be text such as 'augrc<=0.06', got {text!r}")
    place = next((k for k, sign in enumerate(text) if sign in "<>"), len(text))
    name, rest = text[:place].strip(), text[place:]
    try:
        metric = metrics.parse(name)
    except ValueError as error:
        raise ValueError(f"condition {text!r}: {error}") from None
    if not rest:
        if not alone:
            raise ValueError(f"gate {text!r} has no limit; write '{text}<=0.06', or give the model to compare with")
        return metric.spec, "", math.nan
    sign = rest[:2] if rest[1:2] == "=" else rest[:1]
    try:
        limit = float(rest[len(sign) :])
    except ValueError:
        raise ValueError(f"gate {text!r} has no number behind {sign}; write one, such as 'augrc<=0.06'") from None
    wanted = "<" if metric.direction == "lower" else ">"
    if not sign.startswith(wanted) or not math.isfinite(limit):
        better = f"{metric.direction} is better: write {wanted}="
        raise ValueError(f"gate {text!r}: of {metric.label} {better}, and a finite number")
    return metric.spec, sign, limit


def _measured(evaluation: Evaluation | Mapping[str, Any], spec: str, whose: str) -> dict[str, Any]:
    """Return the measurement of a metric over all samples."""
    entries = evaluation.rows() if isinstance(evaluation, Evaluation) else evaluation.get("measurements")
    if not isinstance(entries, list):
        raise ValueError(f"{whose} is no evaluation: it has no measurements; give what evaluate(...).to_json() writes")
    known = [each for each in entries if each["group"] is None]
    if len({each["score"] for each in known}) > 1:
        raise ValueError(f"{whose} holds several scores; evaluate one of them")
    for each in known:
        if each["metric"] == spec:
            numbers = ("value", "low", "high")
            return each | {name: math.nan if each[name] is None else float(each[name]) for name in numbers}
    raise ValueError(f"{whose} has no {spec}; {closest(spec, [each['metric'] for each in known])}")


def _limited(text: str, spec: str, sign: str, limit: float, evaluation: Evaluation, level: float | None) -> Check:
    found = _measured(evaluation, spec, "the evaluation")
    value, low, high = found["value"], found["low"], found["high"]
    turned = -1.0 if sign.startswith(">") else 1.0
    ends = (low, high) if turned > 0 else (-high, -low)
    verdict, why = _verdict(turned * value, *ends, turned * limit, level, found["reason"] or found["warning"])
    if turned < 0:
        why = why.replace("below", "\0").replace("above", "below").replace("\0", "above")
    return Check(text, spec, verdict, why, value, low, high, limit)


def _verdict(
    value: float, low: float, high: float, limit: float, level: float | None, reason: str | None
) -> tuple[Verdict, str]:
    """Return whether something that should be small satisfies its limit."""
    if math.isnan(value):
        return "unclear", f"not defined: {reason}" if reason else "not defined"
    if level is None:
        return ("pass", "its value satisfies the limit") if value <= limit else ("fail", "its value violates the limit")
    if math.isnan(low) or math.isnan(high):
        return "unclear", "it has no interval" + (f": {reason}" if reason else "")
    if high <= limit:
        return "pass", "its interval lies below the limit"
    if low > limit:
        return "fail", "its interval lies above the limit"
    return "unclear", "its interval holds the limit"


def _relative(
    evaluation: Evaluation, names: list[str], against: Any, margin: float, level: float | None
) -> tuple[list[Check], tuple[str, ...]]:
    """Return how much worse each metric is than in the other model."""
    paired: dict[str, NonInferiority | Comparison | Untested] = {}
    if not isinstance(against, Evaluation | Mapping):
        paired = {each.metric: each for each in against}
        lacking = next((name for name in names if name not in paired), None)
        if lacking is not None:
            raise ValueError(f"against has no test of {lacking}; it has {', '.join(paired) or 'none'}")
    checks = []
    for name in names:
        if paired:
            worse, reason = _paired(paired[name], name, level)
        else:
            worse, reason = _independent(evaluation, against, name, metrics.parse(name).direction, level)
        verdict, why = _verdict(*worse, margin, level, reason)
        why = why.replace("limit", "margin").replace("not defined: ", "" if paired else "not defined: ")
        checks.append(Check(f"{name}: margin {margin:g}", name, verdict, why, *worse, margin, True))
    how = "the evaluations are taken as independent; its outputs on the same samples give a sharper, paired test"
    return checks, (f"against the other model: {'paired, sample by sample' if paired else how}",)


def _paired(
    known: NonInferiority | Comparison | Untested, name: str, level: float | None
) -> tuple[tuple[float, float, float], str | None]:
    """Return by how much a metric is worse, with limits on the same samples."""
    if isinstance(known, Untested):
        return (math.nan, math.nan, math.nan), known.reason
    one_sided = isinstance(known, NonInferiority)
    wanted = None if level is None else 0.5 + 0.5 * level if one_sided else level
    if wanted is not None and not math.isclose(known.level, wanted):
        raise ValueError(f"the test of {name} has level {known.level:g}; with this evaluation it needs {wanted:g}")
    if isinstance(known, NonInferiority):
        return (known.difference, known.low, known.high), known.warning
    names = [row["name"] for row in known.table]
    if not {"new", "main"} <= set(names):
        raise ValueError(f"a comparison for a gate names its models 'new' and 'main', got {', '.join(names)}")
    found = known.difference("new", "main")
    worse = (found.difference, found.low, found.high)
    if metrics.parse(name).direction == "higher":
        worse = (-worse[0], -worse[2], -worse[1])
    return worse, found.warning


def _independent(
    evaluation: Evaluation, against: Any, name: str, better: str, level: float | None
) -> tuple[tuple[float, float, float], str | None]:
    """Return by how much a metric is worse, with an interval from those of both evaluations."""
    facts = against.provenance if isinstance(against, Evaluation) else against.get("provenance", {})
    if facts.get("level") != level:
        raise ValueError(
            f"against has intervals at level {facts.get('level')}, this one at {level}; evaluate both at one level"
        )
    new, main = _measured(evaluation, name, "the evaluation"), _measured(against, name, "against")
    if new["identifier"] != main["identifier"]:
        raise ValueError(f"against has {main['identifier']}, the evaluation {new['identifier']}: two conventions")
    a, b = (new, main) if better == "lower" else (main, new)
    difference = a["value"] - b["value"]
    low = difference - math.hypot(a["value"] - a["low"], b["high"] - b["value"])
    high = difference + math.hypot(a["high"] - a["value"], b["value"] - b["low"])
    reason = new["reason"] or main["reason"] or new["warning"] or main["warning"]
    return (difference, low, high), reason
