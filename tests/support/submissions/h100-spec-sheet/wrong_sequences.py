"""Sequences for tokens."""

EXPECT = {"enough-on": "sequences-for-tokens"}


def enough_on(sheets, sequences, length):
    return [name for name, batch in critical_batches(sheets).items() if sequences > batch]  # noqa: F821
