"""Pages of the training recipes are made from the recipes."""

import sys

import pytest

from tests.docs.examples import ROOT

pytest.importorskip("torch")
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "docs" / "_ext")]
recipe_pages = pytest.importorskip("recipe_pages")
from abstain.nn import train  # noqa: E402


def test_every_recipe_has_a_page(tmp_path):
    """One page each with its file, its command and what differs from cross-entropy; pages that are gone go."""
    (tmp_path / "gone.rst").write_text("old", encoding="utf-8")
    recipe_pages.generate(tmp_path)
    assert {page.stem for page in tmp_path.glob("*.rst")} == {*train.names(), "index"}
    page = (tmp_path / "sure_plus.rst").read_text(encoding="utf-8")
    for text in (
        "abstain train sure_plus",
        'kind = "friendly"',
        "6 forward-backward passes",
        "``stage.main.terms.mixup.alpha``",
    ):
        assert text in page
