"""Which cells of a notebook another one needs, read from their code.

A cell needs those that bind a name which it reads, or which the functions read that it calls. What
a cell changes through a method of an object that another one made is not seen.
"""

import dis
from collections.abc import Iterator, Sequence
from types import CodeType

READS = ("LOAD_NAME", "LOAD_GLOBAL")
BINDS = ("STORE_NAME", "STORE_GLOBAL", "DELETE_NAME", "DELETE_GLOBAL")
CHANGES = ("STORE_ATTR", "STORE_SUBSCR", "DELETE_ATTR", "DELETE_SUBSCR")
ALL = "*"  # `from module import *`


def needed(sources: Sequence[str]) -> list[int]:
    """The places of the cells that the last one needs, apart from itself, in order."""
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
    """The notebook's names that a cell reads, and those that it binds or changes."""
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
    """The code, and that of the functions and classes in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from parts(constant)
