"""Kernels of pages as forks of one process that has imported what they import.

A kernel of its own needs over a second of computing before a page's first cell, most of it for
imports. Importing runs no page, so each page still starts as if it were alone.
"""

import contextlib
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

SITE = Path(__file__).resolve().parents[1]
PRELOADED = ["ipykernel.kernelapp", "roofkit.figures", "rooflib.plots"]
NAME = "forked"


@contextlib.contextmanager
def forks(book: Path) -> Iterator[None]:
    """Start kernels inside the ``with`` block as forks that have a book's packages.

    If an import ends the process to fork, each kernel is a separate process, whose cell says why.
    """
    factory = KernelProvisionerFactory.instance()
    before = factory.default_provisioner_name
    if start_importing(book):
        value = f"{Forked.__module__}:{Forked.__qualname__}"
        factory.provisioners[NAME] = EntryPoint(NAME, value, factory.GROUP_NAME)
        factory.default_provisioner_name = NAME
    try:
        yield
    finally:
        factory.default_provisioner_name = before


def start_importing(book: Path) -> bool:
    """Start the process to fork; return whether it still runs after its imports.

    Python's forkserver ignores an ImportError; any other error in an import ends it.
    """
    if sys.platform != "linux":  # system libraries of macOS may crash after a fork
        return False
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    try:
        with contextlib.chdir(book):  # imports look there first
            first = context.Process(target=os.getpid)
            first.start()
            first.join()
    except (EOFError, OSError):
        return False
    return True


class Fork:
    """A forked process with the `Popen` methods that jupyter_client calls."""

    stdin = stdout = stderr = None

    def __init__(self, arguments: Sequence[str], folder: str, variables: dict[str, str]) -> None:
        context = multiprocessing.get_context("forkserver")
        self.process = context.Process(target=kernel, args=(arguments, folder, variables))
        self.process.start()
        assert self.process.pid is not None
        self.pid = self.process.pid

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self) -> int | None:
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.process.kill()

    def terminate(self) -> None:
        self.process.terminate()


class Forked(LocalProvisioner):
    """Kernel provisioner that starts kernels as forks."""

    process: Any  # a Fork

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        arguments = cmd[cmd.index("ipykernel_launcher") + 1 :]
        self.process = Fork(arguments, kwargs["cwd"], dict(kwargs["env"]))
        self.pid = self.pgid = self.process.pid
        return self.connection_info


def kernel(arguments: Sequence[str], folder: str, variables: dict[str, str]) -> None:
    """Run a kernel in this process, with these arguments, folder and environment."""
    import matplotlib
    from ipykernel.kernelapp import launch_new_instance

    # Set the backend here: Matplotlib was imported before, without a kernel's environment.
    matplotlib.rcParams["backend"] = "module://matplotlib_inline.backend_inline"
    os.setsid()  # signals to the kernel's group also reach processes that its cells started
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    packages = variables["PYTHONPATH"].split(os.pathsep)  # set by build.prepare_kernels
    # Remove the folder of the build's own modules: pages must not import `commands`.
    others = [path for path in sys.path if path not in {*packages, str(SITE)}]
    sys.path[:] = [*packages, *others]
    threading.Thread(target=end_with_the_build, daemon=True).start()
    launch_new_instance([*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"])


def end_with_the_build() -> None:
    """End this kernel when the process that asked for it ends, even by a signal."""
    build = multiprocessing.parent_process()
    assert build is not None
    build.join()
    os._exit(1)
