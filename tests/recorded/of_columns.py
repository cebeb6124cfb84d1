"""What columns are taken for, by name, word and values; verdicts, abstentions, costs and tasks."""

from itertools import product
from pathlib import Path

import numpy as np

from tests.recorded import sources
from tests.recorded.sources import CONF, LOGITS, NAMES, P1, PRED, SITE, TWO, WEIGHT, WHO, WRONG, N, P, Y, made, read

CYCLE, HOT, WORDS = np.arange(N), np.eye(3), NAMES[Y]
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
HELD |= {"low": P.argmin(axis=1), "hot": HOT[Y], "hot pred": HOT[PRED]}
HELD |= {"column": Y[:, None], "column pred": PRED[:, None], "infinite": np.full(N, np.inf)}
HELD |= {"from one": Y + 1, "from minus": Y - 1, "odd": Y * 2 - 1, "half": PRED + 0.5, "d": ["d"] * N}
HELD |= {"twos": HOT[Y] + HOT[0], "p1s": P1[:, None], "big": 1.5 * P1, "nearly": WRONG + CONF / 9}
HELD |= {"codes": NAMES[WHO % 3], "texts": TEXTS, "30 texts": [f"text {k % 30}" for k in range(N)]}
HELD |= {"a_1": np.array(["a_1", "a_2", "b"])[Y], "p(1)": np.array(["P(1)", "q", "r"])[Y], "constant": 0 * TWO + 1}
HELD |= {"prob_": np.array(["prob_", "prob_1"])[TWO], "Ant": np.array(["Ant", "b ee", "cat"])[PRED]}
HELD |= {"CAT": np.array(["CAT", "bee", "unknown"])[Y], "Cat": np.array(["Cat", "bee", "bee"])[PRED], "short": PRED[1:]}
HELD |= {f"p_{k}": P[:, k] for k in range(3)} | {f"z{k}": LOGITS[:, k] for k in range(3)}
HELD |= {f"t{k}": TEN[:, k] for k in range(TEN.shape[1])}


def _each(text, of=read, **more):
    """Yield the readings of sources with '|' between: what columns hold by a word, and after ';' options."""
    for one in " ".join(text.split()).split(" | "):
        parts, _, told = one.partition(" ; ")
        columns = {name: HELD[what or name] for name, _, what in [part.partition("=") for part in parts.split(", ")]}
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
    yield from (made(labels=WORDS, probabilities=P, class_names=each) for each in several)
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
    yield read(by_class | {"y": WORDS}, probabilities="[abc]", class_names=list(NAMES))
    yield from [read({"y": TEXTS[:n], "pred": WORDS[:n]}) for n in (19, 20)]
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
    few = [{"y": Y[:9], "probs": holes[:9]}, {"y": Y, "probs": P * np.nan}]
    few += [{"y": TWO, "prob_1": np.where(Y == 0, np.nan, P1)}]
    yield from [read(each, nan_policy="drop") for each in few]
    yield read({"y": Y, "pred": PRED, "conf": np.where(Y == 0, np.nan, CONF)})


def units_of_abstention():
    """Return the readings of a class that means no answer."""
    four = np.column_stack([0.8 * P, 0.2 - 0.1 * CONF])
    four /= four.sum(axis=1, keepdims=True)
    names, turned, unit = ["none", "ant", "bee", "cat"], four[:, [3, 0, 1, 2]], {"abstention_unit": True}
    words = {"y": WORDS, **{f"prob_{name}": turned[:, k] for k, name in enumerate(names)}}
    yield from [read({"y": Y, "probs": four}, abstain_class=each) for each in (3, "3", 2, 4, -1, "none")]
    yield from [read(words, abstain_class=each) for each in ("none", 0, "nine")]
    yield from [read({"y": TWO, "probs": P}, abstain_class=2), read({"y": Y, "pred": PRED}, abstain_class=3)]
    yield read({"y": Y, "logits": np.log(four), "passes": np.stack([four, four[::-1]])}, abstain_class=3)
    yield read({"y": TWO, "probs": np.column_stack([P1, 1 - P1])}, abstain_class=1)
    yield made(labels=Y, probabilities=four, class_names=[*names[1:], "none"], **unit)
    yield made(labels=Y, logits=np.log(four), head=(np.ones((4, 2)), np.arange(4.0)), **unit)
    yield from [made(labels=Y, probabilities=four), made(labels=Y, logits=np.log(four))]
    yield made(labels=Y, predictions=PRED, **unit)


WORDS, SAID = NAMES[Y], NAMES[PRED]


def _verdicts(*words):
    return np.array(words, dtype=object)[(CYCLE * 7 + Y) % len(words)]


