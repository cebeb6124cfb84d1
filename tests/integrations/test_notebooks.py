"""The notebooks of the documentation run; their results show themselves, and the page has its slider."""

import pytest

from tests.docs.examples import DOCS
from tests.integrations.pages import tool

tool("nbclient")
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs(file, tmp_path):
    """No cell fails, no output was saved in the file, the first result shows its verdict, and the page its slider."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(file, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [each.data.get("text/html", "") for cell in cells for each in cell.outputs if "data" in each]
    assert "Certified" in next(each for each in shown if 'class="abstain"' in each)
    assert any(f'src="{file.stem}.html"' in each for each in shown)
    assert 'type="range"' in (tmp_path / f"{file.stem}.html").read_text(encoding="utf-8")
    printed = "".join(each.get("text", "") for cell in cells for each in cell.outputs)
    assert "Warning" not in printed
