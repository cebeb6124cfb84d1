"""The commands of the page "from other tools" run on files as these tools write them."""

import re
import shutil

import numpy as np
import pytest

from tests.docs.examples import DOCS, ROOT, output_of
from tests.readers import layouts

TEXT = (DOCS / "from.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]


def files(folder):
    """Write every file that the page names, under the names of the page."""
    fixtures = ROOT / "tests/readers/fixtures"
    shutil.copy(
        fixtures / "samples_sums_2026-11-22T03-00-00.000000.jsonl", folder / "samples_mmlu_2026-11-22T03-00-00.jsonl"
    )
    for name in ("logs", "test_results", "scores"):
        (folder / name).mkdir()
    shutil.copy(fixtures / "inspect.eval", folder / "logs" / "2026-11-22_task.eval")
    layouts.fd_shifts(folder / "test_results", sets=4)
    layouts.openood(folder / "scores")
    shutil.copy(folder / "scores" / "svhn.npz", folder / "scores" / "cifar100.npz")
    right = np.random.default_rng(0).random((50, 2)) < 0.7
    truth = np.column_stack([np.arange(50) % 2, np.arange(1, 51) % 2])
    columns = [*truth.T, *(truth == right).T.astype(int), np.linspace(0, 1, 50)]
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    (folder / "tags.csv").write_text("\n".join(["y_cat,y_dog,p_cat,p_dog,confidence", *rows]))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(command, tmp_path):
    """As it stands on the page, on files of that name."""
    for needed in ("polars", "zstandard"):
        pytest.importorskip(needed)
    files(tmp_path)
    assert re.search(r"\d (?:samples|ID samples)|AUGRC|F1", output_of(command, tmp_path))
