"""Published experiments, repeated: they come with the sources, not with the installed package; run from a checkout."""
