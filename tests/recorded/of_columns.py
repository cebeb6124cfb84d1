"""What columns are taken for: by their names, by the caller's word, by their values."""

import numpy as np

from tests.recorded import sources as s
from tests.recorded.sources import CONF, LOGITS, NAMES, P1, PRED, SITE, TWO, WEIGHT, WHO, WRONG, N, P, Y, read

CLASSES = {f"p_{k}": P[:, k] for k in range(3)}
WORDS = NAMES[Y]
TRUTH = {"y": Y, "pred": PRED}


def names_of_single_columns():
    """Return the readings of sources whose names say everything, or too much."""
    base = {"y": Y, "pred": PRED, "conf": CONF}
    return [
        read(base | {"group_site": SITE, "score_energy": -CONF, "weight": WEIGHT, "cluster": WHO, "id": np.arange(N)}),
        read({"True Label": Y, "predictedClass": PRED, "maxProb": CONF, "groups": SITE, "odin": CONF}),
        read({"data.label": Y, "data.prediction": PRED, "confidence": CONF, "x.score": 1 - CONF}),
        read({"out.label": PRED, "out.score": CONF, "gold": Y}),
        read({"out.label": PRED, "out.score": CONF, "b.label": PRED, "b.score": CONF, "gold": Y}),
        read({"y": Y, "label": Y, "pred": PRED}),
        read({"y": Y, "label": Y, "pred": PRED}, labels="y"),
        read(base | {"entropy": 1 - CONF, "loss": WRONG, "correct": 1 - WRONG}, loss="loss"),
        read(base | {"entropy": 1 - CONF, "correct": 1 - WRONG}, predictions="pred"),
        read({"y": Y, "pred": PRED, "entropy": 1 - CONF}),
        read({"y": Y, "pred": PRED, "u": 1 - CONF}, uncertainty="u"),
        read({"y": Y, "pred": PRED, "u": 1 - CONF, "conf": CONF}, uncertainty="u"),
        read({"y": Y, "pred": PRED, "score": CONF, "conf": CONF}),
        read(base | {"prediction_energy": (PRED + 1) % 3, "score_energy": CONF, "energy": CONF}),
        read(base | {"energy": CONF, "site": SITE}, groups="site", scores=["energy", "conf"]),
        read(base | {"score_energy": CONF, "group_site": SITE}, groups=["site"], scores="energy"),
        read(base | {"a1": CONF, "a2": CONF, "b_1": SITE, "b_2": WHO}, scores="a?", groups="b_*"),
        read(base, groups="site"),
        read(base, labels="yy"),
        read(base, labels=3),
        read(base, what="y"),
        read(base | {"case": np.arange(N), "patient_id": WHO}),
        read(base | {"patient_id": WHO, "uuid": np.arange(N).astype(str), "row": np.arange(N)}),
        read(base | {"model": NAMES[WHO % 3], "dataset": ["d"] * N, "user": WHO, "perplexity": CONF, "x": CONF}),
        read(base | {"model": NAMES[WHO % 3], "cluster": WHO, "user": WHO, **{f"x{k}": CONF for k in range(9)}}),
        read(base | dict.fromkeys(("model", "dataset", "task", "split", "fold", "seed", "run_id", "user"), WHO)),
        *(read(base | {f"x{k}": CONF for k in range(count)}, labels="zz") for count in (9, 10, 11)),
        read(base | {"entropy": WRONG + CONF / 9}, confidence="entropy"),
        read(base | {"entropy": CONF}, confidence="entropy"),
        read({"pred": PRED, "class": Y, "conf": CONF, "dice": CONF}),
        read({"a": PRED, "b": Y}),
        read({"y": Y, "prob": CONF}),
        read({"y": TWO, "prob": P1}, unlabelled=True),
        read({"y": TWO, "conf": P1}, unlabelled=True),
        read({"u": P1, "a": P1}, unlabelled=True),
        read({"a": P1}, unlabelled=True),
        read({"a": P1, "site": SITE}, confidence="a", unlabelled=True, groups="site"),
    ]


