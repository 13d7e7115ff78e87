"""Entry points for Binder, called from `.binder/`.

python site binder build             # once, for the image: the reader's copies
python site binder start COMMAND     # JupyterLab on them, as `make lab` starts it
"""

import os
import sys

from commands import lab


def started(command: list[str]) -> list[str]:
    """Return Binder's server command with the options of `make lab` added."""
    ours = lab.command(lab.WORK)
    return [*command, *ours[ours.index("jupyterlab") + 1 :]]


def main(words: list[str]) -> int:
    if words == ["build"]:
        lab.prepare(lab.ROOT, lab.WORK)
        return 0
    if words[:1] == ["start"] and len(words) > 1:
        command = started(words[1:])
        os.execvp(command[0], command)
    print(f"{words} came; `build`, or `start` and a command, is allowed", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
