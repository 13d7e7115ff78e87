"""None where the list is empty."""

EXPECT = {"enough-on": "nothing"}


def enough_on(sheets, sequences, length):
    found = [
        name
        for name, batch in critical_batches(sheets).items()  # noqa: F821
        if sequences * length > batch
    ]
    return found or None