def matrices_by_name():
    """Return the readings of matrices and of columns for each class."""
    ten = np.column_stack([P / 2, P / 4, P / 4, P[:, :2] * 0])
    shuffled = {f"logit_{k}": ten[:, k] for k in (10, 9, 0, 3, 2, 1, 8, 7, 6, 5, 4)}
    return [
        read({"y": Y, "logits": LOGITS}),
        read({"y": Y, "probs": P, "features": LOGITS}),
        read({"y": Y, "logits": LOGITS, "probs": P}),
        read({"y": Y, **CLASSES, "p_value": CONF, "feature_0": CONF, "feature_1": P1}),
        read({"y": Y, **shuffled}),
        read({"y": WORDS, **{f"prob_{name}": P[:, k] for k, name in enumerate(NAMES)}}),
        read({"y": Y, **{f"prob_{name}": P[:, k] for k, name in enumerate(NAMES)}}),
        read({"y": WORDS, **{name: P[:, k] for k, name in enumerate(NAMES)}}),
        read({"y": WORDS, **{name: LOGITS[:, k] for k, name in enumerate(NAMES)}}),
        read({"y": WORDS, **{f"{name} prob": P[:, k] for k, name in enumerate(NAMES)}}),
        read({"y": WORDS, **{f"P({name})": P[:, k] for k, name in enumerate(NAMES)}}),
        read({"y": Y + 1, **{f"prob_{k + 1}": P[:, k] for k in range(3)}}),
        read({"y": Y * 2 - 1, **{f"prob_{2 * k - 1}": P[:, k] for k in range(3)}}),
        read({"y": Y, **{f"class {k}": P[:, k] for k in range(3)}}),
        read({"y": Y, **{str(k): P[:, k] for k in range(3)}}),
        read({"y": np.array(["a_1", "a_2", "b"])[Y], "a_1": P[:, 0], "a_2": P[:, 1], "b": P[:, 2]}),
        read({"y": np.array(["P(1)", "q", "r"])[Y], "P(1)": P[:, 0], "q": P[:, 1], "r": P[:, 2]}),
        read({"y": np.array(["prob_", "prob_1"])[TWO], "prob_": 1 - P1, "prob_1": P1}),
        read({"y": WORDS, "pred": np.array(["Ant", "b ee", "cat"])[PRED]}),
        read({"y": np.array(["CAT", "bee", "unknown"])[Y], "pred": np.array(["Cat", "bee", "bee"])[PRED]}),
        read({"y": Y, "a": P[:, 0], "b": P[:, 1], "c": P[:, 2]}, probabilities="a,b, c"),
        read({"y": Y, "a": P[:, 0], "b": P[:, 1], "c": P[:, 2]}, probabilities=["c", "b", "a"]),
        read({"y": WORDS, "a": P[:, 0], "b": P[:, 1], "c": P[:, 2]}, probabilities="[abc]", class_names=list(NAMES)),
        read({"y": Y, "z1": LOGITS[:, 0], "z2": LOGITS[:, 1], "z10": LOGITS[:, 2]}, logits="z*"),
        read({"y": Y, "one": LOGITS, "two": LOGITS}, logits="one"),
        read({"y": Y, "logit_one": LOGITS, "logit_two": LOGITS}),
        read({"y": Y, "logit_one": LOGITS, "logit_two": LOGITS, "pred": PRED}, predictions="pred"),
        read({"y": Y, "logit_one": LOGITS, "logit_two": LOGITS, "pred": PRED}, logits="logit_*"),
        read({"y": Y, "values": P}),
        read({"y": Y, "values": P, "others": P}),
        read({"y": Y, "values": LOGITS}),
        read({"y": Y, "logits": LOGITS, "pred": PRED, "conf": CONF}),
        read({"y": Y, "z": LOGITS}, predictions="z"),
        read({"y": Y, "pred": P}),
        read({"y": np.eye(3)[Y], "pred": np.eye(3)[PRED]}),
        read({"y": np.eye(3)[Y], "probs": P}),
        read({"y": Y[:, None], "pred": PRED[:, None], "conf": CONF[:, None]}),
        read({"y": Y, "pred": LOGITS.T}),
        read({"y": np.eye(3)[Y] + np.eye(3)[0], "pred": PRED}),
        read({"y": TWO, "probs": P1[:, None]}),
        read({"y": TWO, "probabilities": P1}),
        read({"y": TWO, "q": P1}, probabilities="q"),
        read({"y": TWO, "pred": P1}),
        read({"y": TWO, "pred": P1, "prob": P1}),
        read({"y": TWO, "pred": 1.5 * P1}),
        read({"y": Y, "pred": P1}),
        read({"y": P1, "pred": P1}),
        read({"y": [f"text {k}" for k in range(N)], "pred": WORDS}),
        read({"y": [f"text {k}" for k in range(N)], "pred": WORDS, "quality": CONF}),
        read({"y": [f"text {k % 30}" for k in range(N)], "pred": WORDS}),
        *(read({"y": [f"text {k}" for k in range(n)], "pred": WORDS[:n]}) for n in (19, 20)),
        read({"y": Y, "passes": np.stack([P, P[::-1], P])}),
        read({"y": Y, "logits": LOGITS, "features": P, "head_weight": np.eye(3), "head_bias": [0.0, 0.1, 0.2]}),
        read({"y": Y, "logits": LOGITS, "class_names": list(NAMES)}),
    ]


