"""Entry point of the site's commands, such as ``python site build``.

Each command is a module in ``commands/``. They import each other and the Sphinx extensions as
``commands.build``, ``book_extension.values`` or ``browser.python``, from this folder. Python 3.6
can read this file, since ``environment`` runs before anything is installed.
"""

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> "int | str":
    known = sorted({path.stem for path in HERE.glob("commands/*.py")} - {"__init__"})
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in known:
        return "usage: python site COMMAND, one of {}; got {!r}".format(", ".join(known), name)
    del sys.argv[1]
    sys.path[0] = str(HERE)  # absolute, for a command that changes the working directory
    runpy.run_module("commands." + name, run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
