"""Checks that the feedback on a slip is true.

A sentence about the published cases must also hold for inputs that the check has not seen. A cause
that it names must be the slip's own: if several misconceptions give equal values, only an either-or
is true.
"""

import functools
from collections.abc import Sequence

from solutions import in_check, part_of

from grading.release.cases import Cases
from roofkit.check import slips as hints
from roofkit.check.answers import Answer
from roofkit.check.compare import Verdict, same
from roofkit.check.findings import Findings

from . import Slip, answers, fresh

SEEDS = 5  # classes of students; together their hidden cases stand for all inputs
# Misconceptions whose message only describes the value, so it is true whatever the slip was.
DESCRIBES_THE_VALUE = {
    *("limit-for-exact", "large-limit-for-exact", "exact-for-limit", "large-batch-limit"),
    *("always-two", "always-at-peak", "larger-of-the-two", "time-for-rate", "share-of-the-peak"),
    *("swapped", "upside-down", "ratio-of-sides", "no-delay", "twice", "difference", "increase"),
    *(
        "all-chips",
        "no-chips",
        "the-others",
        "the-two-times",
        "shorter-of-the-two",
        "straight-line",
    ),
    *(
        "width-upside-down",
        "shared-weights",
        "no-infinity",
        "long-context-for-exact",
        "group-alone",
    ),
    *("no-ceiling", "always-halved", "one-prefix-for-all", "prefix-ignored", "one-side-twice"),
    *("sparse-for-dense", "doubled", "both-ways-doubled", "weights-not-counted"),
    *("exact-fit-left-out", "past-the-tie", "below-zero-cut", "weights-take-no-room"),
    *("hbm-left-out", "network-left-out", "longer-network"),
    *("one-layer", "one-head", "one-sequence", "as-for-two"),
    *("width-for-a-pair", "width-of-a-part"),
    *("all-experts-loaded", "elements-for-bytes", "dense-batch"),
    *("group-upside-down", "not-whole", "below-zero", "as-many-times", "positions-for-sequences"),
}
# Findings that only describe the published cases or ask a question, and so can't be false.
DESCRIPTIONS = (
    *(hints._infinite, hints._zeros, hints._signs, hints._constant, hints._repeated),
    *(hints._shift, hints._near),
)
# Phrases that introduce a cause as only possible.
CONDITIONAL = ("this would give the same values:", "come out in this way, among others:")


def falsehood(slip: Slip, verdict: Verdict) -> str:
    """Return what is false in the verdict's sentences, or ""."""
    said = " ".join(verdict.sentences)
    part = part_of(slip.exercise, slip.part)
    keys = [known.key for known in part.misconceptions if known.says in said]
    told = keys if verdict.cause in keys else []
    cases = _fresh(slip.exercise, slip.part)
    seen = answers(slip, cases.inputs)[:-1]
    if told and any(words in said for words in CONDITIONAL):
        return ""
    if told:
        return _of_misconceptions(slip, told, said, cases, seen)
    known = in_check(slip.exercise, slip.part)
    found = _findings(slip, known, answers(slip, known.inputs)[:-1])
    if not found or found.names:
        return ""
    for detect in hints.DETECTORS:
        if (sentence := detect(found.pairs, found.fine)) and sentence in said:
            return _of_hint(slip, detect, sentence, found, _findings(slip, cases, seen))
    return ""


@functools.cache
def _fresh(exercise: str, part: str) -> Cases:
    return fresh(exercise, part, SEEDS)


def _of_misconceptions(
    slip: Slip, told: Sequence[str], said: str, cases: Cases, seen: Sequence[Answer]
) -> str:
    part = part_of(slip.exercise, slip.part)
    hold = []
    for known in cases.misconceptions:
        if known.key not in told:
            continue
        rows = zip(seen, cases.expected, known.values, strict=True)
        if all(
            one.problem == "raised" if value is None else _right(one, value, part.tolerance)
            for one, _, value in rows
        ):
            hold.append(known.key)
    if not hold:
        rounds = "rounded too far" in said and slip.rounding
        return "" if rounds else f"{', '.join(told)}: other values than these for other inputs"
    if slip.causes is None or set(hold) & (DESCRIBES_THE_VALUE | slip.causes):
        return ""
    return f"{', '.join(hold)}: the values are the same, the cause is another"


def _of_hint(
    slip: Slip, detect: object, sentence: str, found: Findings, everywhere: Findings | None
) -> str:
    if detect is hints._overflow:
        return "nothing overflows in Python"
    if detect in DESCRIPTIONS or (detect is hints._factor and len(found.pairs) == 1):
        return ""
    if detect is hints._rounded and (slip.rounding or "; or " in sentence):
        return ""
    if not everywhere or not everywhere.pairs:
        return ""
    if not detect(everywhere.pairs, everywhere.fine):  # type: ignore[operator]
        return f"not so for other inputs: {sentence}"
    return ""


def _findings(slip: Slip, cases: Cases, seen: Sequence[Answer]) -> Findings | None:
    tolerance = part_of(slip.exercise, slip.part).tolerance
    right = [_right(*pair, tolerance) for pair in zip(seen, cases.expected, strict=True)]
    if all(right):
        return None
    return Findings(seen, cases.expected, right, cases.inputs, tolerance)


def _right(answer: Answer, value: object, tolerance: float) -> bool:
    return not answer.problem and same(answer.value, value, tolerance)  # type: ignore[arg-type]
