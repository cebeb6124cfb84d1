"""Files in the layouts of FD-Shifts and OpenOOD, made of drawn numbers as their code saves them."""

import pickle

import numpy as np

N, K, RUNS = 60, 4, 6


def softmax(values, axis=1):
    """Return probabilities."""
    shifted = np.exp(values - values.max(axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)


def fd_shifts(folder, *, sets=1, seed=0):
    """Write a folder ``test_results`` of FD-Shifts; return its parts."""
    rng = np.random.default_rng(seed)
    n = N * sets
    logits = rng.normal(size=(n, K)) * 2
    labels = np.array([rng.choice(K, p=row) for row in softmax(logits)])
    dataset = np.repeat(np.arange(sets), N)
    made = {
        "logits": logits,
        "labels": labels,
        "dataset": dataset,
        "dist": logits[:, :, None] + rng.normal(size=(n, K, RUNS)),
    }
    made |= {"external": rng.random((n, RUNS)), "features": rng.normal(size=(n, 5))}
    made |= {"weight": rng.normal(size=(K, 5)), "bias": rng.normal(size=K)}
    np.savez_compressed(folder / "raw_logits.npz", np.column_stack([logits, labels, dataset]))
    np.savez_compressed(folder / "raw_logits_dist.npz", made["dist"])
    np.savez_compressed(folder / "external_confids.npz", made["external"][:, 0])
    np.savez_compressed(folder / "external_confids_dist.npz", made["external"])
    np.savez_compressed(folder / "encoded_output.npz", np.column_stack([made["features"], dataset]))
    np.savez_compressed(folder / "last_layer.npz", w=made["weight"], b=made["bias"])
    return made


def openood(folder, *, seed=0):
    """Write ``scores/<data set>.npz`` as OpenOOD's evaluator does, and the pickle of its newer one."""
    rng = np.random.default_rng(seed)
    pred = rng.integers(0, K, N)
    gt = np.where(rng.random(N) < 0.8, pred, rng.integers(0, K, N))
    inside = [pred, rng.random(N) + (pred == gt), gt]
    outside = [rng.integers(0, K, N), rng.random(N), rng.integers(0, 10, N)]
    for name, (pred, conf, gt) in {"cifar10": inside, "svhn": [*outside[:2], np.full(N, -1)]}.items():
        np.savez(folder / name, pred=pred, conf=conf, label=gt)
    scores = {
        "id": {"train": None, "val": None, "test": inside}, "csid": {},
        "ood": {"val": None, "near": {"cifar100": outside, "tin": None}, "far": {"svhn": outside}},
        "id_preds": None, "id_labels": None, "csid_preds": {}, "csid_labels": {},
    }  # fmt: skip
    (folder / "msp.pkl").write_bytes(pickle.dumps(scores))
    return {"inside": inside, "outside": outside}
