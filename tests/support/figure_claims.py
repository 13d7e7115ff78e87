"""What a figure's sentences and the texts in its drawing claim, compared with rooflib's numbers."""

import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from figure_oracles import NUMBER, number

# Figure → the numbers of each sentence, in order, by name; "?" if only some variants have it. Of a
# figure that is not here, each number must be one that rooflib gives, in any order and unit.
SENTENCES = {
    "attention": "chips B S t_math t_comms t_link; rate; fitting",
    "byte": "load math store; link; lower; waits; road_waits; uses",
    "chip": "bandwidth ratio? rate_0; ceiling ridge ridge_0; on_chip held_share",
    "chips": "N t_math t_comms t_link; first D",
    "intensity": "n matmul dot add; ridge matmul_share; dot_share",
    "matmul": "intensity ridge; share; first; limit",
    "matmul_blocks": "x_bytes w_bytes out_bytes; F B?; D; largest_share; intensity smallest; ridge",
    "model": "replicas? chips B S t_math t_comms t_link; largest_share; passes",
    "one_roof": "intensity reached; idle",
    "ring": "N done last; N; N piece; sent share? size; total 2 pass total_share?",
    "roofline": "intensity; reached bandwidth second_reached second share second_share; "
    "ridge second_ridge",
    "shards": "N part? x_part part? w_part part? written; sent part?",
    "tiles": "done last loaded loaded_bytes written; piece side tile tiles t t; "
    "t total times? least; held intensity",
    "time": "flops t_math bytes t_comms; idle",
    "timeline": "B D F lower upper; slices takes above?; takes; math_waits road_waits",
    "units": "intensity unit_ridge busy?",
}
# Unit → the names of its numbers; others are counts.
UNITS = {
    "s": "t_math t_comms t_link lower upper takes",
    "B": "held memory bytes capacity x_bytes w_bytes out_bytes piece sent total:ring x_part w_part "
    "written:shards loaded_bytes slice",
    "B/s": "bandwidth rate_0 total_0",
    "FLOP/s": "reached second_reached ceiling matrix vector",
    "FLOP/byte": "ridge second_ridge matrix_ridge vector_ridge ridge_0 intensity dot add matmul "
    "each_sent",
    "FLOP": "flops",
    "OP": "flops:int8",
    "": "share:ring held:tiles",
    "%": "waits share second_share matmul_share dot_share add_share idle busy caches matrix_busy "
    "vector_busy largest_share above math_waits road_waits",
}
TIMES = {*UNITS["s"].split(), "load", "math", "store", "link", "second"}
ANY_UNIT = r"\s?[kMGTPEmµnp]?(FLOP/byte|(?:FL)?OP/s|(?:FL)?OP|B/s|B|s|%)"
UNIT = re.compile(rf"^[^\s%]*(?:{ANY_UNIT})?$")
ANYWHERE = "lower upper; lower; held memory"
# A number alone, with its unit: on an axis, or a count beside a shape. Two figures have no axis.
ALONE = re.compile(rf"[\d.,]+(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?(?:{ANY_UNIT})?|\d+/\d+")
WITHOUT_AXES = ("byte", "chip")
# Where several numbers of one unit are drawn: how a text begins or ends, and its numbers.
LABELED = {
    "byte": {
        "^road to HBM: waits": "road_waits", "^(?!road|link).*: waits": "waits",
        "^link: waits": "link_waits",
    },
    "matmul_blocks": {"^x:": "x_bytes F", "^w:": "w_bytes B", "^out:": "out_bytes D"},
    "tiles": {"^2n³/t": "total", "^least": "least", "^t = 1": "most"},
    "timeline": {
        "^HBM": "road_waits", "^Compute": "math_waits", "^takes": "takes",
        "^lower": "lower", "^upper": "upper",
    },
    "units": {"bf16$": "matrix", "fp32$": "vector"},
}  # fmt: skip
NOT_NUMBERS = re.compile(r"2n[²³]|t = 1:|\b(?:bf|fp|int|tf|L)\d+|numpy")


