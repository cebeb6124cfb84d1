"""Install every declared minimum version in an environment of its own, and run the suite there.

``python .ci/minimum.py [--jobs N] [--print]``; the environment is .venv-minimum and is made anew if a bound changes.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".venv-minimum"
#: Extras whose bounds are promises to users, or that the suite needs.
EXTRAS = ("cli", "fast", "sklearn", "torch", "lightning", "train", "test")


def pins() -> list[str]:
    """Return ``name==version`` for every lower bound, the highest of several for one name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, tuple[int, ...]] = {}
    extras = project["optional-dependencies"]
    for line in [*project["dependencies"], *(each for extra in EXTRAS for each in extras[extra])]:
        bound = re.fullmatch(r"([A-Za-z0-9_.-]+)>=([0-9.]+)", line)
        if bound is None and not line.startswith("abstain["):
            raise SystemExit(f"{line!r} has no lower bound of the form name>=version")
        if bound is not None:
            version = tuple(map(int, bound[2].split(".")))
            found[bound[1]] = max(version, found.get(bound[1], version))
    return [f"{name}=={'.'.join(map(str, version))}" for name, version in found.items()]


def main() -> int:
    """Make the environment where it is missing or stale, and run the suite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--print", action="store_true", help="print the pins and stop")
    parser.add_argument("tests", nargs="*", help="passed to pytest")
    given = parser.parse_args()
    wanted = "\n".join(pins()) + "\n"
    if given.print:
        print(wanted, end="")
        return 0
    python, stamp = HOME / ("Scripts" if os.name == "nt" else "bin") / "python", HOME / "pins.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        venv.create(HOME, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *wanted.split()], check=True)
        subprocess.run([*install, "--no-deps", "--editable", str(ROOT)], check=True)
        stamp.write_text(wanted)
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", given.jobs, "--dist", "worksteal"]
    command.append("--ignore=tests/recorded")  # values of the newest versions
    return subprocess.run([*command, *given.tests], cwd=ROOT, env={**os.environ, "PYTHONPATH": ""}).returncode


if __name__ == "__main__":
    sys.exit(main())
