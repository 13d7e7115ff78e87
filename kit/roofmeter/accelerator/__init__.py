"""Measurement of accelerators through torch or jax, which are imported on use."""