def numbers_in(text: str, names: list[str]) -> list[float]:
    """Return the numbers of a text; those of names, such as "H100 SXM", are none."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "")
    text = re.sub(r"\b(\d+)/(\d+)\b", lambda part: f"{int(part[1]) / int(part[2]):.4f}", text)
    text = NOT_NUMBERS.sub("", text)
    return [number(text[found.start() :]) for found in NUMBER.finditer(text)]


def unit_of(text: str) -> str:
    """Return the unit of a number that is written with it, without a prefix."""
    has = UNIT.match(text.replace("\u00a0", " ").replace("< ", ""))
    return (has[1] if has else None) or ""


def matches(found: list[float], names: list[str], values: dict[str, Any]) -> bool:
    """Whether the numbers are the named ones, in order."""
    if not names:
        return not found
    name = names[0].removesuffix("?")
    if name != names[0] and matches(found, names[1:], values):
        return True
    value = values.get(name, float(name) if name[:1].isdigit() else None)
    if not found or not isinstance(value, float):
        return False
    # Three digits are shown; of ridges on axes, whole numbers; of small shares, one digit.
    is_share = name in values and name not in TIMES and value < 1
    least = 0.5 if "ridge" in name else 0.006 if is_share else 0
    same = math.isinf(value) or abs(found[0] - value) <= max(6e-3 * abs(value), least)
    return same and matches(found[1:], names[1:], values)


def is_round(number: float) -> bool:
    """Whether a number may be that of a scale, such as 1 GB or 2 rounds."""
    return f"{number:.0e}"[0] in "125" and float(f"{number:.0e}") == number


def false_claims(
    figure: str, chosen: dict[str, Any], values: dict[str, Any], found: dict[str, Any]
) -> Iterator[str]:
    """Yield sentences and texts whose numbers or words say something else than rooflib."""
    values = {
        name: value if isinstance(value, str | list | dict) else float(value)
        for name, value in {**chosen, **values}.items()
    }
    units = {name: unit for unit, row in UNITS.items() for name in row.split()}
    for name, (_, text) in found["numbers"].items():
        of_type = f"{name}:{values.get('compute')}"
        wanted = units.get(f"{name}:{figure}", units.get(of_type, units.get(name, "")))
        if figure in SENTENCES and unit_of(text) != wanted:
            yield f"{name} has another unit than {wanted}: {text}"
    names = [text for text in found["chosen"].values() if math.isnan(number(text)) and text[1:]]
    if figure in SENTENCES:
        rows = [row.split() for row in f"{SENTENCES[figure]}; {ANYWHERE}".split(";")]
    else:
        rows = [[name] for name in values]
    for sentence in re.split(r"(?<=\.)\s", found["says"]):
        told = numbers_in(sentence, names)
        groups = [told] if figure in SENTENCES else [[one] for one in told]
        known = (any(matches(group, row, values) for row in rows) for group in groups)
        if told and not all(known):
            yield f"no such numbers: {sentence!r}"
    for label, row in LABELED.get(figure, {}).items():
        for text in found["drawn"]:
            told = numbers_in(text, names) if re.search(label, text) else []
            if told and not matches(told, row.split(), values):
                yield f"{text!r} is drawn, not {row}"
    spent = [*values["spent"].items()] if figure == "model" else []
    for kind, time in spent:
        share = time / sum(each for _, each in spent)
        told = [number(then) for text, then in pairwise(found["drawn"]) if text == kind]
        if share > 0.001 and not any(abs(one - share) < 0.006 for one in told):
            yield f"{told} is drawn for {kind}, not {share}"
        values[f"share of {kind}"] = share
    names += [name for value in values.values() if isinstance(value, dict) for name in value]
    lists = (one for value in values.values() if isinstance(value, list) for one in value)
    rows = [[f"{float(one)}"] for one in lists if isinstance(one, int | float)]
    rows += [[name] for name in values]
    for text in found["drawn"]:
        if figure in WITHOUT_AXES or not ALONE.fullmatch(text):
            for one in numbers_in(text, names):
                if not (is_round(one) or any(matches([one], row, values) for row in rows)):
                    yield f"no such number is drawn: {text!r}"
    for words, holds in verdicts(figure, values).items():
        if (re.search(words, found["says"]) is not None) != holds:
            yield f"it should {'' if holds else 'not '}say {words!r}: {found['says']}"


def verdicts(figure: str, v: dict[str, Any]) -> dict[str, bool]:
    """Return which words the sentence has and which it must not have."""
    found: dict[str, bool] = {}
    if "memory" in v and figure != "chip":
        found["not fit"] = v["held"] > v["memory"]
    if figure in ("attention", "chips", "matmul", "model", "time"):
        times = {"compute": v["t_math"], "HBM": v["t_comms"], "the link": v["t_link"]}
        found |= {f"{one} binds": one == max(times, key=times.__getitem__) for one in times}
        found["nearly equal"] = v["upper"] < 1.01 * v["lower"]
    ridge = v.get("ridge", 0)
    return found | {
        "attention": lambda: {"too large": v["fitting"] == 0},
        "byte": lambda: {
            f"{name} binds": v[time] == v["lower"]
            for name, time in (("Compute", "math"), ("HBM", "road"), ("The link", "link"))
        },
        "chip": lambda: {"as much as": round(v["ratio"], 2) == 1, "memories": v["memories"] > 1},
        "intensity": lambda: {"left of": v["matmul"] < ridge, "right of": v["matmul"] >= ridge},
        "matmul": lambda: {"no batch": v["first"] > 1e9},
        "matmul_blocks": lambda: {
            f"belong to ({v['largest']})\\.": True,
            "compute-bound": v["intensity"] >= ridge,
            "memory-bound": v["intensity"] < ridge,
            "row of w .*row of out": v["one"] == "x",
            "column of x .*column of out": v["one"] == "w",
            "row of x .*column of w": v["one"] == "out",
        },
        "model": lambda: {
            f"^A {v['phase']}": True,
            "replicas, each": v["replicas"] > 1,
            "expected": v["routed"],
            "chunks, each": v["passes"] > 1,
            f"{v['largest']} would": True,
        },
        "one_roof": lambda: {"Memory": v["intensity"] < ridge, "Arith": v["intensity"] >= ridge},
        "ring": lambda: {
            "before": v["done"] == 0,
            "reduce-scatter": 0 < v["done"] < v["N"],
            "all-gather": v["done"] >= v["N"],
            ", done": v["done"] in (v["N"] - 1, v["last"]),
            "added": 0 < v["done"] < v["N"] - 1,
            "replaces": v["N"] <= v["done"] < v["last"],
        },
        "roofline": lambda: {
            words: passed == sum(v["intensity"] >= one for one in (ridge, v["second_ridge"]))
            for passed, words in enumerate(("at both", "only at", "compute-bound"))
        },
        "shards": lambda: {
            "all of x": v["split"] == "F",
            "all of w": v["split"] == "B",
            "ends with all of out": v["result"].startswith("whole"),
            "partial sums": v["split"] == "D",
            "all-reduce": v["split"] == "D" and v["result"].startswith("whole"),
            "reduce-scatter": v["split"] == "D" and not v["result"].startswith("whole"),
            "all-gather": v["split"] != "D" and v["result"].startswith("whole"),
        },
        "tiles": lambda: {"once": v["t"] == v["side"], "Nothing": v["done"] == 0},
        "timeline": lambda: {
            "is the lower": v["slices"] > 1 and v["above"] < 1e-12,
            "is the upper": v["slices"] == 1,
        },
        "time": lambda: {"never wait": v["idle"] <= 0},
        "units": lambda: {
            f"^The {v['unit']}": True,
            "below": v["intensity"] < v["unit_ridge"],
            "above": v["intensity"] >= v["unit_ridge"],
        },
    }.get(figure, dict)()  # fmt: skip
