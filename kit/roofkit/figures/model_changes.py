"""What would help a model's step: single changes, most tokens per second first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from roofkit.figures.engine.shapes import quoted
from rooflib.dtypes import DTYPES

TITLE = "What would help, most tokens per second first"
SAYS = [
    "{change_#}: tokens per second ×\N{NO-BREAK SPACE}{gain_#}, at least {least_#} for the step,"
    " and {binds_#} binds.",
    "{change_#}: tokens per second ×\N{NO-BREAK SPACE}{gain_#}, at least {least_#} for the step,"
    " and {binds_#} binds. It does not fit into HBM.",
]


def setting(**changed: str) -> str:
    """Return a table of a step's settings as a formula, for `step_…` in formulas.toml."""
    names = ("B", "S", "chips", "replicas", "prefill", "chunk")
    others = {"whole": "spread", "w": "sizes", "kv": "cache", "x": "size[x]"}
    known = {**{name: name for name in names}, **others, **changed}
    return "{" + ", ".join(f"'{name}': {formula}" for name, formula in known.items()) + "}"


@dataclass(frozen=True)
class Change:
    """A change of one thing; all fields are formulas, or the name of one.

    Attributes
    ----------
    name, setting
        What is changed, as in `rooflib.Serving.changes`; and the setting after it.
    possible
        1 if chip, link and layout allow it, else 0.
    chip
        The name of the chip after it.
    tokens
        How many times as many tokens the step makes.
    """

    name: str
    setting: str
    possible: str = "1"
    chip: str = "chip"
    tokens: str = "1"


CHANGES = (
    *(
        Change(
            quoted(f"weights in {w}"), setting(w=f"widths['{w}']"), f"1 * (bits > {DTYPES[w].bits})"
        )
        for w in ("int8", "int4")
    ),
    Change(quoted("cache in fp8"), setting(kv="1"), "1 * (cache > 1)"),
    Change(quoted("twice the batch"), setting(B="2 * B"), tokens="2"),
    Change(
        quoted("twice the chips"),
        setting(chips="2 * chips"),
        "either(spread, at(m['splits_whole'], count + 1) * at(m['spreads'], holders + 1),"
        " at(m['splits'], count + 1)) * (links[chip] > 0)",
    ),
    Change(
        quoted("whole experts on each chip"),
        setting(whole="1"),
        "at(m['splits_whole'], count) * at(m['spreads'], holders) * (1 - spread)"
        " * (chips * replicas > 1) * (links[chip] > 0)",
    ),
    Change(
        "'the next chip, ' + following",
        setting(),
        "(next[chip][compute] >= 0) * either(sends, 1 * (links[following] > 0), 1)",
        chip="following",
    ),
)


def formulas() -> dict[str, str]:
    """Return formulas of all changes, of their order, and of their lines in this order.

    They use formulas of the figure above them, and the tables of chips.
    """
    every = range(len(CHANGES))
    times = ", ".join(f"{time}[#]" for time in ("changed_math", "changed_hbm", "changed_link"))
    ahead = (
        " + ".join(f"1 * (gains[{j}] {'>=' if j < i else '>'} gains[{i}])" for j in every if j != i)
        for i in every
    )
    found = {
        "following": "at(names, max(0, next[chip][compute]))",
        "changed": _list(change.setting for change in CHANGES),
        "changed_math": _list(
            f"sum(rl.step_flops(m, changed[{i}])) / peaks[{CHANGES[i].chip}][compute]"
            for i in every
        ),
        "changed_hbm": _list(
            f"sum(rl.step_bytes(m, changed[{i}])) / bandwidths[{CHANGES[i].chip}]" for i in every
        ),
        # Chips without a link have 0; they send nothing.
        "changed_link": _list(
            f"rl.step_sent(m, changed[{i}]) / max(1, links[{CHANGES[i].chip}])" for i in every
        ),
        "changed_lower": _list(f"rl.lower({times.replace('#', str(i))})" for i in every),
        "changed_binding": _list(f"rl.binding({times.replace('#', str(i))})" for i in every),
        "misfits": _list(
            f"1 * (rl.step_held(m, changed[{i}]) > capacity[{CHANGES[i].chip}])" for i in every
        ),
        # A change that isn't possible has a gain of 0, and comes last.
        "gains": _list(
            f"{CHANGES[i].possible} * {CHANGES[i].tokens} * lower / changed_lower[{i}]"
            for i in every
        ),
        "ranks": _list(ahead),
        "changes": _list(change.name for change in CHANGES),
    }
    for k in every:
        words = _list(quoted(sentence.replace("#", str(k))) for sentence in SAYS)
        found |= {
            f"from_{k}": f"indexof(ranks, {k})",
            f"change_{k}": f"at(changes, from_{k})",
            f"gain_{k}": f"text(at(gains, from_{k}))",
            f"least_{k}": f"text(at(changed_lower, from_{k}), 's')",
            f"binds_{k}": f"at(changed_binding, from_{k})",
            f"line_{k}": f"either(at(gains, from_{k}) > 0, at({words}, at(misfits, from_{k})), '')",
        }
    return found


LINES = tuple(f"line_{k}" for k in range(len(CHANGES)))


def _list(formulas: Iterable[str]) -> str:
    return f"[{', '.join(formulas)}]"
