"""What columns of outputs and of sources are taken for: by name, by the caller's word, by their values."""

from itertools import product

import numpy as np

from tests.recorded.sources import CONF, LOGITS, NAMES, P1, PRED, SITE, TWO, WEIGHT, WHO, WRONG, N, P, Y, made, read

CYCLE, HOT, WORDS_COLUMNS = np.arange(N), np.eye(3), NAMES[Y]
YES, TEXTS = np.array(["no", "yes"]), [f"text {k}" for k in range(N)]
TEN = np.column_stack([P / 2, P / 4, P / 4, P[:, :2] * 0])
#: What a column holds, by a word.
HELD = {"y": Y, "pred": PRED, "conf": CONF, "unsure": 1 - CONF, "minus": -CONF, "wrong": WRONG, "right": 1 - WRONG}
HELD |= {"two": TWO, "p1": P1, "p0": 1 - P1, "twice": 2 * P1, "real": 3 * P1 - 1, "site": SITE, "who": WHO}
HELD |= {"row": CYCLE, "text": CYCLE.astype(str), "weight": WEIGHT, "negative": -WEIGHT, "nothing": 0 * WEIGHT}
HELD |= {"logits": LOGITS, "probs": P, "across": LOGITS.T, "passes": np.stack([P, P[::-1]]), "names": NAMES[Y]}
HELD |= {"said": NAMES[PRED], "next": (PRED + 1) % 3, "edge": np.where(CYCLE % 20 == 3, 0.5, P1), "true": TWO == 1}
HELD |= {"signs": 2 * TWO - 1, "guess": (P1 >= 0.5) * 1, "guess signs": 2 * (P1 >= 0.5) - 1, "guess true": P1 >= 0.5}
HELD |= {"late": (P1 >= 0.3) * 1, "high": (P1 > 0.98) * 1, "edge up": (np.where(CYCLE % 20 == 3, 0.5, P1) >= 0.5) * 1}
HELD |= {"edge down": (HELD["edge"] > 0.5) * 1, "yes": YES[TWO], "late yes": YES[(P1 >= 0.3) * 1]}
HELD |= {
    "low": P.argmin(axis=1),
    "hot": HOT[Y],
    "hot pred": HOT[PRED],
    "column": Y[:, None],
    "column pred": PRED[:, None],
}
HELD |= {"from one": Y + 1, "from minus": Y - 1, "odd": Y * 2 - 1, "half": PRED + 0.5, "d": ["d"] * N}
HELD |= {"twos": HOT[Y] + HOT[0], "p1s": P1[:, None], "big": 1.5 * P1, "nearly": WRONG + CONF / 9}
HELD |= {"codes": NAMES[WHO % 3], "texts": TEXTS, "30 texts": [f"text {k % 30}" for k in range(N)]}
HELD |= {"a_1": np.array(["a_1", "a_2", "b"])[Y], "p(1)": np.array(["P(1)", "q", "r"])[Y], "constant": 0 * TWO + 1}
HELD |= {
    "infinite": np.full(N, np.inf),
    "prob_": np.array(["prob_", "prob_1"])[TWO],
    "Ant": np.array(["Ant", "b ee", "cat"])[PRED],
}
HELD |= {"CAT": np.array(["CAT", "bee", "unknown"])[Y], "Cat": np.array(["Cat", "bee", "bee"])[PRED], "short": PRED[1:]}
HELD |= {f"p_{k}": P[:, k] for k in range(3)} | {f"z{k}": LOGITS[:, k] for k in range(3)}
HELD |= {f"t{k}": TEN[:, k] for k in range(TEN.shape[1])}


def _each(text, of=read, **more):
    """Yield the readings of sources with '|' between: what columns hold by a word, and after ';' options."""
    for one in " ".join(text.split()).split(" | "):
        parts, _, told = one.partition(" ; ")
        pairs = [part.partition("=") for part in parts.split(", ")]
        columns = {name: HELD[what or name] for name, _, what in pairs}
        options = dict(part.split("=") for part in told.split(", ") if part) | more
        yield of(columns, **options) if of is read else of(**columns, **options)


