"""Pictures drawn in threads are those drawn one after the other, and nothing global is changed."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

import abstain
from abstain.report import as_html, build

mpl = pytest.importorskip("matplotlib")
pyplot = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
LOSS = (RNG.random(200) < 0.3).astype(float)
SCORES = {"good": RNG.random(200) - LOSS, "plain": RNG.random(200)}
COLUMNS = {f"{part}_{name}": RNG.random(200) for part in ("id", "ood") for name in ("confidence", "detector")}


@cache
def results():
    """Return what is drawn, calculated once."""
    return [
        abstain.evaluate(abstain.Outputs(loss=LOSS, scores=SCORES), list(SCORES), "augrc", level=None),
        abstain.risk_coverage_curve(LOSS, SCORES["good"]),
        abstain.compare(LOSS, SCORES),
        abstain.ranking_study(LOSS, SCORES, n_resamples=100),
        abstain.joint.evaluate(LOSS, **COLUMNS, n_permutations=2, n_splits=2),
        abstain.joint.ds_aurc(LOSS, **COLUMNS).frontier,
    ]


def drawn(result):
    """Return the page or the picture of a result."""
    return as_html(build(result)) if isinstance(result, abstain.Evaluation) else result.plot()._repr_png_()


def test_threads_draw_what_one_thread_draws():
    """Also under settings of the caller's, which stay: those of a page are seen by no other drawing."""
    before = pyplot.get_fignums()
    with mpl.rc_context({"font.size": 7.0, "lines.linewidth": 3.0, "axes.facecolor": "0.9"}):
        settings, alone = dict(mpl.rcParams), [*map(drawn, results())]
        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(drawn, results())) == alone
        assert dict(mpl.rcParams) == settings
    assert pyplot.get_fignums() == before  # a service that draws a thousand pictures holds none
