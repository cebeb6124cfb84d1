"""Write the fixtures of the readers with the tools themselves, offline: lm-eval's ``dummy``, Inspect's ``mockllm``.

Run once, in an environment of its own; the results are in ``fixtures/``, beside the versions that wrote them::

    python3 -m venv tools && tools/bin/pip install lm-eval inspect-ai pandas polars
    tools/bin/python tests/readers/make_fixtures.py
"""

import json
import random
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "fixtures"
N = 40


def questions():
    """Return sums with four choices each, the right one at a drawn place; the last ones have three choices."""
    rng = random.Random(0)
    rows = []
    for k in range(N):
        a, b = rng.randint(2, 30), rng.randint(2, 30)
        choices = [str(a + b + shift) for shift in (0, 1, -1, 10)]
        rng.shuffle(choices)
        rows.append({"id": f"q{k}", "question": f"{a} + {b}", "choices": choices, "answer": choices.index(str(a + b))})
    return rows


# ---------------------------------------------------------------------- lm-eval

_CHOICE = {"output_type": "multiple_choice", "doc_to_choice": "{{choices}}", "doc_to_target": "answer"}
_TEXT = {
    "output_type": "generate_until",
    "doc_to_target": "{{choices[answer]}}",
    "generation_kwargs": {"until": ["\n"]},
    "filter_list": [
        {"name": "strict", "filter": [{"function": "regex", "regex_pattern": r"^(\d+)$"}, {"function": "take_first"}]},
        {"name": "loose", "filter": [{"function": "regex", "regex_pattern": r"(\d+)"}, {"function": "take_first"}]},
    ],
}


def lm_eval():
    """Run two local tasks on the dummy model and keep the logged samples."""
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.models.dummy import DummyLM
    from lm_eval.tasks import TaskManager

    from datasets import disable_progress_bars

    disable_progress_bars()
    random.seed(0)
    rows = questions()
    three = [row | {"choices": row["choices"][:3], "answer": min(row["answer"], 2)} for row in rows[-5:]]
    with tempfile.TemporaryDirectory() as folder:
        for name, data, kind in (
            ("sums", rows, _CHOICE), ("sums_uneven", rows[:-5] + three, _CHOICE), ("sums_text", rows, _TEXT),
        ):  # fmt: skip
            source = Path(folder) / f"{name}.jsonl"
            source.write_text("".join(json.dumps(row) + "\n" for row in data))
            metrics = ["exact_match"] if kind is _TEXT else ["acc", "acc_norm"]
            task = {
                "task": name, "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(source)}},
                "test_split": "test", "doc_to_text": "{{question}} =", "metadata": {"version": 1},
                "metric_list": [{"metric": each, "aggregation": "mean", "higher_is_better": True} for each in metrics],
                **kind,
            }  # fmt: skip
            tracker = EvaluationTracker(output_path=folder)
            model = _Sayings(rows) if kind is _TEXT else DummyLM()
            found = simple_evaluate(
                model=model, tasks=[task], task_manager=TaskManager(), log_samples=True, bootstrap_iters=0,
                random_seed=None, numpy_random_seed=None, torch_random_seed=None, evaluation_tracker=tracker,
            )  # fmt: skip
            tracker.save_results_aggregated(results=found, samples=found["samples"])
            tracker.save_results_samples(task_name=name, samples=found["samples"][name])
        for each in sorted(Path(folder).rglob("samples_*.jsonl")):
            task_name = each.name.removeprefix("samples_").rsplit("_", 1)[0]
            (HERE / f"samples_{task_name}_2026-11-22T03-00-00.000000.jsonl").write_bytes(each.read_bytes())


def _Sayings(rows):  # noqa: N802  (a class made late)
    """Return the dummy model, saying sums instead of "lol": right, wrong, in words around, or nothing."""
    from lm_eval.models.dummy import DummyLM

    rng = random.Random(1)

    class Sayings(DummyLM):
        def generate_until(self, requests, disable_tqdm=False):
            said = []
            for each in requests:
                right = int(rows[each.doc_id]["choices"][rows[each.doc_id]["answer"]])
                said.append(rng.choice([f"{right}", f"{right}", f"{right + 1}", f"It is {right}.", "I do not know"]))
            return said

    return Sayings()


# ---------------------------------------------------------------------- Inspect


