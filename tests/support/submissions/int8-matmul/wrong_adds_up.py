"""A total that is never set back to zero; a pair of texts; a name that is a number by then."""

EXPECT = {
    "bytes-moved": "not-numbers",
    "operations": "not-a-function",
    "intensity": "changing",
    "times": "raised",
    "bounds": "raised",
}

total = 0


def bytes_moved(B, D, F):
    return str(B * D + D * F), str(B * F)


def operations(B, D, F):
    return 2 * B * D * F


operations = operations(64, 4096, 16384)


def intensity(B, D, F):
    global total
    total += 2 * B * D * F
    return total / (B * D + D * F + B * F)