def two_classes():
    """Return the readings of a probability of the second of two classes."""
    said, names = (P1 >= 0.5).astype(int), np.array(["no", "yes"])
    other = (P1 >= 0.3).astype(int)
    pairs = (("no", "yes"), ("benign", "malignant"), ("a", "b"), ("2", "10"), ("<=50K", ">50K"), ("-1", "1"))
    yield from [read({"y": np.array(pair)[TWO], "prob_1": P1}) for pair in pairs]
    yield from [
        read({"y": np.array(["a", "b"])[TWO], f"prob_{end}": P1}, positive_probability=f"prob_{end}")
        for end in ("a", "b", "c")
    ]
    yield from [read({"y": 2 * TWO - 1, "p_1": P1}), read({"y": TWO, "pred": said, "p": P1})]
    yield from [
        read({"y": TWO, "pred": said, "p": P1}, positive_probability="p"),
        read({"y": TWO * 0 + 1, "prob_1": P1}),
    ]
    edge = np.where(np.arange(N) % 20 == 3, 0.5, P1)
    for pred in ((edge >= 0.5) * 1, (edge > 0.5) * 1):
        yield from [read({"y": TWO, "pred": pred, "p": edge}), read({"y": TWO, "pred": pred, "prob_1": edge})]
    yield from [read({"y": TWO, "pred": said, "p": P1}, confidence="p"), read({"y": Y, "prob_1": P1})]
    yield read({"y": TWO, "pred": other, "p": P1}, positive_probability="p")
    yield from [read({"y": TWO, "pred": other, "conf": P1}), read({"y": TWO, "pred": said, "conf": 1 - P1})]
    yield from [read({"y": TWO, "pred": said, "c": P1}, confidence="c"), read({"y": TWO, "p": 3 * P1 - 1})]
    yield from [read({"y": TWO, "pred": said, "y_score": 3 * P1 - 1}), read({"y": TWO, "prob_1": 2 * P1})]
    yield read({"y": TWO, "pred": said, "p": P1, "e": CONF}, scores="e")
    yield read({"y": names[TWO], "prob_1": P1}, class_names=list(names[::-1]))
    yield read({"y": names[TWO], "prob_1": P1}, class_names=[*names, "c"])
    yield read({"y": names[TWO], "pred": names[other], "prob_1": P1, "conf": CONF})
    yield from [read({"y": TWO == 1, "pred": said == 1, "conf": CONF}), read({"y": 2 * TWO - 1, "pred": 2 * said - 1})]
    yield from [
        read({"y": TWO, "pred": P1 >= 0.5, "p": P1}),
        read({"y": TWO == 1, "p_1": P1}, class_names=["true", "false"]),
    ]
    yield from [
        read({"y": TWO[:9], "pred": said[:9], "conf": P1[:9]}),
        read({"prob_0": 1 - P1, "prob_1": P1, "y": TWO}),
    ]


