"""Networks with weights from NumPy, optimizers and averages step by step, outputs of data loaders, and recipes."""

import tempfile
from dataclasses import asdict
from itertools import product
from pathlib import Path

import numpy as np
import torch

from abstain import nn, study
from abstain.nn import data, ingredients, networks, train
from tests.recorded import tried

TOLERANCE = 1e-4
#: Networks whose parts differ; the others are longer.
TRIED = ("small", "svhn_net", "cwsa_mnist", "cwsa_cifar10", "vgg11bn", "vgg13bn", "resnet20", "resnet18", "resnet50")
TRIED += ("wideresnet28x10",)


def _drawn(model, seed=0):
    """Give every parameter and statistic a value of its own."""
    rng = np.random.default_rng([51, seed])
    for name, value in model.state_dict().items():
        if value.is_floating_point():
            shape = tuple(value.shape)
            small = rng.uniform(0.5, 1.5, shape) if "var" in name else rng.normal(0.0, 1.0, shape)
            fan = max(int(np.prod(value.shape[1:])), 1) if value.ndim > 1 else 4
            value.copy_(torch.as_tensor(small / (np.sqrt(fan) if "var" not in name else 1.0)))
    return model


def _images(n, channels, size):
    return torch.as_tensor(np.random.default_rng([52, n, size]).random((n, channels, size, size)), dtype=torch.float32)


def bodies_of_networks():
    """Return sizes, features and logits of the networks in small widths."""
    for name, dropout in product(TRIED, (False, True)):
        for channels, size, head in ((3, 16, "linear"), (1, 10, "cosine")):
            options = {"width": 2, "dropout": dropout, "head": head, "scale": 5.0, "mean": [0.4] * channels}
            network = networks.build(name, (channels, size, size), 3, **options, std=[0.3] * channels)
            drops = [each.p for each in network.modules() if isinstance(each, torch.nn.Dropout)]
            norms = sum(isinstance(each, torch.nn.BatchNorm2d) for each in network.modules())
            row = [networks.parameters(network), network.n_features, len(drops), sum(drops), norms]
            if not dropout:
                _drawn(network).eval()
                with torch.no_grad():
                    row += [network(_images(2, channels, size)), network.plain()(_images(2, channels, size))]
            yield f"{name} {dropout} {size}", row
    for name in set(networks.names()) - set(TRIED):
        yield name, networks.parameters(networks.build(name, (3, 32, 32), 10, width=1, dropout=True))
    large = networks.build("resnet18", (3, 64, 64), 2, width=1)
    yield "large", [repr(large.body[0]), repr(large.body[3])]
    yield "head", repr(networks.build("small", (1, 7, 7), 2).head)


def steps_of_optimizers():
    """Return parameters, statistics and losses after three steps of each sharpness-aware optimizer."""
    x, y = _images(8, 1, 4).flatten(1), torch.arange(8) % 3
    for kind, options in (
        ("SAM", {"rho": 0.05}), ("SAM", {"rho": 0.5}), ("FriendlySAM", {"rho": 0.2, "sigma": 1.0, "lam": 0.6}),
        ("FriendlySAM", {"rho": 0.3, "sigma": 0.4, "lam": 0.9}), ("MixedSAM", {"rho": 0.2, "gamma": 0.5}),
        ("MixedSAM", {"rho": 0.1, "gamma": 0.9}),
    ):  # fmt: skip
        for frozen in (False, True):
            layers = [torch.nn.Linear(16, 5), torch.nn.BatchNorm1d(5), torch.nn.ReLU(), torch.nn.Linear(5, 3)]
            model = _drawn(torch.nn.Sequential(*layers))
            base = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
            optimizer = getattr(ingredients, kind)(base, model if frozen else None, **options)

            def closure(model=model, optimizer=optimizer):
                optimizer.zero_grad()
                loss = torch.nn.functional.cross_entropy(model(x), y)
                loss.backward()
                return loss.detach()

            losses = [optimizer.step(closure) for _ in range(3)]
            state = [each.double().square().sum() for each in model.state_dict().values()]
            single = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
            optimizer = getattr(ingredients, kind)(torch.optim.SGD([single], lr=0.1), **options)

            def alone(optimizer=optimizer, single=single):
                optimizer.zero_grad()
                loss = (single**4).sum()
                loss.backward()
                return loss.detach()

            state += [optimizer.step(alone), optimizer.step(alone), single]
            yield f"{kind} {options} {frozen}", [losses, state, layers[1].running_mean, model(x)[:2]]


def averages():
    """Return averages of weights after several updates, and batch norm's statistics computed anew."""
    for make in (ingredients.SWA, lambda m: ingredients.EMA(m, 0.9), lambda m: ingredients.EMA(m, 0.05, warm_up=False)):
        model = _drawn(torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)))
        average = make(model)
        for seed in range(1, 5):
            average.update(_drawn(model, seed))
            yield [average.updates.clone(), [each.double().sum() for each in average.model.state_dict().values()]]
        batches = [(_images(n, 1, 2).flatten(1),) for n in (5, 1, 3)]
        ingredients.reestimate_batch_norm(average.model, batches)
        yield from [average.model[1].running_mean, average.model[1].running_var, average.eval()(batches[0][0])]