def verdicts_and_abstentions():
    """Return the readings of verdicts in many words, of missing ones, and of answers that are none."""
    sure = {"conf": CONF}
    holes = sure | {"conf": np.where(CYCLE % 5 == 2, np.nan, CONF), "score_x": np.where(CYCLE % 4 == 2, np.nan, CONF)}
    columns = {"words": _verdicts("correct", "wrong", "Partly correct", "abstained", "unparseable", "Yes", "FAILED.")}
    columns |= {"letters": _verdicts("C", "I", "P", "N"), "two letters": _verdicts("C", "I")}
    columns |= {"letters and no": _verdicts("C", "I", "no"), "truths": _verdicts(True, False, True)}
    columns |= {"numbers": _verdicts(1, 0, 0), "missing": _verdicts(1.0, 0.0, None, 1.0)}
    columns |= {"blank": _verdicts("right", "wrong", "", "refused", None), "graded": _verdicts(1.0, 0.5, 0.0)}
    columns |= {"none right": _verdicts("wrong", "no answer"), "nothing": _verdicts("refused", "idk")}
    columns |= {"unknown": _verdicts("right", "perhaps"), "text numbers": _verdicts("1", "0", "1.0", "0.0")}
    columns |= {"errors": _verdicts("right", "wrong", "error", "not graded")}
    more = {"sample_weight": WEIGHT, "clusters": WHO, "group_site": SITE, "y": WORDS, "pred": SAID}
    for column in columns.values():
        yield [read({**holes, "verdict": column, **more}, unscored=kind) for kind in (None, "wrong", "drop")]
    answers = [_verdicts("yes", "no", "no"), _verdicts(1, 0), _verdicts("I don't know.", "Paris", "no answer")]
    for each, should in product(answers, (_verdicts(0, 0, 1), _verdicts("t", "f", "n", None))):
        yield read({**sure, "verdict": columns["numbers"], "refused": each, "unanswerable": should})
    qualities = (CONF, _verdicts(0.25, 1.0, None), _verdicts(0.0, 1.0), 2 * CONF, CONF - 0.5)
    for kind, each in product((None, "wrong", "drop"), qualities):
        yield read({**holes, "quality": each, **more}, unscored=kind)
    losses = (_verdicts(0.0, 2.0, None), WRONG, _verdicts(0, -1))
    for kind, each, gone in product((None, "wrong", "drop"), losses, (None, TWO)):
        yield read({**holes, "loss": each, "refused": gone}, unscored=kind)
    texts = np.where(CYCLE % 6 == 1, "I do not know", SAID)
    judged, scored = {"correct": columns["numbers"], "conf": CONF}, {"y": WORDS, "pred": SAID, "conf": CONF}
    yield from [read(scored | {"pred": texts}), read(scored | {"refused": TWO}), read(judged | {"answer": texts})]
    yield read(scored | {"should_abstain": TWO, "refused": TWO == 0})
    yield read({"y": np.where(CYCLE % 6 == 2, "idk", WORDS), "pred": np.where(CYCLE % 6 < 2, "idk", SAID)})
    yield read({"y": WORDS, "pred": np.full(N, "refused")})
    yield read({"y": Y, "pred": PRED, "conf": CONF, "refused": _verdicts(1, 0, 2)})
    yield from [read(judged | {"answer": texts}, abstained="answer"), read(judged | {"response": SAID})]
    yield read(judged | {"quality": CONF})
    yield read({"y": Y, "probs": P, "refused": TWO, "passes": np.stack([P, P[::-1]]), "features": LOGITS})
    yield read({"correct": columns["numbers"], "refused": np.ones(N)})


def confidence_in_words():
    """Return the readings of confidence in words, per cent, shares and numbers as text."""
    kinds = {"low to high": _verdicts("low", "High", " very  high", "medium", None)}
    kinds |= {"moderate": _verdicts("low", "moderate"), "one word": _verdicts("low", "low")}
    kinds |= {"estimative": _verdicts("likely", "almost certain", "probably", "unlikely", "")}
    kinds |= {"felt": _verdicts("fairly confident", "confident", "not confident")}
    kinds |= {"per cent": _verdicts("90 %", "55%", "100 percent", "0%", None)}
    kinds |= {"shares": _verdicts("9/10", "5 out of 10", "3 / 4", "1/0")}
    kinds |= {"per cent and shares": _verdicts("9/10", "50%"), "numbers": _verdicts("0.9", ".5", "1e-2", "NA")}
    kinds |= {"numbers above 1": _verdicts("7", "9.5", "-1"), "per cent above": _verdicts("90 %", "110 %")}
    kinds |= {"commas": _verdicts("0,9", "0,5"), "per cent and words": _verdicts("90 %", "high")}
    kinds |= {"two scales": _verdicts("low", "likely"), "own": _verdicts("so so", "sure", "meh")}
    told = [None, ["%"], ["meh|so so", "sure"], ["low", "medium|moderate", "high", "very high"]]
    for name, column in kinds.items():
        yield name, [read({"correct": 1 - WRONG, "conf": column}, confidence_levels=levels) for levels in told]