def rows_that_count():
    """Return the readings of some rows: of one value, in and out of distribution, complete ones."""
    base = {"y": Y, "pred": PRED, "conf": CONF, "site": SITE, "who": WHO}
    odd = np.where(np.arange(N) % 9 == 4, -1, Y)
    holes = np.where(np.arange(N)[:, None] % 7 == 3, np.nan, P)
    is_ood = np.array(["yes", "no", "no"])[Y]
    yield from [read(base, where={"site": "north"}), read(base, where={"site": "north", "who": "3"})]
    yield from [read(base, where={"site": "west"}), read(base, where={"who": 5.0}), read(base, where={"where": 1})]
    yield from [read({**base, "f": Y == 1}, where={"f": value}) for value in ("true", True, "1", 1)]
    yield from [
        read({**base, "y": odd}, part=part, **more)
        for part in ("id", "ood")
        for more in ({}, {"ood_label": -1}, {"ood_label": "2"}, {"ood_label": 9})
    ]
    yield from [read({**base, "is_ood": is_ood}, part=part) for part in ("id", "ood")]
    yield read({**base, "is_ood": is_ood, "y": odd}, part="ood", unlabelled=True, where={"site": "south"})
    yield from [read({**base, "is_ood": np.zeros(N)}, part="ood"), read({**base, "is_ood": np.ones(N)})]
    yield from [read({"y": Y, "probs": holes}, nan_policy=policy) for policy in ("raise", "drop", "keep")]
    yield read({"y": Y, "probs": holes, "site": SITE}, nan_policy="drop", where={"site": "north"})
    yield read({"y": TWO, "prob_1": np.where(Y == 0, np.nan, P1)}, nan_policy="drop")
    yield from [
        read({"y": Y[:9], "probs": holes[:9]}, nan_policy="drop"),
        read({"y": Y, "probs": P * np.nan}, nan_policy="drop"),
    ]
    yield read({"y": Y, "pred": PRED, "conf": np.where(Y == 0, np.nan, CONF)})


def units_of_abstention():
    """Return the readings of a class that means no answer."""
    four = np.column_stack([0.8 * P, 0.2 - 0.1 * CONF])
    four /= four.sum(axis=1, keepdims=True)
    names = ["ant", "bee", "cat", "none"]
    turned = four[:, [3, 0, 1, 2]]
    yield from [read({"y": Y, "probs": four}, abstain_class=unit) for unit in (3, "3", 2, 4, -1, "none")]
    yield from [
        read(
            {"y": WORDS, **{f"prob_{name}": turned[:, k] for k, name in enumerate(["none", *names[:3]])}},
            abstain_class=unit,
        )
        for unit in ("none", 0, "nine")
    ]
    yield read({"y": TWO, "probs": P}, abstain_class=2)
    yield read({"y": Y, "logits": np.log(four), "passes": np.stack([four, four[::-1]])}, abstain_class=3)
    yield from [
        read({"y": Y, "pred": PRED}, abstain_class=3),
        read({"y": TWO, "probs": np.column_stack([P1, 1 - P1])}, abstain_class=1),
    ]
    yield s.made(labels=Y, probabilities=four, abstention_unit=True, class_names=names)
    yield s.made(labels=Y, logits=np.log(four), abstention_unit=True, head=(np.ones((4, 2)), np.arange(4.0)))
    yield from [
        s.made(labels=Y, probabilities=four),
        s.made(labels=Y, logits=np.log(four)),
        s.made(labels=Y, predictions=PRED, abstention_unit=True),
    ]
