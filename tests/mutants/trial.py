"""A copy of the repository in which a fault is put in, and the tests run on it."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mutate import Mutant

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "_build", "my-work", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info"
)
# The plugin for notebooks takes longer to start than most faults take to be noticed.
PYTEST = ("-m", "pytest", "-x", "-rfE", "-p", "no:cacheprovider", "-p", "no:nbval")
FOUND = re.compile(r"^(?:FAILED|ERROR) (\S+\.py\b.*?)(?: - .*)?$", re.MULTILINE)
LOOK_SECONDS = 0.05


@dataclass(frozen=True)
class Cost:
    """Seconds that some tests took: on the clock, and of computing."""

    wall: float
    cpu: float


LONGEST = Cost(1200, 1200)
LEAST = Cost(120, 60)


@dataclass(frozen=True)
class Result:
    """What came of a run of tests. `by`: the test that failed first, or what ended the run."""

    passed: bool
    by: str
    cost: Cost
    output: str


class Copy:
    """The whole repository once more, so that what is imported, forked or bound is the copy's."""

    def __init__(self, root: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.tree, self.scratch = self.folder / "tree", self.folder / "tmp"
        shutil.copytree(root, self.tree, ignore=LEFT_OUT, symlinks=True)
        self.scratch.mkdir()
        # Some tests work as another user.
        self.folder.chmod(0o755)
        self.scratch.chmod(0o1777)
        self.clock = int(time.time())
        self.running: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        """End the tests that run here, if there are any."""
        if self.running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.running.pid, signal.SIGKILL)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def broken(self, mutant: Mutant) -> Iterator[None]:
        """The tree with this fault in it."""
        file = self.tree / mutant.path
        sound = file.read_text(encoding="utf-8")
        self._write(file, mutant.applied(sound))
        try:
            yield
        finally:
            self._write(file, sound)

    def _write(self, file: Path, text: str) -> None:
        """With a new time for each text, or Python would take the bytecode of the one before."""
        file.write_text(text, encoding="utf-8")
        self.clock += 2
        os.utime(file, (self.clock, self.clock))

    def test(self, words: tuple[str, ...], usual: Cost | None = None) -> Result:
        """Run these tests until one fails. `usual`: what they take without a fault.

        The limits are several times that, so that only what never ends meets them: of computing
        for each process, and on the clock for what waits for ever.
        """
        most = LONGEST
        if usual is not None:
            most = Cost(LEAST.wall + 3 * usual.wall, LEAST.cpu + 3 * usual.cpu)
        own = (str(self.tree), str(self.tree / "kit"))
        environment = {
            **{key: value for key, value in os.environ.items() if key not in TAKEN_OUT},
            "PYTHONPATH": os.pathsep.join(own),
            "TMPDIR": str(self.scratch),
        }
        command = [sys.executable, *PYTEST, "--hypothesis-seed=0", *words]
        start = time.monotonic()
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                command,
                cwd=self.tree,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self.running = process
            # The hard limit stays: a sandbox takes it for its own.
            hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (int(most.cpu), hard))
            try:
                cpu = _wait(process, start + most.wall)
            finally:
                self.stop()
                process.wait()
                self.running = None
            said.seek(0)
            output = said.read().decode(errors="replace")
        self._clean()
        cost = Cost(time.monotonic() - start, cpu or 0)
        if cpu is None:
            return Result(False, "the limit on the clock", cost, output)
        if process.returncode == -signal.SIGXCPU:
            return Result(False, "the limit of computing", cost, output)
        found = FOUND.search(output)
        by = found[1] if found else f"exit status {process.returncode}"
        return Result(process.returncode == 0, by, cost, output)

    def _clean(self) -> None:
        """Nothing of one run is there in the next."""
        for path in self.scratch.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        for name in (".hypothesis", "_build"):
            shutil.rmtree(self.tree / name, ignore_errors=True)


TAKEN_OUT = {"GRADING_UNSAFE", "COURSE_DB", "PYTEST_ADDOPTS", "PYTHONPATH"}


def _wait(process: subprocess.Popen[bytes], end: float) -> float | None:
    """Seconds of computing of the process and what it waited for; None if it was too late."""
    while time.monotonic() < end:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return used.ru_utime + used.ru_stime
        time.sleep(LOOK_SECONDS)
    return None
