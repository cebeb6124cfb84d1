"""Run a model over a data loader once and keep everything that scores need as ``Outputs``."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sized
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils import data as samplers

from abstain._files import write_file
from abstain._typing import Array, ArrayLike, FloatArray
from abstain.nn._confidence import device_of, evaluation_mode, mc_dropout
from abstain.outputs import Outputs, write_outputs

_BATCHES_PER_PART = 50
#: What a loader gives, and what a model takes: a tensor, or whatever is the user's own.
Arrays: TypeAlias = dict[str, Array]
Batch: TypeAlias = Any
Inputs: TypeAlias = Any
_RANDOM = (samplers.RandomSampler, samplers.SubsetRandomSampler, samplers.WeightedRandomSampler)


def _pair(batch: Batch) -> tuple[Inputs, Tensor | None]:
    """Inputs and labels of a batch; a tensor, or a list of one, has no labels."""
    if isinstance(batch, Tensor):
        return batch, None
    if isinstance(batch, list | tuple) and len(batch) in (1, 2):
        return batch[0], batch[1] if len(batch) == 2 else None
    raise TypeError(f"a batch is a {type(batch).__name__}; give pairs (inputs, labels), inputs alone, or pass read=")


def final_linear(model: nn.Module, inputs: Inputs) -> nn.Linear | None:
    """Return the linear layer whose output is the model's output, or None.

    Parameters
    ----------
    model : nn.Module
        Evaluated in evaluation mode.
    inputs : Tensor
        A batch to try it on.

    Returns
    -------
    nn.Linear or None
        None: the last operation is something else (a softmax, a cosine classifier, ...).

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    >>> nn.final_linear(model, torch.zeros(1, 4)) is model[2]
    True
    """
    called: list[tuple[nn.Linear, Tensor]] = []
    linear = [module for module in model.modules() if isinstance(module, nn.Linear)]

    def keep(module: nn.Linear, inputs: Inputs, output: Tensor) -> None:
        called.append((module, output.clone()))  # what follows may work in place

    handles = [module.register_forward_hook(keep) for module in linear]
    try:
        result = _logits(model, inputs)
    finally:
        for handle in handles:
            handle.remove()
    same = [module for module, output in called if output.shape == result.shape and torch.equal(output, result)]
    return same[-1] if same else None


@torch.no_grad()
def _logits(model: nn.Module, inputs: Inputs) -> Tensor:
    """What the model says in evaluation mode."""
    with evaluation_mode(model):
        result = model(inputs)
    if not isinstance(result, Tensor):
        raise TypeError(f"the model returned {type(result).__name__}; wrap it in a module that returns logits alone")
    return result


def _answers(model: nn.Module, head: nn.Linear | None, inputs: Inputs, labels: ArrayLike | None) -> Arrays:
    """Return what is kept of a batch: logits, labels and, as features, the inputs of the head."""
    seen: list[Tensor] = []
    handle = None if head is None else head.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    try:
        row = {"logits": host(_logits(model, inputs))}
    finally:
        if handle is not None:
            handle.remove()
    if seen:
        row["features"] = host(seen[-1])
    if labels is not None:
        row["labels"] = np.asarray(labels.cpu() if isinstance(labels, Tensor) else labels)
    return row


def _identity(model: nn.Module, loader: Iterable[Batch], first: tuple[Inputs, Tensor | None], *settings: int) -> str:
    """A digest of what parts must agree with: parameters, buffers, the batches' number, size and first, settings."""
    batches = [getattr(loader, "batch_size", None), len(loader) if isinstance(loader, Sized) else None]
    digest = hashlib.sha256(json.dumps([batches, settings]).encode())
    for name, value in [*sorted(model.state_dict().items()), *zip(("inputs", "labels"), first, strict=True)]:
        digest.update(name.encode())
        if isinstance(value, Tensor):
            digest.update(value.detach().cpu().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


class _Parts:
    """Finished parts of an interrupted run, each complete or not there."""

    def __init__(self, path: str | os.PathLike[str] | None, identity: str, resume: bool) -> None:
        self.folder = None if path is None else Path(f"{os.fspath(path)}.parts")
        self.held: list[Arrays] = []
        self.batches = 0
        if self.folder is None:
            return
        key = self.folder / "model"
        if key.exists():
            if not resume:
                shutil.rmtree(self.folder)
            elif key.read_text(encoding="utf-8") != identity:
                raise ValueError(
                    f"{self.folder} holds parts of another model, data set, batch size, seed or number of passes; "
                    "remove it or pass resume=False"
                )
        elif self.folder.exists() and any(self.folder.iterdir()):
            raise FileExistsError(f"{self.folder} is in the way: it is no folder of parts; rename it or choose a path")
        self.folder.mkdir(exist_ok=True)
        write_file(str(key), lambda file: file.write(identity.encode()))
        for number in itertools.count():
            part = self.folder / f"{number:05d}.npz"
            if not part.exists():
                break
            with np.load(part, allow_pickle=False) as arrays:
                self.held.append(dict(arrays))
            self.batches += int(self.held[-1].pop("batches"))

    def add(self, batches: list[Arrays]) -> None:
        """Keep a part, on disk if there is a folder."""
        part = joined(batches)
        if self.folder is not None:
            name = str(self.folder / f"{len(self.held):05d}.npz")
            write_file(name, lambda file: np.savez(file, batches=np.array(len(batches)), **part))
        self.held.append(part)

    def remove(self) -> None:
        """The result is complete: the parts are not needed any more."""
        if self.folder is not None:
            shutil.rmtree(self.folder)


def joined(batches: list[Arrays]) -> Arrays:
    """Concatenate along samples, which are the second dimension of passes."""
    axes = {"passes": 1}
    return {name: np.concatenate([batch[name] for batch in batches], axis=axes.get(name, 0)) for name in batches[0]}


def layer(head: nn.Linear | None) -> tuple[FloatArray, FloatArray] | None:
    """Return weights and bias of a linear layer."""
    if head is None:
        return None
    return host(head.weight), np.zeros(head.out_features) if head.bias is None else host(head.bias)


def extract(
    model: nn.Module,
    loader: Iterable[Batch],
    path: str | os.PathLike[str] | None = None,
    *,
    passes: int = 0,
    seed: int = 0,
    features: bool = True,
    device: torch.device | str | None = None,
    resume: bool = True,
    overwrite: bool = False,
    read: Callable[[Batch], tuple[Inputs, Tensor | None]] = _pair,
) -> Outputs:
    """Run a model over a data loader once and return, or save, its ``Outputs``: all that scores need later.

    Parameters
    ----------
    model : nn.Module
        From inputs to logits; run in evaluation mode without gradients, its modes are restored.
    loader : iterable of batches
        In a fixed order: rows are known by their position. Batches without labels, or labels that are all -1, are
        out-of-distribution data, whose outputs :mod:`abstain.joint` takes.
    path : str or path, optional
        ``.npz`` file to write. While it is not complete, finished parts lie in ``<path>.parts``.
    passes : int
        Monte Carlo dropout passes in addition to the plain one. They are written to ``<path>.passes.npy``, of shape
        (passes, n_samples, n_classes) in float32, and need a path.
    seed : int
        Of the dropout masks; each batch has its own, so that a resumed run gives the same file.
    features : bool
        Also keep the inputs of the final linear layer, and the layer itself as ``head``.
    device : torch.device or str, optional
        Where to run, and where the model stays; default where its first parameter lies.
    resume : bool
        Go on from the parts of an interrupted run of the same model.
    overwrite : bool
        Replace a finished file.
    read : callable
        ``read(batch) -> (inputs, labels)``, labels None if there are none; default: batches are pairs, or inputs.

    Returns
    -------
    Outputs
        With logits, labels if there are any, and (if there is a final linear layer) features and head.

    Raises
    ------
    ValueError
        A loader that shuffles; parts of another model or data set; passes without a path; no batch; labels of some rows
        only.
    FileExistsError
        The file is there and ``overwrite`` is not given.
    TypeError
        A batch is neither a pair nor inputs; the model returns something else than a tensor.

    Notes
    -----
    Batches that are done are skipped by reading past them. Progress is shown on stderr if that is a terminal.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    >>> data = torch.utils.data.TensorDataset(torch.randn(10, 4), torch.arange(10) % 3)
    >>> nn.extract(model, torch.utils.data.DataLoader(data, batch_size=4))
    Outputs(n=10, n_classes=3, labels, logits, features, head)
    """
    sampler = getattr(loader, "sampler", None)
    if isinstance(sampler, _RANDOM) or (isinstance(sampler, samplers.DistributedSampler) and sampler.shuffle):
        raise ValueError("the loader shuffles, so rows could not be distinguished; use DataLoader(..., shuffle=False)")
    if passes and path is None:
        raise ValueError("passes are written next to the file; give path=, or call mc_dropout on your batches")
    if path is not None and os.path.exists(path) and not overwrite:
        raise FileExistsError(f"{os.fspath(path)} is there already; pass overwrite=True to replace it")
    place = device_of(model) if device is None else torch.device(device)
    model.to(place)
    total = len(loader) if isinstance(loader, Sized) else 0
    head, parts = None, None
    waiting: list[Arrays] = []
    for number, batch in enumerate(loader):
        if parts is None:
            first = read(batch)
            head = final_linear(model, _moved(first[0], place)) if features else None
            parts = _Parts(path, _identity(model, loader, first, passes, seed, features) if path else "", resume)
        if number < parts.batches:
            continue
        inputs, labels = read(batch)
        if (labels is None) != (first[1] is None):
            raise ValueError(f"batch {number} has {'no ' if labels is None else ''}labels, unlike the first")
        inputs = _moved(inputs, place)
        row = _answers(model, head, inputs, labels)
        if passes:
            row["passes"] = host(mc_dropout(model, inputs, passes, seed=seed + number))
        waiting.append(row)
        if len(waiting) == _BATCHES_PER_PART:
            parts.add(waiting)
            waiting = []
        if sys.stderr.isatty():
            sys.stderr.write(f"\rextracting: batch {number + 1}" + (f"/{total}" if total else ""))
    if parts is None:
        raise ValueError("the loader holds no batch; at least one is needed")
    if waiting:
        parts.add(waiting)
    if sys.stderr.isatty():
        sys.stderr.write("\n")
    return _finished(joined(parts.held), head, path, parts)


def _finished(columns: Arrays, head: nn.Linear | None, path: str | os.PathLike[str] | None, parts: _Parts) -> Outputs:
    """Make the outputs, write them, and only then remove the parts."""
    many = columns.pop("passes", None)
    missing = np.asarray(columns.get("labels", -1)) == -1
    if missing.any() and not missing.all():
        raise ValueError(
            f"labels are -1 in {int(missing.sum())} of {missing.size} rows: give out-of-distribution data a loader of "
            "their own"
        )
    if missing.all():
        columns.pop("labels", None)
    outputs = Outputs(**columns, head=layer(head), unlabelled=bool(missing.all()))
    if path is not None:
        if many is not None:
            write_file(f"{os.fspath(path)}.passes.npy", lambda file: np.save(file, many))
        write_outputs(outputs, path)
        parts.remove()
    return outputs


def host(tensor: Tensor) -> FloatArray:
    """Return a tensor as an array of float32."""
    return np.asarray(tensor.detach().float().cpu().numpy())


def _moved(inputs: Inputs, place: torch.device) -> Inputs:
    return inputs.to(place) if hasattr(inputs, "to") else inputs
