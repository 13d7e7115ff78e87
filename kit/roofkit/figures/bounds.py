"""Formulas of times and bounds, for figures that say which roof binds."""

from __future__ import annotations

from roofkit.figures.engine.shapes import quoted

SENTENCE = (
    "['The whole takes between {lower} and {upper}.',"
    " 'The two bounds are nearly equal: the whole takes about {lower}.']"
    "[1 * (upper < 1.01 * lower)]"
)
"""Bounds that differ by 1% or more are shown separately: three digits tell them apart."""


MISFIT = " It does not fit: the chip must hold {held_text}, and its HBM holds {memory_text}."
MATMUL_MISFIT = (
    " The matmul does not fit: the chip must hold {held_text}, and its HBM holds {memory_text}."
)
BYTES_MISFIT = " {held_text} do not fit into its HBM at once, which holds {memory_text}."


def fits(held: str, memory: str = "capacity[chip]", misfit: str = MISFIT) -> dict[str, str]:
    """Return formulas of the sentence `misfit`, empty if `held` bytes fit into HBM."""
    return {
        "held_text": f"text({held}, 'B')",
        "memory_text": f"text({memory}, 'B')",
        "fits": f"either({held} > {memory}, {quoted(misfit)}, '')",
    }


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