def columns_of_outputs():
    """Return what Outputs makes of columns that are right, doubtful and wrong."""
    base, many = {"labels": Y, "predictions": PRED}, np.tile(CYCLE, 3) % N
    table = """labels=y, predictions=pred, confidence=unsure | loss=wrong, confidence=unsure
        | loss=right, confidence=conf | loss=unsure, confidence=conf | loss=conf, confidence=conf | labels=y, logits
        | labels=y, logits=probs | labels=y, logits=hot pred | labels=y, logits, probabilities=probs
        | labels=low, probabilities=probs | labels=low, logits | labels=two, predictions=guess, confidence=p1
        | labels=two, predictions=guess, confidence=p0 | labels=two, predictions=guess, confidence=twice
        | labels=two, predictions=high, confidence=p1 | labels=names, predictions=said | labels=names, predictions=pred
        | labels=names, probabilities=probs | labels=y, predictions=pred ; class_names=abc | labels=y | predictions=pred
        | labels=y, predictions=pred, sample_weight=weight, clusters=who | labels=y, predictions=short
        | labels=y, predictions=pred, sample_weight=nothing | labels=y, predictions=pred, sample_weight=negative
        | labels=from minus, predictions=pred | labels=y, predictions=half | loss=infinite, confidence=conf
        | labels=y, passes"""
    yield from _each(table, made)
    yield made(**base, confidence=CONF, scores={"a": CONF, "b": -CONF}, groups={"s": SITE, "w": WHO / 2}, ids=CYCLE)
    losses = [(1 - WRONG, np.ones(N)), (WRONG[many], 1 - CONF[many]), (WRONG[:49], 1 - CONF[:49]), (-WRONG, CONF)]
    losses += [(np.tile(WRONG, 400), np.tile(1 - CONF, 400))]
    yield from (made(loss=loss, confidence=score) for loss, score in losses)
    likely = [P[::-1], 0.991 * P + 0.003, 0.98 * P + 0.02 / 3]
    yield from (made(labels=Y, logits=LOGITS, probabilities=each) for each in likely)
    yield from (made(labels=Y, probabilities=each) for each in (P + 5e-4 / 3, P + 1e-3, P - 1e-3, 1.2 * P - 0.2 / 3))
    pairs = [(P, P), (P, 1 - P), (P, 0 * P), (P, HOT[PRED]), (HOT[Y], HOT[PRED]), (LOGITS, LOGITS[:, :1] + 2)]
    yield from (made(labels=Y, logits=np.hstack(pair)) for pair in pairs)
    yield made(labels=TWO, probabilities=np.column_stack([1 - P1, P1]))
    yield made(labels=2 * TWO - 1, predictions=2 * (P1 > 0.5) - 1, confidence=P1, class_names=["no", "yes"])
    several = (NAMES, NAMES[:2], ["ant", "bee", "dog"])
    yield from (made(labels=WORDS_COLUMNS, probabilities=P, class_names=each) for each in several)
    yield made(labels=Y == 1, predictions=PRED == 1, class_names=["true", "false"])
    more = [{"class_names": ["a", "a", "b"]}, {"scores": [CONF]}, {"groups": {"g": ["a", None] * 30}}]
    yield from (made(**base, **each) for each in more)
    yield from [made(confidence=CONF, unlabelled=True), made(), made(labels=Y, probabilities=P, predictions=PRED + 1)]
    yield made(labels=Y, passes=np.stack([P, P[::-1]]), logits=LOGITS[:, :2])
    heads = [{"features": P, "head": (HOT, np.zeros(3))}, {"head": (HOT, np.zeros(2))}, {"head": 3}]
    heads += [{"features": P, "head": (np.ones((3, 2)), np.zeros(3))}, {"features": P[:, 0]}, {"features": P * np.nan}]
    yield from (made(labels=Y, logits=LOGITS, **each) for each in heads)


def names_of_single_columns():
    """Return the readings of sources whose names say everything, or too much."""
    base = {"y": Y, "pred": PRED, "conf": CONF}
    table = """y, pred, conf, group_site=site, score_energy=minus, weight, cluster=who, id=row
        | True Label=y, predictedClass=pred, maxProb=conf, groups=site, odin=conf
        | data.label=y, data.prediction=pred, confidence=conf, x.score=unsure | out.label=pred, out.score=conf, gold=y
        | out.label=pred, out.score=conf, b.label=pred, b.score=conf, gold=y | y, label=y, pred
        | y, label=y, pred ; labels=y | y, pred, conf, entropy=unsure, loss=wrong, correct=right ; loss=loss
        | y, pred, conf, entropy=unsure, correct=right ; predictions=pred | y, pred, entropy=unsure
        | y, pred, u=unsure ; uncertainty=u | y, pred, u=unsure, conf ; uncertainty=u | y, pred, score=conf, conf
        | y, pred, conf, prediction_energy=next, score_energy=conf, energy=conf
        | y, pred, conf, score_energy=conf, group_site=site ; scores=energy, groups=site
        | y, pred, conf, a1=conf, a2=conf, b_1=site, b_2=who ; scores=a?, groups=b_*
        | y, pred, conf ; groups=site | y, pred, conf ; labels=yy | y, pred, conf ; what=y
        | y, pred, conf, case=row, patient_id=who
        | y, pred, conf, patient_id=who, uuid=text, row | pred, class=y, conf, dice=conf | a=pred, b=y | y, prob=conf
        | y, pred, conf, model=codes, dataset=d, user=who, perplexity=conf, x=conf
        | y, pred, conf, entropy=nearly ; confidence=entropy | y, pred, conf, entropy=conf ; confidence=entropy"""
    yield from _each(table)
    yield from _each("y=two, prob=p1 | y=two, conf=p1 | u=p1, a=p1 | a=p1", unlabelled=True)
    yield from _each("a=p1, site ; confidence=a, groups=site", unlabelled=True)
    yield from [read(base | {"energy": CONF, "site": SITE}, groups="site", scores=["energy", "conf"])]
    yield read(base, labels=3)
    yield read(base | {"model": NAMES[WHO % 3], "cluster": WHO, "user": WHO, **{f"x{k}": CONF for k in range(9)}})
    yield read(base | dict.fromkeys(("model", "dataset", "task", "split", "fold", "seed", "run_id", "user"), WHO))
    yield from [read(base | {f"x{k}": CONF for k in range(count)}, labels="zz") for count in (9, 10, 11)]


