"""Tables of papers from a study: levels of corruptions, and networks by objective, of values made up for them."""

import json
from dataclasses import replace

from abstain import study
from tests.recorded import of_study, tried


def layouts():
    """Return grids of levels and objectives, with values made up for them."""
    results, _ = of_study._everything()
    base = results.only(set="test", score="msp", metric="aurc")
    numbers = []
    settings = (
        {"network": "a", "objective": "sele"},
        {
            "network": {"name": "b", "width": 4, "head": "cosine"},
            "stage": {"tune": {"objective": {"name": "aurc", "estimator": "log"}}},
        },
        {
            "network": {"name": "b", "width": 4, "head": "cosine"},
            "stage": {"tune": {"objective": {"name": "aurc"}, "crl": 1}},
        },
        {"network": {"name": "b"}, "stage": {"base": {"objective": "ce"}}},
        {
            "network": {"name": "c", "head": "linear"},
            "stage": {"one": {"objective": "ce"}, "tune": {"objective": {"name": "sele", "unit_mean": False}}},
        },
        {},
    )
    for k, about in enumerate(settings):
        for run in range(1 + k % 2):
            row = {
                **base.numbers[0],
                "model": f"m{k}",
                "run": f"r{run}",
                "settings": json.dumps(about) if about else "",
            }
            numbers.append({**row, "value": 0.1 + 0.03 * k + 0.01 * run, "standard_error": 0.02})
    made = replace(base, numbers=tuple(numbers), sums=(), samples={})
    plain = replace(made, numbers=tuple(row for row in numbers if row["model"] in ("m0", "m3")))
    found = [study.by_objective(each) for each in (made, plain)]
    found += [tried(study.by_objective, made, score="sure"), study.by_objective(made).table(across=True).rows]
    leveled = []
    for k, level in enumerate((None, 1, 2, "heavy", 10)):
        shift = {"kind": "corruption", "level": level} if level is not None else {}
        row = {
            **base.numbers[0],
            "role": "test" if level is None else "shift",
            "set": f"s{k}",
            "shift": json.dumps(shift),
        }
        leveled += [
            {**row, "value": 0.2 * k + 0.01, "standard_error": 0.01 * k, "data": data} for data in "ab"[: 2 - k // 4]
        ]
    found += [study.levels(replace(base, numbers=tuple(leveled[k:]), sums=(), samples={}), "aurc") for k in (0, 8)]
    return [each.rows() if hasattr(each, "rows") and callable(each.rows) else each for each in found] + found[:2]
