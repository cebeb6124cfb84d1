"""Weights & Biases, offline, and TensorBoard: the page of the documentation, and what their files then hold."""

import json
import struct
from pathlib import Path

import pytest

from tests.integrations.pages import run_page, tool

tool("wandb")
tool("tensorboard")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the variables that the page leaves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WANDB_MODE", "offline")
        patch.setenv("WANDB_SILENT", "true")
        yield run_page("integrations/training-logs.md", tmp_path_factory.mktemp("loggers"), patch)


def wanted(page):
    """Return what both tools must have of the result."""
    found = {}
    for each in page["result"].measurements:
        ends = {"": each.value, "/low": each.low, "/high": each.high}
        found |= {f"abstain/{each.metric}/msp{end}": value for end, value in ends.items()}
    return found | {"abstain/verdict/coverage": page["result"].verdict.coverage}


def test_tensorboard_has_scalars_and_text(page):
    """Scalars of the result and of the epochs, and the tables as text."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(page["board"].log_dir)
    events.Reload()
    last = {name: events.Scalars(name)[-1].value for name in events.Tags()["scalars"]}
    assert {name: last[name] for name in wanted(page)} == pytest.approx(wanted(page), rel=1e-6)  # single precision
    assert len(events.Scalars("val/augrc")) == 8
    text = events.Tensors("abstain/text_summary")[0].tensor_proto.string_val[0].decode()
    assert page["result"].verdict.headline in text


def records_of(file):
    """Yield the records of an offline run: seven bytes, then a LevelDB log, blocks of 32 KiB with parts of records."""
    place, whole = 7, b""
    while place + 7 <= len(file):
        left = 32768 - place % 32768
        if left < 7:
            place += left
            continue
        length, kind = struct.unpack("<HB", file[place + 4 : place + 7])
        whole += file[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # complete, or the last part
            yield whole
            whole = b""


def test_wandb_has_values_summary_and_files(page):
    """The offline file of the run holds the numbers, the verdict, the table and the policy."""
    from wandb.proto.wandb_internal_pb2 import Record

    logged, summary, files = {}, {}, set()
    for data in records_of(next(Path("wandb").glob("offline-run-*/*.wandb")).read_bytes()):
        record = Record()
        record.ParseFromString(data)
        for item in record.history.item:
            logged["/".join(item.nested_key) or item.key] = json.loads(item.value_json)
        for item in record.summary.update:
            summary["/".join(item.nested_key) or item.key] = json.loads(item.value_json)
        files |= {each.path for each in record.request.log_artifact.artifact.manifest.contents}
        files |= {each.path for each in record.artifact.manifest.contents}
    assert {name: logged[name] for name in wanted(page)} == pytest.approx(wanted(page), rel=1e-12)
    assert "val/augrc" in logged
    assert summary["abstain/headline"] == page["result"].verdict.headline
    assert {"policy.json", "report.html", "result.json", "summary.md", "table.csv"} <= files
