"""``--sweep`` of ``abstain evaluate``: the CWSA family at several thresholds, in the layout of its paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from abstain.cli._show import print_result

if TYPE_CHECKING:
    from abstain.evaluation import Evaluation

#: Thresholds of Tables 1 to 3 of Shahnazari et al. (2025).
PAPER = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def thresholds(_context: Any, _option: Any, text: str | None) -> list[float] | None:
    """Return the thresholds of the option."""
    if text is None:
        return None
    if text == "paper":
        return list(PAPER)
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--sweep takes thresholds by commas, or 'paper', got {text!r}") from None


def show_sweeps(result: Evaluation, taus: list[float], denominator: Any, scale: float) -> None:
    """Print a table for every score."""
    import numpy as np

    from abstain import study
    from abstain.metrics import FUNCTIONS

    for entry in result.summaries:
        if entry.group is not None:
            continue
        samples = entry.curve.blocks.samples
        blocks = entry.curve.blocks
        weight = None
        if samples is None:  # no intervals were asked for, so only the table was kept: a row for every score
            loss, score, weight = np.asarray(blocks.loss) / blocks.weight, blocks.score, blocks.weight
        else:
            loss, score, weight = samples.loss, np.asarray(blocks.score)[samples.block], samples.sample_weight
        columns = FUNCTIONS["cwsa_sweep"](loss, score, taus, denominator=denominator, sample_weight=weight)
        grid = study.sweep(columns, denominator=denominator, title=entry.score)
        click.echo()
        print_result(grid, scale)
