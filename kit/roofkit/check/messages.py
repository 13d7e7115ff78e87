"""Messages to learners about each problem with an answer."""

import math

from .plain_data import Plain, has_names

PROBLEMS = {
    "not-a-function": "There is no function of this name when the check runs",
    "arguments": "The function can't be called with the names of the arguments in the question",
    "unwritten": "The function is still to be written.",
    "calls-unwritten": "The function calls another one that is still to be written",
    "raised": "The function stopped with an error",
    "nothing": "The function returned nothing (None): is a `return` missing?",
    "not-a-number": "The function did not return a single number",
    "not-numbers": "The function did not return the numbers in the form asked for",
    "not-names": "The function did not return a list of names",
    "nan": "The function returned nan, which is not a number.",
    "too-large": "The function returned a number too large to be meant.",
    "too-many": "The function returned far more values than were asked for.",
    "wrong-length": "The function returned the wrong number of values",
    "wrong-keys": "The function did not return one value for each of the names asked for",
    "wrong-form": "The function returned its numbers in another form than the one asked for",
    "too-late": (
        "The function did not come back in time. Does it count in a loop what a formula could give?"
    ),
    "died": "The function ended the whole Python process.",
    "changing": (
        "The function gave two different values for one and the same case. Does it keep something "
        "from one call to the next (in a name outside of it, in a default list), or draw random "
        "numbers?"
    ),
    "changed-inputs": (
        "The function changes what it is given: called again with the same list or dictionary, it "
        "gives another value."
    ),
    "figure-empty": (
        "There is no curve on the axis that was handed in: draw lines or points on `ax`."
    ),
    "figure-unseen": (
        "A curve is drawn, but can't be seen: look at its color, its width or markers, and alpha."
    ),
    "figure-alike": (
        "Two curves look the same, so the legend can't tell them apart: give them different "
        "colors, line styles or markers."
    ),
    "figure-curve": "Not every size can be told from the legend or the texts beside the curves.",
    "figure-legend": (
        "There is no telling which curve is which: a legend, or a text beside each curve, "
        "must name its size."
    ),
    "figure-legend-empty": (
        "The legend is empty: call `ax.legend()` after the curves are drawn, each with its `label`."
    ),
    "figure-swapped": (
        "The axes are swapped: the batches are drawn as heights. Hand them to `ax.plot` first."
    ),
    "figure-range": "A curve does not go through all the batches.",
    "figure-outside": (
        "The limits of an axis cut a curve off: all of it must be inside, at every batch."
    ),
    "figure-xlabel": "The horizontal axis has no label: call `ax.set_xlabel` with one.",
    "figure-batch": "The label of the horizontal axis does not say that it shows the batch.",
    "figure-ylabel": "The vertical axis has no label: call `ax.set_ylabel` with one.",
    "figure-unit": "The label of the vertical axis does not name the unit.",
    "figure-rate": (
        "The label of the vertical axis names operations, but not operations per second: "
        "FLOP is a count, FLOP/byte an intensity."
    ),
}

# Problems whose message ends with the form in which to return the numbers.
NUMBERS = {"not-numbers", "wrong-length", "wrong-form"}


def sentence(problem: str, detail: str, expected: Plain) -> str:
    """Return the message for a problem, with its detail and the expected form."""
    said = PROBLEMS[problem]
    if detail:
        said = f"{said.removesuffix('.')}: {detail}."
    elif not said.endswith((".", "?")):
        said += "."
    if problem in ("nothing", "not-a-number", "nan") and expected == math.inf:
        said += " The question says what to return where the answer is not finite."
    if problem == "not-names":
        said += " Return a list of texts, the names alone; where no name fits, an empty list."
    if problem == "nothing" and has_names(expected):
        said += " Where no name fits, return an empty list."
    return f"{said} {asked_for(expected)}" if problem in NUMBERS else said


def asked_for(expected: Plain) -> str:
    """Return a sentence about the accepted forms of numbers."""
    if isinstance(expected, dict):
        return "Return a dictionary from name to number."
    count = len(expected) if isinstance(expected, list) else 1
    what = "a pair of numbers" if count == 2 else f"{count} numbers"
    return f"Return {what}: a tuple, a list or an array of one dimension."