def inspect():
    """Run a local task on the mock model; keep the log as JSON and .eval, and the frame of its samples."""
    import tiktoken
    from inspect_ai import Task, eval
    from inspect_ai.analysis import SampleScores, SampleSummary, samples_df
    from inspect_ai.dataset import Sample
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, Logprob, Logprobs, ModelOutput, get_model
    from inspect_ai.scorer import Score, accuracy, mean, scorer
    from inspect_ai.solver import generate, solver

    # Inspect counts tokens with a table that it downloads; words will do
    tiktoken.get_encoding = lambda _name: type("Words", (), {"encode": lambda _, text, **__: text.split()})()
    rng = random.Random(2)
    rows = questions()
    right = {f"{row['question']} = ?": row["choices"][row["answer"]] for row in rows}

    def answered(input, tools, choice, config):
        wanted = right[input[-1].text]
        sure = rng.choice([95, 90, 80, 60, 50])
        said = wanted if rng.random() < sure / 100 else str(int(wanted) + 1)
        if sure == 50 and rng.random() < 0.5:
            said = "I do not know"
        tokens = [Logprob(token=each, logprob=-rng.random() * (100 - sure) / 50) for each in [*said.split(), "."]]
        message = ChatMessageAssistant(content=f"{said} ({sure} %)", model="mockllm")
        return ModelOutput(
            model="mockllm", choices=[ChatCompletionChoice(message=message, logprobs=Logprobs(content=tokens))]
        )

    @scorer(metrics=[accuracy()])
    def judge():
        async def score(state: Any, target: Any) -> Score:
            said, _, sure = state.output.completion.partition(" (")
            if "not know" in said:
                return Score(value="N", answer=said, metadata={"confidence": sure.rstrip(")")})
            if state.sample_id == "q7":
                return Score.unscored(reason="grader_parse_error")
            value = "P" if state.sample_id == "q3" else "C" if said == target.text else "I"
            return Score(value=value, answer=said, metadata={"confidence": sure.rstrip(")")})

        return score

    @scorer(metrics=[mean()])
    def verbal_confidence():
        async def score(state: Any, target: Any) -> Score:
            return Score(value=float(state.output.completion.partition("(")[2].split()[0]) / 100)

        return score

    @solver
    def stumble():
        async def solve(state: Any, generate: Any) -> Any:
            if state.sample_id == "q5":
                raise RuntimeError("the sandbox went away")
            return state

        return solve

    samples = [
        Sample(input=f"{row['question']} = ?", target=right[f"{row['question']} = ?"], id=row["id"],
               metadata={"level": "hard" if k % 3 == 0 else "easy", "should_abstain": k % 8 == 7})
        for k, row in enumerate(rows)
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for kind, epochs in (("json", 1), ("json", 2), ("eval", 1)):
            rng.seed(2)
            task = Task(dataset=samples, solver=[generate(), stumble()], scorer=[judge(), verbal_confidence()],
                        name="sums", epochs=epochs)  # fmt: skip
            [log] = eval(task, model=get_model("mockllm/model", custom_outputs=answered), log_format=kind,
                         log_dir=f"{folder}/{kind}{epochs}", display="none", fail_on_error=False, max_samples=1,
                         max_connections=1)  # fmt: skip
            assert log.status == "success", log.error
            log = read_eval_log(log.location)
            for sample in log.samples:
                sample.events, sample.attachments = [], {}  # nine tenths of the log
                if sample.error is not None:
                    sample.error.traceback = sample.error.traceback_ansi = ""  # paths of the machine
            write_eval_log(log, log.location)
            name = f"inspect{'' if epochs == 1 else f'_{epochs}_epochs'}.{kind}"
            (HERE / name).write_bytes(Path(log.location.removeprefix("file://")).read_bytes())
        frame = samples_df(f"{folder}/json1", quiet=True)
        frame["log"] = "inspect.json"
        frame.to_parquet(HERE / "inspect_samples.parquet")
        frame.to_csv(HERE / "inspect_samples.csv", index=False)
        full = samples_df(f"{folder}/json1", columns=SampleSummary + SampleScores, quiet=True)
        full["log"] = "inspect.json"
        full.to_parquet(HERE / "inspect_samples_full.parquet")


def main():
    """Write all of them, and the versions."""
    HERE.mkdir(exist_ok=True)
    wanted = sys.argv[1:] or ["lm_eval", "inspect"]
    for name in wanted:
        globals()[name]()
    tools = ("lm-eval", "inspect-ai", "pandas", "polars")
    (HERE / "versions.json").write_text(json.dumps({name: version(name) for name in tools}, indent=2) + "\n")


if __name__ == "__main__":
    main()
