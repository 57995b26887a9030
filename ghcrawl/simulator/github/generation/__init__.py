"""Makes worlds: the same seed and size, the same world, to the last byte."""
