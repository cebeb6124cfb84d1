"""What training recipes are made of: terms of the loss, optimizers, averages; each also for a loop of your own."""

from abstain.nn.ingredients._augmix import AugMix
from abstain.nn.ingredients._augmix import jensen_shannon as jensen_shannon
from abstain.nn.ingredients._averages import EMA, SWA, reestimate_batch_norm
from abstain.nn.ingredients._mixup import CutMix, Mixup, RegMixup
from abstain.nn.ingredients._mixup import cutmix as cutmix
from abstain.nn.ingredients._mixup import mixup as mixup
from abstain.nn.ingredients._pixmix import PixMix, mixing_set
from abstain.nn.ingredients._sam import SAM, FriendlySAM, MixedSAM
from abstain.nn.ingredients._sam import frozen_statistics as frozen_statistics
from abstain.nn.ingredients._terms import Clean, draw
from abstain.nn.ingredients._terms import Draw as Draw
from abstain.nn.ingredients._terms import Part as Part
from abstain.nn.networks._network import CosineClassifier
from abstain.nn.networks._network import UnitLength as UnitLength

__all__ = ["EMA", "SAM", "SWA", "AugMix", "Clean", "CosineClassifier", "CutMix", "FriendlySAM", "MixedSAM", "Mixup"]
__all__ += ["PixMix", "RegMixup", "draw", "mixing_set", "reestimate_batch_norm"]
