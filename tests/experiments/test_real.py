"""Studies of real outputs: the pages are made of the kept results, and the studies run on files of the same shape."""

from itertools import product

import numpy as np
import polars as pl
import pytest

pytest.importorskip("matplotlib")

from experiments.real import _llm, _page
from experiments.real.__main__ import STUDIES, main
from tests.refusal import refused


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_is_made_of_the_kept_results(name):
    """Findings with intervals; every picture of the page is there; the results are small."""
    page = (_page.PAGES / f"{name}.md").read_text("utf-8")
    assert page == STUDIES[name].write()
    found = STUDIES[name].sentences(_page.load(name))
    assert 3 <= len(found) <= 4
    assert all("[" in sentence for sentence in found)
    pictures = [line.rpartition("(")[2].rstrip(")") for line in page.splitlines() if line.startswith("![")]
    assert pictures
    assert all((_page.PAGES / picture).stat().st_size < 250_000 for picture in pictures)
    assert (_page.RESULTS / f"{name}.json").stat().st_size < 100_000


def small(folder):
    """Write files of the shape of the real ones, a hundredth of their size; return the accuracy of a model."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    labels, confidence = np.repeat(np.arange(20), 30), rng.random((3, 600))
    predictions = np.where(rng.random(confidence.shape) < confidence**0.05, labels, (labels + 1) % 20)
    columns = {"models": np.array(["a", "b", "c"]), "pred": predictions, "conf": confidence}
    np.savez(folder / "imagenet_val_msp.npz", labels=labels, **columns)
    parts = []
    for model, (option, prompt) in product(("one", "two"), ((False, 1), (False, 2), (True, 1))):
        msp = rng.random(120)
        grade = np.where(rng.random(120) < msp, "Correct", "Wrong")
        grade = np.where(rng.random(120) < 0.2 * option, "Abstained", grade)
        of = {"model": model, "dataset": "toy", "abstain_option": option, "prompt": prompt}
        scores = {"qid": np.arange(120), "grade": grade, "msp": msp, "max_logit": 10.0 * rng.random(120)}
        parts.append(pl.DataFrame(scores).with_columns(**{name: pl.lit(value) for name, value in of.items()}))
    pl.concat(parts).write_parquet(folder / "llm_mcqa_confidence.parquet")
    return (predictions[1] == labels).mean()


def test_studies_run_on_files_of_the_same_shape(tmp_path, monkeypatch):
    """Two of them on small made-up data, to page and figures; without data the remedy is named."""
    accuracy = small(tmp_path / "outputs")
    monkeypatch.setattr(_page, "RESULTS", tmp_path / "results")
    for place in ("__main__", "_imagenet", "_llm"):
        monkeypatch.setattr(f"experiments.real.{place}.PAGES", tmp_path / "pages")
    monkeypatch.setattr(_llm, "DRAWS", 20)
    monkeypatch.setenv("ABSTAIN_DATA", "")
    refused(FileNotFoundError, "give --data FOLDER", main, ["imagenet"])
    for study in ("imagenet", "llm"):
        assert main([study, "--data", str(tmp_path)]) == 0
    assert _page.load("imagenet")["models"]["b"]["accuracy"][0] == pytest.approx(accuracy, abs=1e-5)
    whole = _page.load("llm")["all"]
    assert 0.75 < whole["answered"][0] < 0.85
    assert whole["threshold"][0] < whole["own"][0]
    assert (tmp_path / "pages" / "llm-models.png").exists()
