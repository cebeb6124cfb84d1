"""Few labels of a pool."""
