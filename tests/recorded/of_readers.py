"""Files of other tools, and what other tools are given: stand-ins of MLflow and Weights & Biases."""

import json
import math
import shutil
import sys
import zipfile
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import polars as pl

import abstain
from abstain.integrations import inspect, lm_eval, mlflow, prometheus, tensorboard, wandb
from tests.readers.layouts import fd_shifts, openood
from tests.recorded import plain, tried
from tests.recorded.populations import rows
from tests.recorded.sources import folder, read, refused

_CHOICES = [{}, {"unscored": "drop"}, {"where": {"filter": "strict"}, "abstained": "invalid"}]
FIXTURES = Path(__file__).parents[1] / "readers/fixtures"


def _read(path, **options):
    Path(path.name).write_bytes(path.read_bytes())
    return read(path.name, **options)


def files_of_language_models():
    """Return the readings of files that lm-eval and Inspect wrote."""
    with folder():
        for path, options in product(sorted(FIXTURES.iterdir()), _CHOICES):
            yield f"{path.name} {options}", _read(path, **options)


def _sample(k, scores, **more):
    about = {"topic": "ab"[k % 2], "deep": {"a": k}}
    return {"id": k % 8, "epoch": 1 + k // 8, "scores": scores, "metadata": about, **more}


def logs_of_inspect():
    """Return the readings of logs: scorers of every kind, confidence beside them, epochs, log-probabilities, errors."""
    letters = "CIPNCC"
    tokens = [{"choices": [{"logprobs": {"content": [{"logprob": -0.1 * k}, {"logprob": -0.4}]}}]} for k in range(12)]
    scorers = {"letters": lambda k: {"judge": letters[k % 6]}, "numbers": lambda k: {"match": k % 3 % 2}}
    scorers |= {"graded": lambda k: {"f1": k / 12}, "two": lambda k: {"judge": "CI"[k % 2], "match": "IC"[k % 2]}}
    scorers |= {"beside": lambda k: {"judge": "CI"[k % 2], "confidence": k / 20, "length": 3 * k}}
    scorers |= {"inside": lambda k: {"judge": "CI"[k % 2]}, "none": lambda k: {} if k % 4 else {"judge": "C"}}
    scorers |= {"nothing": lambda k: {}}
    scorers |= {"two sure": lambda k: {"judge": "CI"[k % 2], "my_certainty": k, "probability": -k}}
    with folder():
        for (name, scorer), n in product(scorers.items(), (8, 12)):
            given = [{key: {"value": value} for key, value in scorer(k).items()} for k in range(n)]
            if name == "inside":
                for k, each in enumerate(given):
                    each["judge"]["metadata"] = {"confidence": f"{5 * k} %" if k != 3 else None}
            samples = [_sample(k, given[k], output=tokens[k] if n == 12 else None) for k in range(n)]
            log = {"status": "success" if n == 8 else "error", "eval": {"eval_id": "e", "task": "t"}}
            log |= {"samples": samples}
            Path("a.json").write_text(json.dumps(log))
            with zipfile.ZipFile("a.eval", "w") as archive:
                archive.writestr("header.json", json.dumps({key: log[key] for key in ("status", "eval")}))
                for k, sample in enumerate(samples):
                    archive.writestr(f"samples/{k}.json", json.dumps(sample))
            yield f"{name} {n}", [read("a.json"), plain(read("a.eval")) == plain(read("a.json"))]
            yield f"{name} {n} 2", [read("a.json", unscored="drop")]
        Path("bad.json").write_text('{"status": 1, "eval": 3, "task": 2}')
        with zipfile.ZipFile("bad.eval", "w") as archive:
            archive.writestr("samples/1.json", "{}")
        frame = {"sample_id": ["a", "b"] * 3, "id": [1, 2, 3] * 2, "epoch": [1] * 3 + [2] * 3, "eval_id": ["e"] * 6}
        frame |= {"score_judge": ["C", "I", "N"] * 2, "metadata_level": [1, 2, None] * 2, "error": [None] * 6}
        frame |= {"score_judge_metadata": ['{"confidence": 0.5}', "", '{"confidence": 0.7}'] * 2}
        frame |= {"score_judge_answer": ["x"] * 6}
        pl.DataFrame(frame).write_csv("frame.csv")
        pl.DataFrame(frame | {"eval_id": list("eeefff")}).write_parquet("frame.parquet")
        more = {"eval f": {"where": {"eval": "f"}}, "all": {}}
        yield "bad", [read("bad.json"), read("bad.eval")]
        yield "frames", [read("frame.csv"), [read("frame.parquet", **each) for each in more.values()]]


def lines_of_lm_eval():
    """Return the readings of lines with choices, with text, with filters and without a verdict."""
    base = [{"doc_id": k, "target": k % 3, "doc": {}, "acc": float(k % 3 > 0), "acc_norm": k % 2} for k in range(9)]
    likely = [[[-1.0 - k % 4, False], [-2.0, True], [-0.5 * k, False]] for k in range(9)]
    choices = [each | {"filtered_resps": likely[k]} for k, each in enumerate(base)]
    words = [{"filtered_resps": ["[invalid]" if k % 4 == 1 else "7"], "filter": "ab"[k % 2]} for k in range(9)]
    said = [each | words[k] for k, each in enumerate(base)]
    plain = [{"doc_id": k, "target": 1, "filtered_resps": [f"{k}"], "bleu": k / 10} for k in range(9)]
    sets = {"choices": choices, "said": said, "plain": plain}
    sets |= {"few": [{**each, "filtered_resps": [["x"], ["y"]]} for each in base]}
    sets["pairs"] = [each | {"filtered_resps": each["filtered_resps"][:2]} for each in choices]
    sets["one"] = [each | {"filtered_resps": each["filtered_resps"][:1]} for each in choices]
    sets["filter"] = [{**each, "filter": "a"} for each in said]
    with folder():
        for name, lines in sets.items():
            Path("a.jsonl").write_text("\n".join(map(json.dumps, lines)))
            several = ({}, {"where": {"filter": "b"}}, {"abstained": "invalid"}, {"confidence": "bleu"})
            yield name, [read("a.jsonl", **each) for each in several]


def folders_of_benchmarks():
    """Return the readings of what FD-Shifts and OpenOOD write, whole and in parts."""
    for sets in (1, 2):
        with folder():
            fd_shifts(Path(), sets=sets)
            raw = np.load("raw_logits.npz")["arr_0"]
            found = [read("raw_logits.npz", **each) for each in ({}, {"where": {"dataset": 1}}, {"scores": "ext_mcd"})]
            yield f"fd-shifts {sets}", found
            yield f"others {sets}", [read(name) for name in ("external_confids.npz", "raw_logits_dist.npz")]
            for name in ("encoded_output", "raw_logits_dist", "external_confids", "external_confids_dist"):
                values = np.load(f"{name}.npz")["arr_0"]
                np.savez(f"{name}.npz", values[..., None])
                yield f"{name} deeper {sets}", read("raw_logits.npz", where={"dataset": 0})
                np.savez(f"{name}.npz", values[:-1])
                yield f"{name} short {sets}", read("raw_logits.npz")
                Path(f"{name}.npz").unlink()
            yield f"alone {sets}", read("raw_logits.npz", where={"dataset": 0})
            p = np.exp(raw[:, :-2]) / np.exp(raw[:, :-2]).sum(axis=1, keepdims=True)
            np.savez("raw_output.npz", np.column_stack([p, raw[:, -2:]]))
            np.savez("raw_output_dist.npz", np.repeat(p[:, :, None], 2, axis=2))
            yield f"output {sets}", read("raw_output.npz", where={"dataset": 0})
            np.savez("raw_logits.npz", raw[:, -3:])
            yield f"narrow {sets}", read("raw_logits.npz")
    with folder():
        openood(Path())
        cases = product(("cifar10.npz", "svhn.npz", "msp.pkl"), ({}, {"part": "ood", "unlabelled": True}))
        yield "openood", [read(name, **each) for name, each in cases]


class _Writer:
    """What a run of a tracking tool keeps."""

    def __init__(self):
        self.kept = {}

    def add_scalar(self, key, value, step):
        self.kept[key] = [value, step]

    def add_text(self, key, text, step):
        self.kept[key] = [len(text) > 100, step]


def what_other_tools_are_given():
    """Return metrics of answers, logged numbers of results, and the text of a monitor."""
    given = [("C", 0.9), ("I", "70 %"[:2]), ("P", 0.8), ("N", 0.99), (0.25, 0.6), ("C", None), ("I", 0.3), ("C", 0.2)]
    known = [{"value": value, "metadata": {"confidence": sure}} for value, sure in given]
    parts = [known, [], [{"value": "C", "metadata": None}]]
    parts = [[SimpleNamespace(score=SimpleNamespace(**each)) for each in part] for part in parts]
    scores = parts[0]
    for each in (inspect.aurc, inspect.augrc, inspect.coverage_at_risk, inspect.answered):
        yield each.__name__, [refused(each(), some) for some in parts]
    yield "at 0.3", inspect.coverage_at_risk(0.3)(scores)
    items = [lm_eval.answered(*each) for each in ((0, 0.9), (1, 0.8), (0, 0.7), (0.5, 0.6), (1, math.nan), (None,))]
    for name in ("aurc", "augrc", "coverage_at_risk"):
        yield f"lm-eval {name}", [getattr(lm_eval, name)([each[name] for each in items]), items[0], items[-1]]
    yield "chosen", [lm_eval.chosen([(-1.0, False), (-2.0, True), (-0.5, False)], gold) for gold in (0, 2)]
    p = rows(31, 200)
    one = p["loss"], p["confidence"]
    options = {"threshold": {"risk": 0.2, "delta": 0.1}, "none": {"risk": 0.001, "delta": 0.1}}
    options |= {"coverage": {"coverage": 0.5}}
    results = {name: abstain.choose_threshold(*one, **each) for name, each in options.items()}
    results |= {"evaluation": abstain.evaluate(loss=one[0], confidence=one[1], metrics=["augrc", "risk"])}
    for name, result in results.items():
        writer = _Writer()
        tensorboard.log_result(writer, result, name=name, step=3)
        yield name, writer.kept
    policy, q = results["threshold"].policy(score="conf"), rows(32, 150)
    for name, more in {"all": {}, "accepted": {"accepted_only": True}}.items():
        kept = q["confidence"] >= results["threshold"].threshold if more else np.ones(150, dtype=bool)
        seen = abstain.monitor(policy, q["loss"][kept], q["confidence"][kept], **more)
        lines = prometheus.metrics_text(seen, 'a "b"\n\\').splitlines()
        yield f"monitor {name}", [line.split() for line in lines if line[0] != "#" and "timestamp" not in line]


class _Store:
    """Keeps what is logged, as MLflow does: files in folders of a run, and everything else as it comes."""

    def __init__(self):
        self.kept = []
        self.artifacts = self
        self.MetricValue, self.make_metric = SimpleNamespace, SimpleNamespace

    def log_metrics(self, found):
        self.kept.append(["metrics", found])

    def set_tags(self, found):
        self.kept.append(["tags", found])

    def log_table(self, frame, artifact_file):
        self.kept.append(["table", list(frame.columns), len(frame), artifact_file])

    def log_artifacts(self, files, artifact_path):
        shutil.copytree(files, Path("store") / artifact_path, dirs_exist_ok=True)
        names = sorted((each.name, each.stat().st_size > 9) for each in Path(files).iterdir())
        self.kept.append(["files", artifact_path, names])

    def list_artifacts(self, run_id, artifact_path=""):
        found = sorted((Path("store") / artifact_path).iterdir())
        return [SimpleNamespace(path=each.relative_to("store").as_posix(), is_dir=each.is_dir()) for each in found]

    def download_artifacts(self, run_id, artifact_path):
        return str(Path("store") / artifact_path)


def _results():
    p = rows(31, 300)
    given = {"loss": p["loss"], "confidence": p["confidence"]}
    found = {risk: abstain.choose_threshold(**given, risk=risk, delta=0.1) for risk in (0.3, 1e-6)}
    evaluated = abstain.evaluate(**given, metrics=["augrc", "coverage_at_risk(risk=0.1)", "f1_auc"])
    return evaluated, found[0.3], found[1e-6], p


def logged_to_mlflow():
    """Return what is logged, and the policies that runs have: one, two, of another model, or none."""
    evaluated, found, nothing, p = _results()
    store = _Store()
    with folder(), patch.dict(sys.modules, {"mlflow": store, "mlflow.metrics": store, "mlflow.models": store}):
        Path("store").mkdir()
        seen = [tried(mlflow.load_policy, "r0")]
        mlflow.log_result(evaluated, title="page")
        seen += [tried(mlflow.load_policy, "r1")]
        mlflow.log_result(found, policy=found.policy(score="s", model="m1"), name="first")
        seen += [tried(mlflow.load_policy, "r2", **each) for each in ({}, {"name": "abstain"}, {"name": "first"})]
        seen += [tried(mlflow.load_policy, "r2", model=each) for each in ("m1", "m2")]
        mlflow.log_result(nothing, policy=found.policy(score="t"), name="second")
        seen += [tried(mlflow.load_policy, "r3", **each) for each in ({}, {"name": "second"})]
        measured = []
        for metric, level in (("aurc", 0.95), ("coverage_at_risk(risk=0.1)", None), ("auroc_f", 0.8)):
            made = mlflow.metric(metric, level=level)
            wrong, score = (p["loss"] > 0).astype(int), np.where(p["loss"] < 0, np.nan, p["confidence"])
            score[3] = np.nan
            zeros = np.zeros(len(wrong), dtype=int)
            measured += [made.name, made.greater_is_better]
            measured += [made.eval_fn(zeros[:n], wrong[:n], None, score).aggregate_results for n in (1, len(wrong))]
        return [store.kept, [each if isinstance(each, str) else each.thresholds for each in seen], measured]


def logged_to_wandb():
    """Return what a run of Weights & Biases is given."""
    evaluated, found, _, _ = _results()
    kept, summary = [], {}

    def artifact(name, **options):
        files = []
        add = lambda path: files.extend(sorted(each.name for each in Path(path).iterdir()))  # noqa: E731
        return SimpleNamespace(name=name, options=options, files=files, add_dir=add)

    module = SimpleNamespace(Table=lambda dataframe: list(dataframe.columns), Artifact=artifact)
    run = SimpleNamespace(id="r7", summary=summary, log=lambda numbers, step: kept.append([numbers, step]))
    run.log_artifact = lambda made: kept.append([made.name, made.options, made.files])
    with patch.dict(sys.modules, {"wandb": module}):
        wandb.log_result(run, evaluated, step=3)
        wandb.log_result(run, found, policy=found.policy(score="s"), name="chosen", title="page")
    return [kept, summary]
