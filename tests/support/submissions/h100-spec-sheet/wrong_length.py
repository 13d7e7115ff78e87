"""The tokens of one sequence alone."""

EXPECT = {"enough-on": "length-alone"}


def enough_on(sheets, sequences, length):
    return [name for name, batch in critical_batches(sheets).items() if length > batch]  # noqa: F821
