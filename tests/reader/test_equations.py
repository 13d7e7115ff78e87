"""The equations that pages set apart are true: both sides are equal, for numbers counted by hand.

A page says what its letters stand for; here each has a value. An inequality says when something is
so, such as a multiplication compute-bound, and must be true exactly then.
"""

import math
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import Tag
from site_links import parsed

SIGNS = {"−": "-", "·": "*", "×": "*", "⋅": "*"}
RELATIONS = {"=": math.isclose, "≈": lambda a, b: math.isclose(a, b, rel_tol=0.02)}
RELATIONS |= {sign: lambda a, b: a >= b for sign in "≥>"}
RELATIONS |= {sign: lambda a, b: a <= b for sign in "≤<"}
NEXT = ("⟺", "⇒", "next")  # between statements that say the same
FUNCTIONS = {"max": max, "min": min, "log": math.log}


def terms(element: Tag) -> Iterator[str]:
    """Yield an element's terms in Python, with signs of relations between them."""
    children = element.find_all(recursive=False)
    match element.name:
        case "mfrac":
            yield f"(({python(children[0])})/({python(children[1])}))"
        case "msup":
            yield f"({python(children[0])})**({python(children[1])})"
        case "msub":
            yield f"v[{plain(element.get_text('_'))!r}]"
        case "mtr":
            yield "next"
            for child in children:
                yield from terms(child)
        case "mi" | "mtext" | "mn" | "mo" if text := plain(element.get_text()):
            is_name = element.name in ("mi", "mtext") and text not in (*NEXT, *FUNCTIONS)
            yield f"v[{text!r}]" if is_name else SIGNS.get(text, text)
        case "math" | "mrow" | "mtd" | "mtable" | "mstyle" | "mpadded":
            for child in children:
                yield from terms(child)


def equations(page: Path) -> Iterator[Tag]:
    """Yield a page's equations; those that stand below each other are one each."""
    for found in parsed(page).select("article math[display=block]"):
        rows = found.select("mtr")
        yield from [found] if any(len(row.select("mtd")) > 1 for row in rows) else rows or [found]


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ").strip()


def python(element: Tag) -> str:
    """Return an expression in Python, with a sign for each multiplication."""
    return product(list(terms(element)))


def product(found: list[str]) -> str:
    text = ""
    for term in found:
        is_operand = bool(re.match(r"[\w(]", term))
        text += "*" if is_operand and re.search(r"[\w)\]]$", text) else ""
        text += term
    # A function is called.
    return re.sub(rf"\b({'|'.join(FUNCTIONS)})\*\(", r"\1(", text).rstrip(".,")


def statements(equation: Tag) -> list[list[str]]:
    """Return what an equation states: sides, with the sign of a relation between each two."""
    found: list[list[list[str]]] = [[[]]]
    for term in terms(equation):
        if term in NEXT:
            found.append([[]])
        elif term in RELATIONS:
            found[-1] += [[term], []]
        else:
            found[-1][-1].append(term)
    made = [[product(side) for side in one] for one in found if one != [[]]]
    for number in range(len(made) - 1, 0, -1):
        if made[number][0] == "":  # a line that goes on with `=`
            made[number - 1] += made.pop(number)[1:]
    return made


def truths(equation: Tag, v: dict[str, Any]) -> Iterator[bool]:
    """Yield whether each inequality is so; raise an AssertionError where two sides differ."""
    for sides in statements(equation):
        values = [eval(side, {**FUNCTIONS, "v": v}) for side in sides[::2]]
        if isinstance(values[0], bool):
            yield values[0]
        elif len(values) == 1:
            assert math.isclose(values[0], v["it"]), sides
        for sign, left, right in zip(sides[1::2], values, values[1:], strict=False):
            is_so = RELATIONS[sign](left, right)
            if sign in "=≈":
                assert is_so, (sides, values)
            else:
                yield is_so


# ---- what the letters of each page stand for


def drawn(seed: int, names: str) -> list[float]:
    draw = random.Random(f"{seed} {names}")
    return [10 ** draw.uniform(0.5, 2) for _ in names.split()]


def operation(seed: int) -> dict[str, Any]:
    """An operation on a chip: FLOPs and bytes, at a peak and a bandwidth."""
    flops, moved, peak, bandwidth = drawn(seed, "flops moved peak bandwidth")
    a, b = flops / peak, moved / bandwidth
    v = {"FLOPs": flops, "bytes": moved, "T_math": a, "T_comms": b, "a": a, "b": b}
    v |= {"peak": peak, "peak FLOP/s": peak, "bandwidth": bandwidth}
    v |= {"bandwidth in bytes/s": bandwidth, "ridge point": peak / bandwidth}
    v |= {"T_lower": max(a, b), "idle fraction": (max(a, b) - a) / max(a, b)}
    v |= {"attainable FLOP/s": flops / max(a, b), "attainable": flops / moved * bandwidth}
    return v | {"intensity": flops / moved, "arithmetic intensity": flops / moved}


def dot(seed: int) -> dict[str, Any]:
    """A dot product of two vectors of n elements in bf16, or another operation."""
    v = operation(seed)
    n = 2 + seed
    return v | {"n": n, "it": (n + n - 1) / (2 * n + 2 * n + 2), "so": v["T_math"] > v["T_comms"]}


def summed_up(seed: int) -> dict[str, Any]:
    v = operation(seed)
    v |= {"C": v["peak"], "W": v["bandwidth"], "I": v["intensity"]}
    v |= {"T": v["T_lower"] + 0.3 * min(v["a"], v["b"]), "attainable": v["attainable FLOP/s"]}
    return v | {"compute-bound": v["a"] > v["b"], "communication-bound": v["a"] < v["b"]}


