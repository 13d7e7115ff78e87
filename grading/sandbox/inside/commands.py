"""`!command` without a terminal, which a sandbox lacks."""

import codecs
import os
import signal
import subprocess
import sys
from typing import IO, Any

BLOCK_BYTES = 1 << 16
SIGNALED = 128  # what a shell adds to the number of the signal that ended its command


def set_up() -> None:
    """Replace ipykernel's way to run a command, which needs a terminal."""
    import ipykernel.zmqshell

    shell: Any = ipykernel.zmqshell
    shell.system = system


def system(command: str) -> int:
    """Run a command in a shell and print what it prints, as in a terminal; its exit status.

    Negative for the number of the signal that ended it.
    """
    shell = os.environ.get("SHELL", "sh")
    with subprocess.Popen(
        [shell, "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            if process.stdout:
                _print(process.stdout)
        except BaseException:  # an interrupt, or a stream of the notebook's own that fails
            os.killpg(process.pid, signal.SIGKILL)
            raise
    status = process.returncode
    return SIGNALED - status if status > SIGNALED else status


def _print(output: IO[bytes]) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        block = os.read(output.fileno(), BLOCK_BYTES)
        text = decoder.decode(block, final=not block)
        sys.stdout.write(text.replace("\n", "\r\n"))  # as a terminal's driver writes lines
        if not block:
            return
