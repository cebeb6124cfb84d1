"""One thread, since tests run side by side."""

import torch

torch.set_num_threads(1)
