"""The fork server: starts and stops the zygote, which is forked for each sandbox."""

import contextlib
import fcntl
import itertools
import os
import platform
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from multiprocessing.util import Finalize
from pathlib import Path
from typing import IO

import roofkit
import rooflib

from . import cgroups
from .inside.isolate import EMPTY_FILE, EMPTY_FOLDER, PROC_COPIES
from .inside.request import Request
from .inside.seccomp import MACHINES

INSIDE = Path(__file__).parent / "inside"
START = "import sys; sys.path.insert(0, '/run'); from inside import zygote; zygote.main()"
PACKAGES = (rooflib, roofkit)  # notebooks import the same versions as this process
PRELOADED = ("numpy", "numpy.random", "matplotlib.pyplot", "roofkit.check", "rooflib.plots")
PREFIX = "grading-sockets-"
PROC_FOLDER = "proc"  # subfolder of the socket folder; not a possible name of a sandbox
# Files that programs read to learn about the machine. Sandboxes see a snapshot: live files would
# let one sandbox observe what another does.
PROC_FILES = (
    *("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version", "vmstat"),
    *(f"sys/fs/{name}" for name in ("nr_open", "pipe-max-size")),
    *(f"sys/kernel/{name}" for name in ("cap_last_cap", "ngroups_max", "pid_max")),
    *(f"sys/kernel/{name}" for name in ("osrelease", "ostype", "version")),
    *(f"sys/vm/{name}" for name in ("max_map_count", "overcommit_memory")),
)
NEW_SECONDS = 60  # don't remove younger folders: they may not be locked yet
READY_SECONDS = 300  # timeout for startup, which takes 2 or 3 s on an idle machine
CAPABILITIES = ("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP")
ENVIRONMENT = {
    "HOME": "/home/learner",
    "USER": "learner",
    "LOGNAME": "learner",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "IPYTHONDIR": "/tmp/ipython",
    "JUPYTER_RUNTIME_DIR": "/tmp/jupyter",
    "MPLCONFIGDIR": "/tmp/matplotlib",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    # Numerical libraries get one thread: other notebooks are graded at the same time.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
SIGNALED = 128  # bubblewrap exits with this plus the number of the signal that ended its child
KILLED = (
    "the process that sandboxes are forked from was killed (signal {}), as a system does that is "
    "short of memory; close other programs, or give fewer --workers, and run this again"
)
UNSAFE = "GRADING_UNSAFE"
MODULES = "GRADING_MODULES"  # folder of modules that sandboxes get in addition to the environment's
ACCEPT = (
    "To grade all the same, with every submission free to read and change what you can, "
    f"accept the risk by name: --unsafe, or {UNSAFE}=1 with plain nbgrader."
)


class Refused(SystemExit):
    """A sandbox is not possible here. Ends the command with a one-line reason."""


class ForkServer:
    """A running zygote. It ends when this process ends, even by a signal.

    shared: whether processes forked from this one use it too.
    """

    process: subprocess.Popen[bytes]
    shared = False
    is_ready = False

    def __init__(self) -> None:
        refuse_what_cannot_work()
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.numbers = itertools.count(1)
        self.modules = course_modules()
        remove_stale()
        self.groups = cgroups.parent_folders()
        cgroups.remove_stale(self.groups)
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.lock_file = lock(self.folder)
        copy_proc(self.folder / PROC_FOLDER)
        # Not in a `with`: the file stays open while the zygote runs.
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Don't use --die-with-parent: if bubblewrap is killed right after it forks, its child waits
        # for it forever. The zygote ends when the control socket closes.
        with theirs:
            self.process = subprocess.Popen(
                command(self.folder, theirs.fileno()),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.errors,
                env={},
                process_group=0,  # Ctrl-C must not kill bubblewrap: its child might never end
            )
        # Don't use atexit, which the workers of a multiprocessing pool skip.
        self.at_exit = Finalize(None, self.close, exitpriority=0)

    def wait_until_ready(self) -> None:
        """Wait for the end of the zygote's imports; raise Refused if it didn't start."""
        if self.is_ready:
            return
        self.control.settimeout(READY_SECONDS)
        with contextlib.suppress(OSError):
            self.is_ready = self.control.recv(16) == b"ready"
        if not self.is_ready:
            self.close()
            raise Refused(self.complaint())

    def is_usable(self) -> bool:
        """Return whether this process may request sandboxes from a running zygote."""
        if self.modules != course_modules():
            return False
        if os.getpid() == self.pid:
            return self.process.poll() is None
        poll = select.poll()
        poll.register(self.control, 0)
        return self.shared and self.is_ready and not poll.poll(0)  # polls only for a hang-up

    def complaint(self) -> str:
        """Return one line with bubblewrap's last message, or the signal that ended it."""
        code = self.process.returncode
        if code and (code < 0 or code > SIGNALED):
            return KILLED.format(-code if code < 0 else code - SIGNALED)
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines() or [
            "it said nothing"
        ]
        return (
            f"bubblewrap could not make a sandbox: {lines[-1]}. "
            f"It needs user namespaces, which containers and some systems forbid "
            f"(see `sysctl kernel.apparmor_restrict_unprivileged_userns`). {ACCEPT}"
        )

    def send(self, request: Request, descriptors: Iterable[int]) -> None:
        """Request a sandbox with these descriptors: its life socket, then the others.

        Raise Refused if the zygote has just ended; `fork_server` then starts another.
        """
        try:
            with self.lock:
                socket.send_fds(self.control, [request.to_json()], list(descriptors))
        except ConnectionError:
            raise Refused(KILLED.format(int(signal.SIGKILL))) from None

    def close(self) -> None:
        self.at_exit.cancel()
        if os.getpid() != self.pid:
            return  # this process is a fork of the one that owns the zygote
        self.control.close()  # the zygote ends
        if not self.is_ready and self.process.poll() is None:
            # Kill bubblewrap and its child: otherwise the zygote would finish its imports first.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.lock_file is not None:
            os.close(self.lock_file)


def lock(folder: Path) -> int | None:
    """Lock a folder; return a descriptor that holds the lock, None if already locked."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def remove_stale() -> None:
    """Remove the folders left behind by graders that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            status = folder.lstat()
            if status.st_uid != os.geteuid() or time.time() - status.st_mtime < NEW_SECONDS:
                continue
            if (descriptor := lock(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(descriptor)


_current: ForkServer | None = None
_lock = threading.Lock()


def fork_server() -> ForkServer:
    """Return this process's fork server; start it if none is usable."""
    global _current
    with _lock:
        if _current is None or not _current.is_usable():
            if _current is not None:
                _current.close()
            _current = ForkServer()
        _current.wait_until_ready()
        return _current


def start_shared() -> None:
    """Start a fork server for this process and its forks, without waiting for it."""
    global _current
    with contextlib.suppress(Refused, OSError):  # `fork_server` raises the error again when needed
        _current = ForkServer()
        _current.shared = True


def wait_for_shared() -> None:
    """Wait until the fork server started by `start_shared`, if any, is ready."""
    if _current is not None:
        with contextlib.suppress(Refused):
            _current.wait_until_ready()


def refuse_what_cannot_work() -> None:
    """Raise Refused if the platform, bubblewrap or the kernel rules a sandbox out."""
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        raise Refused(f"There is no sandbox for {sys.platform} on {platform.machine()}. {ACCEPT}")
    if shutil.which("bwrap") is None:
        raise Refused(
            "bubblewrap, in which submissions are run, is missing: "
            f"sudo apt install bubblewrap. {ACCEPT}"
        )
    release = platform.release()
    if os.geteuid() != 0 and tuple(map(int, release.split("-")[0].split(".")[:2])) < (5, 14):
        raise Refused(f"Linux {release} counts processes per user; 5.14 is needed. {ACCEPT}")


def command(boxes: Path, descriptor: int) -> list[str]:
    """Return bubblewrap's command line.

    It determines what sandboxes see of the host.
    """
    words = [
        shutil.which("bwrap") or "bwrap",
        "--unshare-all",
        "--new-session",
    ]
    if os.geteuid() == 0:
        # Root needs no user namespace. In one, the sandbox's user would map to root outside.
        words = [word for word in words if word != "--unshare-all"]
        words += [f"--unshare-{name}" for name in ("ipc", "pid", "net", "uts", "cgroup-try")]
        words += ["--cap-drop", "ALL"]
        for capability in CAPABILITIES:
            words += ["--cap-add", f"CAP_{capability}"]
    else:
        words += ["--uid", "65534", "--gid", "65534"]
    words += ["--hostname", "sandbox"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    packages = {f"/run/course/{one.__name__}": one.__path__[0] for one in PACKAGES}
    for folder in ("/run/boxes", "/run/inside", PROC_COPIES, *packages, "/run/box"):
        words += parents(folder)
    words += ["--dir", "/run/box"]
    for folder in ("/tmp", "/home/learner"):
        words += [*parents(folder), "--tmpfs", folder]
    for path in readable():  # mount these after the folders that may contain them
        words += [*parents(path), "--ro-bind", path, path]
    for link in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        if Path(link).is_symlink():
            words += ["--symlink", str(Path(link).readlink()), link]
    words += ["--ro-bind", str(boxes), "/run/boxes", "--ro-bind", str(INSIDE), "/run/inside"]
    words += ["--ro-bind", str(boxes / PROC_FOLDER), PROC_COPIES]
    # The sandbox imports the same packages as this process, however they were installed here.
    for target, folder in packages.items():
        words += ["--ro-bind", folder, target]
    if modules := course_modules():
        words += ["--ro-bind", modules, "/run/modules"]
    words += font_cache()
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--clearenv"]
    path = f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin"
    for name, value in {**ENVIRONMENT, "PATH": path}.items():
        words += ["--setenv", name, value]
    words += ["--", sys.executable, "-I", "-B", "-X", "frozen_modules=on", "-c", START]
    return [*words, str(descriptor), *PRELOADED]


def copy_proc(folder: Path) -> None:
    """Copy the files of /proc that sandboxes may read.

    isolate.mount_folders mounts them.
    """
    folder.mkdir(mode=0o755)
    (folder / EMPTY_FILE).touch(mode=0)  # unreadable
    (folder / EMPTY_FOLDER).mkdir(mode=0o555)
    for name in PROC_FILES:
        target = folder / name
        for above in reversed(target.relative_to(folder).parents[:-1]):
            (folder / above).mkdir(mode=0o755, exist_ok=True)
        with contextlib.suppress(OSError):  # some machines lack some of these files
            target.write_bytes(Path("/proc", name).read_bytes())
            target.chmod(0o444)


def parents(path: str) -> list[str]:
    """Return bubblewrap options that create a path's parents, readable by all users.

    For root, bubblewrap creates private folders by default.
    """
    above = reversed(Path(path).parents[:-1])
    return [word for one in above for word in ("--perms", "0755", "--dir", str(one))]


def readable() -> tuple[str, ...]:
    """Return the host paths that sandboxes see read-only: the system's and Python's."""
    paths = ["/usr", "/etc/ld.so.cache", "/etc/fonts", "/etc/localtime"]
    paths += [link for link in ("/bin", "/lib", "/lib64") if not Path(link).is_symlink()]
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix, sys.exec_prefix)):
        # Don't mount the whole prefix: a virtual environment may contain the course folder.
        if not Path(prefix).is_relative_to("/usr"):
            paths += [f"{prefix}/{name}" for name in ("bin", "lib", "lib64", "pyvenv.cfg")]
    return tuple(path for path in paths if Path(path).exists() and not Path(path).is_symlink())


def course_modules() -> str:
    """Return the folder of a course's own modules, "" if there is none."""
    return os.environ.get(MODULES, "")


def font_cache() -> list[str]:
    """Return bubblewrap options that mount matplotlib's font cache.

    Building the cache takes a second.
    """
    from matplotlib import font_manager, get_cachedir

    name = f"fontlist-v{font_manager.FontManager.__version__}.json"
    file = Path(get_cachedir()) / name
    return ["--ro-bind", str(file), f"/tmp/matplotlib/{name}"] if file.exists() else []
