"""Python's library and the packages, as pages fetch them: two archives, made once of Pyodide's.

Pyodide's own hold sources, which a browser would compile anew at each start. To do that costs four
times what all the rest of a start does. So where a Python of the right version can be had, the
archives hold what it compiled: the Python that makes them, or else Pyodide itself, in Node.

This file runs in either; ``python library.py FROM TO`` packs what FROM has into TO.
"""

import marshal
import re
import sys
import zipfile
from collections.abc import Iterable
from importlib.util import MAGIC_NUMBER
from pathlib import Path

LIBRARY, PACKAGES = "library.zip", "packages.zip"
MADE = (LIBRARY, PACKAGES)
MAGIC = 3531  # of the Pythons 3.12, whose code Pyodide's loads
# What a page has no use for: a package's own tests, its types, other ways to show figures.
LEFT_OUT = re.compile(
    r"(?:^|/)(?:tests?|testing|sample_data|web_backend|images|afm|pdfcorefonts|f2py|_pyinstaller)/"
    r"|^(?:idlelib|lib2to3|ensurepip|dateutil/zoneinfo)/"
    r"|_(?:operand_flag|rational|struct_ufunc|umath)_tests\.cpython"
    r"|\.(?:pyi|pxd|h|a|typed)$|\.dist-info/(?!licenses?/|LICEN[CS]E)"
)
# Whose texts of documentation its own code asks for.
DOCUMENTED = ("numpy/",)
DATE = (1980, 1, 1, 0, 0, 0)  # the same files make the same bytes


def can_compile() -> bool:
    """Does the Python that runs this make what Pyodide's can load?"""
    return int.from_bytes(MAGIC_NUMBER[:2], "little") == MAGIC


def made(source: Path, target: Path) -> None:
    """Both archives, in `target`, of the wheels and the library that lie in `source`."""
    packed([source / "python_stdlib.zip"], target / LIBRARY)
    packed(sorted(source.glob("*.whl")), target / PACKAGES)


def packed(archives: Iterable[Path], target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as into:
        for path in archives:
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    if not name.endswith("/") and not LEFT_OUT.search(name):
                        entry, content = as_loaded(name, archive.read(name))
                        into.writestr(zipfile.ZipInfo(entry, DATE), content, zipfile.ZIP_DEFLATED)


def as_loaded(name: str, content: bytes) -> tuple[str, bytes]:
    """A file as an import finds it: a source compiled if it can be, without its documentation."""
    if not name.endswith(".py") or not can_compile():
        return name, content
    optimize = 0 if name.startswith(DOCUMENTED) else 2
    try:
        code = compile(content, f"/{name}", "exec", dont_inherit=True, optimize=optimize)
    except SyntaxError:  # an example of code that is wrong, or of another version
        return name, content
    # As PEP 552 has it; the date and the size are asked for only where the source lies beside.
    return f"{name}c", MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


if __name__ == "__main__":
    made(Path(sys.argv[1]), Path(sys.argv[2]))
