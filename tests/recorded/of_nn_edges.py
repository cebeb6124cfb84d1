"""Options of objectives, ingredients, networks and recipes at their edges, and larger images than elsewhere."""

from dataclasses import asdict
from functools import partial

import torch

from abstain import nn
from abstain.nn import data, ingredients, networks, train
from tests.recorded.of_nn_data import _few_of_nn_pictures as _few
from tests.recorded.of_nn_data import _images
from tests.recorded.of_option_edges import _edges, _outcome

TOLERANCE = 1e-4


def of_classes_and_functions():
    """Return which options objectives, ingredients, networks and scores of tensors take."""
    logits, target = torch.eye(3), torch.arange(3)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 3))
    plain = torch.optim.SGD(model.parameters(), lr=0.1)
    x = _images(3, 3, 4)
    calls = {name: getattr(nn, name) for name in ("AURCLoss", "SELELoss", "CWSALoss", "DeVriesLoss")}
    calls |= {"live": nn.SelectiveMetrics, "checkpoint": nn.SelectiveCheckpoint}
    calls |= {name: getattr(ingredients, name) for name in ("AugMix", "Clean", "CutMix", "Mixup", "RegMixup")}
    calls |= {name: partial(getattr(ingredients, name), plain) for name in ("SAM", "FriendlySAM", "MixedSAM")}
    calls |= {"EMA": partial(ingredients.EMA, model), "head": partial(nn.ConfidenceHead, 3)}
    calls |= {"PixMix": partial(ingredients.PixMix, 4), "mixing": partial(ingredients.mixing_set, n=1, size=4)}
    calls |= {"cutmix": partial(ingredients.cutmix, x, target), "synthetic": partial(data.synthetic, n=3, size=4)}
    calls |= {"build": partial(networks.build, "small", (3, 8, 8), 3), "odin": partial(nn.odin, model, x)}
    calls |= {"weights": partial(nn.loss_weights, target / 3.0), "dropout": partial(nn.mc_dropout, model, x, passes=2)}
    calls |= {"smooth": partial(nn.smooth_cwsa, target / 2.0, target / 3.0), "gradnorm": partial(nn.gradnorm, model, x)}
    for name, call in calls.items():
        yield name, _edges(call)
    yield "without", [_edges(partial(nn.DeepGamblersLoss, reward=3.0), ("reward", "warm_up_epochs"))]
    yield "without 2", [_edges(nn.CorrectnessRankingLoss, ("n_samples",))]
    yield "without 3", [_edges(partial(nn.deep_gamblers_loss, logits, target - 1), ("reward",))]
    yield "without 4", [_edges(partial(ingredients.mixup, x, target), ("alpha",))]
    yield "without 5", [_edges(partial(data.corrupt, x, "fog"), ("level",))]
    yield (
        "without 6",
        [
            _edges(
                partial(ingredients.CosineClassifier, n_features=3, n_classes=2), ("n_features", "n_classes", "scale")
            )
        ],
    )


def _leaves(settings, at=""):
    for name, value in settings.items():
        yield from _leaves(value, f"{at}{name}.") if isinstance(value, dict) else [f"{at}{name}"]


def of_recipes():
    """Return which words and numbers the settings of recipes take."""
    for name in _leaves(asdict(train.recipe("sure_plus"))):
        edges = ("-1", "0", "1.5", "x", "true", "[]")
        yield name, [_outcome(partial(train.recipe, "sure_plus", [f"{name}={each}"])) for each in edges]


def of_plans():
    """Return the sizes of runs by classes, passes, averages and sets."""
    small = ["network.name=small", "network.width=3", "data.batch=16", "epochs=2"]
    cases = [("ce", 3, []), ("ce", 7, ["extract.passes=3", "network.dropout=true", "extract.train=true"])]
    cases += [("sure", 3, ["extract.odin=true", "extract.gram=true"]), ("sure_fsam", 4, []), ("confidnet", 3, [])]
    cases += [("devries", 3, ["data.batch=1000"])]
    for recipe, classes, more in cases:
        plan = train.plan(train.recipe(recipe, [*small, *more]), data.task(f"synthetic:n=48,size=8,classes={classes}"))
        yield [plan.parameters, plan.steps, plan.passes, plan.checkpoint_bytes, plan.output_bytes]


def larger_images():
    """Return augmentations of images of more pixels than grey levels, one operation at a time, and of empty sets."""
    x = _images(24, 3, 34)
    x[3], x[4, 0] = 0.7, 0.1
    found = []
    for options in ({"all_operations": True}, {"severity": 10.0, "all_operations": True}, {"severity": 1.0}):
        term = ingredients.AugMix(width=1, depth=1, **options)
        found += [_few(term.mixed(each, seed))[2:4] for seed, each in enumerate((x, x[:, :1], x[..., :30]))]
    empty = data.Files(["none.png"], 10, 12, 1)[torch.zeros(0, dtype=torch.int64)]
    return [found, list(empty.shape), str(empty.dtype), _few(data.synthetic(5, 2, 33)[0].pixels)]
