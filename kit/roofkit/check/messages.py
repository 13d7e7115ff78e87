"""What a learner is told about each problem with an answer."""

PROBLEMS = {
    "not-a-function": "There is no function of this name",
    "arguments": "The function can't be called with the names of the arguments in the question",
    "unwritten": "The function is still to be written.",
    "raised": "The function stopped with an error",
    "nothing": "The function returned nothing (None): is a `return` missing?",
    "not-a-number": "The function did not return a single number",
    "not-numbers": "The function did not return a tuple, list or dictionary of numbers",
    "not-names": "The function did not return a list of names",
    "nan": "The function returned nan, which is not a number.",
    "too-large": "The function returned a number too large to be meant.",
    "wrong-length": "The function returned the wrong number of values: see the question.",
    "wrong-keys": "The function did not return one value for each of the names asked for.",
    "too-late": "The function did not come back in time.",
    "died": "The function ended the whole Python process.",
    "changing": "The function gave two different values for one and the same case.",
    "changed-inputs": (
        "The function changes what it is given: called again with the same list or dictionary, it "
        "gives another value."
    ),
    "figure-empty": "There is no curve on the axis that was handed in: draw on `ax`.",
    "figure-curve": "Not every size can be told from the legend or the texts beside the curves.",
    "figure-legend": (
        "There is no telling which curve is which: a legend, or a text beside each curve, "
        "must name its size."
    ),
    "figure-range": "A curve does not go through all the batches.",
    "figure-xlabel": "The horizontal axis has no label.",
    "figure-ylabel": "The vertical axis has no label.",
    "figure-unit": "The label of the vertical axis does not name the unit.",
}
