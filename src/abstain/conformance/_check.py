"""``check``: run an implementation on the vectors of a metric, and say what it computes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from abstain.conformance._call import Answer, Arrays, Call, call_of, command_of, load
from abstain.conformance._result import Conformance, Outcome
from abstain.conformance._vectors import Case, cases_of, metric_of, names_of, populations, vectors

#: Columns that an implementation may read the wrong way round.
_EXCHANGED = {
    "confidence": ("confidence",),
    "loss": ("loss", "correct"),
    "score of ID and OOD rows": ("id_score", "ood_score", "score"),
}

#: What an implementation may do to the value of a definition, n the number of rows.
FACTORS: dict[str, Callable[[float, int], float]] = {
    "": lambda x, n: x,
    "n/(n - 1)": lambda x, n: x * n / (n - 1) if n > 1 else math.nan,
    "(n - 1)/n": lambda x, n: x * (n - 1) / n,
    "n/(n + 1)": lambda x, n: x * n / (n + 1),
    "(n + 1)/n": lambda x, n: x * (n + 1) / n,
    "n": lambda x, n: x * n,
    "1/n": lambda x, n: x / n,
    "1/2": lambda x, n: x / 2,
    "2": lambda x, n: x * 2,
    "100": lambda x, n: x * 100,
    "1000": lambda x, n: x * 1000,
    "-1": lambda x, n: -x,
}


class _Judged(NamedTuple):
    """A case, and what the implementation gave."""

    case: Case
    answer: Answer

    @property
    def refused(self) -> bool:
        """Whether it gave no number for rows that it need not take."""
        return bool(self.case.may_refuse) and (bool(self.answer.error) or math.isnan(self.answer.value))


def check(
    function: Any,
    metric: str,
    *,
    call: str | None = None,
    arrays: Arrays = "numpy",
    tolerance: float = 1e-6,
) -> Conformance:
    """Run an implementation of a metric on the conformance vectors, case by case.

    Parameters
    ----------
    function : callable, class or str
        A function; a class with ``update`` and ``compute``, as in torchmetrics; ``"package.module:name"``; or
        ``"FILE.py:name"``.
    metric : str
        A metric of :func:`vectors`.
    call : str, optional
        What is passed: ``"confidence, correct"``, or an expression with the function as ``f``, such as
        ``"1 - f(correct, confidence)"``. Names are columns, options of the case, ``np`` and ``torch``. Default: by
        the names of the parameters, if all of them are columns.
    arrays : {"numpy", "torch", "list"}
        What columns are passed as.
    tolerance : float
        How far a value may be from the exact answer; the default allows for single precision.

    Returns
    -------
    Conformance
        Of a certificate: whether its guarantee holds, by the probability of all samples of small populations.

    Examples
    --------
    >>> import abstain
    >>> from abstain.conformance import check
    >>> print(check(abstain.auroc_f, "auroc_f").headline())
    auroc_f: agrees with mid_rank in 20 cases
    """
    implementation = function if isinstance(function, str) else getattr(function, "__qualname__", repr(function))
    known = names_of(metric)
    found = load(function) if isinstance(function, str) else function
    return _checked(metric, implementation, call_of(found, call, known, arrays), tolerance)


def check_command(command: str, metric: str, *, tolerance: float = 1e-6) -> Conformance:
    """Run a command on the vectors: it reads a JSON object and writes a number."""
    return _checked(metric, command, command_of(command, metric, names_of(metric)), tolerance)


def _checked(metric: str, implementation: str, call: Call, tolerance: float) -> Conformance:
    if metric_of(metric)["kind"] == "population":
        return _certified(metric, implementation, call)
    judged, skipped = [], []
    for case in cases_of(metric):
        reason = _not_run(case, call)
        if reason:
            skipped.append(Outcome(case.name, case.n, "not run", math.nan, math.nan, reason))
        else:
            judged.append(_Judged(case, call.answer({**case.columns, **case.options})))
    order = _order(judged, tolerance)
    counted = [each for each in judged if not (order and each.case.tied) and not each.refused]
    definitions, factor = _explained(counted, tolerance)
    outcomes = [_outcome(each, definitions, factor, bool(order), tolerance) for each in judged]
    turned = "" if definitions or order else _turned(judged, call, tolerance)
    outside = [each for each in outcomes if each.status in ("differs", "fails")]
    return Conformance(
        metric=metric,
        implementation=implementation,
        call=call.text,
        definitions=definitions,
        factor=factor,
        order=order,
        findings=tuple(_findings(definitions, factor, order, outside, turned)),
        outcomes=(*outcomes, *skipped),
        version=vectors()["version"],
    )


def _not_run(case: Case, call: Call) -> str:
    """Return why a case is not run, if it is not."""
    absent = sorted(call.names - {*case.columns, *case.options})
    if absent and not call.text.endswith("< JSON"):
        return f"no {absent[0]} for these rows"
    weights = case.columns.get("sample_weight")
    if weights is not None and weights.max() != 1.0 and "sample_weight" not in call.names:
        return "the call passes no sample_weight"
    return ""


def _order(judged: list[_Judged], tolerance: float) -> str:
    """Return the values of the same rows in two orders, if they differ."""
    answers = {each.case.name: each for each in judged}
    for each in judged:
        first = (
            answers.get(each.case.name.replace(each.case.problem, each.case.order_of, 1))
            if each.case.order_of
            else None
        )
        if first is None or each.answer.error or first.answer.error:
            continue
        if abs(first.answer.value - each.answer.value) > tolerance:
            values = f"{first.answer.value:.6g}", f"{each.answer.value:.6g}"
            return f"{first.case.name} {values[0]}, {each.case.name} {values[1]}"
    return ""


def _explained(counted: list[_Judged], tolerance: float) -> tuple[tuple[str, ...], str]:
    """Return the definitions, and the factor, that explain most of what was computed; none if that is not half."""
    fits: dict[tuple[str, str], tuple[int, int, bool]] = {}
    names = list(counted[0].case.values) if counted else []
    for definition in names:
        for factor in FACTORS:
            agreed = [each for each in counted if _agrees(each, definition, factor, tolerance)]
            telling = len({round(each.answer.value, 9) for each in agreed} - {0.0})
            fits[definition, factor] = len(agreed), telling, factor == ""
    best = max(fits, key=lambda fit: fits[fit], default=None)
    if best is None or 2 * fits[best][0] <= len(counted) or not fits[best][1]:
        return (), ""
    return tuple(fit[0] for fit in fits if fits[fit] == fits[best] and fit[1] == best[1]), best[1]


def _agrees(each: _Judged, definition: str, factor: str, tolerance: float) -> bool:
    case = each.case
    for values, n in ((case.values, case.n), (case.values_without, case.n - 1)):
        if not values:
            continue
        expected = FACTORS[factor](values[definition], n)
        if math.isnan(expected) and math.isnan(each.answer.value):  # with an error or without
            return True
        if abs(expected - each.answer.value) <= tolerance * max(1.0, abs(expected)):
            return True
    return False


def _outcome(each: _Judged, definitions: tuple[str, ...], factor: str, ordered: bool, tolerance: float) -> Outcome:
    case, answer = each
    expected = FACTORS[factor](case.values[definitions[0]], case.n) if definitions else math.nan
    if any(_agrees(each, definition, factor, tolerance) for definition in definitions):
        status, note = "refuses" if answer.error else "agrees", answer.error
    elif each.refused:
        status, note = "refuses", answer.error or case.may_refuse
    elif answer.error or math.isnan(answer.value):
        status, note = "fails", answer.error or "gives NaN"
    elif ordered and case.tied:
        status, note = "row order", "rows are tied"
    else:
        status, note = "differs", case.about
    return Outcome(case.name, case.n, status, answer.value, expected, note)


def _findings(definitions: tuple[str, ...], factor: str, order: str, outside: list[Outcome], turned: str) -> list[str]:
    """Return what is not as it should be, the most severe first."""
    found = []
    if order:
        found.append(f"it depends on the order of tied rows: {order}")
    named = " or ".join(definitions)
    if not definitions:
        found.append(turned or "it agrees with no definition of the vectors")
        return found + [f"{each.case}: {each.note}" for each in outside if each.status == "fails"][:1]
    if factor:
        found.append(f"its values are those of {named} times {factor}")
    for each in outside[:3]:
        gave = each.note if each.status == "fails" else f"{each.value:.6g}, expected {each.expected:.6g}; {each.note}"
        found.append(f"{each.case}: {each.status}, {gave}")
    if len(outside) > 3:
        more = len(outside) - 3
        found.append(f"{more} more cases differ or fail" if more > 1 else "1 more case differs or fails")
    return found


def _turned(judged: list[_Judged], call: Call, tolerance: float) -> str:
    """Return which column an implementation of no definition reads the wrong way round, if this explains it."""
    for name, exchanged in _EXCHANGED.items():
        again = []
        for case, _ in judged:
            if all(column in case.columns for column in exchanged):
                turned = {column: 1.0 - case.columns[column] for column in exchanged}
                if "confidence" in turned:
                    turned["uncertainty"] = -turned["confidence"]
                again.append(_Judged(case, call.answer({**case.columns, **turned, **case.options})))
        counted = [each for each in again if not each.refused]
        definitions, factor = _explained(counted, tolerance)
        if definitions and all(_agrees(each, definitions[0], factor, tolerance) for each in counted):
            return f"it reads the {name} the wrong way round: turned, it agrees with {' = '.join(definitions)}"
    return ""


# ---------------------------------------------------------------------- certificates


def _certified(metric: str, implementation: str, call: Call) -> Conformance:
    """Return whether a guarantee holds in populations whose samples are all enumerated."""
    outcomes, findings = [], []
    for population in populations():
        options = {"risk": population.risk, "delta": population.delta}
        violated = issued = Fraction()
        for columns, chance in population.samples():
            answer = call.answer({**columns, **options})
            threshold = math.inf if answer.error or math.isnan(answer.value) else answer.value
            issued += chance if population.share_above(threshold) else 0
            violated += chance if population.risk_above(threshold) > Fraction(population.risk) else 0
        name = f"{population.name}, {population.order.replace('_', ' ')}"
        holds = violated <= population.delta
        note = f"{population.about}; a threshold in {float(issued):.1%} of the samples"
        outcomes.append(
            Outcome(name, population.n, "agrees" if holds else "differs", float(violated), population.delta, note)
        )
        if not holds:
            findings.append(
                f"{name}: the guarantee is violated with probability {float(violated):.4g}, allowed is "
                f"{population.delta:g}; {population.about}"
            )
    definitions = () if findings else ("guarantee satisfied",)
    return Conformance(
        metric, implementation, call.text, definitions, "", "", tuple(findings), tuple(outcomes), vectors()["version"]
    )
