"""No query meets a later position."""

EXPECT = {"operations": "no-later-position"}


def operations(B, T, S, N, H):
    return sum(4 * B * N * H * (S - T + 1 + query) for query in range(T))
