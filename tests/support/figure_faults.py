"""What a reader would see wrong in a figure: a number, a word, a label that lies on another."""

import inspect
import math
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from figure_claims import false_claims, unit_of
from figure_engine import shows
from figure_marks import misplaced
from figure_oracles import ORACLES, OWN, number, settings
from reader import Reader
from untranslated import without

import rooflib as rl
from rooflib.catalog import chips
from rooflib.llm import models

# Words that stay English: names of chips, links, models and types; units; names in code.
NAMES = {
    *(one.name for one in (*chips(hidden=True), *models())),
    *(link.name for chip in chips(hidden=True) for link in chip.links),
    *("bf16", "fp32", "fp16", "tf32", "fp8", "int8", "int4", "fp4"),
    *(f"{prefix}{unit}" for prefix in ("", *"kKMGTPE") for unit in ("FLOPs", "FLOP", "OP", "B")),
    *("byte", "ms", "ns", "µs", "ps", "T_math", "T_comms", "T_HBM", "T_link", "math", "comms"),
    *("HBM", "L2", "VMEM", "CMEM", "SRAM", "DRAM", "GDDR", "KV", "MAC", "SM", "MXU", "link"),
    *("ReduceScatter", "AllGather", "AllReduce", "Python", "numpy", "notebook", "config.json"),
    *("out", "MLP", "logits", "ReLU", "GELU", "token", "batch", "Roofline", "Tab"),
    *("TPU", "GPU", "CPU", "NVLink", "PCIe", "ICI"),
}
LONGEST_FIRST = sorted(NAMES, key=len, reverse=True)
LINE = re.compile(
    r"(.+?): tokens per second ×\s*([\d,.]+), at least (.+?) for .*?(compute|HBM|the link) binds"
)
UNFILLED = re.compile(r"\{\w*\}|undefined|NaN|\[object")


def faults_of_a_page(
    reader: Reader, draw: random.Random, count: int, language: str
) -> Iterator[str]:
    """Move all figures of the page, `count` times; yield what is wrong, the first time included."""
    drawn = [
        {figure: drawn_setting(draw, reader.options(figure)) for figure in reader.figures()}
        for _ in range(count)
    ]
    before: dict[str, Any] = {}
    for seen in reader.move([{}, *drawn]):
        for figure, found in seen.items():
            was = before.get(figure, {})
            if was and was["numbers"] != found["numbers"] and was["picture"] == found["picture"]:
                yield f"{figure} {found['chosen']}: the drawing does not change"
            before[figure] = found
            for one in faults(figure, found, language):
                yield f"{figure} {found['chosen']}: {one}"


def changed_at_the_start(reader: Reader) -> Iterator[str]:
    """Yield what the figures of a fresh page say otherwise than before its scripts ran."""
    stills, (seen,) = reader.stills(), reader.move([{}])
    for figure, found in seen.items():
        for part in ("chosen", "beside", "labels", "numbers", "says", "lines"):
            if stills[figure][part] != found[part]:
                yield f"{figure}: {part} change when the page's script starts"
        if figure in ORACLES and [*found["numbers"]] != [*shows(figure, {})["numbers"]]:
            yield f"{figure}: it has only the numbers {[*found['numbers']]}"


def drawn_setting(draw: random.Random, options: dict[str, int]) -> dict[str, int]:
    """Draw a position of each control; half of the time, leave some as they are."""
    return {name: draw.randrange(count) for name, count in options.items() if draw.random() < 0.7}


