"""The page's numpy uses 64-bit integers, as on a reader's own machine."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from browser.pyodide import files as pyodide_files
from repository import ROOT

# Expressions for which numpy chooses the integer type itself.
CHOSEN = """
np.array([1, 2]); np.array(5); np.array((1, 2), int); np.array([1], dtype=int); np.array(range(3))
np.array([[1, 2], [3, 4]]); np.asarray([1]); np.asanyarray([1]); np.ascontiguousarray([1, 2])
np.asfortranarray([1, 2]); np.arange(5); np.arange(2, 9, 3); np.full(3, 7); np.full((1, 2), 7)
np.zeros(3, int); np.ones(3, dtype=int); np.empty(0, int); np.eye(2, dtype=int)
np.linspace(1, 5, 5, dtype=int); np.fromiter(range(3), int); np.ones_like([1, 2]); np.int_(3)
np.full_like([1, 2], 3)
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
np.take(np.arange(5), np.array([1, 2])); np.repeat(np.arange(3), repeats=np.array([1, 2, 0]))
np.tile([1, 2], np.array([2, 1])); np.choose(np.array([0, 1]), [[1, 2], [3, 4]])
np.arange(5)[np.array([3, 1]).astype(np.intp)]; np.arange(5).take(np.argsort([3, 1]))
np.r_[1, 2]; np.c_[[1], [2]]; np.mgrid[0:3]; np.indices((2, 2)); np.sum([True, True])
np.vectorize(lambda n: 2)([1, 2]); np.vectorize(lambda n: n, otypes=[int])([1])
np.apply_along_axis(lambda row: 2, 0, [[1, 2]]); np.unique([1, 1], return_counts=True)[1]
np.meshgrid([1], [2])[1]; np.select([[True]], [[3]]); np.array_split([1, 2], 2)[0]
np.sum(np.array([1, 2], dtype="int64")); np.prod(np.array([2, 3], dtype="int64"), axis=0)
"""
# Expressions that the wrappers leave unchanged: those that name their integer type, or whose values
# aren't integers.
KEPT = """
np.array([1], dtype="int64"); np.full(2, 3, np.int64); np.arange(3, dtype=np.int64)
np.array([1], dtype=np.int32); np.array([1], "int32"); np.asarray(np.array([1], dtype="int16"))
np.asarray(np.float32(1)); np.full(2, np.int8(3)); np.full(2, 3, np.int16); np.arange(3, dtype="i1")
np.maximum(np.float32(1), 2); np.maximum(np.ones(2, np.float32), 2)
np.array([True]); np.array([]); np.array("abc"); np.array([1, 2.5]); np.zeros(2); np.ones(2, bool)
np.array([1, None]); np.linspace(0, 1, 3); np.divide([1], [2]); np.sum([True]) == 1
np.array([1.5]).astype("float32"); np.add(1, 2.5);
np.interp(1, [1], [3])
np.sum(np.ones(2, np.float32)); np.prod(np.ones(2, "float16")); np.sum(np.array([200], "uint8"))
np.sum(np.array([1, 2], dtype="int64"), None, "int32"); np.sum([1, 2], dtype="int16")
"""
# Expressions that need exact values of more than 32 bits, integer casts or integer indices, so they
# can't be tested with float64 as the wide type.
LARGE = """
np.array([1.5]).astype(int); np.array([1.5]).astype("int"); np.array([2]).astype(dtype=int)
np.pad([1, 2], 1); np.percentile([1, 2, 3], 50); np.bincount(np.array([0, 0, 1])) @ [1, 2] == 4
np.array([65536]) * 65536; np.arange(5) * 2**30; np.full(2, 65536) ** 2
np.prod([65536, 65536, 2]); np.cumprod([65536, 65536]); np.sum([2**30] * 4); np.cumsum([2**30] * 4)
np.nansum([2**30] * 4); np.multiply([65536], [65536]); np.multiply(65536, 65536); np.power(65536, 2)
np.dot([65536], [65536]); np.outer([65536], [65536]); np.vdot([65536], [65536])
np.inner([65536], [65536]); np.einsum("i,i->", [65536], [65536]); np.kron([65536], [65536])
np.tensordot([65536], [65536], 1); np.cross([65536, 1, 2], [3, 65536, 65536]); np.square([65536])
np.convolve([65536], [65536]); np.polyval([65536, 1], 65536); np.vander([65536], 3)
np.trace([[2**30, 1], [1, 2**30]]) * 2; np.diff([-(2**31) + 1, 2**31 - 1]); np.left_shift([1], 40)
np.eye(2, dtype=int) * 2**31
np.multiply.reduce([65536, 65536]); np.multiply.outer([65536], [65536]);
np.matmul([[65536]], [[65536]])
np.multiply.accumulate([65536, 65536]); np.add.reduceat([2**30] * 4, [0, 2]);
np.lcm([65536], [65535])
np.asarray(np.negative(2**65)); np.divide(2**65, 3); np.multiply([2**65], 2)
np.sum(np.array([2**30] * 4, dtype=np.int32)); np.prod(np.array([2**20] * 2, dtype=np.int32))
np.sum(np.array([200] * 3, dtype="uint8")); np.ceil([1.5]).astype(int) * 2**31; np.int_(3) * 2**40
np.vectorize(lambda n: n * 2**20)([1, 3000]); np.apply_along_axis(lambda row: 2**40, 0, [[1], [2]])
np.unique([3, 1], return_counts=True)[1] * 2**31; np.array(range(3)) * 2**31; np.r_[1, 2] * 2**31
np.bincount(np.array([0, 1, 1]), minlength=5) * 2**31; np.histogram([1, 2], bins=2)[0] * 2**31
"""
# Expressions that the wrappers don't cover: they give fewer bits or an error, but no wrong value.
NOT_REACHED = """
(np.array([1, 2]) > 1).sum(); np.array([1, 5]).argmax(); np.argsort([3, 1]); np.nonzero([0, 1])[0]
"""
REFUSED = "np.arange(5).take(np.array([1, 2])); np.arange(3).repeat(np.array([1, 2, 0]))"


def lines(text: str) -> list[str]:
    return [each.strip() for line in text.strip().splitlines() for each in line.split(";") if each]


def values(numpy: str) -> list[tuple[str, str, object]]:
    """Return each expression, its type and its value in this machine's numpy."""
    found = []
    for expression in lines(numpy):
        value = eval(expression, {"np": np})
        found.append((expression, str(value.dtype), value.tolist()))
    return found


