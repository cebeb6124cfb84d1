"""What ``from_samples`` refuses: every message names the argument, the value, the position and the remedy."""

import re

import numpy as np
import pytest

from abstain import TieBlocks
from tests.refusal import refused

NAN, INF = float("nan"), float("inf")
S = [0.1, 0.2, 0.3]
SINGLE = "{} must be one-dimensional, one value per sample, got a single number; give a list of values"


@pytest.mark.parametrize(
    ("loss", "confidence", "weight", "message"),
    [
        ([0, 1], S, None, "lengths differ (loss: 2, confidence: 3); every column needs one value per sample"),
        ([0, 1, 1], S, [1], "lengths differ (loss: 3, confidence: 3, sample_weight: 1)"),
        ([], [], None, "loss is empty; at least one sample is needed"),
        ([0], [], None, "confidence is empty; at least one sample is needed"),
        ([0, 1, 0], [0.1, NAN, NAN], None, "confidence holds NaN: confidence[1] = nan (2 such); pass nan_policy="),
        ([0, NAN, 0], S, None, "loss holds NaN: loss[1] = nan (1 such); remove these samples or repair the labels"),
        ([0, 1, INF], S, None, "loss is not finite: loss[2] = inf (1 such); clip the loss"),
        ([-1, 0, -3], S, None, "loss is negative: loss[0] = -1.0 (2 such); losses are >= 0: shift it"),
        ([0, -INF, 0], S, None, "loss is not finite: loss[1] = -inf (1 such)"),
        ([0, 1, 1], S, [1, NAN, 1], "sample_weight is not finite: sample_weight[1] = nan (1 such); give finite"),
        ([0, 1, 1], S, [1, 1, INF], "sample_weight is not finite: sample_weight[2] = inf (1 such); give finite"),
        ([0, 1, 1], S, [1, 1, -2], "sample_weight is negative: sample_weight[2] = -2.0 (1 such); give finite"),
        ([0, 1, 1], S, [0, 0, 0], "sample_weight sums to 0; at least one sample needs a positive weight"),
    ],
)
def test_bad_values(loss, confidence, weight, message, xp):
    """Lengths, NaN, infinities, negative values and empty columns, in every array library."""
    columns = [None if each is None else xp.asarray(each, dtype=xp.float64) for each in (loss, confidence, weight)]
    for options in ({}, {"keep_samples": True, "oracle": True, "moments": True}):
        refused(ValueError, re.escape(message), TieBlocks.from_samples, *columns, **options)


@pytest.mark.parametrize("policy", ["reject", "drop"])
def test_losses_of_samples_without_a_score_are_checked_too(policy, xp):
    """A bad loss is refused at the caller's position, whether or not its sample or one before it has a score."""
    confidence = xp.asarray([NAN, 0.2, NAN])
    with pytest.raises(ValueError, match=re.escape("loss is negative: loss[1] = -1.0 (1 such)")):
        TieBlocks.from_samples(xp.asarray([0.0, -1.0, 0.0]), confidence, nan_policy=policy)
    with pytest.raises(ValueError, match=re.escape("loss holds NaN: loss[2] = nan (1 such)")):
        TieBlocks.from_samples(xp.asarray([0.0, 1.0, NAN]), confidence, nan_policy=policy)


def test_dropping_every_sample_leaves_nothing(xp):
    """No score at all, or no weight among the samples with a score, is an error and no empty table."""
    nothing, loss = xp.asarray([NAN, NAN]), xp.asarray([0.0, 1.0])
    with pytest.raises(ValueError, match='confidence is NaN for every sample; nan_policy="drop" leaves nothing'):
        TieBlocks.from_samples(loss, nothing, nan_policy="drop")
    assert TieBlocks.from_samples(loss, nothing, nan_policy="reject").n_rejected == 2
    with pytest.raises(ValueError, match="sample_weight sums to 0"):
        TieBlocks.from_samples(loss, xp.asarray([NAN, 0.5]), xp.asarray([1.0, 0.0]), nan_policy="drop")


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        (["a", "b"], TypeError, "{} must be numeric, got dtype <U1; convert it to numbers first"),
        (np.array(["0.1", "0.2"]), TypeError, "{} must be numeric, got dtype <U3"),
        ([0.5, "b"], TypeError, "{} must be numeric, got dtype <U32"),
        (np.array([0.5, "b"], dtype=object), TypeError, "{} must be numeric, but it holds 'b' of type str"),
        ([1j, 0], TypeError, "{} must be numeric, got dtype complex128"),
        (np.array(["2020-01-01"] * 2, dtype="M8[D]"), TypeError, "{} must be numeric, got dtype datetime64[D]"),
        ({0.1, 0.2}, TypeError, "{} must be numeric, but it holds {{0.1, 0.2}} of type set"),
        ([[1, 2], [3]], ValueError, "{} is ragged: its rows have different lengths; pass one number per sample"),
        (0.5, ValueError, SINGLE),
    ],
    ids=["strings", "digits", "mixed", "objects", "complex", "dates", "set", "ragged", "scalar"],
)
@pytest.mark.parametrize("name", ["loss", "confidence", "sample_weight"])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_columns_that_are_no_numbers(column, error, message, name, library):
    """Each argument refuses them under its own name, also beside tensors."""
    import torch

    good = np.array([0.0, 1.0]) if library == "numpy" else torch.tensor([0.0, 1.0])
    columns = {"loss": good, "confidence": good, "sample_weight": good} | {name: column}
    refused(error, re.escape(message.format(name)), TieBlocks.from_samples, **columns)


def test_complex_tensors():
    """The dtype of a tensor is named as its library names it."""
    import torch

    with pytest.raises(TypeError, match=r"confidence must be numeric, got dtype torch\.complex64"):
        TieBlocks.from_samples(torch.tensor([0, 1]), torch.tensor([1j, 0]))


def test_an_unknown_policy_is_answered_with_the_known_ones():
    """A wrong word is named together with the nearest right one, or with all."""
    with pytest.raises(ValueError, match=r"nan_policy='dropp' is not known; did you mean 'drop'\?"):
        TieBlocks.from_samples([0], [1], nan_policy="dropp")
    with pytest.raises(ValueError, match="nan_policy='omit' is not known; known: drop, raise, reject"):
        TieBlocks.from_frame(None, confidence="a", loss="b", nan_policy="omit")


def test_merge_takes_tables():
    """A list of tables, or the losses of a part, are answered with the remedy."""
    table = TieBlocks.from_samples([0], [1])
    refused(TypeError, r"merge takes tables, got list; unpack a list: first.merge\(\*others\)", table.merge, [table])


def test_a_device_without_float64_names_the_remedy(monkeypatch):
    """Where float64 does not exist the message says to move the tensor."""
    import array_api_compat.torch
    import torch

    def refuse(*_, **__):
        raise TypeError("Cannot convert a tensor to float64 as this framework doesn't support it")

    monkeypatch.setattr(array_api_compat.torch, "astype", refuse)
    said = r"loss cannot be converted to float64 on device cpu.*; move it to the CPU first"
    with pytest.raises(TypeError, match=said):
        TieBlocks.from_samples(torch.tensor([0.0, 1.0]), torch.tensor([0.1, 0.2]))
