"""What Outputs makes of columns that are right, doubtful and wrong."""

import numpy as np

from tests.recorded.sources import CONF, LOGITS, NAMES, P1, PRED, SITE, TWO, WEIGHT, WHO, WRONG, N, P, Y, made

WORDS, SAID = NAMES[Y], NAMES[PRED]
CYCLE = np.arange(N)


def columns_of_outputs():
    """Return what Outputs makes of columns that are right, doubtful and wrong."""
    base = {"labels": Y, "predictions": PRED}
    many = np.tile(CYCLE, 3)
    low = P.argmin(axis=1)
    return [
        made(**base, confidence=CONF, scores={"a": CONF, "b": -CONF}, groups={"s": SITE, "w": WHO / 2}, ids=CYCLE),
        made(**base, confidence=1 - CONF),
        made(loss=WRONG, confidence=1 - CONF),
        made(loss=1 - WRONG, confidence=CONF),
        made(loss=1 - WRONG, confidence=np.ones(N)),
        made(loss=WRONG[many % N], confidence=1 - CONF[many % N]),
        made(loss=1 - CONF, confidence=CONF),
        made(loss=CONF, confidence=CONF),
        made(loss=WRONG[:49], confidence=1 - CONF[:49]),
        made(loss=np.tile(WRONG, 400), confidence=np.tile(1 - CONF, 400)),
        made(labels=Y, logits=LOGITS),
        made(labels=Y, logits=P),
        made(labels=Y, logits=np.eye(3)[PRED]),
        made(labels=Y, logits=LOGITS, probabilities=P),
        made(labels=Y, logits=LOGITS, probabilities=P[::-1]),
        made(labels=Y, logits=LOGITS, probabilities=0.991 * P + 0.003),
        made(labels=Y, logits=LOGITS, probabilities=0.98 * P + 0.02 / 3),
        made(labels=Y, probabilities=P + 5e-4 / 3),
        made(labels=Y, probabilities=P + 1e-3),
        made(labels=Y, probabilities=P - 1e-3),
        made(labels=Y, probabilities=1.2 * P - 0.2 / 3),
        made(labels=low, probabilities=P),
        made(labels=low, logits=LOGITS),
        made(labels=Y, logits=np.hstack([P, P])),
        made(labels=Y, logits=np.hstack([P, 1 - P])),
        made(labels=Y, logits=np.hstack([P, 0 * P])),
        made(labels=Y, logits=np.hstack([P, np.eye(3)[PRED]])),
        made(labels=Y, logits=np.hstack([np.eye(3)[Y], np.eye(3)[PRED]])),
        made(labels=Y, logits=np.hstack([LOGITS, LOGITS[:, :1] + 2])),
        made(labels=TWO, probabilities=np.column_stack([1 - P1, P1])),
        made(labels=TWO, predictions=(P1 > 0.5) * 1, confidence=P1),
        made(labels=TWO, predictions=(P1 > 0.5) * 1, confidence=1 - P1),
        made(labels=TWO, predictions=(P1 > 0.5) * 1, confidence=2 * P1),
        made(labels=TWO, predictions=(P1 > 0.98) * 1, confidence=P1),
        made(labels=2 * TWO - 1, predictions=2 * (P1 > 0.5) - 1, confidence=P1, class_names=["no", "yes"]),
        made(labels=WORDS, predictions=SAID),
        made(labels=WORDS, predictions=PRED),
        made(labels=WORDS, probabilities=P),
        made(labels=WORDS, probabilities=P, class_names=NAMES),
        made(labels=WORDS, probabilities=P, class_names=NAMES[:2]),
        made(labels=WORDS, probabilities=P, class_names=["ant", "bee", "dog"]),
        made(**base, class_names=["a", "a", "b"]),
        made(**base, class_names="abc"),
        made(labels=Y == 1, predictions=PRED == 1, class_names=["true", "false"]),
        made(**base, sample_weight=WEIGHT, clusters=WHO),
        made(**base, sample_weight=0 * WEIGHT),
        made(**base, sample_weight=-WEIGHT),
        made(labels=Y),
        made(predictions=PRED),
        made(confidence=CONF, unlabelled=True),
        made(),
        made(labels=Y, predictions=PRED[1:]),
        made(labels=Y - 1, predictions=PRED),
        made(labels=Y, predictions=PRED + 0.5),
        made(labels=Y, probabilities=P, predictions=PRED + 1),
        made(loss=np.full(N, np.inf), confidence=CONF),
        made(loss=-WRONG, confidence=CONF),
        made(**base, scores=[CONF]),
        made(labels=Y, passes=np.stack([P, P[::-1]])),
        made(labels=Y, passes=np.stack([P, P[::-1]]), logits=LOGITS[:, :2]),
        made(labels=Y, logits=LOGITS, features=P, head=(np.eye(3), np.zeros(3))),
        made(labels=Y, logits=LOGITS, head=(np.eye(3), np.zeros(2))),
        made(labels=Y, logits=LOGITS, features=P, head=(np.ones((3, 2)), np.zeros(3))),
        made(labels=Y, logits=LOGITS, head=3),
        made(labels=Y, logits=LOGITS, features=P[:, 0]),
        made(labels=Y, logits=LOGITS, features=P * np.nan),
        made(**base, groups={"g": ["a", None] * 30}),
    ]
