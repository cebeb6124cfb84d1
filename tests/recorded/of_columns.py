"""What columns of outputs and of sources are taken for: by name, by the caller's word, by their values."""

import numpy as np

from tests.recorded import sources as s
from tests.recorded.sources import CONF, LOGITS, NAMES, P1, PRED, SITE, TWO, WEIGHT, WHO, WRONG, N, P, Y, made, read

WORDS, SAID = NAMES[Y], NAMES[PRED]
CYCLE = np.arange(N)


def columns_of_outputs():
    """Return what Outputs makes of columns that are right, doubtful and wrong."""
    base = {"labels": Y, "predictions": PRED}
    many = np.tile(CYCLE, 3)
    low = P.argmin(axis=1)
    yield made(**base, confidence=CONF, scores={"a": CONF, "b": -CONF}, groups={"s": SITE, "w": WHO / 2}, ids=CYCLE)
    yield from [made(**base, confidence=1 - CONF), made(loss=WRONG, confidence=1 - CONF)]
    yield from [made(loss=1 - WRONG, confidence=CONF), made(loss=1 - WRONG, confidence=np.ones(N))]
    yield from [made(loss=WRONG[many % N], confidence=1 - CONF[many % N]), made(loss=1 - CONF, confidence=CONF)]
    yield from [made(loss=CONF, confidence=CONF), made(loss=WRONG[:49], confidence=1 - CONF[:49])]
    yield from [made(loss=np.tile(WRONG, 400), confidence=np.tile(1 - CONF, 400)), made(labels=Y, logits=LOGITS)]
    yield from [made(labels=Y, logits=P), made(labels=Y, logits=np.eye(3)[PRED])]
    yield from [made(labels=Y, logits=LOGITS, probabilities=P), made(labels=Y, logits=LOGITS, probabilities=P[::-1])]
    yield made(labels=Y, logits=LOGITS, probabilities=0.991 * P + 0.003)
    yield made(labels=Y, logits=LOGITS, probabilities=0.98 * P + 0.02 / 3)
    yield from [made(labels=Y, probabilities=P + 5e-4 / 3), made(labels=Y, probabilities=P + 1e-3)]
    yield from [made(labels=Y, probabilities=P - 1e-3), made(labels=Y, probabilities=1.2 * P - 0.2 / 3)]
    yield from [made(labels=low, probabilities=P), made(labels=low, logits=LOGITS)]
    yield from [made(labels=Y, logits=np.hstack([P, P])), made(labels=Y, logits=np.hstack([P, 1 - P]))]
    yield from [made(labels=Y, logits=np.hstack([P, 0 * P])), made(labels=Y, logits=np.hstack([P, np.eye(3)[PRED]]))]
    yield made(labels=Y, logits=np.hstack([np.eye(3)[Y], np.eye(3)[PRED]]))
    yield made(labels=Y, logits=np.hstack([LOGITS, LOGITS[:, :1] + 2]))
    yield made(labels=TWO, probabilities=np.column_stack([1 - P1, P1]))
    yield made(labels=TWO, predictions=(P1 > 0.5) * 1, confidence=P1)
    yield made(labels=TWO, predictions=(P1 > 0.5) * 1, confidence=1 - P1)
    yield made(labels=TWO, predictions=(P1 > 0.5) * 1, confidence=2 * P1)
    yield made(labels=TWO, predictions=(P1 > 0.98) * 1, confidence=P1)
    yield made(labels=2 * TWO - 1, predictions=2 * (P1 > 0.5) - 1, confidence=P1, class_names=["no", "yes"])
    yield from [made(labels=WORDS, predictions=SAID), made(labels=WORDS, predictions=PRED)]
    yield from [made(labels=WORDS, probabilities=P), made(labels=WORDS, probabilities=P, class_names=NAMES)]
    yield made(labels=WORDS, probabilities=P, class_names=NAMES[:2])
    yield made(labels=WORDS, probabilities=P, class_names=["ant", "bee", "dog"])
    yield from [made(**base, class_names=["a", "a", "b"]), made(**base, class_names="abc")]
    yield made(labels=Y == 1, predictions=PRED == 1, class_names=["true", "false"])
    yield from [made(**base, sample_weight=WEIGHT, clusters=WHO), made(**base, sample_weight=0 * WEIGHT)]
    yield from [made(**base, sample_weight=-WEIGHT), made(labels=Y), made(predictions=PRED)]
    yield from [made(confidence=CONF, unlabelled=True), made(), made(labels=Y, predictions=PRED[1:])]
    yield from [made(labels=Y - 1, predictions=PRED), made(labels=Y, predictions=PRED + 0.5)]
    yield from [made(labels=Y, probabilities=P, predictions=PRED + 1), made(loss=np.full(N, np.inf), confidence=CONF)]
    yield from [made(loss=-WRONG, confidence=CONF), made(**base, scores=[CONF])]
    yield made(labels=Y, passes=np.stack([P, P[::-1]]))
    yield made(labels=Y, passes=np.stack([P, P[::-1]]), logits=LOGITS[:, :2])
    yield made(labels=Y, logits=LOGITS, features=P, head=(np.eye(3), np.zeros(3)))
    yield made(labels=Y, logits=LOGITS, head=(np.eye(3), np.zeros(2)))
    yield made(labels=Y, logits=LOGITS, features=P, head=(np.ones((3, 2)), np.zeros(3)))
    yield from [made(labels=Y, logits=LOGITS, head=3), made(labels=Y, logits=LOGITS, features=P[:, 0])]
    yield from [made(labels=Y, logits=LOGITS, features=P * np.nan), made(**base, groups={"g": ["a", None] * 30})]


