"""What a cost cannot fall below: the steps that it cannot do without, alone, beside its yardstick.

    OMP_NUM_THREADS=1 python benchmarks/bounds.py

Processor time, medians of interleaved rounds in a warm heap as in ``benchmarks/costs.py``; a million rows. Needs numba
and PyTorch.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import abstain
from abstain._fast import compiled
from abstain.blocks._parts import by_score
from abstain.inference._influence import gradient, per_sample
from abstain.inference._unseen import one_more
from abstain.metrics import parse
from costs import (
    METRICS,
    Cost,
    compared,
    evaluated,
    influenced,
    over_argsort,
    population,
    ratio,
    values,
    weighted,
)
from machine import dispatch, warm_heap


def pack(score: Any, loss: Any, key: Any) -> None:
    """Write how many floats a score >= 0 lies below the highest, with the 0/1 loss in the lowest bit."""
    highest = score.max()
    for i in range(score.size):
        key[i] = ((highest - score[i]) << np.uint64(1)) | np.uint64(loss[i] != 0.0)


def scan(key: Any) -> tuple[float, float]:
    """Return AURC and AUGRC of sorted keys."""
    n, lost, i = key.size, 0.0, 0
    aurc = augrc = 0.0
    while i < n:
        own, j = 0.0, i
        while j < n and key[j] >> np.uint64(1) == key[i] >> np.uint64(1):
            own += np.float64(key[j] & np.uint64(1))
            j += 1
        lost += own
        aurc += (j - i) * lost / j
        augrc += (j - i) * (lost - 0.5 * own)
        i = j
    return aurc / n, augrc / (np.float64(n) * n)


def medians(jobs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the processor time of each job; the first round compiles and fills caches."""
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds + 1):
        for name, job in jobs.items():
            start = time.process_time()
            job()
            found[name].append(time.process_time() - start)
    return {name: statistics.median(each[1:]) for name, each in found.items()}


def losses() -> tuple[Callable[[], Any], dict[str, Callable[[], Any]]]:
    """Return twenty training steps on 128 x 1000 logits: cross-entropy, and what AURC and CWSA do beside it."""
    import torch
    from torch import nn

    from abstain.nn import AURCLoss, CWSALoss

    logits = torch.randn(128, 1000, generator=torch.Generator().manual_seed(0), requires_grad=True)
    labels = torch.randint(0, 1000, (128,), generator=torch.Generator().manual_seed(1))
    weight = torch.rand(128, generator=torch.Generator().manual_seed(2))
    ascending, rows = weight.numpy(), np.arange(128)
    places = torch.stack([logits.detach().argmax(-1), labels], dim=1)

    def nll(log_p: Any) -> Any:
        return nn.functional.nll_loss(log_p, labels, reduction="none")

    def ranked() -> Any:
        log_p = logits.log_softmax(-1)
        log_p.detach().amax(-1).numpy().argsort()
        return torch.dot(weight, nll(log_p))

    class Weighed(nn.Module):
        def forward(self) -> Any:
            log_p, own = logits.log_softmax(-1), np.empty_like(ascending)
            own[log_p.detach().amax(-1).numpy().argsort()] = ascending
            return torch.dot(torch.from_numpy(own), nll(log_p))

    def trusted(p: Any, columns: Any) -> Any:
        confidence, right = p.gather(1, columns).unbind(1)
        return torch.dot(nn.functional.softplus(confidence - 0.5, beta=20.0), torch.rsub(right, 0.5, alpha=1.0))

    class Untied(nn.Module):
        def forward(self) -> Any:
            p = logits.softmax(-1)
            values = p.detach().numpy()
            place = values.argmax(1)
            most = values[rows, place]
            values[rows, place] = -1.0
            assert not (values[rows, values.argmax(1)] == most).any()
            values[rows, place] = most
            return trusted(p, torch.stack([torch.from_numpy(place), labels], dim=1))

    def steps(loss: Callable[[], Any]) -> Callable[[], None]:
        def job() -> None:
            logits.grad = None  # then a gradient is added to that of the step before, as in ``costs.py``
            for _ in range(20):
                loss().backward()

        return job

    aurc, cwsa = AURCLoss(), CWSALoss()
    return steps(lambda: nn.functional.cross_entropy(logits, labels)), {
        "cross-entropy of each row, and its mean": steps(lambda: nll(logits.log_softmax(-1)).mean()),
        "cross-entropy of each row, times a weight that is there": steps(
            lambda: torch.dot(weight, nll(logits.log_softmax(-1)))
        ),
        "the same, beside the order of the largest probabilities": steps(ranked),
        "the same as a module, with weights put into this order": steps(Weighed()),
        "AURCLoss as it is": steps(lambda: aurc(logits, labels)),
        "probabilities of the largest, whose place is there, and of the label": steps(
            lambda: logits.softmax(-1).gather(1, places).sum()
        ),
        "the same, and their trust and gain": steps(lambda: trusted(logits.softmax(-1), places)),
        "the same as a module that finds the place and looks for ties": steps(Untied()),
        "CWSALoss as it is": steps(lambda: cwsa(logits, labels)),
    }


