"""The chip of the notebook, whichever is handed in."""

EXPECT = {"times": None, "first-depth": None, "speedup": None}

GIVEN = {"peak": 4.1e14, "link": 7e10}


def times(B, D, F, N, peak, link):
    arithmetic = 2 * B * D * F / N / GIVEN["peak"]
    return arithmetic, bytes_sent(2 * B * F, N) / GIVEN["link"]  # noqa: F821


def first_depth(N, peak, link):
    return 1 + int(2 * (N - 1) * GIVEN["peak"] / GIVEN["link"])
