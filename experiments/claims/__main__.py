"""Run checks of claims: ``python -m experiments.claims [ID ...] [--slow] [--data FOLDER] [--write]``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from abstain._files import write_text
from experiments.claims import (  # noqa: F401  (they add their checks)
    _augrc,
    _cwsa,
    _cwsa_formulas,
    _estimators,
    _joint,
    _joint_tables,
    _papers,
    _ranking,
    _trained,
)
from experiments.claims._ledger import CHECKS, command, counts, load, page, run, save, with_printed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "claims.md"


def main(arguments: list[str] | None = None) -> int:
    """Run the checks and print a line for each; 1 if one of them fails or prints another value than the ledger has."""
    parser = argparse.ArgumentParser(prog="python -m experiments.claims", description=__doc__)
    parser.add_argument("ids", nargs="*", help="rows, such as A29; default: all")
    parser.add_argument("--slow", action="store_true", help="also checks that take more than a second")
    parser.add_argument("--data", type=Path, help="also checks on saved outputs: the folder that has outputs/")
    parser.add_argument(
        "--finite-sample", type=Path, help="what 'python -m experiments.finite_sample' wrote from that folder"
    )
    parser.add_argument("--write", action="store_true", help="keep what was printed, and write docs/claims.md")
    options = parser.parse_args(arguments)
    if options.data is not None:
        os.environ["ABSTAIN_DATA"] = str(options.data)
    if options.finite_sample is not None:
        os.environ["ABSTAIN_FINITE_SAMPLE"] = str(options.finite_sample)
    claims = load()
    unknown = [name for name in options.ids if name not in {each.id for each in claims}]
    if unknown:
        parser.error(f"there is no claim {', '.join(unknown)}")
    kinds = ["quick", *(["slow"] if options.slow else []), *(["data"] if options.data else [])]
    chosen = [each for each in claims if not options.ids or each.id in options.ids]
    found = run(chosen, kinds)
    wrong = [each for each in chosen if each.id in found and found[each.id] != each.printed]
    for each in chosen:
        if each.id in found:
            print(f"{each.id} {each.status}: {found[each.id]}")
        elif options.ids:
            print(f"{each.id} {each.status}: {command(each) or 'no command'}")
    for row in [("paper", "claims", "confirmed", "corrected", "contradicted", "open", "not testable"), *counts(claims)]:
        print("  ".join(cell.rjust(12) for cell in row))
    failed = [name for name, text in found.items() if text.startswith("FAILED")]
    if options.write and not failed:
        claims = with_printed(claims, found)
        save(claims)
        write_text(PAGE, page(claims))
        print(
            f"wrote {PAGE}: {sum(bool(each.printed) for each in claims)} rows with a printed value, {len(CHECKS)} checks"
        )
        wrong = []
    for each in wrong:
        print(f"{each.id}: the ledger has {each.printed!r}")
    return 1 if failed or wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
