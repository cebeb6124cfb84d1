"""SURE+ in ten lines: the page's loops run, take six passes a step, and mark no more than ten lines each."""

import re
import warnings

import pytest

from tests.imports import ROOT

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("lightning")

PAGE = (ROOT / "docs/nn/own-loop.md").read_text(encoding="utf-8")
FOUND = re.findall(r"```{code-block} python\n(.*?)```", PAGE, re.DOTALL)
PARTS = dict(zip(("start", "plain", "lightning"), FOUND, strict=True))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("loop", ["plain", "lightning"])
def test_ten_lines_are_enough(loop):
    """Three terms twice per step; the average has batch norm of its own and is not the last model."""
    space = {}
    exec(PARTS["start"], space)
    made, rows, build = [], [], space["network"]

    def watched():
        model = build()
        model.register_forward_pre_hook(
            lambda _, given: rows.append(len(given[0])) if torch.is_grad_enabled() else None
        )
        made.append(model)
        return model

    space["network"] = watched
    exec(PARTS[loop], space)
    marked = [line for line in PARTS[loop].splitlines() if line.endswith("# +")]
    assert len(marked) <= 10
    assert sum(rows) == 2 * 2 * 6 * 16  # epochs, steps, passes, pictures
    best, last = space["best"], made[0]
    assert not torch.equal(best[0].weight, last[0].weight)
    inside = torch.nn.functional.conv2d(space["pictures"], best[0].weight, best[0].bias)
    torch.testing.assert_close(best[1].running_mean, inside.mean(dim=(0, 2, 3)), rtol=1e-4, atol=1e-5)
