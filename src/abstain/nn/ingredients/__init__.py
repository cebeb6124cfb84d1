"""What training recipes are made of: terms of the loss, optimizers, averages; each also for a loop of your own."""

from abstain.nn.ingredients._augmix import AugMix, jensen_shannon
from abstain.nn.ingredients._averages import EMA, SWA, reestimate_batch_norm
from abstain.nn.ingredients._mixup import CutMix, Mixup, RegMixup, cutmix, mixup
from abstain.nn.ingredients._pixmix import PixMix, mixing_set
from abstain.nn.ingredients._sam import SAM, FriendlySAM, MixedSAM, frozen_statistics
from abstain.nn.ingredients._terms import Clean, Draw, Part, draw
from abstain.nn.networks._network import CosineClassifier, UnitLength

__all__ = ["EMA", "SAM", "SWA", "AugMix", "Clean", "CosineClassifier", "CutMix", "Draw", "FriendlySAM", "MixedSAM"]
__all__ += ["Mixup", "Part", "PixMix", "RegMixup", "UnitLength", "cutmix", "draw", "frozen_statistics"]
__all__ += ["jensen_shannon", "mixing_set", "mixup", "reestimate_batch_norm"]
