"""Formulas of times and bounds, for figures that say which roof binds."""

from __future__ import annotations

from roofkit.figures.engine.sentences import named, quoted
from roofkit.words import _


def misfit() -> str:
    return _(" It does not fit: the chip must hold {held_text}, and its HBM holds {memory_text}.")


def matmul_misfit() -> str:
    return _(
        " The matmul does not fit: the chip must hold {held_text}, and its HBM holds {memory_text}."
    )


def bytes_misfit() -> str:
    return _(" {held_text} do not fit into its HBM at once, which holds {memory_text}.")


def fits(held: str, memory: str = "capacity[chip]", words: str = "") -> dict[str, str]:
    """Return formulas: a warning if `held` bytes exceed `memory`, else "", and both sizes."""
    return {
        "held_text": f"text({held}, 'B')",
        "memory_text": f"text({memory}, 'B')",
        "fits": f"either({held} > {memory}, {quoted(words or misfit())}, '')",
    }


def roof_names() -> dict[str, str]:
    """Return the words to show for each result of `rl.binding`."""
    return {"compute": _("compute"), "HBM": "HBM", "the link": _("the link")}


def bounds(link: bool = False) -> dict[str, str]:
    """Return formulas of an operation's times and bounds on a chip.

    Bounds that differ by 1% or more are shown separately: three digits tell them apart.

    They use `flops`, `bytes`, `peak` and `bandwidth`; with `link` also `sent` and `to_one_peer`.
    """
    times = "t_math, t_comms, t_link"
    apart = _("The whole takes between {lower} and {upper}.")
    equal = _("The two bounds are nearly equal: the whole takes about {lower}.")
    return {
        "t_math": "rl.t_math(flops, peak)",
        "t_comms": "rl.t_comms(bytes, bandwidth)",
        "t_link": "rl.t_comms(sent, to_one_peer)" if link else "0",
        "lower": f"rl.lower({times})",
        "upper": f"rl.upper({times})",
        "binding": named(f"rl.binding({times})", roof_names()),
        "bounds": f"[{quoted(apart)}, {quoted(equal)}][1 * (upper < 1.01 * lower)]",
    }
