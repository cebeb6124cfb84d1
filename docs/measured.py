"""Print the numbers of ``docs/measured`` again: run the quick form of every command that these pages name.

    python docs/measured.py [PAGE ...] [--data FOLDER] [--list]

A page has a table of what is printed, by which command in full, and by which in minutes. The quick forms are run in
the order of the pages, each followed by the time that it took; commands with ``FOLDER`` need ``--data`` or
``ABSTAIN_DATA``, and are left out without it.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "measured"
HEADER = "| what | in full | `make measured` runs |"


class Row(NamedTuple):
    """One row of a table: what is printed, and by what; ``quick`` is empty where another package is needed."""

    page: str
    what: str
    full: str
    quick: str


def rows(page: Path) -> list[Row]:
    """Return the table of commands of a page."""
    _, _, rest = page.read_text(encoding="utf-8").partition(HEADER + "\n|---|---|---|\n")
    found = []
    for line in rest.split("\n\n")[0].splitlines():
        what, full, quick = (cell.strip() for cell in line.strip("|").split("|"))
        whole = "".join(re.findall(r"`(python .*?)`", full))
        found.append(Row(page.stem, what, whole, whole if quick == "the same" else quick.strip("`") * ("`" in quick)))
    return found


def processor() -> float:
    """Return the seconds of the processor that finished commands took, with whatever they started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(row: Row, data: str | None) -> bool:
    """Run the quick form of a row and show what it prints; return whether it went well or was left out."""
    if not row.quick or ("FOLDER" in row.quick and not data):
        why = "needs --data FOLDER" if row.quick else "needs other packages: see the head of its script"
        print(f"== {row.page}, {row.what}: left out, {why}", flush=True)
        return True
    print(f"== {row.page}, {row.what}: {row.quick}", flush=True)
    (ROOT / "docs" / "_build").mkdir(exist_ok=True)  # for pictures, which must not replace those of the pages
    command = [sys.executable, *row.quick.replace("FOLDER", data or "").split()[1:]]
    start, before = time.perf_counter(), processor()
    code = subprocess.run(command, cwd=ROOT, env={"OMP_NUM_THREADS": "1", **os.environ}, check=False).returncode
    took = f"{time.perf_counter() - start:.0f} s, {processor() - before:.0f} s of the processor"
    print(f"== {took}{f', FAILED with {code}' if code else ''}\n", flush=True)
    return code == 0


def main() -> int:
    """Run or list the commands; return how many failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = sorted(page.stem for page in PAGES.glob("*.md"))
    parser.add_argument("page", nargs="*", help=f"of {', '.join(names)}")
    parser.add_argument("--data", default=os.environ.get("ABSTAIN_DATA"), help="the folder of the real outputs")
    parser.add_argument("--list", action="store_true", help="print the commands and run nothing")
    given = parser.parse_args()
    if unknown := set(given.page) - set(names):
        parser.error(f"no page {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    chosen = [row for name in given.page or names for row in rows(PAGES / f"{name}.md")]
    if given.list:
        print("\n".join(f"{row.page}, {row.what}: {row.quick or 'by hand'}" for row in chosen))
        return 0
    return sum(not run(row, given.data) for row in chosen)


if __name__ == "__main__":
    sys.exit(main())
