"""Messages to learners about each problem with an answer."""

import math

from roofkit.words import N_, _

from .plain_data import Plain, has_names
from .wording import joined

PROBLEMS = {
    "not-a-function": N_(
        "When the check runs, there is no function of the name that the question gives"
    ),
    "arguments": N_("The function can't be called with the names of the arguments in the question"),
    "unwritten": N_("The function is still to be written."),
    "calls-unwritten": N_("The function calls another one that is still to be written"),
    "raised": N_("The function stopped with an error"),
    "nothing": N_("The function returned nothing (None): is a `return` missing?"),
    "not-a-number": N_("The function did not return a single number"),
    "not-numbers": N_("The function did not return the numbers in the form asked for"),
    "not-names": N_("The function did not return a list of names"),
    "nan": N_("The function returned nan, which is not a number."),
    "too-large": N_("The function returned a number too large to be meant."),
    "too-many": N_("The function returned far more values than were asked for."),
    "wrong-length": N_("The function returned the wrong number of values"),
    "wrong-keys": N_("The function did not return one value for each of the names asked for"),
    "wrong-form": N_("The function returned its numbers in another form than the one asked for"),
    "too-late": N_(
        "The function did not come back in time. Does it count in a loop what a formula could give?"
    ),
    "died": N_("The function ended the whole Python process."),
    "changing": N_(
        "The function gave two different values for one and the same case. Does it keep something "
        "from one call to the next (in a name outside of it, in a default list), or draw random "
        "numbers?"
    ),
    "changed-inputs": N_(
        "The function changes what it is given: called again with the same list or dictionary, it "
        "gives another value."
    ),
    "figure-empty": N_(
        "There is no curve on the axis that was handed in: draw it with `ax.plot` or `ax.scatter`."
    ),
    "figure-unseen": N_(
        "A curve is drawn, but can't be seen: look at its color, its width or markers, and alpha."
    ),
    "figure-alike": N_(
        "Two curves look the same, so the legend can't tell them apart: give them different "
        "colors, line styles or markers."
    ),
    "figure-curve": N_(
        "The legend does not name each size as a number: give every curve a label such as "
        "`D = 4096`, with its own size."
    ),
    "figure-legend": N_(
        "There is no legend that says which curve is which: give each curve a `label` such as "
        "`D = 4096`, and call `ax.legend()` after all of them are drawn."
    ),
    "figure-swapped": N_(
        "The axes are swapped: the batches are drawn as heights. Hand them to `ax.plot` first."
    ),
    "figure-range": N_(
        "A curve does not go through all the batches, drawn as they were handed in."
    ),
    "figure-outside": N_(
        "The limits of an axis cut a curve off: all of it must be inside, at every batch."
    ),
    "figure-xlabel": N_("The horizontal axis has no label: call `ax.set_xlabel` with one."),
    "figure-batch": N_(
        "The label of the horizontal axis does not say that it shows the batch: write `batch` "
        "or `B` in it."
    ),
    "figure-ylabel": N_("The vertical axis has no label: call `ax.set_ylabel` with one."),
    "figure-unit": N_(
        "The label of the vertical axis does not name the unit: write `FLOP/s` in it, or "
        "`TFLOP/s` if its numbers are in units of 1e12."
    ),
    "figure-rate": N_(
        "The label of the vertical axis names operations, but not operations per second: "
        "FLOP is a count, FLOP/byte an intensity. Write `FLOP/s`."
    ),
}

# Problems whose detail is what the function returned.
RETURNED = {"not-a-number", "not-numbers", "not-names"}
# Problems whose message ends with the sentence of `asked_for`.
NUMBERS = {"not-numbers", "wrong-length", "wrong-form"}


def sentence(problem: str, detail: str, expected: Plain) -> str:
    """Return the message for a problem, with its detail and what to return instead."""
    said = _(PROBLEMS[problem])
    if detail:
        bare = said.removesuffix(".").removesuffix("。")
        both = _("{problem}, but {detail}.") if problem in RETURNED else _("{problem}: {detail}.")
        said = both.format(problem=bare, detail=detail)
    elif not said.endswith((".", "?", "。", "？")):
        said = _("{sentence}.").format(sentence=said)
    sentences = [said]
    if problem in ("nothing", "not-a-number", "nan") and expected == math.inf:
        sentences.append(_("The question says what to return where the answer is not finite."))
    if problem == "not-names":
        sentences.append(
            _("Return a list of texts, the names alone; where no name fits, an empty list.")
        )
    if problem == "nothing" and has_names(expected):
        sentences.append(_("Where no name fits, return an empty list."))
    if problem in NUMBERS:
        sentences.append(asked_for(expected))
    return joined(sentences)


def asked_for(expected: Plain) -> str:
    """Return a sentence: which container to return, and with how many numbers."""
    if isinstance(expected, dict):
        return _("Return a dictionary from name to number.")
    count = len(expected) if isinstance(expected, list) else 1
    if count == 2:
        return _("Return a pair of numbers: a tuple, a list or an array of one dimension.")
    said = _("Return {count} numbers: a tuple, a list or an array of one dimension.")
    return said.format(count=count)
