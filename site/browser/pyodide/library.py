"""Archives for pages: Python's library and packages, compiled if possible.

Pyodide's own archives hold sources, which a browser would compile again at each start. That takes
four times as long as the rest of the start. So the archives hold bytecode if a Python of the right
version is available: the one that runs this, or else Pyodide itself, in Node.

This file runs in both; ``python library.py FROM TO`` packs the files of FROM into TO.
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
MAGIC = 3531  # magic number of bytecode for Python 3.12, Pyodide's version
# Files that pages don't need: packages' own tests, type stubs, other Matplotlib backends.
LEFT_OUT = re.compile(
    r"(?:^|/)(?:tests?|testing|sample_data|web_backend|images|afm|pdfcorefonts|f2py|_pyinstaller)/"
    r"|^(?:idlelib|lib2to3|ensurepip|dateutil/zoneinfo)/"
    r"|_(?:operand_flag|rational|struct_ufunc|umath)_tests\.cpython"
    r"|\.(?:pyi|pxd|h|a|typed)$|\.dist-info/(?!licenses?/|LICEN[CS]E)"
)
# Packages that need their docstrings at run time.
DOCUMENTED = ("numpy/",)


def can_compile() -> bool:
    """Return whether Pyodide's Python can load bytecode of the running Python."""
    return int.from_bytes(MAGIC_NUMBER[:2], "little") == MAGIC


def made(source: Path, target: Path) -> None:
    """Write Python's library and the wheels from `source` as two archives in `target`."""
    packed([source / "python_stdlib.zip"], target / LIBRARY)
    packed(sorted(source.glob("*.whl")), target / PACKAGES)


def packed(archives: Iterable[Path], target: Path) -> None:
    with zipfile.ZipFile(target, "w") as into:
        for path in archives:
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    if not name.endswith("/") and not LEFT_OUT.search(name):
                        entry, content = as_loaded(name, archive.read(name))
                        # An explicit ZipInfo has a fixed date, so the archive is reproducible.
                        into.writestr(zipfile.ZipInfo(entry), content, zipfile.ZIP_DEFLATED)


def as_loaded(name: str, content: bytes) -> tuple[str, bytes]:
    """Return the name and content with which a file goes into the archive.

    Sources are compiled, most of them without docstrings.
    """
    if not name.endswith(".py") or not can_compile():
        return name, content
    optimize = 0 if name.startswith(DOCUMENTED) else 2
    try:
        code = compile(content, f"/{name}", "exec", optimize=optimize)
    except SyntaxError:  # deliberately invalid code, or code for another Python version
        return name, content
    # A header as in PEP 552. Date and size are 0: Python compares them only with a source file.
    return f"{name}c", MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


if __name__ == "__main__":
    made(Path(sys.argv[1]), Path(sys.argv[2]))
