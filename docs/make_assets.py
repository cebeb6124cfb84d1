"""Make the pictures of the README and the quickstart anew.

Run it as ``python docs/make_assets.py`` in the environment that abstain is installed in.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMIT = 100_000  # bytes


def small(source: Path, target: Path) -> None:
    """Copy a PNG, with a palette of 64 colours if it would be too large."""
    from PIL import Image

    with Image.open(source) as picture:
        picture = picture.convert("RGB")
        if source.stat().st_size < LIMIT:
            target.write_bytes(source.read_bytes())
        else:
            picture.quantize(64, dither=Image.Dither.NONE).save(target, optimize=True)
    if target.stat().st_size >= LIMIT:
        raise SystemExit(f"{target} has {target.stat().st_size} bytes; the limit is {LIMIT}")


def certified(path: Path) -> None:
    """Draw the README's picture: the curve of its example, the band and the certified threshold."""
    import abstain

    outputs = abstain.datasets.load("llama3_70b_mmlu")
    loss, confidence = outputs.loss_per_sample(), outputs.confidence
    found = abstain.choose_threshold(loss, confidence, risk=0.10, delta=0.05)
    abstain.RiskCoverageDisplay.from_threshold(found, loss, confidence).save(path, dpi=110)


def main() -> None:
    """Run ``abstain demo`` in a temporary folder; write docs/assets."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "abstain", "demo", "--output", "demo-output"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        assets = ROOT / "docs" / "assets"
        assets.mkdir(exist_ok=True)
        small(Path(folder) / "demo-output" / "risk-coverage.png", assets / "risk-coverage.png")
        certified(Path(folder) / "certified.png")
        small(Path(folder) / "certified.png", assets / "certified.png")


if __name__ == "__main__":
    main()