def matrices_by_name():
    """Return the readings of matrices and of columns for each class."""
    shuffled = {f"logit_{k}": TEN[:, k] for k in (10, 9, 0, 3, 2, 1, 8, 7, 6, 5, 4) if k < TEN.shape[1]}
    by_class = {"y": Y, "a": P[:, 0], "b": P[:, 1], "c": P[:, 2]}
    table = """y, logits | y, probs, features=logits | y, logits, probs
        | y, one=logits, two=logits ; logits=one
        | y, p_0, p_1, p_2, p_value=conf, feature_0=conf, feature_1=p1 | y, 0=p_0, 1=p_1, 2=p_2
        | y=names, prob_ant=p_0, prob_bee=p_1, prob_cat=p_2 | y, prob_ant=p_0, prob_bee=p_1, prob_cat=p_2
        | y=names, ant=p_0, bee=p_1, cat=p_2 | y=names, ant=z0, bee=z1, cat=z2
        | y, class 0=p_0, class 1=p_1, class 2=p_2
        | y=names, ant prob=p_0, bee prob=p_1, cat prob=p_2 | y=names, P(ant)=p_0, P(bee)=p_1, P(cat)=p_2
        | y=from one, prob_1=p_0, prob_2=p_1, prob_3=p_2 | y=odd, prob_-1=p_0, prob_1=p_1, prob_3=p_2
        | y=a_1, a_1=p_0, a_2=p_1, b=p_2 | y=p(1), P(1)=p_0, q=p_1, r=p_2 | y=prob_, prob_=p0, prob_1=p1
        | y=names, pred=Ant | y=CAT, pred=Cat | y, z1=z0, z2=z1, z10=z2 ; logits=z*
        | y, logit_one=logits, logit_two=logits
        | y, logit_one=logits, logit_two=logits, pred ; predictions=pred | y, values=probs
        | y, values=probs, others=probs
        | y, logit_one=logits, logit_two=logits, pred ; logits=logit_* | y, values=logits | y, logits, pred, conf
        | y, z=logits ; predictions=z | y, pred=probs | y=hot, pred=hot pred | y=hot, probs | y, passes
        | y=column, pred=column pred, conf | y, pred=across | y=twos, pred | y=two, probs=p1s | y=two, probabilities=p1
        | y=two, q=p1 ; probabilities=q | y=two, pred=p1 | y=two, pred=p1, prob=p1 | y=two, pred=big | y, pred=p1
        | y=p1, pred=p1 | y=texts, pred=names | y=texts, pred=names, quality=conf | y=30 texts, pred=names"""
    yield from _each(table)
    yield from [read(by_class, probabilities=each) for each in ("a,b, c", ["c", "b", "a"])]
    yield read({"y": Y, **shuffled})
    yield read(by_class | {"y": WORDS_COLUMNS}, probabilities="[abc]", class_names=list(NAMES))
    yield from [read({"y": TEXTS[:n], "pred": WORDS_COLUMNS[:n]}) for n in (19, 20)]
    yield read({"y": Y, "logits": LOGITS, "features": P, "head_weight": HOT, "head_bias": [0.0, 0.1, 0.2]})
    yield read({"y": Y, "logits": LOGITS, "class_names": list(NAMES)})


