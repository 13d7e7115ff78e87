"""Measuring an accelerator through torch or jax, which are imported when somebody does."""
