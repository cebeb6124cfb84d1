"""Public functions on hostile arguments."""