CLASSES = {f"p_{k}": P[:, k] for k in range(3)}
WORDS_COLUMNS = NAMES[Y]
TRUTH = {"y": Y, "pred": PRED}


def names_of_single_columns():
    """Return the readings of sources whose names say everything, or too much."""
    base = {"y": Y, "pred": PRED, "conf": CONF}
    yield read(base | {"group_site": SITE, "score_energy": -CONF, "weight": WEIGHT, "cluster": WHO, "id": np.arange(N)})
    yield read({"True Label": Y, "predictedClass": PRED, "maxProb": CONF, "groups": SITE, "odin": CONF})
    yield read({"data.label": Y, "data.prediction": PRED, "confidence": CONF, "x.score": 1 - CONF})
    yield read({"out.label": PRED, "out.score": CONF, "gold": Y})
    yield read({"out.label": PRED, "out.score": CONF, "b.label": PRED, "b.score": CONF, "gold": Y})
    yield from [read({"y": Y, "label": Y, "pred": PRED}), read({"y": Y, "label": Y, "pred": PRED}, labels="y")]
    yield read(base | {"entropy": 1 - CONF, "loss": WRONG, "correct": 1 - WRONG}, loss="loss")
    yield read(base | {"entropy": 1 - CONF, "correct": 1 - WRONG}, predictions="pred")
    yield read({"y": Y, "pred": PRED, "entropy": 1 - CONF})
    yield read({"y": Y, "pred": PRED, "u": 1 - CONF}, uncertainty="u")
    yield read({"y": Y, "pred": PRED, "u": 1 - CONF, "conf": CONF}, uncertainty="u")
    yield read({"y": Y, "pred": PRED, "score": CONF, "conf": CONF})
    yield read(base | {"prediction_energy": (PRED + 1) % 3, "score_energy": CONF, "energy": CONF})
    yield read(base | {"energy": CONF, "site": SITE}, groups="site", scores=["energy", "conf"])
    yield read(base | {"score_energy": CONF, "group_site": SITE}, groups=["site"], scores="energy")
    yield read(base | {"a1": CONF, "a2": CONF, "b_1": SITE, "b_2": WHO}, scores="a?", groups="b_*")
    yield from [read(base, groups="site"), read(base, labels="yy"), read(base, labels=3), read(base, what="y")]
    yield read(base | {"case": np.arange(N), "patient_id": WHO})
    yield read(base | {"patient_id": WHO, "uuid": np.arange(N).astype(str), "row": np.arange(N)})
    yield read(base | {"model": NAMES[WHO % 3], "dataset": ["d"] * N, "user": WHO, "perplexity": CONF, "x": CONF})
    yield read(base | {"model": NAMES[WHO % 3], "cluster": WHO, "user": WHO, **{f"x{k}": CONF for k in range(9)}})
    yield read(base | dict.fromkeys(("model", "dataset", "task", "split", "fold", "seed", "run_id", "user"), WHO))
    yield from [*(read(base | {f"x{k}": CONF for k in range(count)}, labels="zz") for count in (9, 10, 11))]
    yield read(base | {"entropy": WRONG + CONF / 9}, confidence="entropy")
    yield read(base | {"entropy": CONF}, confidence="entropy")
    yield from [read({"pred": PRED, "class": Y, "conf": CONF, "dice": CONF}), read({"a": PRED, "b": Y})]
    yield from [read({"y": Y, "prob": CONF}), read({"y": TWO, "prob": P1}, unlabelled=True)]
    yield from [read({"y": TWO, "conf": P1}, unlabelled=True), read({"u": P1, "a": P1}, unlabelled=True)]
    yield read({"a": P1}, unlabelled=True)
    yield read({"a": P1, "site": SITE}, confidence="a", unlabelled=True, groups="site")


