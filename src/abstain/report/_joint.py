"""Joint results for people: tables with rank shading in four formats, the frontier and the F1 surface."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._result import clean
from abstain._typing import ArrayLike

if TYPE_CHECKING:
    from abstain.joint import JointEvaluation, JointTable, RiskCoverageFrontier

#: Blues for ranks 1 to 5, dark to light, as RGB; black text stays readable on all of them.
BLUES = ("9ecae1", "b7d6ea", "cde2f1", "e0edf8", "eff6fc")


# ---------------------------------------------------------------------- one evaluation


def evaluation_text(result: JointEvaluation) -> str:
    """Return an evaluation as text: at the natural, the balanced and the given share of OOD samples."""
    shares = {"as in the data": result.natural}
    if result.natural.prevalence == 0.5:
        shares = {"as in the data, which is balanced": result.natural}
    elif result.n_ood:
        shares["balanced"] = result.balanced
    if result.problem.prevalence not in (None, 0.5):
        shares["given"] = result
    lines = [f"{result.n_id} ID samples, accuracy {result.accuracy:.4f} · {result.n_ood} OOD samples"]
    for name, each in shares.items():
        lines += ["", f"Share of OOD samples {each.prevalence:.3f}, {name}", *_block(each)]
    main = result
    lines += ["", f"Best pair of thresholds: confidence {main.thresholds.confidence:.6g}, "
              f"detector {main.thresholds.detector:.6g} (chosen on these data)"]  # fmt: skip
    if min(result.n_id, result.n_ood or result.n_id) > 1:
        moved = main.transfer
        lines.append(
            f"F1 with thresholds from one half on the other: {moved.transferred.mean():.4f}, "
            f"where the best in hindsight is {moved.oracle.mean():.4f}"
        )
    lines.append(f"Definitions: {main.ds_f1.convention}, {main.ds_aurc.convention}, {main.ds_augrc.convention}")
    return "\n".join(lines)


def _block(result: JointEvaluation) -> list[str]:
    head = ("", "confidence", "detector", "both", "gain", "null gain")
    rows = []
    for title, single, double, key in (
        ("F1 ↑", {name: found.value for name, found in result.f1.items()}, result.ds_f1.value, "ds_f1"),
        ("AURC ↓", result.aurc, result.ds_aurc.value, "ds_aurc"),
        ("AUGRC ↓", result.augrc, result.ds_augrc.value, "ds_augrc"),
    ):
        found = result.null_gain[key]
        spread = "" if np.isnan(found.null_sd) else f" ± {found.null_sd:.4f}"
        values = (single["confidence"], single["detector"], double, found.gain)
        rows.append((title, *(f"{value:.4f}" for value in values), f"{found.null_mean:.4f}{spread}"))
    return _aligned([head, *rows])


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return [
        f"{row[0]:<{widths[0]}}"
        + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]


# ---------------------------------------------------------------------- tables


def table_text(table: JointTable) -> str:
    """Return a table as text, the five best of each column with their rank as superscript."""
    rows = []
    for name, cells, ranks in zip(table.names, table.cells, table.ranks, strict=True):
        marked = (_parts(*each) for each in zip(cells, ranks, strict=True))
        rows.append((clean(name), *(" / ".join(part + _superscript(rank) for part, rank in parts) for parts in marked)))
    lines = _aligned([tuple(map(clean, table.header)), *rows])
    highest = max((rank for ranks in table.ranks for cell in ranks for rank in cell), default=0)
    key = [f"{_superscript(1)} to {_superscript(min(highest, len(BLUES)))}: ranks in a column"] if highest > 1 else []
    return "\n".join([clean(table.title), *lines, *map(clean, table.notes), *key])


def table_markdown(table: JointTable) -> str:
    """Return a Markdown table, the best in bold."""

    def row(cells: list[str]) -> str:
        return "| " + " | ".join(clean(cell).replace("|", "\\|") for cell in cells) + " |"

    lines = [row(list(table.header)), "|---|" + "---:|" * (len(table.header) - 1)]
    for name, cells, ranks in zip(table.names, table.cells, table.ranks, strict=True):
        marked = [" / ".join(_bold(part, rank, "**", "**") for part, rank in _parts(*each)) for each in
                  zip(cells, ranks, strict=True)]  # fmt: skip
        lines.append(row([name, *marked]))
    return "\n".join([*lines, "", *(clean(note) + "  " for note in table.notes)])


def table_latex(table: JointTable) -> str:
    """Return a tabular with shaded cells; it needs the packages booktabs and xcolor with option table."""
    lines = [f"\\definecolor{{rank{i + 1}}}{{HTML}}{{{colour.upper()}}}" for i, colour in enumerate(BLUES)]
    lines += [f"\\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}", "\\toprule"]
    lines += [" & ".join(map(_tex, table.header)) + " \\\\", "\\midrule"]
    for name, cells, ranks in zip(table.names, table.cells, table.ranks, strict=True):
        marked = [
            " / ".join(
                f"\\colorbox{{rank{rank}}}{{{_tex(part)}}}" if 0 < rank <= len(BLUES) else _tex(part)
                for part, rank in _parts(*each)
            )
            for each in zip(cells, ranks, strict=True)
        ]
        lines.append(" & ".join([_tex(name), *marked]) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", *(f"% {clean(note)}" for note in table.notes)])


def table_html(table: JointTable) -> str:
    """Return an HTML table with shaded cells."""
    head = "".join(f"<th>{escape(clean(name))}</th>" for name in table.header)
    body = []
    for name, cells, ranks in zip(table.names, table.cells, table.ranks, strict=True):
        marked = []
        for each in zip(cells, ranks, strict=True):
            parts = [
                f'<span style="background:#{BLUES[rank - 1]};color:#000;padding:0 .3em">{escape(part)}</span>'
                if 0 < rank <= len(BLUES)
                else escape(part)
                for part, rank in _parts(*each)
            ]
            marked.append(f'<td style="text-align:right">{" / ".join(parts)}</td>')
        body.append(f"<tr><th>{escape(clean(name))}</th>{''.join(marked)}</tr>")
    notes = "".join(f"<p>{escape(clean(note))}</p>" for note in table.notes)
    title = f"<caption>{escape(clean(table.title))}</caption>"
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{notes}"


def _parts(cell: str, ranks: tuple[int, ...]) -> list[tuple[str, int]]:
    return list(zip(cell.split(" / "), ranks, strict=True))


def _superscript(rank: int) -> str:
    return " ¹²³⁴⁵"[rank] if rank <= len(BLUES) else " "


def _bold(part: str, rank: int, before: str, after: str) -> str:
    return f"{before}{part}{after}" if rank == 1 else part


def _tex(text: str) -> str:
    table = {"↑": "$\\uparrow$", "↓": "$\\downarrow$", "±": "$\\pm$", "%": "\\%", "_": "\\_", "&": "\\&", "#": "\\#"}
    table |= {"\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "~": "\\textasciitilde{}", "^": "\\^{}"}
    return "".join(table.get(character, character) for character in clean(text))


# ---------------------------------------------------------------------- pictures


def plot_frontiers(frontiers: Mapping[str, RiskCoverageFrontier], ax: Any = None, **kwargs: Any) -> Any:
    """Draw selective risk over the coverage of ID samples, the attained levels faint behind "at least".

    Parameters
    ----------
    frontiers : mapping of name to RiskCoverageFrontier
        Of the same samples.
    ax : matplotlib axes, optional
        Default: a new figure.
    **kwargs
        Passed to matplotlib's ``plot``.

    Returns
    -------
    matplotlib axes
    """
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(5.5, 4.0), layout="constrained")
    top = 0.0
    for name, curve in frontiers.items():
        risk = np.minimum.accumulate(curve.selective_risk[::-1])[::-1]
        top = max(top, float(risk[-1]))
        label = f"{name} ({'DS-' if _two(curve) else ''}AURC {curve.aurc():.4f})"
        (line,) = ax.step(curve.coverage, risk, where="pre", **{"label": label, "linewidth": 1.6, **kwargs})
        ax.plot(curve.coverage, curve.selective_risk, color=line.get_color(), alpha=0.3, linewidth=0.8)
    ax.set(xlim=(0.0, 1.0), xlabel="Coverage of ID samples", ylabel="Selective risk, ID errors and OOD samples")
    ax.set_ylim(0.0, 1.08 * top if top > 0.0 else 1.0)  # the first levels of a curve may be much higher
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _two(curve: RiskCoverageFrontier) -> bool:
    return bool(np.unique(curve.detector_threshold).size > 1)


def plot_f1_surface(
    id_loss: ArrayLike,
    *,
    id_confidence: ArrayLike,
    id_detector: ArrayLike,
    ood_confidence: ArrayLike,
    ood_detector: ArrayLike,
    T: int = 200,
    prevalence: float | None = None,
    ax: Any = None,
) -> Any:
    """Draw F1 over both thresholds, at their quantiles, with the exact best pair and the best single thresholds.

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    id_confidence, id_detector : array-like of shape (n_id,)
        The two scores of these samples, higher = accept.
    ood_confidence, ood_detector : array-like of shape (n_ood,)
        The two scores of the out-of-distribution samples; may be empty.
    T : int
        Quantiles per score.
    prevalence : float in [0, 1), optional
        Share of OOD samples in the target population; default: as in the data.
    ax : matplotlib axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib axes
    """
    from abstain import joint
    from abstain.joint._grid import surface
    from abstain.joint._problem import problem

    data = problem(id_loss, id_confidence, id_detector, ood_confidence, ood_detector, prevalence)
    confidence, score, value = surface(data, T)
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(5.5, 4.4), layout="constrained")
    x, y = (_rejected(column, limits) for column, limits in ((data.detector, score), (data.confidence, confidence)))
    picture = ax.pcolormesh(x, y, value, shading="nearest", cmap="viridis", rasterized=True)
    if min(value.shape) > 1:
        ax.contour(x, y, value, levels=8, colors="white", linewidths=0.5, alpha=0.6)
    ax.figure.colorbar(picture, ax=ax, label="F1")
    pairs = (id_confidence, ood_confidence), (id_detector, ood_detector)
    by_confidence, by_detector = (
        joint.f1(id_loss, id_score=inside, ood_score=outside, prevalence=prevalence) for inside, outside in pairs
    )
    both = joint.ds_f1(
        id_loss,
        id_confidence=id_confidence,
        id_detector=id_detector,
        ood_confidence=ood_confidence,
        ood_detector=ood_detector,
        prevalence=prevalence,
    )
    for label, marker, a, c, found in (
        ("both", "*", both.thresholds.detector, both.thresholds.confidence, both.value),
        ("confidence", "^", -np.inf, by_confidence.thresholds.confidence, by_confidence.value),
        ("detector", "s", by_detector.thresholds.confidence, -np.inf, by_detector.value),
    ):
        at = (_rejected(data.detector, np.array([a]))[0], _rejected(data.confidence, np.array([c]))[0])
        ax.plot(*at, marker, color="red", markeredgecolor="white", markersize=11, clip_on=False,
                linestyle="none", label=f"{label} {found:.4f}")  # fmt: skip
    ax.set(xlabel="Rejected share by the detector alone", ylabel="Rejected share by the confidence alone")
    ax.legend(fontsize="small", loc="upper right", framealpha=0.85)
    return ax


def _rejected(column: Any, limits: Any) -> Any:
    """Return the share of all samples below each threshold."""
    return np.searchsorted(np.sort(column), limits, side="left") / column.size
