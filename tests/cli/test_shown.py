"""``--texts`` and ``--images``: what failing rows were, in a report from the command line."""

import base64
import io
import re
from html import unescape

import numpy as np
import pytest

from abstain.cli import run

Image = pytest.importorskip("PIL.Image")

HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)> "quoted" &amp; \u202egnp'


@pytest.fixture
def table(tmp_path):
    """Return a table of 60 rows with texts and pictures; the surest wrong one has a hostile text."""
    rng = np.random.default_rng(0)
    (tmp_path / "pictures").mkdir()
    for k in range(60):
        pixels = rng.integers(0, 255, (4, 4, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / "pictures" / f"{k}.png")
    score, wrong = np.linspace(0.99, 0.4, 60), np.arange(60) % 5 == 2
    texts = ['"' + HOSTILE.replace('"', '""') + '"' if k == 2 else f"text {k}" for k in range(60)]
    lines = [f"{int(wrong[k])},{score[k]:.3f},{texts[k]},pictures/{k}.png,{'ab'[k % 2]}" for k in range(60)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["loss,confidence,text,picture,site", *lines]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "command", [["evaluate", "--groups", "site"], ["threshold", "--coverage", "0.5"]], ids=lambda command: command[0]
)
def test_texts_and_pictures_of_failures_are_shown(table, command):
    """Those of the wrong rows, the surest first, as they are in the file; a hostile text stays text."""
    page = table.with_name("page.html")
    options = ["--texts", "text", "--images", "picture", "--report", str(page)]
    assert run([command[0], str(table), *command[1:], *options]) == 0
    html = page.read_text("utf-8")
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    quotes = [unescape(each.partition("</blockquote>")[0]) for each in html.split("<blockquote>")[1:]]
    assert quotes[0].startswith("<script>alert(1)</script>")
    assert "\u202e" not in quotes[0]
    assert quotes[1:] == [f"text {k}" for k in range(7, 60, 5)]
    shown = [each.partition('"')[0] for each in html.split('<img src="')[1:]]
    files = [table.with_name("pictures") / f"{k}.png" for k in range(2, 60, 5)]
    assert shown == ["data:image/png;base64," + base64.b64encode(file.read_bytes()).decode() for file in files]
    assert "text = text" not in html  # no group of every text
    understood = html.partition("read as groups</th>")[2].partition("</tr>")[0]
    assert "text" not in re.sub(r"<.*?>", "", understood)  # nor is it said to be one
    assert "picture" not in understood
    assert ("site" in understood) == (command[0] == "evaluate")


def test_pictures_of_an_archive(tmp_path):
    """An array of an .npz beside the rows; one of another length is refused."""
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 255, (30, 5, 5)).astype(np.uint8)
    rows = {"loss": (np.arange(30) % 7 == 3).astype(float), "confidence": np.linspace(1.0, 0.1, 30)}
    np.savez(tmp_path / "rows.npz", **rows, pixels=pixels)
    report = ["--images", "pixels", "--report", str(tmp_path / "page.html")]
    assert run(["evaluate", str(tmp_path / "rows.npz"), *report]) == 0
    html = (tmp_path / "page.html").read_text("utf-8")
    shown = [each.partition('"')[0] for each in html.split('<img src="data:image/png;base64,')[1:]]
    for row, each in zip((3, 10, 17, 24), shown, strict=True):
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(base64.b64decode(each)))), pixels[row])
    np.savez(tmp_path / "short.npz", **rows, pixels=pixels[:29])
    assert run(["evaluate", str(tmp_path / "short.npz"), *report]) == 2


def test_what_is_no_picture_is_refused(table, capsys):
    """A file of another kind, one that is missing, and options without a report; no page is left half-written."""
    page = table.with_name("page.html")
    options = ["--images", "picture", "--report", str(page)]
    (table.parent / "pictures" / "7.png").write_text("secret", encoding="utf-8")
    assert run(["evaluate", str(table), *options]) == 2
    assert "neither PNG, JPEG, GIF nor WebP" in capsys.readouterr().err
    (table.parent / "pictures" / "7.png").unlink()
    assert run(["evaluate", str(table), *options]) == 2
    assert "'pictures/7.png' is no file" in capsys.readouterr().err
    assert not page.exists()
    assert run(["evaluate", str(table), "--texts", "text"]) == 2
    assert "--texts and --images are shown in a report" in capsys.readouterr().err
    assert run(["evaluate", str(table), "--at-random", "--texts", "text", "--report", str(page)]) == 2
    assert "a file whose rows all count" in capsys.readouterr().err