def matrices_by_name():
    """Return the readings of matrices and of columns for each class."""
    ten = np.column_stack([P / 2, P / 4, P / 4, P[:, :2] * 0])
    shuffled = {f"logit_{k}": ten[:, k] for k in (10, 9, 0, 3, 2, 1, 8, 7, 6, 5, 4)}
    yield from [read({"y": Y, "logits": LOGITS}), read({"y": Y, "probs": P, "features": LOGITS})]
    yield read({"y": Y, "logits": LOGITS, "probs": P})
    yield read({"y": Y, **CLASSES, "p_value": CONF, "feature_0": CONF, "feature_1": P1})
    yield read({"y": Y, **shuffled})
    yield read({"y": WORDS_COLUMNS, **{f"prob_{name}": P[:, k] for k, name in enumerate(NAMES)}})
    yield read({"y": Y, **{f"prob_{name}": P[:, k] for k, name in enumerate(NAMES)}})
    yield read({"y": WORDS_COLUMNS, **{name: P[:, k] for k, name in enumerate(NAMES)}})
    yield read({"y": WORDS_COLUMNS, **{name: LOGITS[:, k] for k, name in enumerate(NAMES)}})
    yield read({"y": WORDS_COLUMNS, **{f"{name} prob": P[:, k] for k, name in enumerate(NAMES)}})
    yield read({"y": WORDS_COLUMNS, **{f"P({name})": P[:, k] for k, name in enumerate(NAMES)}})
    yield read({"y": Y + 1, **{f"prob_{k + 1}": P[:, k] for k in range(3)}})
    yield read({"y": Y * 2 - 1, **{f"prob_{2 * k - 1}": P[:, k] for k in range(3)}})
    yield read({"y": Y, **{f"class {k}": P[:, k] for k in range(3)}})
    yield read({"y": Y, **{str(k): P[:, k] for k in range(3)}})
    yield read({"y": np.array(["a_1", "a_2", "b"])[Y], "a_1": P[:, 0], "a_2": P[:, 1], "b": P[:, 2]})
    yield read({"y": np.array(["P(1)", "q", "r"])[Y], "P(1)": P[:, 0], "q": P[:, 1], "r": P[:, 2]})
    yield read({"y": np.array(["prob_", "prob_1"])[TWO], "prob_": 1 - P1, "prob_1": P1})
    yield read({"y": WORDS_COLUMNS, "pred": np.array(["Ant", "b ee", "cat"])[PRED]})
    yield read({"y": np.array(["CAT", "bee", "unknown"])[Y], "pred": np.array(["Cat", "bee", "bee"])[PRED]})
    yield read({"y": Y, "a": P[:, 0], "b": P[:, 1], "c": P[:, 2]}, probabilities="a,b, c")
    yield read({"y": Y, "a": P[:, 0], "b": P[:, 1], "c": P[:, 2]}, probabilities=["c", "b", "a"])
    yield read(
        {"y": WORDS_COLUMNS, "a": P[:, 0], "b": P[:, 1], "c": P[:, 2]},
        probabilities="[abc]",
        class_names=list(NAMES),
    )
    yield read({"y": Y, "z1": LOGITS[:, 0], "z2": LOGITS[:, 1], "z10": LOGITS[:, 2]}, logits="z*")
    yield read({"y": Y, "one": LOGITS, "two": LOGITS}, logits="one")
    yield read({"y": Y, "logit_one": LOGITS, "logit_two": LOGITS})
    yield read({"y": Y, "logit_one": LOGITS, "logit_two": LOGITS, "pred": PRED}, predictions="pred")
    yield read({"y": Y, "logit_one": LOGITS, "logit_two": LOGITS, "pred": PRED}, logits="logit_*")
    yield from [read({"y": Y, "values": P}), read({"y": Y, "values": P, "others": P}), read({"y": Y, "values": LOGITS})]
    yield read({"y": Y, "logits": LOGITS, "pred": PRED, "conf": CONF})
    yield from [read({"y": Y, "z": LOGITS}, predictions="z"), read({"y": Y, "pred": P})]
    yield from [read({"y": np.eye(3)[Y], "pred": np.eye(3)[PRED]}), read({"y": np.eye(3)[Y], "probs": P})]
    yield from [read({"y": Y[:, None], "pred": PRED[:, None], "conf": CONF[:, None]}), read({"y": Y, "pred": LOGITS.T})]
    yield from [read({"y": np.eye(3)[Y] + np.eye(3)[0], "pred": PRED}), read({"y": TWO, "probs": P1[:, None]})]
    yield from [read({"y": TWO, "probabilities": P1}), read({"y": TWO, "q": P1}, probabilities="q")]
    yield from [read({"y": TWO, "pred": P1}), read({"y": TWO, "pred": P1, "prob": P1})]
    yield from [read({"y": TWO, "pred": 1.5 * P1}), read({"y": Y, "pred": P1}), read({"y": P1, "pred": P1})]
    yield read({"y": [f"text {k}" for k in range(N)], "pred": WORDS_COLUMNS})
    yield read({"y": [f"text {k}" for k in range(N)], "pred": WORDS_COLUMNS, "quality": CONF})
    yield read({"y": [f"text {k % 30}" for k in range(N)], "pred": WORDS_COLUMNS})
    yield from [*(read({"y": [f"text {k}" for k in range(n)], "pred": WORDS_COLUMNS[:n]}) for n in (19, 20))]
    yield read({"y": Y, "passes": np.stack([P, P[::-1], P])})
    yield read({"y": Y, "logits": LOGITS, "features": P, "head_weight": np.eye(3), "head_bias": [0.0, 0.1, 0.2]})
    yield read({"y": Y, "logits": LOGITS, "class_names": list(NAMES)})


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
    yield read({"y": TWO, "pred": said, "p": P1}, positive_probability="p")
    yield read({"y": TWO * 0 + 1, "prob_1": P1})
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
    yield read({"y": TWO, "pred": P1 >= 0.5, "p": P1})
    yield read({"y": TWO == 1, "p_1": P1}, class_names=["true", "false"])
    yield read({"y": TWO[:9], "pred": said[:9], "conf": P1[:9]})
    yield read({"prob_0": 1 - P1, "prob_1": P1, "y": TWO})


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
    yield read({"y": Y[:9], "probs": holes[:9]}, nan_policy="drop")
    yield read({"y": Y, "probs": P * np.nan}, nan_policy="drop")
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
            {"y": WORDS_COLUMNS, **{f"prob_{name}": turned[:, k] for k, name in enumerate(["none", *names[:3]])}},
            abstain_class=unit,
        )
        for unit in ("none", 0, "nine")
    ]
    yield read({"y": TWO, "probs": P}, abstain_class=2)
    yield read({"y": Y, "logits": np.log(four), "passes": np.stack([four, four[::-1]])}, abstain_class=3)
    yield read({"y": Y, "pred": PRED}, abstain_class=3)
    yield read({"y": TWO, "probs": np.column_stack([P1, 1 - P1])}, abstain_class=1)
    yield s.made(labels=Y, probabilities=four, abstention_unit=True, class_names=names)
    yield s.made(labels=Y, logits=np.log(four), abstention_unit=True, head=(np.ones((4, 2)), np.arange(4.0)))
    yield from [s.made(labels=Y, probabilities=four), s.made(labels=Y, logits=np.log(four))]
    yield s.made(labels=Y, predictions=PRED, abstention_unit=True)