def costs():
    """Return the readings of costs as text, as dicts and as tables."""
    columns = {"y": WORDS, "pred": SAID, "conf": CONF}
    given = ["ant=5,bee=2,cat=1", "ant=5,bee=2", "ant=5,bee=2,cat=1,ant:cat=7,cat:cat=0.5"]
    given += [["ant=5", "bee=2", "cat=1", ""], {"ant": 5, "bee": {"ant": 2, "cat": 3}, "cat": 0}]
    given += ["ant=5,bee=2,cat=1,dog=9", "ant=5,ant=6,bee=1,cat=1", "", "ant:bee=1,ant:bee=2", "ant", "=3"]
    given += ["ant=-1,bee=1,cat=1", {"ant": "x"}, 3, "none.csv", "t.csv", Path("t.csv"), "short.csv", "twice.csv"]
    given += ["semicolons.csv", "odd.csv", "ant=50,bee=20,cat=10,dog:ant=1,dog:bee=2", "a:b=1"]
    with sources.folder():
        table = "true,ant,bee,cat\nant,0,1,2\n\nbee,3,0.5,4\ncat,5,6,0\n"
        files = {"t.csv": table, "short.csv": "a,b\n1,2\n", "semicolons.csv": table.replace(",", ";")}
        files |= {"twice.csv": table.replace("bee,3", "ant,3"), "odd.csv": table.replace("4\n", "4,9\n")}
        for name, text in files.items():
            Path(name).write_text(text, encoding="utf-8-sig")
        yield from [read(columns, cost_matrix=each) for each in given]
        yield from [read({"y": Y, "probs": P}, cost_matrix=each) for each in ("0=5,1=2,2=1", "0=5", "0=5,1=2,2=1,3=1")]
        yield read({"y": Y, "pred": PRED, "loss": WRONG}, cost_matrix="0=5,1=2,2=1")
        yield read({"y": Y, "pred": PRED, "loss": WRONG}, cost_matrix="0=5,1=2,2=1", loss="loss")
        yield read({"y": Y, "probs": P, "passes": np.stack([P, P])}, cost_matrix="0=5,1=2,2=1")
        yield read({"y": Y, "probs": P, "score_x": CONF, "prediction_x": PRED}, cost_matrix="0=5,1=2,2=1")
        yield read({"conf": CONF}, cost_matrix="0=5", unlabelled=True)
        yield read({"correct": WRONG}, cost_matrix="0=5")
        colons = np.array(["a", "a:b", "b"])
        given = ("a=1,b=2,a:b=3,a:b:b=4,a:a:b=5", "a=1,a:b=2,b:a=3,b=1", "a:b:a:b=1")
        yield from [read({"y": colons[Y], "pred": colons[PRED]}, cost_matrix=each) for each in given]


def tasks():
    """Return the readings of measured numbers and of several labels in a row."""
    measured = {"y": 10 * CONF, "pred": 10 * P1, "std": 1 - CONF, "conf": CONF}
    several = {f"y_{name}": (LOGITS[:, k] > 0).astype(int) for k, name in enumerate(NAMES)}
    chances = {f"p_{name}": P[:, 2 - k] * 0.9 + 0.05 for k, name in enumerate(NAMES[::-1])}
    other, truth = {f"q{k}": P[:, k] for k in range(3)}, np.stack(list(several.values()), axis=1)
    yield from [read(measured, task=task) for task in ("regression", "regression-absolute", "other", "multilabel")]
    for task in ("multilabel", "multilabel-exact"):
        yield read(several | chances, labels="y_*", predictions="p_*", task=task)
        yield read(several | chances, labels="y_*", probabilities="p_*", task=task)
        yield read(several | chances | {"conf": CONF}, labels="y_*", predictions="p_*", confidence="conf", task=task)
        yield read(several | other, labels="y_*", predictions="q*", task=task)
        yield read({"y": truth, "pred": np.roll(truth, 1, axis=0)}, task=task)
        yield from [read({"y": truth, "probabilities": P}, task=task), read({"y": truth, "pred": 2 * P}, task=task)]
        yield from [read({"y": truth + 0.5, "pred": P}, task=task), read({"y": truth, "pred": P[:, :2]}, task=task)]
        yield from [read({"y": truth, "pred": P, "is_ood": TWO}, task=task), read({"y": truth}, task=task)]
        yield read(several | {"pred": PRED}, labels="y_*", task=task)
    yield from [read(several | chances, labels="y_*", predictions="p_*"), read(several | chances)]
    yield read(measured, task="regression", cost_matrix="1=2")
    yield read(measured | {"loss": CONF}, task="regression")
