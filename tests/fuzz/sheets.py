"""Random notebook files: right ones with changed cells, fields, code or bytes."""

import copy
import json

import nbformat
from draws import anything, changed, text

NAMES = ("np", "peak", "HBM", "time", "x", "check", "B", "ax")
STATEMENTS = (
    "import {name}",
    "import numpy as {name}",
    "from math import *",
    "{name} = {number}",
    "{name}: float = {number}",
    "{name} += 1",
    "{name}, {other} = 1, 2",
    "{name} = lambda *a, **k: {number}",
    "def {name}(*a, **k):\n    return {number}",
    'def {name}(B, D):\n    """{word}"""\n    raise NotImplementedError',
    "@{other}\ndef {name}():\n    raise NotImplementedError({number})",
    "async def {name}(): ...",
    "class {name}({other}): pass",
    "if {name}:\n    {other} = {number}\nelse:\n    import {name}",
    "for {name} in {other}: pass",
    "with open({word!r}) as {name}: {other}()",
    "try:\n    {name}()\nexcept {other} as e:\n    pass",
    "check({word!r})",
    "{word!r}",
    "f'{{{name}!r:>{{{other}}}}} {number}'",
    "%matplotlib inline",
    "%%time",
    "!ls {word}",
    "del {name}; global {other}",
    "{name}({other}={number}); {other}[{number}:] = {name}.{other}",
    "match {name}:\n    case [{other}, *_]: pass",
)
NESTED = (
    "(" * 90 + ")" * 90,
    "[" * 5_000,
    "-" * 3_000 + "1",
    "f(" * 99 + ")" * 99,
    "a." * 3_000 + "a",
)
NESTED += (
    "x=" * 2_000 + "1",
    "1+" * 9_000 + "1",
    "if 1:\n" * 5,
    "lambda:" * 500 + "1",
    "not " * 2_000,
)


def code(random, functions):
    """Generate code that is more or less valid Python."""
    names = (*functions, *NAMES)
    found = []
    for _ in range(random.randrange(6)):
        about = {
            "name": random.choice(names),
            "other": random.choice(names),
            "number": random.choice((0, 1.5, 10**400, "1e999", -1, "0b11", "1_0j")),
            "word": random.choice((*functions, text(random)[:60])),
        }
        found.append(random.choice(STATEMENTS).format(**about))
    if random.random() < 0.05:
        found.insert(0, random.choice(NESTED))
    if random.random() < 0.1:
        found.append(text(random))
    return random.choice(("\n", "\n\n", "\r\n", "\n", ";")).join(found)


def notebook(random, whole, functions):
    """Generate the bytes of a file made from this right notebook by a few changes."""
    content = copy.deepcopy(whole)
    cells = content["cells"]
    for _ in range(random.randrange(1, 6)):
        if not cells:
            break
        random.choice(CHANGES)(random, cells, functions)
    kind = random.random()
    if kind < 0.2:
        content = changed(random, content)
    elif kind < 0.3:
        content = _of_another_version(random, content)
    encoding = random.choice(("utf-8", "utf-8", "utf-8", "utf-16", "utf-32", "utf-8-sig"))
    raw = json.dumps(content).encode(encoding, "replace")
    if random.random() < 0.1:
        cut = random.randrange(len(raw))
        raw = raw[:cut] + random.randbytes(random.randrange(9)) + raw[cut + random.randrange(40) :]
    return raw


def _source(cell):
    found = cell.get("source")
    return (
        found
        if isinstance(found, str)
        else "".join(map(str, found if isinstance(found, list) else ()))
    )


def _copied(random, cells, functions):
    own = copy.deepcopy(random.choice(cells))
    cells.insert(random.randrange(len(cells)), own)
    if random.random() < 0.5:
        own.pop("id", None)
        own["source"] = code(random, functions)


def _deleted(random, cells, functions):
    del cells[random.randrange(len(cells))]


def _moved(random, cells, functions):
    one = cells.pop(random.randrange(len(cells)))
    cells.insert(random.randrange(len(cells) + 1), one)


def _merged(random, cells, functions):
    at = random.randrange(len(cells))
    if at:
        before = _source(cells[at - 1])
        cells[at - 1]["source"] = before + "\n" + _source(cells.pop(at))


def _stripped(random, cells, functions):
    """Remove fields from one cell or all, as some editors do."""
    gone = random.choice((("metadata",), ("id",), ("metadata", "id"), ("outputs",), ("cell_type",)))
    for cell in cells if random.random() < 0.5 else [random.choice(cells)]:
        for key in gone:
            cell.pop(key, None)


def _retyped(random, cells, functions):
    random.choice(cells)["cell_type"] = random.choice(("code", "markdown", "raw", "heading"))


def _worded(random, cells, functions):
    random.choice(cells)["source"] = text(random)


def _coded(random, cells, functions):
    """Add code to a cell's source or replace it; sometimes split it into lines."""
    cell = random.choice(cells)
    source = _source(cell)
    own = code(random, functions)
    source = random.choice((own, f"{own}\n{source}", f"{source}\n{own}"))
    cell["source"] = source.splitlines(keepends=True) if random.random() < 0.5 else source


def _cut(random, cells, functions):
    cell = random.choice(cells)
    source = _source(cell)
    cut = random.randrange(len(source) + 1)
    cell["source"] = source[:cut] + text(random) + source[cut:]


def _marked(random, cells, functions):
    """Replace a cell's metadata by another cell's, or by other values."""
    cell, other = random.choice(cells), random.choice(cells)
    own = copy.deepcopy(other.get("metadata", {}))
    cell["metadata"] = random.choice((own, changed(random, own), anything(random)))


def _field(random, cells, functions):
    """Change values anywhere in a cell, keeping it a dictionary."""
    at = random.randrange(len(cells))
    one = changed(random, cells[at])
    cells[at] = one if isinstance(one, dict) else cells[at]


CHANGES = (_copied, _deleted, _moved, _merged, _stripped, _retyped, _worded, _coded, _coded)
CHANGES += (_cut, _marked, _field)


def _of_another_version(random, content):
    """Convert a notebook to an older format version, or only claim another one."""
    kind = random.choice((3, 4.4, 5, 2, text(random)))
    if kind == 4.4:
        content["nbformat_minor"] = 4
        for cell in content["cells"]:
            cell.pop("id", None)
    elif kind == 3:
        try:
            nb = nbformat.from_dict(content)
            return json.loads(json.dumps(nbformat.convert(nb, 3)))
        except Exception:
            content["nbformat"] = 3
    else:
        content["nbformat"] = kind
    return content
