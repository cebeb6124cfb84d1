"""Fine-tune with each objective: ``python -m experiments.fine_tuning --data fashion_mnist.npz --output FOLDER``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import torch

from abstain._files import write_text
from experiments.fine_tuning._data import load, synthetic
from experiments.fine_tuning._network import NETWORKS
from experiments.fine_tuning._objectives import OBJECTIVES
from experiments.fine_tuning._train import TABLE_1, Settings, run, table

PRESETS = {"small": Settings(), "table1": TABLE_1}


def main(arguments: list[str] | None = None) -> int:
    """Run all seeds and objectives; write records.json and table.md."""
    parser = argparse.ArgumentParser(prog="python -m experiments.fine_tuning", description=__doc__)
    parser.add_argument("--data", type=Path, help="a file of pictures, or a folder of CIFAR-10; default: made up")
    parser.add_argument("--output", type=Path, required=True, help="folder to write to")
    parser.add_argument("--preset", choices=PRESETS, default="small", help="table1: for a GPU")
    parser.add_argument("--network", choices=NETWORKS, help="default: small, table1: resnet18")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--objectives", nargs="+", choices=OBJECTIVES, metavar="NAME", help=", ".join(OBJECTIVES))
    parser.add_argument("--epochs", type=int, help="of cross-entropy before fine-tuning")
    parser.add_argument("--tuning-epochs", type=int)
    parser.add_argument("--tuning-rate", type=float)
    parser.add_argument("--device", help="cpu, cuda, cuda:1, ...")
    parser.add_argument("--threads", type=int, help="of the CPU")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    chosen = {
        name: getattr(options, name)
        for name in ("network", "epochs", "tuning_epochs", "tuning_rate", "device")
        if getattr(options, name) is not None
    }
    settings = replace(PRESETS[options.preset], **chosen)
    options.output.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    train, test = load(options.data) if options.data else synthetic()
    names = None if options.objectives is None else list(dict.fromkeys(["CE", *options.objectives]))
    records = []
    for record in run(train, test, settings, seeds=options.seeds, objectives=names):
        records.append(record)  # written one by one: the full setting takes days
        write_text(str(options.output / "records.json"), json.dumps({"settings": asdict(settings), "records": records}))
        print("seed {seed}, {objective}: AURC {aurc:.5f}, AUGRC {augrc:.5f}".format_map(record), file=sys.stderr)
    text = table(records)
    write_text(str(options.output / "table.md"), text + "\n")
    print(text)
    print(f"{options.seeds} seeds, {time.perf_counter() - start:.0f} s; differences from CE with 95 % t intervals")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
