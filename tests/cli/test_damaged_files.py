"""Damaged files through the commands: one line and exit code 2, or a result; never a traceback or a code of ours."""

import random

import numpy as np
import pytest
from hypothesis import settings

polars = pytest.importorskip("polars")

#: Mutated files per format and command: few as a rule, 2,000 in a long run.
MANY = 2000 if settings.default is not None and settings.default.max_examples > 100 else 6
RNG = np.random.default_rng(5)
COLUMNS = {
    "y": RNG.integers(0, 2, 80), "yhat": RNG.integers(0, 2, 80), "conf": RNG.random(80), "weight": RNG.random(80) + 0.5,
    "other": RNG.random(80),
}  # fmt: skip

COMMANDS = [
    ("evaluate", "{}", "--metrics", "augrc", "--level", "0", "--json", "-"),
    ("threshold", "{}", "--coverage", "0.5"),
    ("compare", "{}", "{copy}"),
    ("monitor", "{policy}", "{}"),
    ("apply", "{policy}", "{}", "-o", "{decided}"),
    ("joint", "{}", "{intact}", "--scores", "other"),
    ("joint", "{intact}", "{}", "--scores", "other"),
]


def write(path):
    """Write the intact file of this format and return its bytes."""
    frame = polars.DataFrame(COLUMNS)
    if path.suffix == ".npz":
        np.savez_compressed(path, **COLUMNS)
    elif path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_parquet(path)
    return path.read_bytes()


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


@pytest.fixture
def places(abstain_, tmp_path):
    """Return the intact file, a policy that guarantees a risk, and where decisions go, by format."""

    def made(suffix):
        found = {"intact": tmp_path / f"intact{suffix}", "policy": tmp_path / "policy.json"}
        write(found["intact"])
        found["copy"] = tmp_path / f"copy{suffix}"
        write(found["copy"])
        options = ("--risk", "0.9", "--delta", "0.1", "-o", found["policy"])
        assert abstain_("threshold", found["intact"], *options).code == 0
        return found | {"decided": tmp_path / "decided.csv"}

    return made


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command[0]}-{command.index('{}')}")
def test_a_damaged_file_is_one_line_or_a_result(suffix, command, abstain_, places, tmp_path):
    """A flipped digit of a CSV is another number, which nobody can know; an archive has checksums, so it may not be."""
    made = places(suffix)
    file, decided = made["intact"], made["decided"]
    content = file.read_bytes()
    intact = abstain_(*(word.format(file, **made) for word in command))
    assert intact.code == 0, intact.err
    lots = random.Random(f"{suffix} {command}")
    for number in range(MANY):
        damaged = tmp_path / f"damaged{suffix}"
        damaged.write_bytes(mutated(content, lots))
        decided.unlink(missing_ok=True)
        done = abstain_(*(word.format(damaged, **made) for word in command))
        place = f"{suffix} {command[0]} {number}: {done.err}"
        assert done.code in (0, 1, 2), place
        assert done.code != 1 or command[0] in ("threshold", "monitor"), place
        assert decided.exists() == (done.code == 0 and command[0] == "apply"), place
        assert "Traceback" not in done.err, place
        assert done.code == 0 or done.err.strip(), place
        if suffix == ".npz" and done.code == 0 == intact.code and command[0] == "evaluate":
            same = [row["value"] for row in done.json["measurements"]] == [
                row["value"] for row in intact.json["measurements"]
            ]
            assert same or "not used" in done.out + done.err, place
