"""The runner of the tutorials; that they run, and in time, `make docs` says."""

import re
import sys

import pytest

from tests.docs.examples import DOCS, ROOT, failures_of, libraries

sys.path[:0] = [str(DOCS / "_ext")]
import tutorial_pages  # noqa: E402

PAGES = tutorial_pages.pages([])
TEXT = "```python\n>>> x = 12.0\n>>> print('a', x)\na {}\n```\n"


def test_seven_jobs_have_a_tutorial_that_the_readme_and_the_start_page_name():
    """Each job has one page, and both front pages lead to each."""
    names = [page.stem for page in PAGES]
    assert len(names) == 7
    for front in (ROOT / "README.md", DOCS / "index.md"):
        assert set(re.findall(r"tutorials/(\w+)\.md", front.read_text(encoding="utf-8"))) == set(names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_says_what_to_install_and_is_short(page):
    """The extra of each optional library; at most 1,200 words; images with words, each saved under that name."""
    text = page.read_text(encoding="utf-8")
    named = re.search(r'`pip install "[^"\[]*\[([a-z,]+)\]"`', text)
    assert {"cli", *libraries(page) - {"matplotlib", "polars"}} == set(named[1].split(","))
    assert len(text.split()) <= 1200
    shown = re.findall(rf"\]\(generated/{page.stem}/(\w+\.png)\)", text)
    assert len(shown) >= 2
    assert [name for name in shown if f'"{name}"' not in text] == []
    assert not re.search(r"!\[\]", text)


@pytest.mark.parametrize(
    ("printed", "holds"), [("12.0", True), ("12.3", True), ("19.0", False), ("12.0 12.0", False), ("b", False)]
)
def test_numbers_of_trained_models_may_be_a_little_off(printed, holds, tmp_path):
    """Within a tenth, and only if all else is the same; pages that train nothing must be exact."""
    page = tmp_path / "page.md"
    page.write_text(TEXT.format(printed), encoding="utf-8")
    assert (failures_of(page, near=True)[1] == []) == holds
    assert (failures_of(page)[1] == []) == (printed == "12.0")


def test_a_failing_tutorial_is_said(tmp_path, monkeypatch):
    """The exit code counts pages that print something else; their pictures are kept all the same."""
    monkeypatch.setattr(tutorial_pages, "FOLDER", tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.md").write_text(TEXT.format("12.0"), encoding="utf-8")
    (tmp_path / "bad.md").write_text(
        "```python\n>>> from pathlib import Path\n>>> _ = Path('x.png').write_text('x')\n>>> 1\n2\n\n```\n",
        encoding="utf-8",
    )
    assert tutorial_pages.main([]) == 1
    assert (tmp_path / "generated" / "bad" / "x.png").exists()
    tutorial_pages.write(tmp_path / "bad.md")
    assert ">>> 1\n1\n" in (tmp_path / "bad.md").read_text(encoding="utf-8")
    assert tutorial_pages.main(["bad"]) == 0
