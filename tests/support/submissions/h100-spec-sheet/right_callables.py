"""No `def` where another form does: lambdas, partial, a class that can be called, an expression."""

import re
from functools import lru_cache, partial

PREFIXES = {"": 1, "G": 10**9, "T": 10**12, "P": 10**15}
PATTERN = re.compile(r"(?P<prefix>[GTP]?)(?P<what>FLOP|bit|B)/s")


@lru_cache(128)
def size_of(unit):
    found = PATTERN.fullmatch(unit)
    return PREFIXES[found["prefix"]] / (8 if found["what"] == "bit" else 1)


def scaled(printed, unit, *, halve):
    return printed * size_of(unit) / (1 + halve)


class CriticalBatch:
    def __call__(self, **sheet):
        compute = dense_peak(sheet["peak"], sheet["peak_unit"], sheet["sparse"])
        return compute / self.memory(sheet["bandwidth"], sheet["bandwidth_unit"])

    memory = staticmethod(partial(scaled, halve=False))


dense_peak = lambda printed, unit, sparse: scaled(printed, unit, halve=sparse)  # noqa: E731
one_way_bandwidth = lambda printed, unit, both_ways: scaled(printed, unit, halve=both_ways)  # noqa: E731
critical_batch = CriticalBatch()


@lambda decorate: decorate()
def critical_batches():
    def answer(sheets):
        return {sheet.pop("name"): critical_batch(**sheet) for sheet in map(dict, sheets)}

    return answer


@partial(partial, least=0)
def enough_on(sheets, sequences, length, least):
    return tuple(n for n, b in critical_batches(sheets).items() if sequences * length - b > least)
