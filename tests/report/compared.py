"""Cases of the sentences about what was compared, as ``facts`` has them of the others."""

from __future__ import annotations

from typing import Any

#: For each sentence a fact that it follows from, and changes after which it does not.
CASES: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "no threshold": ({"what": "A study"}, []),
    "answers differ": ({"same_loss": False, "significant": False}, [{"same_loss": True}]),
    "worst group compared": ({"names": ["a"]}, [{"names": ["a", "b"]}]),
    "better": ({"significant": True}, [{"significant": False}, {"same_loss": False}]),
    "better model": ({"significant": True, "same_loss": False}, [{"significant": False}, {"same_loss": True}]),
    "not told apart": ({"significant": False}, [{"significant": True}, {"p": float("nan")}]),
    "may be first": ({"names": ["a", "b"], "n": 2}, [{"names": ["a"]}, {"count": 2}]),
    "is first": ({"names": ["a"], "n": 1}, [{"names": ["a", "b"]}, {"count": 2}]),
    "one run": ({"n_runs": 1}, [{"n_runs": 3}]),
    "one worst group": ({"names": ["a"]}, [{"names": ["a", "b"]}]),
    "several worst groups": ({"names": ["a", "b"]}, [{"names": ["a"]}]),
    "pairs of groups differ": ({"pairs": 1}, [{"pairs": 0}]),
    "no pair of groups differs": ({"pairs": 0}, [{"pairs": 1}]),
    "margin shown": ({"shown": True}, [{"shown": False}]),
    "margin missed": ({"low": 0.003}, [{"shown": True}, {"low": 0.001}]),
    "margin open": ({"low": 0.001}, [{"shown": True}, {"low": 0.003}]),
    "second score helps": ({"p": 0.01}, [{"p": 0.05}]),
    "second score is noise": ({"p": 0.5}, [{"p": 0.01}]),
    "best mean": ({"count": 4}, [{"count": 1}]),
}
#: What a fact holds that is not named.
USUAL: dict[str, dict[str, Any]] = {
    "groups compared": {"label": "AUGRC", "count": 3, "names": ["a"], "pairs": 0, "all": 3, "sure": 0.95, "worst": "a",
                        "value": 0.1},
    "margin": {"shown": False, "new": "b", "reference": "a", "claim": "within 0.002 of a", "label": "AUGRC", "p": 0.2,
               "low": 0.001, "high": 0.004, "margin": 0.002, "sure": 0.95},
    "pair": {"a": "msp", "b": "max_logit", "label": "AUGRC", "p": 0.2, "same_loss": True, "side": "lower",
             "losses": "0.1 of a"},
    "first": {"count": 3, "sure": 0.95},
    "gain": {"set": "mnist", "detector": "knn", "confidence": "msp", "metric": "DS-F1", "gain": 0.1, "noise": 0.01},
    "cell": {"set": "test", "label": "AUGRC", "name": "ce msp", "value": 0.01},
}  # fmt: skip
