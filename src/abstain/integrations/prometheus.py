"""Prometheus: what a monitor shows, in the text format that a scrape or the collector for text files reads."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from abstain.monitoring import ONLY, Monitoring

__all__ = ["metrics_text"]


def metrics_text(result: Monitoring, policy: str) -> str:
    """Return the text of the metrics of a monitor.

    Parameters
    ----------
    result : Monitoring
        What :func:`abstain.monitor` or ``Monitor.result`` returns.
    policy : str
        The label ``policy`` of every metric, such as the name of its file.

    Returns
    -------
    str
        A value that is not known, such as drift that is undecided, is left out.

    Examples
    --------
    >>> import abstain, numpy as np
    >>> from abstain.integrations.prometheus import metrics_text
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(4000)
    >>> wrong = rng.random(4000) > score ** 0.1
    >>> policy = abstain.choose_threshold(wrong, score, risk=0.1, delta=0.05).policy(score="msp")
    >>> later = abstain.monitor(policy, rng.random(4000) < 0.2, rng.random(4000))
    >>> print(metrics_text(later, "net-7"))  # doctest: +ELLIPSIS
    # HELP abstain_guarantee_violated Whether the guarantee was ever found violated.
    # TYPE abstain_guarantee_violated gauge
    abstain_guarantee_violated{policy="net-7"} 1
    ...
    """
    groups = {group: float(violated) for group, violated in result.groups.items()}
    drifted = {"coverage": result.coverage_drifted, "score": result.score_drifted}
    only = result.drift_undecided == ONLY  # accepted rows, of which all were answered
    families: list[tuple[str, str, Mapping[str, float | None]]] = [
        ("guarantee_violated", "Whether the guarantee was ever found violated.", {"": result.violated}),
        ("group_guarantee_violated", "The same of one group.", groups),
        ("evidence", "Largest evidence against the guarantee so far.", {"": result.evidence}),
        ("evidence_alarm", "Evidence at which the guarantee is violated.", {"": 1.0 / result.delta}),
        ("risk", "Risk of the answered labelled rows.", {"": result.risk}),
        ("risk_limit", "Limit of the guarantee.", {"": result.limit}),
        ("coverage", "Share of the labelled rows that was answered.", {} if only else {"": result.coverage}),
        ("coverage_calibrated", "Coverage of the calibration rows.", {"": result.calibrated}),
        ("drifted", "Whether a share ever left that of calibration.", drifted),
        ("rows", "Labelled rows so far.", {"": result.n}),
        ("answered_rows", "Answered labelled rows so far.", {"": result.n_accepted}),
        ("changes", "Signals of the change detector so far, which are no violations.", {"": result.n_changes}),
        ("monitored_timestamp_seconds", "When this was written.", {"": time.time()}),
    ]
    keys = {"group_guarantee_violated": "group", "drifted": "of"}
    lines = []
    for name, meaning, values in families:
        known = {part: float(value) for part, value in values.items() if value is not None and not math.isnan(value)}
        if known:
            lines += [f"# HELP abstain_{name} {meaning}", f"# TYPE abstain_{name} gauge"]
        for part, value in known.items():
            also = f',{keys[name]}="{_escaped(part)}"' if name in keys else ""
            lines.append(f'abstain_{name}{{policy="{_escaped(policy)}"{also}}} {value:.15g}')
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Return the value of a label as the format wants it."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
