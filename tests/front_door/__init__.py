"""Files as people have them."""
