"""The page of a live certificate, and how far a certificate reaches."""

import numpy as np

import abstain


def rows(rng, n):
    """Return scores and losses."""
    score = rng.random(n)
    return score, (rng.random(n) < 0.3 * (1 - score) ** 1.5).astype(float)


def test_a_page_over_time(tmp_path):
    """Coverage, threshold and labels after each call; the share of unseen answers that was asked for."""
    rng = np.random.default_rng(0)
    live = abstain.LiveCertificate(risk=0.05, scores=rng.random(1000), ood_share=0.01)
    live.update(*rows(rng, 1000))
    live.result().report(tmp_path / "first.html")
    assert 'data-chart="coverage"' not in (tmp_path / "first.html").read_text()
    for _ in range(4):
        live.update(*rows(rng, 1500))
    live.result().report(tmp_path / "live.html")
    page = (tmp_path / "live.html").read_text()
    assert all(f'data-chart="{name}"' in page for name in ("coverage", "threshold", "labels", "reach"))
    assert "of the answered cases are unlike calibration." in page
    assert "7,000 rows and 7,000 labels so far" in page


def test_groups_have_a_table(tmp_path):
    """A certificate with groups has no one threshold to draw."""
    rng = np.random.default_rng(1)
    live = abstain.LiveCertificate(risk=0.05, scores=rng.random(1000), groups=["a", "b"])
    for _ in range(3):
        live.update(*rows(rng, 3000), groups=rng.choice(["a", "b"], 3000))
    live.result().report(tmp_path / "live.md")
    text = (tmp_path / "live.md").read_text()
    assert "Threshold in force" not in text
    assert "## Groups" in text


def test_the_reach_of_a_threshold(tmp_path):
    """A certificate without room says so; one that was asked for draws the worst risk."""
    score, wrong = rows(np.random.default_rng(2), 6000)
    for share, words in ((0.0, "leaves no room"), (0.01, "of the answered cases are unlike")):
        found = abstain.choose_threshold(wrong, score, risk=0.05, delta=0.05, ood_share=share)
        found.report(tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text()
        assert words in page
        assert ('data-chart="reach"' in page) == (share > 0)
