"""Run a study of real outputs: ``python -m experiments.real {imagenet,cifar,llm} [--data FOLDER] [--page]``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from abstain._files import write_text
from experiments.real import _cifar, _imagenet, _llm
from experiments.real._page import PAGES, RESULTS

STUDIES = {"imagenet": _imagenet, "cifar": _cifar, "llm": _llm}


def main(arguments: list[str] | None = None) -> int:
    """Compute the results, or write the page and its figures from them."""
    parser = argparse.ArgumentParser(prog="python -m experiments.real", description=__doc__)
    parser.add_argument("study", choices=list(STUDIES))
    parser.add_argument("--data", type=Path, help="folder that holds outputs/  [default: the variable ABSTAIN_DATA]")
    parser.add_argument("--page", action="store_true", help="only write the page and its figures from kept results")
    options = parser.parse_args(arguments)
    if options.data is not None:
        os.environ["ABSTAIN_DATA"] = str(options.data)
    study = STUDIES[options.study]
    if not options.page:
        study.run()
        print(f"wrote {RESULTS / options.study}.json")
    PAGES.mkdir(exist_ok=True)
    study.figures()
    write_text(PAGES / f"{options.study}.md", study.write())
    print(f"wrote {PAGES / options.study}.md and its figures")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
