"""Series of random inputs: a short one in every run, and the full one among the long tests."""

import pytest


def series(short: int, full: int) -> pytest.MarkDecorator:
    """Run a test with `count` inputs: few by default, all in the long tests.

    Both series should be drawn from the same seed, so that the short one is the beginning of the
    full one.
    """
    return pytest.mark.parametrize(
        "count",
        [pytest.param(short, id="some"), pytest.param(full, id="all", marks=pytest.mark.long)],
    )
