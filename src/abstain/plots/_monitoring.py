"""A policy that is monitored: risk, evidence against the guarantee and signals of change, period by period."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._typing import Axes, Options
from abstain.monitoring import Monitoring
from abstain.plots._display import RIGHT, WRONG, Display, Shape, colour, shown, tidy
from abstain.plots._registry import declare
from abstain.policy import Policy

#: Names of periods that fit below an axis.
NAMES = 8


@declare(
    "monitoring",
    family="threshold",
    title="Monitoring over time",
    source="ours",
    needs="what monitor found, over several periods or calls",
)
class MonitoringDisplay(Display):
    """Risk of what was answered in each period, the evidence against the guarantee, and the detectors of change.

    Parameters
    ----------
    monitoring : Monitoring
    limit : float, optional
        The certified limit of the risk.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> votes = abstain.datasets.load("cifar10_votes")  # CIFAR-10, whose last 2,000 rows are CIFAR-10.1
    >>> past, stream = votes.select(slice(0, 5000)), votes.select(slice(5000, None))
    >>> policy = abstain.choose_threshold(past.loss, past.confidence, risk=0.02, delta=0.05).policy(score="votes")
    >>> day = np.arange(stream.n) // 70  # as if 70 images came a day
    >>> seen = abstain.monitor(policy, stream.loss, stream.confidence, time=day)
    >>> display = abstain.plots.MonitoringDisplay.from_monitoring(seen, policy)
    """

    def __init__(self, monitoring: Monitoring, *, limit: float | None = None) -> None:
        if not monitoring.periods:
            raise ValueError("monitoring has no period: nothing was monitored yet")
        self.monitoring, self.limit = monitoring, limit

    @classmethod
    def from_monitoring(
        cls, monitoring: Monitoring, policy: Policy | None = None, *, ax: Axes | None = None
    ) -> MonitoringDisplay:
        """Draw what was found of a policy.

        Parameters
        ----------
        monitoring : Monitoring
        policy : Policy, optional
            Whose guarantee is drawn with the risk.
        ax : array of three matplotlib axes, optional

        Returns
        -------
        MonitoringDisplay
        """
        guarantee = None if policy is None else policy.guarantee
        return cls(monitoring, limit=None if guarantee is None else float(guarantee["risk"])).plot(ax)

    def _shape(self) -> Shape:
        return (11.0, 3.6), 3

    def _draw(self, axes: Any) -> None:
        self._risk(axes[0])
        self._evidence(axes[1])
        self._change(axes[2])
        periods = self.monitoring.periods
        step = -(-len(periods) // NAMES)
        for one in axes:
            names = [shown(each.period) for each in periods[::step]]
            one.set_xticks(np.arange(len(periods))[::step], names, rotation=40, ha="right", rotation_mode="anchor")
            for k, each in enumerate(periods):
                if each.signals:
                    one.axvline(k, color=colour(3), linewidth=5.0, alpha=0.25, zorder=0)
            one.set_xlabel("Period")
            tidy(one)
            one.legend(frameon=False, loc="upper left")

    def _column(self, name: str) -> Any:
        return np.array([getattr(each, name) for each in self.monitoring.periods], dtype=float)

    def _risk(self, ax: Axes) -> None:
        risk, low, high = (self._column(name) for name in ("risk", "risk_low", "risk_high"))
        at = np.arange(len(risk))
        known = ~(np.isnan(low) | np.isnan(high))
        ends = np.maximum(np.array([risk - low, high - risk])[:, known], 0.0)
        ax.errorbar(at[known], risk[known], yerr=ends, fmt="none", color=RIGHT, capsize=2, linewidth=1.2)
        ax.plot(at, risk, "o-", color=RIGHT, markersize=4, linewidth=1.0, label="risk of the period, 95 %")
        if self.limit is not None:
            label = f"certified: at most {self.limit:g}"
            ax.axhline(self.limit, color="black", linewidth=1.0, linestyle="--", label=label)
        ax.plot([], [], "-", color=colour(3), alpha=0.25, linewidth=5.0, label="change signalled")
        ax.set(ylabel="Selective risk", ylim=(0.0, None))
        ax.set_ylim(0.0, 1.35 * max(ax.get_ylim()[1], 1e-9))

    def _evidence(self, ax: Axes) -> None:
        evidence, alarm = self._column("evidence"), 1.0 / self.monitoring.delta
        label = "evidence against the guarantee"
        ax.plot(evidence.clip(1e-3, 1e12), "s-", color=WRONG, markersize=4, linewidth=1.0, label=label)
        ax.axhline(alarm, color="black", linewidth=1.0, linestyle="--", label=f"violated at {alarm:g}")
        ax.set_yscale("log")
        low, high = ax.get_ylim()
        ax.set_ylim(low, high**1.4 if high > 1.0 else high)
        ax.set_ylabel("Evidence")

    def _change(self, ax: Axes) -> None:
        for k, (name, label) in enumerate(
            (("change", "change of the risk"), ("coverage_drift", "coverage"), ("score_drift", "score"))
        ):
            value = self._column(name)
            if not np.isnan(value).all():
                style: Options = {"color": colour(k), "marker": "osD"[k], "markersize": 4, "linewidth": 1.0}
                ax.plot(value.clip(1e-6, 1e6), label=label, **style)
        ax.axhline(1.0, color="black", linewidth=1.0, linestyle="--", label="signal, alarm")
        ax.set_yscale("log")
        low, high = ax.get_ylim()
        ax.set_ylim(low, high * (high / low) ** 0.45)
        ax.set_ylabel("Part of what signals")