def extracted_outputs():
    """Return outputs of loaders with and without labels, features, passes and biases, from files and parts."""
    found, layers = [], [torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Dropout(0.4), torch.nn.Linear(5, 3)]
    for bias, labelled, features in product((True, False), (True, False), (True, False)):
        layers[-1] = torch.nn.Linear(5, 3, bias=bias)
        model = _drawn(torch.nn.Sequential(*layers))
        rows = torch.as_tensor(np.random.default_rng(6).normal(size=(11, 6)), dtype=torch.float32)
        labels = torch.arange(11) % 3 if labelled else torch.full((11,), -1)
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(rows, labels), batch_size=4)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "out.npz"
            out = nn.extract(model, loader, path, passes=2, seed=3, features=features)
            passes, names = np.load(f"{path}.passes.npy"), sorted(each.name for each in Path(folder).iterdir())
        parts = [out.labels, out.logits, out.features, out.head]
        sums = [np.sum(each) if each is not None else None for each in parts[1:3]]
        found.append([parts if bias and labelled else sums])
        found += [passes.shape, passes.sum(axis=(1, 2)), names, nn.final_linear(model, rows) is model[-1]]
    found += [nn.final_linear(torch.nn.Sequential(layers[0], torch.nn.Softmax(dim=1)), rows)]
    flat = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 4))
    adapted = networks.adapt(_drawn(flat), torch.zeros(1, 3, 2, 2))
    return [*found, adapted.n_features, adapted(_images(2, 3, 2)), adapted.features(_images(2, 3, 2))]


def settings_of_recipes():
    """Return the settings of all recipes and the passes of their stages."""
    found = {}
    for name in train.names():
        settings = asdict(train.recipe(name))
        words = {key: settings.pop(key) for key in ("about", "source", "found", "grid")}
        found[name] = [settings["stage"], settings["extract"], train.recipe(name).passes(), words["grid"]]
    changed = train.recipe("sure", ["epochs=7", "network.width=3", "rho=0.3"])
    return [found, [[stage.epochs, stage.sharpness.rho] for stage in changed.stage.values()], changed.network.width]


#: Recipes that meet each part of the training once, with what is changed of them.
TRAINED = {"ce": ("crop=2", "flip=true", "cutout=4", "keep=best"), "sure": ("average.anneal=2", "epochs=3")}
TRAINED |= {"sure_plus": ("pixmix.pictures=8",)}
TRAINED |= {"deep_gamblers": ("objective.warm_up=1", "extract.passes=2", "network.dropout=true")}
TRAINED |= {"devries": ("extract.odin=true", "extract.gram=true"), "confidnet": ()}
TRAINED["mixup"] = ("sharpness.kind=mixed", "optimizer=adam", "schedule=constant", "main.rate=0.01")
TRAINED["mixup"] += ("network.normalise=imagenet",)
TRAINED |= {"sure_fsam": ("sharpness.same_batch=false", "crl=0.5", "data.workers=0")}
TRAINED |= {"finetune_augrc": ("objective.unit_mean=false",)}


def one_epoch_of_recipes():
    """Return what recipes leave of a set after a few steps, with what their manifest says, and their plans."""
    ood = ["synthetic:n=20,size=12,seed=4:semantic"]
    task = data.task("synthetic:n=48,size=12", corruptions=["contrast"], ood_data=ood)
    for name, changes in TRAINED.items():
        base = ["network.name=small", "network.width=3", "data.batch=16", "epochs=2"]
        base += ["average.start=1"] * (train.recipe(name).stage["main"].average.kind == "swa")
        recipe = train.recipe(name, [*base, *changes])
        with tempfile.TemporaryDirectory() as folder:
            said = []
            run = train.fit(recipe, task, folder, seed=1, say=said.append, enable_progress_bar=False, accelerator="cpu")
            out = {each.name: study.read_study(folder).outputs(run.model, run.name, each.name) for each in run.sets}
            files = sorted(str(each.relative_to(folder)) for each in Path(folder).rglob("*") if each.is_file())
        row = [run.folder, run.scores, run.splits, run.notes, list(run.sets), files, len(said)]
        for each in ("validation", "ood-synthetic-n=20-size=12-seed=4", "corruption-2"):
            if each in out:
                logits, features = np.asarray(out[each].logits), np.abs(out[each].features)
                row.append([logits.sum(axis=0), features.sum(), out[each].scores])
        plan = tried(train.plan, recipe, task)
        row.append([plan.steps, plan.passes, plan.parameters, plan.checkpoint_bytes, plan.output_bytes])
        yield name, row
