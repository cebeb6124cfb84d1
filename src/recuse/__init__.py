from recuse.blocks import *
