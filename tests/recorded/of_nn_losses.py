"""Objectives of PyTorch with their gradients, and live metrics over batches."""

from functools import partial
from itertools import product

import numpy as np
import torch

from abstain import nn
from tests.recorded import tried

TOLERANCE = 1e-5
CONFIDENCES = ("msp", "neg_entropy", "softmax_margin", "neg_gini", "max_logit", "energy")


def _logits(n=7, classes=3, seed=0):
    """Return logits in double precision, two rows of them tied, and labels."""
    rng = np.random.default_rng([21, n, classes, seed])
    values = rng.normal(0.0, 1.5, (n, classes))
    values[1] = values[n // 2]
    return torch.as_tensor(values, dtype=torch.float64), torch.as_tensor(rng.integers(0, classes, n))


def _with_gradient(loss, *tensors):
    """Return a loss of some tensors and where its gradients point, or the name of its error."""
    given = [each.clone().requires_grad_() if each.is_floating_point() else each for each in tensors]
    value = tried(loss, *given)
    if isinstance(value, str) or not value.requires_grad:
        return value
    value.sum().backward()
    return [value, *(each.grad for each in given if each.grad is not None)]


def weights_of_ranks():
    """Return the weights of each estimator, with ties in order and exact, of one and of several rankings."""
    scores = torch.tensor([0.3, 0.9, 0.3, 0.1, 0.9, 0.7, 0.9], dtype=torch.float64)
    loss, several = torch.linspace(0.0, 2.0, 7, dtype=torch.float64), torch.stack([scores, -scores])
    for name, ties in product(("harmonic", "log", "plugin", "sele", "augrc"), ("order", "exact")):
        yield [tried(nn.loss_weights, each, name, ties=ties) for each in (scores, scores[:1], several)]
        for unit_mean, reduction in product((False, True), ("mean", "none")):
            options = {"ties": ties, "unit_mean": unit_mean, "reduction": reduction}
            yield _with_gradient(partial(nn.rank_weighted_loss, confidence=scores, estimator=name, **options), loss)


def rank_losses():
    """Return the losses of ranks by confidence and options, with their gradients."""
    logits, target = _logits(12, 4)
    for name, ties, unit_mean in product(CONFIDENCES, ("order", "exact"), (False, True)):
        options = {"confidence": name, "ties": ties, "unit_mean": unit_mean}
        losses = [nn.AURCLoss(each, **options) for each in ("harmonic", "log", "plugin")]
        yield [each(logits, target) for each in (*losses, nn.SELELoss(**options), nn.AUGRCLoss(**options))]
    losses = [nn.AURCLoss(), nn.AURCLoss("plugin"), nn.SELELoss(), nn.AUGRCLoss(unit_mean=True)]
    yield [_with_gradient(lambda x, one=each: one(x, target), logits) for each in losses]
    own = nn.AURCLoss(confidence=lambda z: z[..., 0], loss=lambda z, y: (z.argmax(dim=1) != y).double())
    yield own(logits, target)


def bayesian_losses():
    """Return the expected AURC of several models, by ranking, estimator and confidence."""
    several, target = torch.stack([_logits(seed=k)[0] for k in range(3)]), _logits()[1]
    ways = product(("harmonic", "log", "sele"), ("own", "predictive"), ("order", "exact"), ("msp", "energy"))
    for estimator, ranking, ties, score in ways:
        options = {"ranking": ranking, "ties": ties, "confidence": score}
        yield tried(nn.bayesian_aurc_loss, several, target, estimator, **options)
    yield _with_gradient(lambda x: nn.bayesian_aurc_loss(x, target, "plugin", ranking="predictive"), several)


def cwsa():
    """Return smooth CWSA and its loss by all options, with gradients."""
    (logits, target), names = _logits(9), ("threshold", "temperature", "penalty", "denominator")
    loss = torch.tensor([0.0, 1.0, 0.0, 0.5, 1.0, 0.0], dtype=torch.float64)
    confidence = torch.tensor([0.9, 0.8, 0.55, 0.5, 0.3, 1.0], dtype=torch.float64)
    for each in product((0.0, 0.5, 0.9), (0.05, 0.4), (0.0, 1.0, 2.5), ("accepted", "all")):
        options = dict(zip(names, each, strict=True))
        yield _with_gradient(partial(nn.smooth_cwsa, **options), loss, confidence)
        yield [tried(nn.CWSALoss(**options, correctness=kind), logits, target) for kind in ("soft", "hard")]
    tied = torch.zeros(3, 3, dtype=torch.float64)
    yield [_with_gradient(nn.CWSALoss(correctness=each), tied, torch.tensor([0, 1, 2])) for each in ("soft", "hard")]
    yield [nn.smooth_cwsa(loss.float(), confidence.float()), nn.smooth_cwsa(loss.long(), confidence)]
    yield _with_gradient(nn.CWSALoss(), logits, target)


def correctness_ranking():
    """Return the loss of correctness ranking over epochs, with its memory."""
    criterion = nn.CorrectnessRankingLoss(6)
    for epoch in range(3):
        for rows in (torch.tensor([0, 3, 5]), torch.tensor([1, 2]), torch.tensor([4])):
            logits, target = _logits(6, 3, epoch)
            yield _with_gradient(criterion, logits[rows], rows)
            criterion.update(logits[rows], target[rows], rows)
        yield from [criterion.right.clone(), criterion.seen.clone(), criterion.correctness(torch.arange(6))]
        yield criterion.correctness(torch.tensor([1]))
    confidence = torch.tensor([0.9, 0.2, 0.5, 0.5], dtype=torch.float64)
    for correctness in ((1.0, 0.0, 0.5, 0.5), (0.0, 1.0, 1.0, 0.2), (1.0, 1.0, 1.0, 1.0)):
        yield _with_gradient(nn.crl_loss, confidence, torch.tensor(correctness, dtype=torch.float64))


def learned_confidence():
    """Return the losses of ConfidNet, Deep Gamblers and DeVries & Taylor, with gradients, warm-up and budget."""
    logits, target = _logits(8, 4)
    branch, classes = torch.linspace(-2.0, 2.5, 8, dtype=torch.float64), torch.clamp(target, max=2)
    found = [_with_gradient(nn.confidnet_loss, branch, logits, target)]
    found += [_with_gradient(lambda z, r=r: nn.deep_gamblers_loss(z, classes, r), logits) for r in (1.5, 2.2, 10.0)]
    gambler = nn.DeepGamblersLoss(3.0, warm_up_epochs=2)
    for epoch in range(4):
        gambler.set_epoch(epoch)
        found.append(_with_gradient(gambler, logits, classes))
    for hinted in (None, torch.arange(8) % 2 == 0):
        task, price = nn.devries_losses(logits, branch, target, hinted)
        found += [task, price]
    for budget, share in ((0.3, 0.5), (2.0, 1.0), (0.3, 0.0)):
        criterion = nn.DeVriesLoss(budget, 0.2, share, torch.Generator().manual_seed(3))
        found += [_with_gradient(criterion, logits, branch, target) for _ in range(2)]
        found += [criterion.weight.clone(), criterion.eval()(logits, branch, target), criterion.weight.clone()]
        found += [repr(criterion)]
    torch.manual_seed(0)
    head = nn.ConfidenceHead(4, (3, 2))
    shapes = [tuple(each.shape) for each in (*head.parameters(), *nn.ConfidenceHead(5).parameters())]
    return [*found, shapes, head(logits.float()).shape]


def live_metrics():
    """Return live metrics of batches, exact and in bins, by confidence, loss, scale and weights, after each batch."""
    binary = ("augrc", "aurc", "e_aurc", "auroc_f", "risk", "coverage_at_risk(risk=0.2)")
    cases = [*product((None, 256), (*CONFIDENCES, None)), (1000, "msp"), (1000, None)]
    for (bins, confidence), loss in product(cases, ("zero_one", "cross_entropy")):
        how, names = confidence or (lambda z: z[:, 0] - z[:, 1]), binary if loss == "zero_one" else binary[:3]
        metric = nn.SelectiveMetrics(names, bins=bins, confidence=how, loss=loss)
        for seed in range(3):
            metric.update(*_logits(9 + seed, 3, seed))
        yield [tried(metric.compute), list(metric.reasons), metric.scale]


def live_tables():
    """Return the tables behind live metrics: confidences and losses with ties, weights, infinities and NaN."""
    scores = torch.tensor([0.5, 0.9, 0.5, -0.0, 0.0, 1.0, 0.9], dtype=torch.float64)
    losses = torch.tensor([1.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    weights = torch.tensor([1.0, 2.0, 0.0, 0.5, 1.5, 1.0, 3.0], dtype=torch.float64)
    for bins, scale, times in product((None, 256, 4096), ("probability", "real"), (1.0, -3.0)):
        metric = nn.SelectiveMetrics(["augrc", "e_aurc"], bins=bins, scale=scale)
        for rows in (slice(0, 4), slice(4, 7), slice(0, 0)):
            metric.update(times * scores[rows], losses[rows], *([weights[rows]] if bins is None else []))
        table = tried(metric.table)
        table = table if isinstance(table, str) else [table.score, table.weight, table.loss, table.count]
        yield [metric.flags.clone(), table, tried(metric.compute), tried(metric.summary)]
        metric.reset()
        yield tried(metric.compute)
    cases = ([torch.nan, 0.5], [0.0, 1.0]), ([torch.inf, -torch.inf], [0.0, 1.0]), ([0.5, 0.4], [-1.0, torch.inf])
    for bad, bins in product(cases, (None, 256)):
        metric = nn.SelectiveMetrics(["augrc"], bins=bins, scale="real")
        metric.update(*map(torch.tensor, bad))
        yield [metric.flags.clone(), tried(metric.compute)]
    metric = nn.SelectiveMetrics(["augrc"])
    for labels in (torch.tensor([0, 1, 5]), torch.tensor([0, -1, 2])):
        metric.update(_logits(3)[0], labels)
        yield metric.flags.clone()
