"""One small matmul for each row of the batch, added up; names as a tuple."""


def operations(B, D, F):
    return sum(2 * D * F for _ in range(B))


def bytes_moved(B, D, F):
    total = 0
    for _ in range(B):
        row, matrix, result = D, D * F, F
        total += row + matrix + result
    return total


def intensity(B, D, F):
    return 2 * D * F / (D + D * F + F)


def intensity_limit(B, bytes_per_element):
    huge = 10**9
    return 2 * huge**2 / (bytes_per_element * (huge**2 + 2 * huge))


def compute_bound_chips(chips, bytes_per_element):
    return tuple(
        name
        for name, (peak, bandwidth) in chips.items()
        if peak * bytes_per_element < 2 * bandwidth
    )
