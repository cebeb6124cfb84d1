"""Damaged files through the commands: one line and exit code 2, or a result; never a traceback or a code of ours."""

import random
from pathlib import Path

import numpy as np
import polars
import pytest
from hypothesis import settings

#: Mutated files per format and command: few as a rule, 2,000 in a long run.
MANY = 2000 if settings.default is not None and settings.default.max_examples > 100 else 6
RNG = np.random.default_rng(5)
COLUMNS = {
    "y": RNG.integers(0, 2, 80), "yhat": RNG.integers(0, 2, 80), "conf": RNG.random(80), "weight": RNG.random(80) + 0.5,
    "other": RNG.random(80),
}  # fmt: skip

COMMANDS = [
    "evaluate {} --metrics augrc --level 0 --json -",
    "threshold {} --coverage 0.5",
    "compare {} {copy}",
    "monitor policy.json {}",
    "apply policy.json {} -o decided.csv",
    "joint {} {intact} --scores other --permutations 0",
    "joint {intact} {} --scores other --permutations 0",
]


def mutated(content, lots):
    """Return the bytes after a flip of bits, a cut, zeros, or a piece moved elsewhere."""
    data, kind = bytearray(content), lots.randrange(4)
    start = lots.randrange(len(data))
    end = min(len(data), start + lots.randrange(1, 40))
    if kind == 0:
        for _ in range(lots.randrange(1, 6)):
            data[lots.randrange(len(data))] ^= 1 << lots.randrange(8)
    elif kind == 1:
        del data[start : end if lots.random() < 0.5 else len(data)]
    elif kind == 2:
        data[start:end] = bytes(end - start)
    else:
        place = lots.randrange(len(data))
        data[place:place] = data[start:end]
    return bytes(data)


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.replace(" ", "-"))
def test_a_damaged_file_is_one_line_or_a_result(suffix, command, abstain_, do):
    """A flipped digit of a CSV is another number, which nobody can know; an archive has checksums, so it may not be."""
    file, copy, damaged, decided = Path(f"intact{suffix}"), f"copy{suffix}", f"damaged{suffix}", Path("decided.csv")
    frame = polars.DataFrame(COLUMNS)
    if suffix == ".npz":
        np.savez_compressed(file, **COLUMNS)
    else:
        {".csv": frame.write_csv, ".jsonl": frame.write_ndjson}.get(suffix, frame.write_parquet)(file)
    content = file.read_bytes()
    Path(copy).write_bytes(content)
    if "policy.json" in command:
        do(f"threshold {file} --risk 0.9 --delta 0.1 -o policy.json")
    intact = do(command.format(file, intact=file, copy=copy))
    lots = random.Random(f"{suffix} {command}")
    for number in range(MANY):
        Path(damaged).write_bytes(mutated(content, lots))
        decided.unlink(missing_ok=True)
        done = abstain_(*command.format(damaged, intact=file, copy=copy).split())
        place = f"{suffix} {command} {number}: {done.err}"
        assert done.code in (0, 1, 2), place
        assert done.code != 1 or command.startswith(("threshold", "monitor")), place
        assert decided.exists() == (done.code == 0 and command.startswith("apply")), place
        assert "Traceback" not in done.err, place
        assert done.code == 0 or done.err.strip(), place
        if suffix == ".npz" and done.code == 0 and command.startswith("evaluate"):
            values = [[row["value"] for row in each.json["measurements"]] for each in (done, intact)]
            assert values[0] == values[1] or "not used" in done.all, place