def faults(figure: str, found: dict[str, Any], language: str) -> Iterator[str]:
    """Yield what a reader would see wrong in a figure."""
    yield from ([f"the drawing has {found['bad']}"] if found["bad"] else [])
    possible = any(value for value, _ in found["numbers"].values())
    yield from found["out"] if possible or not found["numbers"] else ()
    said = [found["says"], *found["lines"], *found["drawn"]]
    said += [text for _, text in found["numbers"].values()]
    yield from (f"{text!r} is not filled in" for text in said if UNFILLED.search(text))
    if not found["says"].strip():
        yield "it says nothing"
    if language != "en":
        yield from (f"{one!r} is English" for one in said + found["words"] if english(without(one)))
    elif re.search(
        r"(?<![\d.,])1 (?:chips|tokens|times|elements|bytes|slices|pieces)\b", found["says"]
    ):
        yield f"a plural after 1: {found['says']}"
    for name, (value, text) in found["numbers"].items():
        if not value:
            if text != "–":
                yield f"{name} is {text!r} without a value"
            continue
        if text.startswith("<"):  # of a share too small to compare
            if not 0 < float(value) < number(text.removeprefix("<\N{NO-BREAK SPACE}")):
                yield f"{name} is {value}, shown as {text!r}"
            continue
        unit = unit_of(text)
        written = f"{rl.Quantity(float(value), unit)}"
        if (text if unit else text.split()[0]) != written:  # a count may have a word behind it
            yield f"{name} is {text!r}, which rooflib writes as {written!r}"
    for name, text in found.get("beside", {}).items():
        if text != found["chosen"][name]:
            yield f"beside {name} stands {text}, not {found['chosen'][name]}"
    for name, label in found["labels"].items():
        if re.fullmatch("[A-Z]", label) and label != name:
            yield f"the control of {name} is called {label}"
    chosen = settings(found["chosen"])
    # In a page, a chip of one's own has the numbers that were typed.
    if (
        figure in ORACLES
        and (OWN not in chosen.values() or "handles" in found)
        and language == "en"
    ):
        try:
            inspect.signature(ORACLES[figure]).bind(**chosen)
        except TypeError as error:  # the figure has a control that is new, or has lost one
            place = f"of_{figure} in tests/support/figure_oracles.py"
            yield f"the controls of {figure} are not those of {place}: {error}"
            return
        expected = ORACLES[figure](**chosen)
        yield from untrue(expected, chosen, found["numbers"])
        if expected:
            yield from false_claims(figure, chosen, expected, found)
            yield from misplaced(figure, chosen | expected, found["picture"])
        if figure == "model" and expected:
            yield from untrue_changes(chosen, found["lines"])


def untrue(
    expected: dict[str, Any], chosen: dict[str, Any], numbers: dict[str, list[str]]
) -> Iterator[str]:
    """Yield the numbers that are not rooflib's."""
    for name, (value, _) in numbers.items():
        if not expected:
            if value:
                yield f"{name} is {value}, though rooflib refuses {chosen}"
        elif not math.isclose(
            float(value or "nan"), float(expected[name]), rel_tol=1e-9, abs_tol=1e-12
        ):
            yield f"{name} is {value}, in rooflib {expected[name]} at {chosen}"


def untrue_changes(chosen: dict[str, Any], lines: list[str]) -> Iterator[str]:
    """Yield what is said to help a step, and helps by another factor in rooflib."""
    of_model = ORACLES["model"]
    now, gains = of_model(**chosen), []
    changes: dict[str, dict[str, Any]] = {
        "twice the batch": {"B": 2 * chosen["B"]},
        "twice the chips": {"chips": 2 * chosen["chips"]},
        "cache in fp8": {"kv": "fp8"},
        # The arithmetic stays as it is.
        "weights in int8": {"w": "int8", "compute": now["compute"]},
        "weights in int4": {"w": "int4", "compute": now["compute"]},
        "whole experts on each chip": {"experts": "whole on a chip"},
    }
    for line in lines:
        change, gain, least, binds = LINE.match(line).groups()  # type: ignore[union-attr]
        gains.append(number(gain))
        chip = {"chip": change.removeprefix("the next chip, ")}
        if "weights" in change and "+" in now["compute"]:  # which rooflib can't be asked for
            continue
        then = of_model(**chosen | changes.get(change, chip))
        if not then:
            yield f"{line!r}, which rooflib refuses"
            continue
        times = {"compute": then["t_math"], "HBM": then["t_comms"], "the link": then["t_link"]}
        tokens = changes.get(change, {}).get("B", chosen["B"]) / chosen["B"]
        told = (number(gain), number(least), times[binds], "not fit" in line)
        right = (tokens * now["lower"] / then["lower"], then["lower"], max(times.values()))
        if told != pytest.approx((*right, then["held"] > then["memory"]), rel=6e-3):
            yield f"{line!r}, in rooflib {right}"
    if gains != sorted(gains, reverse=True):
        yield f"the largest gain is not the first: {gains}"


def english(text: str) -> list[str]:
    """Return the words of a text that are English, without names."""
    for name in LONGEST_FIRST:
        text = text.replace(name, "")
    return re.findall(r"[A-Za-z]{2,}", text)
