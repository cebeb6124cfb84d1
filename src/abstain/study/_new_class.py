"""In-distribution test data and foreign data in one set, in both modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._checks import UnmetNeed, one_of
from abstain.outputs import Outputs, expect

_MATRICES = ("logits", "probabilities", "features", "confidence")


def join_new_class(test: Outputs, foreign: Outputs, id_failures: str = "keep") -> Outputs:
    """Return test and foreign outputs as one set, in which every foreign sample is a failure.

    Parameters
    ----------
    test, foreign : Outputs
        Of one model, with the same columns. Foreign samples need no labels.
    id_failures : {"keep", "drop"}
        ``"keep"``, as in deployment: the model meets both kinds of failure. ``"drop"``, as published by FD-Shifts: test
        samples that are classified wrong are left out, so that the score has to tell foreign samples from right ones.

    Returns
    -------
    Outputs
        With a loss (0 right, 1 wrong or foreign) in place of labels, and a group ``origin`` of ``test`` and
        ``foreign``. The head and scores that both have are kept.

    Raises
    ------
    ValueError
        An unknown mode; nothing left.
    UnmetNeed
        The test outputs have no labels; the foreign ones lack logits that the test ones have.

    References
    ----------
    Jaeger et al. (2023), ICLR: new-class shift, in the code's "proposed mode".

    Examples
    --------
    >>> import abstain
    >>> from abstain.study import join_new_class
    >>> test = abstain.Outputs(labels=[0, 1], logits=[[2.0, 0.0], [1.0, 0.0]])
    >>> foreign = abstain.Outputs(logits=[[0.5, 0.0]], unlabelled=True)
    >>> join_new_class(test, foreign).loss, join_new_class(test, foreign, "drop").loss
    (array([0., 1., 1.]), array([0., 1.]))
    """
    one_of(id_failures, ("keep", "drop"), "id_failures")
    for name, given in (("test", test), ("foreign", foreign)):
        expect(given, name)
    wrong = np.asarray(test.error)
    if id_failures == "drop":
        if wrong.all():
            raise ValueError("all test samples are failures, so dropping them leaves none; use id_failures='keep'")
        test, wrong = test.select(wrong == 0.0), wrong[wrong == 0.0]
    columns: dict[str, Any] = {
        name: np.concatenate(_pair(test, foreign, name)) for name in _MATRICES if getattr(test, name) is not None
    }
    if test.passes is not None and foreign.passes is not None:
        columns["passes"] = np.concatenate([np.asarray(test.passes), np.asarray(foreign.passes)], axis=1)
    shared = [name for name in test.scores if name in foreign.scores]
    origin = np.repeat(["test", "foreign"], [test.n, foreign.n])
    return Outputs(
        **columns,
        predictions=np.concatenate([test.predicted(), foreign.predicted()]),
        scores={name: np.concatenate([test.scores[name], foreign.scores[name]]) for name in shared},
        loss=np.concatenate([wrong, np.ones(foreign.n)]),
        groups={"origin": origin},
        head=test.head,
        class_names=test.class_names,
    )


def _pair(test: Outputs, foreign: Outputs, name: str) -> list[Any]:
    if getattr(foreign, name) is None:
        raise UnmetNeed(f"the foreign outputs have no {name}, which the test outputs have; extract both alike")
    return [getattr(test, name), getattr(foreign, name)]