def two_classes():
    """Return the readings of a probability of the second of two classes."""
    pairs = (("no", "yes"), ("benign", "malignant"), ("a", "b"), ("2", "10"), ("<=50K", ">50K"), ("-1", "1"))
    yield from [read({"y": np.array(pair)[TWO], "prob_1": P1}) for pair in pairs]
    ends = [(f"prob_{end}", np.array(["a", "b"])[TWO]) for end in "abc"]
    yield from [read({"y": y, end: P1}, positive_probability=end) for end, y in ends]
    table = """y=signs, p_1=p1 | y=two, pred=guess, p=p1 | y=two, pred=guess, p=p1 ; positive_probability=p
        | y=constant, prob_1=p1 | y=two, pred=edge up, p=edge | y=two, pred=edge up, prob_1=edge | y, prob_1=p1
        | y=two, pred=edge down, p=edge | y=two, pred=edge down, prob_1=edge | y=two, pred=guess, p=p1 ; confidence=p
        | y=two, pred=late, p=p1 ; positive_probability=p | y=two, pred=late, conf=p1 | y=two, pred=guess, conf=p0
        | y=two, pred=guess, c=p1 ; confidence=c | y=two, p=real | y=two, pred=guess, y_score=real | y=two, prob_1=twice
        | y=two, pred=guess, p=p1, e=conf ; scores=e | y=yes, pred=late yes, prob_1=p1, conf
        | y=two, pred=guess true, p=p1
        | y=true, pred=guess true, conf | y=signs, pred=guess signs | prob_0=p0, prob_1=p1, y=two"""
    yield from _each(table)
    yield from [read({"y": YES[TWO], "prob_1": P1}, class_names=each) for each in (["yes", "no"], ["no", "yes", "c"])]
    yield read({"y": TWO == 1, "p_1": P1}, class_names=["true", "false"])
    yield read({"y": TWO[:9], "pred": HELD["guess"][:9], "conf": P1[:9]})


def rows_that_count():
    """Return the readings of some rows: of one value, in and out of distribution, complete ones."""
    base, odd = {"y": Y, "pred": PRED, "conf": CONF, "site": SITE, "who": WHO}, np.where(CYCLE % 9 == 4, -1, Y)
    holes, is_ood = np.where(CYCLE[:, None] % 7 == 3, np.nan, P), np.array(["yes", "no", "no"])[Y]
    north = {"site": "north"}
    parts = [north, north | {"who": "3"}, {"site": "west"}, {"who": 5.0}, {"where": 1}]
    parts += [{"f": value} for value in ("true", True, "1", 1)]
    yield from [read({**base, "f": Y == 1}, where=each) for each in parts]
    labels = ({}, {"ood_label": -1}, {"ood_label": "2"}, {"ood_label": 9})
    yield from [read({**base, "y": odd}, part=part, **more) for part, more in product(("id", "ood"), labels)]
    yield from [read({**base, "is_ood": is_ood}, part=part) for part in ("id", "ood")]
    yield read({**base, "is_ood": is_ood, "y": odd}, part="ood", unlabelled=True, where={"site": "south"})
    yield from [read({**base, "is_ood": np.zeros(N)}, part="ood"), read({**base, "is_ood": np.ones(N)})]
    yield from [read({"y": Y, "probs": holes}, nan_policy=policy) for policy in ("raise", "keep", "drop")]
    yield read({"y": Y, "probs": holes, "site": SITE}, nan_policy="drop", where=north)
    few = (
        {"y": Y[:9], "probs": holes[:9]},
        {"y": Y, "probs": P * np.nan},
        {"y": TWO, "prob_1": np.where(Y, P1, np.nan)},
    )
    yield from [read(each, nan_policy="drop") for each in few]
    yield read({"y": Y, "pred": PRED, "conf": np.where(Y == 0, np.nan, CONF)})


def units_of_abstention():
    """Return the readings of a class that means no answer."""
    four = np.column_stack([0.8 * P, 0.2 - 0.1 * CONF])
    four /= four.sum(axis=1, keepdims=True)
    names, turned, unit = ["none", "ant", "bee", "cat"], four[:, [3, 0, 1, 2]], {"abstention_unit": True}
    words = {"y": WORDS_COLUMNS, **{f"prob_{name}": turned[:, k] for k, name in enumerate(names)}}
    yield from [read({"y": Y, "probs": four}, abstain_class=each) for each in (3, "3", 2, 4, -1, "none")]
    yield from [read(words, abstain_class=each) for each in ("none", 0, "nine")]
    yield from [read({"y": TWO, "probs": P}, abstain_class=2), read({"y": Y, "pred": PRED}, abstain_class=3)]
    yield read({"y": Y, "logits": np.log(four), "passes": np.stack([four, four[::-1]])}, abstain_class=3)
    yield read({"y": TWO, "probs": np.column_stack([P1, 1 - P1])}, abstain_class=1)
    yield made(labels=Y, probabilities=four, class_names=[*names[1:], "none"], **unit)
    yield made(labels=Y, logits=np.log(four), head=(np.ones((4, 2)), np.arange(4.0)), **unit)
    yield from [made(labels=Y, probabilities=four), made(labels=Y, logits=np.log(four))]
    yield made(labels=Y, predictions=PRED, **unit)
