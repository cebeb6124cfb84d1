"""The page of a live certificate, and how far a certificate reaches."""

import numpy as np
import pytest

import abstain

RNG = np.random.default_rng(0)


def rows(n):
    """Return scores and losses."""
    score = RNG.random(n)
    return score, (RNG.random(n) < 0.3 * (1 - score) ** 1.5).astype(float)


def test_a_page_over_time(tmp_path):
    """Coverage, threshold and labels after each call; the share of unseen answers; of groups there is a table."""
    page = tmp_path / "live.html"
    live = abstain.LiveCertificate(risk=0.05, scores=RNG.random(1000), ood_share=0.01)
    live.update(*rows(1000))
    live.result().report(page)
    assert 'data-chart="coverage"' not in page.read_text()
    for _ in range(4):
        live.update(*rows(1500))
    live.result().report(page)
    parts = [f'data-chart="{name}"' for name in ("coverage", "threshold", "labels", "reach")]
    parts += ["of the answered cases are unlike calibration.", "7,000 rows and 7,000 labels so far"]
    assert [each for each in parts if each not in page.read_text()] == []
    live = abstain.LiveCertificate(risk=0.05, scores=RNG.random(1000), groups=["a", "b"])
    for _ in range(3):
        live.update(*rows(3000), groups=RNG.choice(["a", "b"], 3000))
    live.result().report(tmp_path / "live.md")
    text = (tmp_path / "live.md").read_text()
    assert ("Threshold in force" in text, "## Groups" in text) == (False, True)


@pytest.mark.parametrize(("share", "words"), [(0.0, "leaves no room"), (0.01, "of the answered cases are unlike")])
def test_the_reach_of_a_threshold(share, words, tmp_path):
    """A certificate without room says so; one that was asked for draws the worst risk."""
    score, wrong = rows(6000)
    found = abstain.choose_threshold(wrong, score, risk=0.05, delta=0.05, ood_share=share)
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert words in page
    assert ('data-chart="reach"' in page) == (share > 0)
