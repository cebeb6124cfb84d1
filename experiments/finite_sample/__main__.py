"""Run the study: ``python -m experiments.finite_sample --data FOLDER --output FOLDER``."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from abstain._files import write_text
from experiments.finite_sample import _figures as figures
from experiments.finite_sample._sources import load, synthetic
from experiments.finite_sample._statements import statements
from experiments.finite_sample._study import SIZES, equality, rates, run, save

#: With fewer rounds their spread says little of the standard error.
FEW_ROUNDS = 10


def main(arguments: list[str] | None = None) -> int:
    """Run the study and write records.csv, tables.json, statements.md and the figures."""
    parser = argparse.ArgumentParser(prog="python -m experiments.finite_sample", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of saved outputs; default: a synthetic model")
    parser.add_argument("--output", type=Path, required=True, help="folder to write to")
    parser.add_argument("--rounds", type=int, default=20, help="random divisions of each test set into batches")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-figures", action="store_true")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    sources = load(options.data) if options.data else [synthetic()]
    records = run(sources, rounds=options.rounds, seed=options.seed)
    equal, rate = equality(sources), rates(records, sources)
    save(options.output, records, equality=equal, rates=rate)
    lines = statements(records, equal, rate)
    if options.rounds < FEW_ROUNDS:
        lines.append(
            f"Caution: of {options.rounds} rounds a standard error is itself a guess, too small as often as not: the "
            "standardised gap is far above 1 then though the theory holds; take 20."
        )
    write_text(str(options.output / "statements.md"), "\n".join(lines) + "\n")
    print("\n".join(lines))
    if not options.no_figures:
        figures.by_size(records, options.output)
        figures.by_score(records, options.output)
        figures.equal(equal, options.output)
        figures.rate(records, sources, options.output)
        figures.weights(sources[0], options.output, SIZES[::2], options.rounds)
    print(f"{len(sources)} models, {len(records)} records, {time.perf_counter() - start:.0f} s; see {options.output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
