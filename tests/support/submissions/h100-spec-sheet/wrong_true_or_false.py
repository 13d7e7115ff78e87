"""True or False for each chip, not the names; a ratio upside down."""

EXPECT = {"critical-batch": "upside-down", "enough-on": "not-names"}


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    memory = one_way_bandwidth(bandwidth, bandwidth_unit, False)  # noqa: F821
    return memory / dense_peak(peak, peak_unit, sparse)  # noqa: F821


def critical_batches(sheets):
    return {
        sheet["name"]: dense_peak(sheet["peak"], sheet["peak_unit"], sheet["sparse"])  # noqa: F821
        / one_way_bandwidth(sheet["bandwidth"], sheet["bandwidth_unit"], False)  # noqa: F821
        for sheet in sheets
    }


def enough_on(sheets, sequences, length):
    return {name: sequences * length > batch for name, batch in critical_batches(sheets).items()}
