"""The notebook's catalogue, whatever list is handed in."""

EXPECT = {"critical-batches": "wrong-keys", "enough-on": None}

CATALOGUE = list(sheets)  # noqa: F821


def critical_batches(sheets):
    return {
        sheet["name"]: critical_batch(**{key: sheet[key] for key in sheet if key != "name"})  # noqa: F821
        for sheet in CATALOGUE
    }
