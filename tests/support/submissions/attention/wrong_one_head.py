"""One head of queries."""

EXPECT = {"operations": "one-head", "decode-intensity": None}


def operations(B, T, S, N, H):
    return 4 * B * T * S * H
