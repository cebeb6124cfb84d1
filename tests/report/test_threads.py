"""Pictures drawn in threads are those drawn one after the other, and nothing global is changed."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

import abstain

pytest.importorskip("matplotlib")

RNG = np.random.default_rng(0)
LOSS = (RNG.random(200) < 0.3).astype(float)
SCORES = {"good": RNG.random(200) - LOSS, "plain": RNG.random(200)}
COLUMNS = {f"{part}_{name}": RNG.random(200) for part in ("id", "ood") for name in ("confidence", "detector")}


@cache
def results():
    """Return what is drawn, calculated once."""
    outputs = abstain.Outputs(loss=LOSS, scores=SCORES)
    return {
        "page": abstain.evaluate(outputs, list(SCORES), "augrc", level=None),
        "curve": abstain.risk_coverage_curve(LOSS, SCORES["good"]),
        "comparison": abstain.compare(LOSS, SCORES),
        "ranking": abstain.ranking_study(LOSS, SCORES, n_resamples=100),
        "surface": abstain.joint.evaluate(LOSS, **COLUMNS),
        "frontier": abstain.joint.ds_aurc(LOSS, **COLUMNS).frontier,
    }


def drawn(name):
    """Return the page or the picture of a result."""
    from abstain.report import as_html, build

    return as_html(build(results()[name])) if name == "page" else results()[name].plot()._repr_png_()


def test_threads_draw_what_one_thread_draws():
    """Also under settings of the caller's, which stay: those of a page are seen by no other drawing."""
    import matplotlib as mpl

    with mpl.rc_context({"font.size": 7.0, "lines.linewidth": 3.0, "axes.facecolor": "0.9"}):
        settings = dict(mpl.rcParams)
        alone = {name: drawn(name) for name in results()}
        with ThreadPoolExecutor(6) as pool:
            jobs = [(name, pool.submit(drawn, name)) for _ in range(2) for name in results()]
            assert [name for name, job in jobs if job.result() != alone[name]] == []
        assert dict(mpl.rcParams) == settings


def test_no_figure_is_left_with_pyplot():
    """A service that draws a thousand pictures holds none; pyplot, where somebody loaded it, knows of none."""
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    for name in results():
        drawn(name)
    assert pyplot.get_fignums() == before