# Evaluates expressions like `values`, but with the wrappers; an error has the type "".
PROGRAM = """
import ast, json, sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("whole_numbers", PLACE)
whole_numbers = module_from_spec(spec)
spec.loader.exec_module(whole_numbers)
import numpy as np
whole_numbers.widen(np, TYPE)
found = []
for expression in LIST:
    try:
        tree = ast.parse(expression, mode="eval")
        value = eval(compile(whole_numbers.WideAstype().visit(tree), "cell", "eval"))
        found.append([expression, str(value.dtype), value.tolist()])
    except Exception as error:
        found.append([expression, "", repr(error)])
print(json.dumps(found))
"""


def program(place: str, kind: str, more: str = "") -> str:
    listed = [*lines(CHOSEN), *lines(KEPT), *lines(more)]
    given = {"PLACE": place, "TYPE": kind, "LIST": listed}
    return "\n".join([*(f"{name} = {value!r}" for name, value in given.items()), PROGRAM])


def test_only_integer_types_that_numpy_chooses_itself_are_widened() -> None:
    """Here int64 is the narrow type, and float64 stands in for a wider one."""
    place = str(ROOT / "site" / "browser" / "python" / "whole_numbers.py")
    command = [sys.executable, "-c", program(place, "float64")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    known = [(each, "float64", value) for each, _, value in values(CHOSEN)] + values(KEPT)
    assert list(map(tuple, json.loads(done.stdout))) == known


def test_numpy_is_unchanged_on_a_64_bit_machine() -> None:
    place = str(ROOT / "site" / "browser" / "python" / "whole_numbers.py")
    unchanged = "\nassert isinstance(np.add, np.ufunc)"
    command = [sys.executable, "-c", program(place, "int64") + unchanged]
    subprocess.run(command, capture_output=True, check=True)


# ---- in Pyodide itself

IN_PYODIDE = """
const [source, packages, site, code] = process.argv.slice(1);
const { readFileSync } = require("node:fs");
const { loadPyodide } = require(`${source}/pyodide.js`);
(async () => {
  const lockFileURL = `${site}/browser/pyodide/pyodide-lock.json`;
  const python = await loadPyodide({ indexURL: source, lockFileURL });
  const extractDir = "/lib/python3.12/site-packages";
  python.unpackArchive(new Uint8Array(readFileSync(packages)), "zip", { extractDir });
  python.FS.mkdir("/site");
  python.FS.mount(python.FS.filesystems.NODEFS, { root: site }, "/site");
  python.runPython(code);
})();
"""


@pytest.mark.long
def test_pyodide_gives_the_same_values_and_types_as_this_machine() -> None:
    import playwright

    folder = pyodide_files.make(pyodide_files.obtain(pyodide_files.cache()))
    node = Path(playwright.__file__).parent / "driver" / "node"
    code = program("/site/browser/python/whole_numbers.py", "int64", LARGE + NOT_REACHED + REFUSED)
    given = [str(folder), str(folder / "packages.zip"), str(ROOT / "site"), code]
    command = [str(node), "-e", IN_PYODIDE, *given]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = list(map(tuple, json.loads(done.stdout.splitlines()[-1])))
    reached = values(CHOSEN) + values(KEPT) + values(LARGE)
    assert found[: len(reached)] == reached
    assert {kind for _, kind, _ in found[: len(lines(CHOSEN))]} == {"int64"}
    narrow = [(each, "int32", value) for each, _, value in values(NOT_REACHED)]
    rest = found[len(reached) :]
    assert rest[: len(narrow)] == narrow
    assert {kind for _, kind, _ in rest[len(narrow) :]} == {""}
