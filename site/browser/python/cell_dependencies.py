"""Cells that another cell of a notebook depends on, found from bytecode.

A cell depends on the cells that bind a name which it reads, or which the functions that it calls
read. Changes through a method of another cell's object are not detected.
"""

import dis
from collections.abc import Iterator, Sequence
from types import CodeType

READS = ("LOAD_NAME", "LOAD_GLOBAL")
BINDS = ("STORE_NAME", "STORE_GLOBAL", "DELETE_NAME", "DELETE_GLOBAL")
CHANGES = ("STORE_ATTR", "STORE_SUBSCR", "DELETE_ATTR", "DELETE_SUBSCR")
ALL = "*"  # `from module import *`


def needed(sources: Sequence[str]) -> list[int]:
    """Return the indices of the cells that the last one depends on, in order."""
    cells = [names(source) for source in sources]
    read, found = set(cells[-1][0]), set[int]()
    while True:
        new = {
            place
            for place, (_, bound) in enumerate(cells[:-1])
            if place not in found and (bound & read or ALL in bound)
        }
        if not new:
            return sorted(found)
        found |= new
        read.update(*(cells[place][0] for place in new))


def names(source: str) -> tuple[set[str], set[str]]:
    """Return the global names that a cell reads, and those that it binds or changes."""
    try:
        code = compile(source, "cell", "exec")
    except (SyntaxError, ValueError):
        return set(), set()
    read: set[str] = set()
    bound: set[str] = set()
    for part in parts(code):
        own: set[str] = set()
        changes = False
        for step in dis.get_instructions(part):
            if step.opname in READS:
                own.add(step.argval)
            elif step.opname in BINDS and (part is code or "GLOBAL" in step.opname):
                bound.add(step.argval)
            changes |= step.opname in CHANGES
            if step.opname == "IMPORT_STAR" or step.argrepr == "INTRINSIC_IMPORT_STAR":
                bound.add(ALL)
        read |= own
        if changes and part is code:
            bound |= own
    return read, bound


def parts(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of the functions and classes in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from parts(constant)
