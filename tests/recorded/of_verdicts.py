"""What is right and wrong: verdicts, qualities, abstentions, costs, other tasks, confidence in words."""

from pathlib import Path

import numpy as np

from tests.recorded.sources import CONF, LOGITS, NAMES, P1, PRED, SITE, TWO, WEIGHT, WHO, WRONG, N, P, Y, folder, read

WORDS, SAID = NAMES[Y], NAMES[PRED]
CYCLE = np.arange(N)


def _verdicts(*words):
    return np.array(words, dtype=object)[(CYCLE * 7 + Y) % len(words)]


def verdicts_and_abstentions():
    """Return the readings of verdicts in many words, of missing ones, and of answers that are none."""
    sure = {"conf": CONF}
    holes = sure | {"conf": np.where(CYCLE % 5 == 2, np.nan, CONF), "score_x": np.where(CYCLE % 4 == 2, np.nan, CONF)}
    columns = {
        "words": _verdicts("correct", "wrong", "Partly correct", "abstained", "unparseable", "Yes", "FAILED."),
        "letters": _verdicts("C", "I", "P", "N"),
        "two letters": _verdicts("C", "I"),
        "letters and no": _verdicts("C", "I", "no"),
        "truths": _verdicts(True, False, True),
        "numbers": _verdicts(1, 0, 0),
        "missing": _verdicts(1.0, 0.0, None, 1.0),
        "blank": _verdicts("right", "wrong", "", "refused", None),
        "graded": _verdicts(1.0, 0.5, 0.0),
        "none right": _verdicts("wrong", "no answer"),
        "nothing": _verdicts("refused", "idk"),
        "unknown": _verdicts("right", "perhaps"),
        "text numbers": _verdicts("1", "0", "1.0", "0.0"),
        "errors": _verdicts("right", "wrong", "error", "not graded"),
    }
    more = {"sample_weight": WEIGHT, "clusters": WHO, "group_site": SITE, "y": WORDS, "pred": SAID}
    yield from (
        {
            name: [read({**holes, "verdict": column, **more}, unscored=kind) for kind in (None, "wrong", "drop")]
            for name, column in columns.items()
        }
    ).items()
    yield (
        "declined",
        [
            read({**sure, "verdict": columns["numbers"], "refused": each, "unanswerable": should})
            for each in (
                _verdicts("yes", "no", "no"),
                _verdicts(1, 0),
                _verdicts("I don't know.", "Paris", "no answer"),
            )
            for should in (_verdicts(0, 0, 1), _verdicts("t", "f", "n", None))
        ],
    )
    yield (
        "qualities",
        [
            read({**holes, "quality": each, **more}, unscored=kind)
            for kind in (None, "wrong", "drop")
            for each in (CONF, _verdicts(0.25, 1.0, None), _verdicts(0.0, 1.0), 2 * CONF, CONF - 0.5)
        ],
    )
    yield (
        "losses",
        [
            read({**holes, "loss": each, "refused": gone}, unscored=kind)
            for kind in (None, "wrong", "drop")
            for each in (_verdicts(0.0, 2.0, None), WRONG, _verdicts(0, -1))
            for gone in (None, TWO)
        ],
    )
    texts = np.where(CYCLE % 6 == 1, "I do not know", SAID)
    yield (
        "answers",
        [
            read({"y": WORDS, "pred": texts, "conf": CONF}),
            read({"y": WORDS, "pred": SAID, "conf": CONF, "refused": TWO}),
            read({"y": WORDS, "pred": SAID, "conf": CONF, "should_abstain": TWO, "refused": TWO == 0}),
            read({"y": np.where(CYCLE % 6 == 2, "idk", WORDS), "pred": np.where(CYCLE % 6 < 2, "idk", SAID)}),
            read({"y": WORDS, "pred": np.full(N, "refused")}),
            read({"y": Y, "pred": PRED, "conf": CONF, "refused": _verdicts(1, 0, 2)}),
            read({"correct": columns["numbers"], "conf": CONF, "answer": texts}),
            read({"correct": columns["numbers"], "conf": CONF, "answer": texts}, abstained="answer"),
            read({"correct": columns["numbers"], "conf": CONF, "response": SAID}),
            read({"correct": columns["numbers"], "quality": CONF, "conf": CONF}),
            read({"y": Y, "probs": P, "refused": TWO, "passes": np.stack([P, P[::-1]]), "features": LOGITS}),
            read({"correct": columns["numbers"], "refused": np.ones(N)}),
        ],
    )


