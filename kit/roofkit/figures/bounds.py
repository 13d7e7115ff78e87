"""Formulas of times and bounds, for figures that say which roof binds."""

from __future__ import annotations

SENTENCE = (
    "['The whole takes between {lower} and {upper}.',"
    " 'The two bounds are nearly equal: the whole takes about {lower}.']"
    "[1 * (upper < 1.01 * lower)]"
)
"""Bounds that differ by 1% or more are shown separately: three digits tell them apart."""


def bounds(link: bool = False) -> dict[str, str]:
    """Return formulas of an operation's times and bounds on a chip.

    They use `flops`, `bytes`, `peak` and `bandwidth`; with `link` also `sent` and `to_one_peer`.
    """
    times = "t_math, t_comms, t_link"
    return {
        "t_math": "rl.t_math(flops, peak)",
        "t_comms": "rl.t_comms(bytes, bandwidth)",
        "t_link": "rl.t_comms(sent, to_one_peer)" if link else "0",
        "lower": f"rl.lower({times})",
        "upper": f"rl.upper({times})",
        "binding": f"rl.binding({times})",
        "bounds": SENTENCE,
    }
