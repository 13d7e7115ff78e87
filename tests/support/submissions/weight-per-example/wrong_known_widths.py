"""A table of the widths of int4, int8 and bf16, and of no other."""

EXPECT = {"intensity-limit": "raised", "compute-bound-chips": "raised"}


def intensity_limit(B, bytes_per_element):
    return {0.5: 4, 1: 2, 2: 1}[bytes_per_element]
