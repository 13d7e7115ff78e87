"""Scores of every position with every other, also in decode."""

EXPECT = {"operations": "every-position-asks", "decode-intensity": None}


def operations(B, T, S, N, H):
    return 4 * B * S**2 * N * H
