"""`!command` in a notebook without a pseudo-terminal.

A sandbox has none.
"""

import codecs
import functools
import os
import signal
import subprocess
import sys
from typing import IO, Any

BLOCK_BYTES = 1 << 16
SIGNALED = 128  # a shell exits with this plus the number of the signal that ended its command


def set_up(shell: Any) -> None:
    """Replace the shell's method that runs commands: the stock one needs a terminal."""
    shell.system = shell.system_piped = functools.partial(_system, shell)


def _system(shell: Any, command: str) -> None:
    """Run a command as IPython does, and leave its exit status in `_exit_code`."""
    if command.rstrip().endswith("&"):
        raise OSError("Background processes not supported.")
    status = run(shell.var_expand(command, depth=1))
    shell.user_ns["_exit_code"] = status
    if getattr(shell, "system_raise_on_error", False) and status != 0:
        raise subprocess.CalledProcessError(status, command)


def run(command: str) -> int:
    """Run a command in a shell, print its output, and return its exit status.

    The status is the negative signal number if a signal ended the command.
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
        except BaseException:  # an interrupt, or a replaced sys.stdout that fails
            os.killpg(process.pid, signal.SIGKILL)
            raise
    status = process.returncode
    return SIGNALED - status if status > SIGNALED else status


def _print(output: IO[bytes]) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        block = os.read(output.fileno(), BLOCK_BYTES)
        text = decoder.decode(block, final=not block)
        sys.stdout.write(text.replace("\n", "\r\n"))  # as a terminal driver does
        if not block:
            return
