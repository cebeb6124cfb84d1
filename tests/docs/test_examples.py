"""The examples of the documentation run and print what the pages say."""

import sys

import pytest

from tests.docs.examples import PAGES, ROOT, failures_of, libraries, output_of

sys.path[:0] = [str(ROOT / "docs" / "_ext")]
import page_examples  # noqa: E402

NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_examples_of_a_page_run(page, tmp_path, monkeypatch):
    """Python blocks are doctests in one namespace, ``$ abstain`` lines run in a shell, in the order of the page."""
    for library in libraries(page):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    assert failures_of(page)[1] == []


def test_what_is_wrong_is_found(tmp_path):
    """An output after a page's first block, whose names are shared; an error only passes where the page shows it."""
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> x = 1\n\n```\n\n```python\n>>> x + 1\n3\n\n```\n", encoding="utf-8")
    number, failures = failures_of(page)
    assert number == 2
    assert "Got:\n    2" in "".join(failures)
    assert output_of("abstain evaluate nothing.csv", tmp_path, refused=True).startswith("abstain: nothing.csv: no such")
    for command, refused in (("abstain evaluate nothing.csv", False), ("abstain --version", True)):
        with pytest.raises(AssertionError, match="exit code"):
            output_of(command, tmp_path, refused=refused)
    for name in ("quickstart", "why-does-my-number-differ", "choose-a-metric", "papers"):
        assert (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").count(">>> ") >= 3


def test_outputs_are_written_anew(tmp_path, monkeypatch):
    """Outputs that changed are replaced, of Python and of commands; those that fit, with dots, stay."""
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    text = (
        "```python\n>>> x = 1\n>>> x + 1\n{}\n>>> print('ab')\na...\n```\n\n```console\n$ abstain --version\n{}\n```\n"
    )
    page.write_text(text.format(3, "abstain 0.0"), encoding="utf-8")
    assert page_examples.rewritten(page) == text.format(2, output_of("abstain --version", tmp_path).strip())
