"""``--texts`` and ``--images``: what failing rows were, in a report from the command line."""

import base64
import io
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from tests.command import csv

Image = pytest.importorskip("PIL.Image")

HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)> "quoted" &amp; \u202egnp'


@pytest.fixture
def table(do):
    """Write a table of 60 rows with texts and pictures; the surest wrong one has a hostile text."""
    rng = np.random.default_rng(0)
    Path("pictures").mkdir()
    for k in range(60):
        Image.fromarray(rng.integers(0, 255, (4, 4, 3)).astype(np.uint8)).save(f"pictures/{k}.png")
    texts = [HOSTILE if k == 2 else f"text {k}" for k in range(60)]
    pictures, sites = [f"pictures/{k}.png" for k in range(60)], ["a", "b"] * 30
    wrong = (np.arange(60) % 5 == 2).astype(int)
    csv("rows.csv", loss=wrong, confidence=np.linspace(0.99, 0.4, 60), text=texts, picture=pictures, site=sites)


@pytest.mark.parametrize("command", ["evaluate rows.csv --groups site", "threshold rows.csv --coverage 0.5"])
@pytest.mark.usefixtures("table")
def test_texts_and_pictures_of_failures_are_shown(command, do):
    """Those of the wrong rows, the surest first, as they are in the file; a hostile text stays text."""
    do(f"{command} --texts text --images picture --report page.html")
    html = Path("page.html").read_text("utf-8")
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    quotes = [unescape(each.partition("</blockquote>")[0]) for each in html.split("<blockquote>")[1:]]
    assert quotes[0].startswith("<script>alert(1)</script>")
    assert "\u202e" not in quotes[0]
    assert quotes[1:] == [f"text {k}" for k in range(7, 60, 5)]
    shown = [each.partition('"')[0] for each in html.split('<img src="')[1:]]
    files = [Path(f"pictures/{k}.png") for k in range(2, 60, 5)]
    assert shown == ["data:image/png;base64," + base64.b64encode(file.read_bytes()).decode() for file in files]
    assert "text = text" not in html  # no group of every text
    understood = re.sub(r"<.*?>", "", html.partition("read as groups</th>")[2].partition("</tr>")[0])
    assert [name in understood for name in ("text", "picture", "site")] == [False, False, command.startswith("eval")]


def test_pictures_of_an_archive(do):
    """An array of an .npz beside the rows; one of another length is refused."""
    pixels = np.random.default_rng(1).integers(0, 255, (30, 5, 5)).astype(np.uint8)
    rows = {"loss": (np.arange(30) % 7 == 3).astype(float), "confidence": np.linspace(1.0, 0.1, 30)}
    np.savez("rows.npz", **rows, pixels=pixels)
    do("evaluate rows.npz --images pixels --report page.html")
    html = Path("page.html").read_text("utf-8")
    shown = [each.partition('"')[0] for each in html.split('<img src="data:image/png;base64,')[1:]]
    for row, each in zip((3, 10, 17, 24), shown, strict=True):
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(base64.b64decode(each)))), pixels[row])
    np.savez("short.npz", **rows, pixels=pixels[:29])
    do("evaluate short.npz --images pixels --report page.html", 2)


@pytest.mark.usefixtures("table")
def test_what_is_no_picture_is_refused(do):
    """A file of another kind, one that is missing, and options without a report; no page is left half-written."""
    shown = "evaluate rows.csv --images picture --report page.html"
    Path("pictures/7.png").write_text("secret", encoding="utf-8")
    assert "neither PNG, JPEG, GIF nor WebP" in do(shown, 2).err
    Path("pictures/7.png").unlink()
    assert "'pictures/7.png' is no file" in do(shown, 2).err
    assert not Path("page.html").exists()
    assert "--texts and --images are shown in a report" in do("evaluate rows.csv --texts text", 2).err
