"""The Lightning callback logs the core's numbers and keeps the checkpoint of the best epoch."""

import warnings

import pytest
import torch

import abstain
from abstain.nn._callback import _default_batch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lightning = pytest.importorskip("lightning.pytorch")
from abstain import nn
from tests.refusal import refused

pytestmark = pytest.mark.filterwarnings("ignore")


class Model(lightning.LightningModule):
    """A model whose validation logits get worse in its last epoch."""

    def __init__(self, x, labels):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)
        self.x, self.labels = x, labels
        self.seen = []

    def training_step(self, batch, index):
        return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

    def validation_step(self, batch, index):
        logits = self.layer(batch[0])
        if self.current_epoch == 2:
            logits = -logits
        if not self.trainer.sanity_checking:
            self.seen.append((self.current_epoch, logits, batch[1]))
        return {"logits": logits, "labels": batch[1]}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.5)


def test_labels_of_a_step_come_before_those_of_the_batch():
    """What the step returned; the second of the batch where it returned none."""
    batch = ("x", "of the batch")
    assert _default_batch({"logits": 1, "labels": "of the step"}, batch) == (1, "of the step")
    assert _default_batch({"logits": 1}, batch) == _default_batch((1, "of the batch"), None) == (1, "of the batch")


def test_logs_and_keeps_the_best(tmp_path):
    """Values logged are those of the whole validation set; the best AUGRC decides which checkpoint stays."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(120, 4, generator=generator)
    labels = (x @ torch.randn(4, 3, generator=generator)).argmax(1)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, labels), batch_size=50)
    callback = nn.SelectiveCheckpoint(["augrc", "aurc"], dirpath=tmp_path, filename="{epoch}")
    history = []

    class Recorder(lightning.Callback):
        def on_validation_end(self, trainer, pl_module):
            if not trainer.sanity_checking:
                history.append({name: float(value) for name, value in trainer.callback_metrics.items()})

    model = Model(x, labels)
    trainer = lightning.Trainer(
        max_epochs=3, callbacks=[callback, Recorder()], logger=False, enable_progress_bar=False,
        enable_model_summary=False, accelerator="cpu",
    )  # fmt: skip
    trainer.fit(model, loader, loader)
    assert len(history) == 3
    for epoch, logged in enumerate(history):
        logits = torch.cat([z for which, z, _ in model.seen if which == epoch])
        target = torch.cat([y for which, _, y in model.seen if which == epoch])
        outputs = abstain.Outputs(labels=target, logits=logits)
        expected = abstain.augrc(outputs.error, abstain.scores.compute("msp", outputs))
        assert logged["val/augrc"] == pytest.approx(expected, rel=1e-6)
    best = min(range(3), key=lambda epoch: history[epoch]["val/augrc"])
    assert best < 2
    assert callback.best_model_path.endswith(f"epoch={best}.ckpt")
    assert float(callback.best_model_score) == pytest.approx(history[best]["val/augrc"])


def test_errors():
    """A metric to monitor that is not computed, and a validation step that returns nothing useful."""
    with pytest.raises(ValueError, match=r"monitor='auroc' is not among the metrics; did you mean .*'auroc_f'"):
        nn.SelectiveCheckpoint(monitor="auroc")
    callback = nn.SelectiveCheckpoint()
    refused(TypeError, "validation_step returned Tensor", lambda: callback.read(torch.zeros(()), None))
