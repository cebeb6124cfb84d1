"""Confidence scores of PyTorch tensors in both precisions, of the model itself, of passes, and of learned branches."""

import warnings
from itertools import product

import numpy as np
import torch

from abstain import nn, scores
from tests.recorded import of_scores, tried

TOLERANCE = 1e-4


def _few(values):
    """Return a tensor in few numbers: its size, its sum with weights that differ, and its extremes."""
    if isinstance(values, str):
        return values
    flat = values.detach().double().reshape(-1)
    weight = torch.linspace(1.0, 2.0, len(flat), dtype=torch.float64)
    return [tuple(values.shape), str(values.dtype), float((flat * weight).sum()), float(flat.min()), float(flat.max())]


def scores_of_tensors():
    """Return every score of tensors, fitted on NumPy's arrays where it has to be."""
    train, validation, _ = of_scores._parts()
    names = ("logits", "features", "passes", "head")
    for single, name in product((False, True), scores.names()):
        rows = of_scores._outputs(15, 3, 1.0, single=single)
        columns = {each: getattr(rows, each) for each in names}
        columns = {k: tuple(map(torch.as_tensor, v)) if k == "head" else torch.as_tensor(v) for k, v in columns.items()}
        options = of_scores.OPTIONS.get(name, ({},))[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            entry = scores.get(name, **options)
            fitted = tried(entry.fit, validation if entry.fit_split == "validation" else train)
            yield f"{name} {single}", fitted if isinstance(fitted, str) else tried(fitted.score_arrays, **columns)


def _model(seed=0, channels=2):
    """Return a small network with convolutions, dropout and batch norm, its weights drawn by NumPy."""
    layers = [torch.nn.Conv2d(channels, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten()]
    model = torch.nn.Sequential(
        *layers, torch.nn.Dropout(0.3), torch.nn.Linear(64, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3)
    )
    rng = np.random.default_rng([3, seed])
    for value in model.parameters():
        value.data = torch.as_tensor(rng.normal(0.0, 0.3, tuple(value.shape)), dtype=torch.float32)
    return model


def _images(n, seed, channels=2):
    return torch.as_tensor(np.random.default_rng([4, seed]).random((n, channels, 4, 4)), dtype=torch.float32)


def scores_of_the_model():
    """Return GradNorm, ODIN and Gram scores with their options, and what the latter keeps."""
    model, x = _model(), _images(7, 0)
    yield from [nn.gradnorm(model, x), nn.gradnorm(model, x, chunk_size=2), nn.gradnorm(model.double(), x.double())]
    model = _model()
    yield nn.gradnorm(model, x, parameters=lambda name: name.startswith("7"))
    cases = [(1000.0, 0.0014, None), (2.0, 0.1, None), (1.0, 0.05, 0.5), (5.0, 0.2, torch.tensor([[[0.2]], [[2.0]]]))]
    for temperature, epsilon, std in cases:
        yield nn.odin(model, x, temperature=temperature, epsilon=epsilon, std=std)
    batches = [(_images(9, k), torch.arange(9) % 3) for k in range(3)]
    for orders, layers in (((1, 2, 3, 4, 5), None), ((1, 3), ("2",)), ((2,), ("0", "6"))):
        kept = nn.fit_gram(model, batches[:2], batches[2:], n_classes=3, orders=orders, layers=layers)
        yield from [kept.layers, kept.orders, kept.scale, [_few(each) for each in (*kept.low, *kept.high)]]
        yield from [nn.gram_score(model, 3.0 * x - 1.0, kept), nn.gram_score(model, x, kept)]


def scores_of_passes():
    """Return confidences of dropout and ensembles, and the masks of a seed."""
    models, x = [_model(k) for k in range(3)], _images(6, 1)
    for logits in (nn.ensemble_logits(models, x), nn.mc_dropout(models[0], x, 4, seed=3)):
        yield _few(logits)
        for kind in ("msp", "neg_entropy", "neg_expected_entropy", "neg_mutual_information"):
            yield nn.passes_confidence(logits, kind)


def reservations():
    """Return the confidence of a reservation, of plain, large and half-precise logits."""
    logits = torch.as_tensor(np.random.default_rng(5).normal(0.0, 3.0, (6, 4)))
    return [
        nn.reservation_confidence(each) for each in (logits, 300.0 * logits, logits.float(), logits.bfloat16().float())
    ]
