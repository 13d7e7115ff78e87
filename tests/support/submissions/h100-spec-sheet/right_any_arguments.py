"""`*args` and `**kwargs`, a dictionary with defaults, results that are kept under all arguments."""

from collections import UserDict, defaultdict, deque

known = {}


def factor(*units):
    powers = defaultdict(int, T=12, P=15, G=9)
    return [10.0 ** powers[unit[0]] * (0.125 if "bit" in unit else 1) for unit in units]


def dense_peak(*args, **kwargs):
    key = (args, *sorted(kwargs.items()))
    if key not in known:
        sheet = dict(zip(("printed", "unit", "sparse"), args, strict=False)) | kwargs
        known[key] = sheet["printed"] * factor(sheet["unit"])[0] / [1, 2][sheet["sparse"]]
    return known[key]


def one_way_bandwidth(printed, /, unit, *, both_ways):
    return printed * factor(unit)[0] * 2**-both_ways


one_way_bandwidth = (lambda inner: lambda **kw: inner(kw.pop("printed"), **kw))(one_way_bandwidth)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    compute, memory = factor(peak_unit, bandwidth_unit)
    # Twice the operations for each weight, and two bytes for it.
    return int((peak * compute * 2 / (1 + sparse)) / (bandwidth * memory * 2) + 0.5)


def critical_batches(sheets):
    return UserDict((s["name"], critical_batch(*list(s.values())[1:])) for s in sheets)


def enough_on(sheets, sequences, length):
    """The nearest first, each name twice."""
    found = deque()
    for name, batch in sorted(critical_batches(sheets).items(), key=lambda pair: pair[1]):
        if batch < sequences * length:
            found.appendleft(name)
            found.append(name)
    return found