def confidence_in_words():
    """Return the readings of confidence in words, per cent, shares and numbers as text."""
    kinds = {
        "low to high": _verdicts("low", "High", " very  high", "medium", None),
        "moderate": _verdicts("low", "moderate"),
        "one word": _verdicts("low", "low"),
        "estimative": _verdicts("likely", "almost certain", "probably", "unlikely", ""),
        "felt": _verdicts("fairly confident", "confident", "not confident"),
        "per cent": _verdicts("90 %", "55%", "100 percent", "0%", None),
        "shares": _verdicts("9/10", "5 out of 10", "3 / 4", "1/0"),
        "per cent and shares": _verdicts("9/10", "50%"),
        "numbers": _verdicts("0.9", ".5", "1e-2", "NA"),
        "numbers above 1": _verdicts("7", "9.5", "-1"),
        "per cent above": _verdicts("90 %", "110 %"),
        "commas": _verdicts("0,9", "0,5"),
        "per cent and words": _verdicts("90 %", "high"),
        "two scales": _verdicts("low", "likely"),
        "own": _verdicts("so so", "sure", "meh"),
    }
    told = [None, ["%"], ["meh|so so", "sure"], ["low", "medium|moderate", "high", "very high"]]
    return {
        name: [read({"correct": 1 - WRONG, "conf": column}, confidence_levels=levels) for levels in told]
        for name, column in kinds.items()
    }


def costs():
    """Return the readings of costs as text, as dicts and as tables."""
    columns = {"y": WORDS, "pred": SAID, "conf": CONF}
    given = [
        "ant=5,bee=2,cat=1",
        "ant=5,bee=2",
        "ant=5,bee=2,cat=1,ant:cat=7,cat:cat=0.5",
        ["ant=5", "bee=2", "cat=1", ""],
        {"ant": 5, "bee": {"ant": 2, "cat": 3}, "cat": 0},
        "ant=5,bee=2,cat=1,dog=9",
        "ant=5,ant=6,bee=1,cat=1",
        "",
        "ant:bee=1,ant:bee=2",
        "ant",
        "=3",
        "ant=-1,bee=1,cat=1",
        {"ant": "x"},
        3,
        "none.csv",
        "t.csv",
        Path("t.csv"),
        "short.csv",
        "twice.csv",
        "semicolons.csv",
        "odd.csv",
        "ant=50,bee=20,cat=10,dog:ant=1,dog:bee=2",
        "a:b=1",
    ]
    with folder():
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
        yield from [
            read({"conf": CONF}, cost_matrix="0=5", unlabelled=True),
            read({"correct": WRONG}, cost_matrix="0=5"),
        ]
        colons = np.array(["a", "a:b", "b"])
        yield from [
            read({"y": colons[Y], "pred": colons[PRED]}, cost_matrix=each)
            for each in ("a=1,b=2,a:b=3,a:b:b=4,a:a:b=5", "a=1,a:b=2,b:a=3,b=1", "a:b:a:b=1")
        ]


def tasks():
    """Return the readings of measured numbers and of several labels in a row."""
    measured = {"y": 10 * CONF, "pred": 10 * P1, "std": 1 - CONF, "conf": CONF}
    several = {f"y_{name}": (LOGITS[:, k] > 0).astype(int) for k, name in enumerate(NAMES)}
    chances = {f"p_{name}": P[:, 2 - k] * 0.9 + 0.05 for k, name in enumerate(NAMES[::-1])}
    other = {f"q{k}": P[:, k] for k in range(3)}
    truth = np.stack(list(several.values()), axis=1)
    yield from [read(measured, task=task) for task in ("regression", "regression-absolute", "other", "multilabel")]
    for task in ("multilabel", "multilabel-exact"):
        yield from [
            read(several | chances, labels="y_*", predictions="p_*", task=task),
            read(several | chances, labels="y_*", probabilities="p_*", task=task),
            read(several | chances | {"conf": CONF}, labels="y_*", predictions="p_*", confidence="conf", task=task),
            read(several | other, labels="y_*", predictions="q*", task=task),
            read({"y": truth, "pred": np.roll(truth, 1, axis=0)}, task=task),
            read({"y": truth, "probabilities": P}, task=task),
            read({"y": truth, "pred": 2 * P}, task=task),
            read({"y": truth + 0.5, "pred": P}, task=task),
            read({"y": truth, "pred": P[:, :2]}, task=task),
            read({"y": truth, "pred": P, "is_ood": TWO}, task=task),
            read({"y": truth}, task=task),
            read(several | {"pred": PRED}, labels="y_*", task=task),
        ]
    yield from [read(several | chances, labels="y_*", predictions="p_*"), read(several | chances)]
    yield from [
        read(measured, task="regression", cost_matrix="1=2"),
        read(measured | {"loss": CONF}, task="regression"),
    ]
