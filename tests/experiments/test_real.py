"""Studies of real outputs: the pages are made of the kept results, and the studies run on files of the same shape."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from experiments.real import _imagenet, _llm, _page
from experiments.real.__main__ import STUDIES, main


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
    """Write files of the shape of the real ones, a hundredth of their size."""
    (folder / "outputs").mkdir(parents=True)
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(20), 30)
    confidence = rng.random((3, labels.size))
    predictions = np.where(rng.random(confidence.shape) < confidence**0.05, labels, (labels + 1) % 20)
    names = np.array(["a", "b", "c"])
    np.savez(
        folder / "outputs" / "imagenet_val_msp.npz", labels=labels, models=names, pred=predictions, conf=confidence
    )
    polars = pytest.importorskip("polars")
    rows = []
    for model in ("one", "two"):
        for option in (False, True):
            for prompt in (1,) if option else (1, 2):
                msp = rng.random(120)
                grade = np.where(rng.random(120) < msp, "Correct", "Wrong")
                if option:
                    grade = np.where(rng.random(120) < 0.2, "Abstained", grade)
                rows += [
                    {"model": model, "dataset": "toy", "abstain_option": option, "prompt": prompt, "qid": k,
                     "grade": str(grade[k]), "msp": msp[k], "max_logit": 10.0 * rng.random()} for k in range(120)
                ]  # fmt: skip
    polars.DataFrame(rows).write_parquet(folder / "outputs" / "llm_mcqa_confidence.parquet")


def test_studies_run_on_files_of_the_same_shape(tmp_path, monkeypatch):
    """Two of them on small made-up data, to page and figures; the numbers are those of the data."""
    small(tmp_path)
    monkeypatch.setattr(_page, "RESULTS", tmp_path / "results")
    monkeypatch.setattr("experiments.real.__main__.PAGES", tmp_path / "pages")
    for study in (_imagenet, _llm):
        monkeypatch.setattr(study, "PAGES", tmp_path / "pages")
    monkeypatch.setattr(_llm, "DRAWS", 20)
    monkeypatch.setenv("ABSTAIN_DATA", "")
    assert main(["imagenet", "--data", str(tmp_path)]) == 0
    assert main(["llm", "--data", str(tmp_path)]) == 0
    with np.load(tmp_path / "outputs" / "imagenet_val_msp.npz") as file:
        accuracy = (file["pred"][1] == file["labels"]).mean()
    assert _page.load("imagenet")["models"]["b"]["accuracy"][0] == pytest.approx(accuracy, abs=1e-5)
    whole = _page.load("llm")["all"]
    assert 0.75 < whole["answered"][0] < 0.85
    assert whole["threshold"][0] < whole["own"][0]
    assert (tmp_path / "pages" / "llm-models.png").exists()


def test_without_data_the_remedy_is_named(monkeypatch):
    """Neither the option nor the variable names a folder."""
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="give --data FOLDER"):
        main(["imagenet"])
