"""Single changes to a model's step, those with most tokens per second first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from roofkit.figures.bounds import roof_names
from roofkit.figures.engine.sentences import named, quoted, said
from roofkit.words import _
from rooflib.dtypes import DTYPES


def title() -> str:
    return _("What would help, most tokens per second first")


def sentences() -> tuple[str, str]:
    """Return the sentences for a change that fits into HBM, and for one that doesn't."""
    return (
        _(
            "{change}: tokens per second ×\N{NO-BREAK SPACE}{gain}, at least {least} for the step,"
            " and {binds} binds."
        ),
        _(
            "{change}: tokens per second ×\N{NO-BREAK SPACE}{gain}, at least {least} for the step,"
            " and {binds} binds. It does not fit into HBM."
        ),
    )


def setting(**changed: str) -> str:
    """Return a formula whose value is a table of a step's settings.

    The formulas `step_…` in formulas.toml take this table.
    """
    names = ("B", "S", "chips", "replicas", "prefill", "chunk")
    others = {"whole": "spread", "w": "sizes", "kv": "cache", "x": "size[x]", "adds": "adds[chip]"}
    known = {**{name: name for name in names}, **others, **changed}
    return "{" + ", ".join(f"'{name}': {formula}" for name, formula in known.items()) + "}"


@dataclass(frozen=True)
class Change:
    """A single change to the setting. Each field is a formula or the name of one.

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


def changes() -> tuple[Change, ...]:
    """Return the changes to a step; those with equal gains are shown in this order."""
    weights = _("weights in {type}")
    return (
        *(
            Change(
                quoted(weights.format(type=w)),
                setting(w=f"widths['{w}']"),
                f"1 * (bits > {DTYPES[w].bits})",
            )
            for w in ("int8", "int4")
        ),
        Change(quoted(_("cache in {type}").format(type="fp8")), setting(kv="1"), "1 * (cache > 1)"),
        Change(quoted(_("twice the batch")), setting(B="2 * B"), tokens="2"),
        Change(
            quoted(_("twice the chips")),
            setting(chips="2 * chips", w="sizes_of_twice"),
            "either(spread, at(m['splits_whole'], count + 1) * at(m['spreads'], holders + 1),"
            " at(m['splits'], count + 1)) * (links[chip] > 0)",
        ),
        Change(
            quoted(_("whole experts on each chip")),
            setting(whole="1"),
            "at(m['splits_whole'], count) * at(m['spreads'], holders) * (1 - spread)"
            " * (chips * replicas > 1) * (links[chip] > 0)",
        ),
        Change(
            said(_("the next chip, {chip}"), chip="following"),
            setting(adds="adds[following]"),
            "(next[chip][compute] >= 0) * either(sends, 1 * (links[following] > 0), 1)",
            chip="following",
        ),
    )


NUMBER = len(changes())


def formulas() -> dict[str, str]:
    """Return formulas for each change's gain, the ranking, and the text lines.

    They use formulas of the figure above them, and the tables of chips.
    """
    known, every = changes(), range(NUMBER)
    times = ", ".join(f"{time}[#]" for time in ("changed_math", "changed_hbm", "changed_link"))
    ahead = (
        " + ".join(f"1 * (gains[{j}] {'>=' if j < i else '>'} gains[{i}])" for j in every if j != i)
        for i in every
    )
    found = {
        "following": "at(names, max(0, next[chip][compute]))",
        "changed": _list(change.setting for change in known),
        "changed_math": _list(
            f"sum(rl.step_flops(m, changed[{i}])) / peaks[{known[i].chip}][compute]" for i in every
        ),
        "changed_hbm": _list(
            f"sum(rl.step_bytes(m, changed[{i}])) / bandwidths[{known[i].chip}]" for i in every
        ),
        # The bandwidth of a missing link is 0; nothing is sent over it.
        "changed_link": _list(
            f"rl.step_sent(m, changed[{i}]) / max(1, rl.to_group(links[{known[i].chip}],"
            f" lanes[{known[i].chip}], changed[{i}]['chips'] * changed[{i}]['replicas']))"
            for i in every
        ),
        "changed_lower": _list(f"rl.lower({times.replace('#', str(i))})" for i in every),
        "changed_binding": _list(
            named(f"rl.binding({times.replace('#', str(i))})", roof_names()) for i in every
        ),
        "misfits": _list(
            f"1 * (rl.step_held(m, changed[{i}]) > capacity[{known[i].chip}])" for i in every
        ),
        # A change that isn't possible has a gain of 0, and comes last.
        "gains": _list(
            f"{known[i].possible} * {known[i].tokens} * lower / changed_lower[{i}]" for i in every
        ),
        "ranks": _list(ahead),
        "changes": _list(change.name for change in known),
    }
    for k in every:
        names = {name: f"{{{name}_{k}}}" for name in ("change", "gain", "least", "binds")}
        words = _list(quoted(sentence.format(**names)) for sentence in sentences())
        found |= {
            f"from_{k}": f"indexof(ranks, {k})",
            f"change_{k}": f"at(changes, from_{k})",
            f"gain_{k}": f"text(at(gains, from_{k}))",
            f"least_{k}": f"text(at(changed_lower, from_{k}), 's')",
            f"binds_{k}": f"at(changed_binding, from_{k})",
            f"line_{k}": f"either(at(gains, from_{k}) > 0, at({words}, at(misfits, from_{k})), '')",
        }
    return found


LINES = tuple(f"line_{k}" for k in range(NUMBER))


def _list(formulas: Iterable[str]) -> str:
    return f"[{', '.join(formulas)}]"
