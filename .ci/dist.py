"""Build wheel and sdist into dist/, check them, install the wheel alone and run it. Nothing is published.

What only a built package can show: files that the wheel lacks, imports that lean on the checkout, a description that
the index would refuse, an extra that does not bring what its command needs.

    python .ci/dist.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST, ENVIRONMENT = ROOT / "dist", ROOT / ".venv-dist"
NEVER_IN_WHEEL = ("tests/", "benchmarks/", "experiments/", "docs/")
ALWAYS_IN_SDIST = ("Makefile", "CONTRIBUTING.md", "tests/conftest.py", "benchmarks/costs.py", "changelog.d/README.md")


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Output of a command that must succeed; its output is shown where it does not."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def contents_are_right(wheel: Path, sdist: Path) -> None:
    """The wheel holds the package and its data only; the sdist holds what its make targets need."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    stray = [name for name in names if name.startswith(NEVER_IN_WHEEL)]
    tracked = run("git", "ls-files", "src/abstain", cwd=ROOT).split() if (ROOT / ".git").exists() else []
    missing = [name for name in tracked if name.removeprefix("src/") not in names]
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    missing += [name for name in ALWAYS_IN_SDIST if name not in inside]
    if stray or missing:
        sys.exit(f"the wheel holds {stray}; missing from wheel or sdist: {missing}")


def installed_alone(wheel: Path) -> list[str]:
    """What the wheel prints in an empty environment, away from the checkout: core first, then the command."""
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    run(sys.executable, "-m", "venv", ENVIRONMENT)
    scripts = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")
    python, pip = scripts / "python", [scripts / "python", "-m", "pip", "install", "--quiet"]
    printed = []
    with tempfile.TemporaryDirectory() as elsewhere:
        away = Path(elsewhere)
        run(*pip, wheel)
        core = "import abstain; print(abstain.__version__, abstain.augrc([0, 1, 0, 1], [0.9, 0.8, 0.7, 0.6]))"
        printed.append(run(python, "-c", core, cwd=away).strip())
        run(*pip, f"{wheel}[cli]")
        run(scripts / "abstain", "demo", "--output", "demo", cwd=away)
        (report,) = away.glob("demo/*.html")
        printed.append(f"abstain demo: {report.name}, {report.stat().st_size} bytes")
    return printed


def main() -> None:
    """Build, check, install, run; one line each."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    for file in (wheel, sdist):
        print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB", flush=True)
    contents_are_right(wheel, sdist)
    print(run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist).strip(), flush=True)
    for line in installed_alone(wheel):
        print(line, flush=True)


if __name__ == "__main__":
    main()
