"""Towers beside a language model."""
def towers(given):
    return {}