def evaluation(n: int) -> dict[str, Callable[[], Any]]:
    """Return the values, gradients and unseen errors behind an evaluation, without an interval, a check or a result."""
    loss, score = population(n)
    metrics = [parse(each.metric) for each in abstain.evaluate(loss=loss, confidence=score).measurements]
    smooth = [each for each in metrics if each.base.inference_kind == "smooth" and each.base.scale != "identity"]

    def steps() -> None:
        blocks = abstain.TieBlocks.from_samples(loss, score, keep_samples=True)
        for metric in metrics:
            metric(blocks)
        for metric in smooth:
            gradient(metric, blocks)
        one_more([(metric, metric(blocks)) for metric in smooth], blocks)

    return {"evaluate: its values and gradients": steps, "evaluate as it is": evaluated(n)[0]}


def comparison(n: int = 1_000_000) -> dict[str, Callable[[], Any]]:
    """Return what thirteen scores cannot do without: influences, unseen errors, two powers of 78 differences."""
    loss, score = population(n)
    one, other = np.random.default_rng(0).random((2, n))

    def influences() -> None:
        for _ in range(13):
            blocks = abstain.TieBlocks.from_samples(loss, score, keep_samples=True)
            METRICS[1](blocks)
            per_sample(gradient(METRICS[1], blocks), blocks)

    blocks = abstain.TieBlocks.from_samples(loss, score, keep_samples=True)
    value = METRICS[1](blocks)

    def pairs() -> None:
        for _ in range(78):
            apart = one - other
            np.dot(apart, apart)
            apart *= apart
            np.dot(apart, apart)

    return {
        "compare: influences of thirteen scores": influences,
        "compare: their unseen errors": lambda: [one_more([(METRICS[1], value)], blocks) for _ in range(13)],
        "compare: squares and fourth powers of 78 differences": pairs,
        "compare as it is": compared(n)[0],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    print(f"numpy {np.__version__}, sort dispatch {dispatch()}")
    guard = warm_heap()
    loss, score = population(1_000_000)
    bits, key, place = score.view(np.uint64), np.empty(score.size, np.uint64), np.empty_like(score)
    fused_pack, fused_scan = compiled(pack), compiled(scan)

    def fused() -> Any:
        fused_pack(bits, loss, key)
        key.sort()
        return fused_scan(key)

    np.testing.assert_allclose(fused(), values(loss, score), rtol=1e-12)
    order = by_score(np, score)[0]

    def gathered() -> None:
        rows = by_score(np, score)[0]
        (score * loss).take(rows), score.take(rows)

    def scatter() -> None:
        place[order] = score

    real = population(1_000_000, real=True)[0]

    jobs = {
        "argsort": lambda: np.argsort(score),
        "np.sort of the scores alone": lambda: np.sort(score),
        "AURC + AUGRC: packed keys, one sort, one compiled scan, no check": fused,
        "AURC + AUGRC as they are": lambda: values(loss, score),
        "real losses: the order, and one column gathered by it": lambda: real.take(by_score(np, score)[0]),
        "AURC + AUGRC of real losses as they are": over_argsort(values, real=True)[0],
        "weighted: the order, a product, and two columns gathered by it": gathered,
        "AURC + AUGRC, weighted, as they are": weighted()[0],
        "influences: the order, and two columns put in the order of the rows": lambda: (
            by_score(np, score), scatter(), scatter(),
        ),
        "values and both influences as they are": over_argsort(influenced)[0],
    }  # fmt: skip
    found = medians(jobs, rounds)
    for name, seconds in found.items():
        print(f"{name:<70} {seconds / found['argsort']:6.2f} x argsort")

    plain, of_losses = losses()
    for over, yard, steps, often in (
        ("AURC + AUGRC of 1,000", functools.partial(values, *population(1000)), evaluation(1000), 3 * rounds),
        ("AURC + AUGRC", functools.partial(values, loss, score), comparison(), max(rounds // 3, 1)),
        ("cross-entropy", plain, of_losses, 4 * rounds),
    ):
        for name, job in steps.items():
            found_here = ratio(Cost(name, "", 0.0, 0.0, often, lambda pair=(job, yard): pair))[0]  # type: ignore[misc]
            print(f"{name:<70} {found_here:6.2f} x {over}")
    del guard


if __name__ == "__main__":
    main()
