"""The page's numpy makes whole numbers of 64 bits, as a reader's own does."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyodide_files
import pytest
from repository import ROOT

# Whole numbers, of which numpy chooses the type by itself.
CHOSEN = """
np.array([1, 2]); np.array(5); np.array((1, 2), int); np.array([1], dtype=int); np.array(range(3))
np.array([[1, 2], [3, 4]]); np.asarray([1]); np.asanyarray([1]); np.ascontiguousarray([1, 2])
np.asfortranarray([1, 2]); np.arange(5); np.arange(2, 9, 3); np.full(3, 7); np.full((1, 2), 7)
np.zeros(3, int); np.ones(3, dtype=int); np.empty(0, int); np.eye(2, dtype=int)
np.linspace(1, 5, 5, dtype=int); np.fromiter(range(3), int); np.ones_like([1, 2]); np.int_(3)
np.full_like([1, 2], 3); np.geomspace(1, 8, 4).astype(int); np.array([2.0]).astype(dtype=int)
np.prod([2, 3]); np.sum([2, 3]); np.cumsum([2, 3]); np.max([1, 2]); np.sort([3, 1])
np.unique([2, 1]); np.outer([2], [3]); np.dot([2], [3]); np.multiply([2], [3]); np.multiply(2, 3)
np.maximum(1, 2); np.maximum(1, [2, 3]); np.maximum.reduce([3, 4]); np.add.accumulate([1, 2])
np.power(2, 3); np.mod([7], 4); np.abs([1]); np.negative([1]); np.square([3]); np.diff([1, 2])
np.concatenate([[1], [2, 3]]); np.vstack([[1], [2]]); np.hstack([[1], [2]]); np.flip([1, 2])
np.stack([[1], [2]]); np.column_stack([[1], [2]]); np.append([1], [2]); np.where([True], [1], [2])
np.where([True], 1, [2]); np.tile([1, 2], 2); np.repeat([5], 3); np.meshgrid([1, 2], [3])[0]
np.roll([1, 2], 1); np.clip([1, 5], 1, 2); np.round([1, 2]); np.einsum("i,i", [2], [3])
np.convolve([1, 2], [3]); np.array([1, 2]) @ np.array([3, 4]); 2 * np.array([3])
np.array([3]).max(); np.arange(np.int16(3))
np.take(np.arange(5), np.array([1, 2])); np.arange(5).take(np.array([1, 2]))
np.repeat(np.arange(3), np.array([1, 2, 0])); np.arange(3).repeat(repeats=np.array([1, 2, 0]))
np.arange(5)[np.array([3, 1]).astype(np.intp)]
"""
# What has a type already, and what is no whole number.
KEPT = """
np.array([1], dtype="int64"); np.full(2, 3, np.int64); np.arange(3, dtype=np.int64)
np.array([1], dtype=np.int32); np.array([1], "int32"); np.asarray(np.array([1], dtype="int16"))
np.asarray(np.float32(1)); np.full(2, np.int8(3)); np.full(2, 3, np.int16); np.arange(3, dtype="i1")
np.maximum(np.float32(1), 2); np.maximum(np.ones(2, np.float32), 2)
np.array([True]); np.array([]); np.array("abc"); np.array([1, 2.5]); np.zeros(2); np.ones(2, bool)
np.array([1, None]); np.linspace(0, 1, 3); np.divide([1], [2]); np.sum([True]) == 1
np.array([1.5]).astype("float32"); np.add(1, 2.5);
np.interp(1, [1], [3])
"""
# What floats in the place of whole numbers can't stand for.
COUNTED = "np.percentile([1, 2, 3], 50); np.bincount(np.array([0, 0, 1])) @ [1, 2] == 4"


def lines(text: str) -> list[str]:
    return [each.strip() for line in text.strip().splitlines() for each in line.split(";") if each]


def values(numpy: str) -> list[tuple[str, str, object]]:
    """Each expression, its type, and its value as numpy makes it here."""
    found = []
    for expression in lines(numpy):
        value = eval(expression, {"np": np})
        found.append((expression, str(value.dtype), value.tolist()))
    return found


# What a page's Python runs: the same, with names for the types that this machine has.
PROGRAM = """
import json, sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("whole_numbers", PLACE)
whole_numbers = module_from_spec(spec)
spec.loader.exec_module(whole_numbers)
import numpy as np
whole_numbers.widen(np, TYPE)
found = []
for expression in LIST:
    try:
        value = eval(expression)
        found.append([expression, str(value.dtype), value.tolist()])
    except Exception as error:
        found.append([expression, "", repr(error)])
print(json.dumps(found))
"""


def program(place: str, kind: str, more: str = "") -> str:
    listed = [*lines(CHOSEN), *lines(KEPT), *lines(more)]
    given = {"PLACE": place, "TYPE": kind, "LIST": listed}
    return "\n".join([*(f"{name} = {value!r}" for name, value in given.items()), PROGRAM])


def test_whole_numbers_are_of_the_wide_type_and_nothing_else_is() -> None:
    """On this machine int64 is the narrow type, so floats stand for the wide one."""
    place = str(ROOT / "site" / "page_python" / "whole_numbers.py")
    command = [sys.executable, "-c", program(place, "float64")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    known = [(each, "float64", value) for each, _, value in values(CHOSEN)] + values(KEPT)
    assert list(map(tuple, json.loads(done.stdout))) == known


def test_on_a_machine_of_64_bits_numpy_stays_as_it_is() -> None:
    place = str(ROOT / "site" / "page_python" / "whole_numbers.py")
    unchanged = "\nassert isinstance(np.add, np.ufunc)"
    command = [sys.executable, "-c", program(place, "int64") + unchanged]
    subprocess.run(command, capture_output=True, check=True)


# ---- in Pyodide itself

IN_PYODIDE = """
const [source, packages, site, code] = process.argv.slice(1);
const { readFileSync } = require("node:fs");
const { loadPyodide } = require(`${source}/pyodide.js`);
(async () => {
  const lockFileURL = `${site}/page_python/pyodide-lock.json`;
  const python = await loadPyodide({ indexURL: source, lockFileURL });
  const extractDir = "/lib/python3.12/site-packages";
  python.unpackArchive(new Uint8Array(readFileSync(packages)), "zip", { extractDir });
  python.FS.mkdir("/site");
  python.FS.mount(python.FS.filesystems.NODEFS, { root: site }, "/site");
  python.runPython(code);
})();
"""


@pytest.mark.long
def test_pyodide_gives_what_this_machine_gives() -> None:
    import playwright

    folder = pyodide_files.make(pyodide_files.obtain(pyodide_files.cache()))
    node = Path(playwright.__file__).parent / "driver" / "node"
    code = program("/site/page_python/whole_numbers.py", "int64", COUNTED)
    given = [str(folder), str(folder / "packages.zip"), str(ROOT / "site"), code]
    command = [str(node), "-e", IN_PYODIDE, *given]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = list(map(tuple, json.loads(done.stdout.splitlines()[-1])))
    assert found == values(CHOSEN) + values(KEPT) + values(COUNTED)
    assert {kind for _, kind, _ in found[: len(lines(CHOSEN))]} == {"int64"}
