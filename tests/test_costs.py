"""What stands around the values keeps its price: ratios to a yardstick in one run, with room for other machines."""

from pathlib import Path

import pytest
from benchmarks import costs


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", costs.COSTS)
def test_times_stay_below_their_limits(name):
    """A limit is a multiple of what was measured when the row was last improved; the bar is in the benchmark."""
    row = costs.COSTS[name]
    if row.compiled:  # without a compiler some take many times as long, which is no regression
        pytest.importorskip("numba")
    if name in ("aurc_loss", "cwsa_loss", "knn", "update", "vim", "vim_fit"):
        pytest.importorskip("torchmetrics" if name == "update" else "torch")
    found, _ = costs.ratio(row)
    assert found <= row.limit, f"{row.title}: {found:.2f} x {row.over}"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the kernel keeps no high-water mark here")
@pytest.mark.parametrize("name", [name for name, row in costs.PEAKS.items() if row.rows <= 10_000_000])
def test_peaks_of_memory_stay_below_their_limits(name):
    """Peaks are the kernel's, of a process of its own, over the bytes of the input or over the peak of a peer."""
    if costs.PEAKS[name].peer:
        pytest.importorskip("torch")
    row = costs.PEAKS[name]
    assert costs.peak(row) <= row.limit