def matmul(seed: int, wide: float = 1) -> dict[str, Any]:
    """A multiplication of intensity R; its matrix may be `wide` times as wide as the batch."""
    R, D, F, weight, peak, bandwidth = drawn(seed, "R D F weight peak bandwidth")
    D, F = wide * (D + 3 * R), wide * (F + 3 * R)
    B = 1 / (1 / R - 1 / D - 1 / F)
    moved = 2 * B * D + 2 * D * F + 2 * B * F
    v = {"bytes of a weight": weight, "peak FLOP/s": peak, "HBM bandwidth": bandwidth}
    v |= {"so": 2 * B * D * F / peak > weight * D * F / bandwidth}
    return v | {"R": R, "B": B, "D": D, "F": F, "intensity": 2 * B * D * F / moved}


def chips(seed: int) -> dict[str, Any]:
    v = dict(zip("BDFCW", drawn(seed, "B D F C W"), strict=True))
    v["N"], summed = 2 + seed % 7, 2 * v["B"] * v["F"]
    v |= {"T_math": 2 * v["B"] * v["D"] * v["F"] / (2 * v["C"]), "T_comms": summed / v["W"]}
    v |= {"bytes": 0.7 * summed, "latency": 0.3 * summed / v["W"]}
    ring = 2 * (v["N"] - 1) / v["N"] * summed / v["W"]
    return v | {"so": 2 * v["B"] * v["D"] * v["F"] / v["N"] / v["C"] >= ring}


def attention(seed: int) -> dict[str, Any]:
    B, N, H, K, S, T = drawn(seed, "B N H K S T")
    N *= K
    flops, loaded = 2 * 2 * B * T * S * N * H, 2 * (2 * B * T * N * H + 2 * B * S * K * H)
    v = {"B": B, "T": T, "S": S, "N": N, "H": H, "K": K, "G": N / K, "I": flops / loaded}
    return v | {"intensity": v["I"]}


def decode(seed: int) -> dict[str, Any]:
    """Attention with one query."""
    v = attention(seed)
    flops, loaded = 2 * 2 * v["S"] * v["G"], 2 * (2 * v["G"] + 2 * v["S"])
    return {"S": v["S"], "G": v["G"], "I": flops / loaded}


def machine(seed: int) -> dict[str, Any]:
    v = dict(zip(("cores", "clock", "units", "lanes"), drawn(seed, "a b c d"), strict=True))
    v |= dict(zip(("channels", "transfers", "bytes"), drawn(seed, "e f g"), strict=True))
    v["n"], v["b"] = drawn(seed, "n b")
    v["C"] = 2 * v["units"] * v["lanes"] * v["cores"] * v["clock"]
    v["W"] = v["bytes"] * v["transfers"] * v["channels"]
    return v | {"I": 2 * v["n"] ** 3 / (3 * v["n"] ** 2 * v["b"])}


def own_model(seed: int) -> dict[str, Any]:
    k, more, C, W, P, B = drawn(seed, "k more C W P B")
    E, R = k + more, C / W
    v = {"k": k, "E": E, "B": B, "C": C, "W": W, "R": R, "P": P, "P_token": P * k / E}
    v |= {"tokens per chip": B, "so": B * k / E >= R}
    return v | {"it": E - E * ((E - k) / E) ** B}


def homework(seed: int) -> dict[str, Any]:
    """A prompt as long as its context, whose heads of queries share one of keys."""
    v = attention(seed)
    S = 1000 * v["S"]
    flops, loaded = 2 * v["H"] * v["G"] * S**2, 2 * 2 * v["H"] * S + 2 * 2 * v["H"] * v["G"] * S
    chip = {
        name: value for name, value in chips(seed).items() if name in ("D", "C", "W", "N", "so")
    }
    return v | chip | {"S": S, "intensity": flops / loaded}


def homework_decode(seed: int) -> dict[str, Any]:
    v = homework(seed)
    return v | {"intensity": 2 * v["H"] * v["G"] * v["S"] / (2 * 2 * v["H"] * v["S"] / 2)}


# A page's equations are about one of its cases each.
PAGES = {
    "time": [operation],
    "intensity": [dot],
    "roofline": [operation],
    "matmul": [matmul, lambda seed: matmul(seed, 1e4)],
    "chips": [chips],
    "attention": [attention, decode],
    "homework": [homework, homework_decode],
    "machine": [machine],
    "own-model": [own_model],
    "summary": [summed_up, chips, attention],
}


@pytest.mark.parametrize("page", PAGES)
def test_what_an_equation_says_is_so(site: Path, page: str) -> None:
    found, wrong = [*equations(site / f"chapters/{page}.html")], {}
    for equation in found:
        said = {case: why for case in PAGES[page] if (why := contradicted(equation, case))}
        if len(said) == len(PAGES[page]):
            wrong[equation.get_text()] = [*said.values()]
    assert wrong == {}
    assert found


def contradicted(equation: Tag, case: Any) -> str:
    """Return why an equation is not so in a case, "" if it is."""
    for seed in range(40):
        v = case(seed)
        try:
            so = [*truths(equation, v)]
        except (AssertionError, KeyError) as error:
            return repr(error)
        if len({*so}) > 1 or (len(so) == 1 and so[0] != v.get("so", True)):
            return f"{so} for {v}"
    return ""
