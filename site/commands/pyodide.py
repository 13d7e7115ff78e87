"""Get Pyodide for the pages: ``python site pyodide``.

The command prints the folder of the files.
"""

import sys

from browser.pyodide.files import NotObtained, cache, make, obtain


def main() -> int:
    try:
        print(make(obtain(cache())))
    except NotObtained as error:
        print(f"Pyodide could not be had ({error})", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
