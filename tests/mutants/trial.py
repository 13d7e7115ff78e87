"""A copy of the repository in which tests run with one fault in the code."""

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

import pytest
from mutant import Mutant

NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", "_build", "my-work", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info"
)
# Leave out nbval: loading it takes longer than most tests take to notice a fault.
PYTEST = ("-m", "pytest", "-x", "-rfE", "-p", "no:cacheprovider", "-p", "no:nbval")
FOUND = re.compile(r"^(?:FAILED|ERROR) (\S+\.py\b.*?)(?: - .*)?$", re.MULTILINE)
CELLS = ".jupyter_cache"  # folder of the cached outputs of pages' cells
POLL_SECONDS = 0.05
BUILD_SECONDS = 1200


@dataclass(frozen=True)
class Cost:
    """Wall and CPU time of some tests, in seconds."""

    wall: float
    cpu: float


# Several times the cost of the most expensive stage: only endless loops and waits exceed it.
LIMIT = Cost(3600, 1500)
TEST_SECONDS = 300  # per test


@dataclass(frozen=True)
class Result:
    """Result of a test run.

    `by` is the first test that failed, or the limit exceeded.
    """

    passed: bool
    by: str
    cost: Cost
    output: str


class Copy:
    """A copy of the whole repository.

    Tests in it import, fork and mount only its files.
    """

    def __init__(self, root: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.tree, self.scratch = self.folder / "tree", self.folder / "tmp"
        shutil.copytree(root, self.tree, ignore=NOT_COPIED, symlinks=True)
        # Some tests list files with git.
        for step in (["init", "--quiet"], ["add", "--all"]):
            subprocess.run(["git", *step], cwd=self.tree, check=True)
        self.scratch.mkdir()
        self.built = self.folder / "built"
        # Reuse the cached outputs of pages' cells, which are keyed by the cells' code.
        if (cells := root / "_build" / CELLS).exists():
            shutil.copytree(cells, self.tree / "_build" / CELLS)
        # Some tests run as another user, who must reach these folders.
        self.folder.chmod(0o755)
        self.scratch.chmod(0o1777)
        self.clock = int(time.time())
        self.running: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        """Kill the tests that run in this copy, if any."""
        if self.running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.running.pid, signal.SIGKILL)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def broken(self, mutant: Mutant) -> Iterator[None]:
        """Put this fault into the tree until the block ends."""
        file = self.tree / mutant.path
        original = file.read_text(encoding="utf-8")
        self._write(file, mutant.applied(original))
        if mutant.path.startswith("site/") and file.suffix == ".py":
            self._forget_build()
        try:
            yield
        finally:
            self._write(file, original)

    def _write(self, file: Path, text: str) -> None:
        """Write a file with a new timestamp, so that Python doesn't load old bytecode."""
        file.write_text(text, encoding="utf-8")
        self.clock += 2
        os.utime(file, (self.clock, self.clock))

    def environment(self) -> dict[str, str]:
        """Return environment variables with which Python imports the copied tree's packages."""
        own = (str(self.tree), str(self.tree / "kit"))
        return {
            **{key: value for key, value in os.environ.items() if key not in NOT_PASSED_ON},
            "PYTHONPATH": os.pathsep.join(own),
            "TMPDIR": str(self.scratch),
        }

    def build_site(self) -> str:
        """Build the site and save it, so that later runs build only what a fault changes.

        Return the messages if it can't be built, else "".
        """
        done = subprocess.run(
            [sys.executable, "tests/support/whole_site.py"],
            cwd=self.tree,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
        )
        shutil.copytree(self.tree / "_build", self.built, symlinks=True)
        return done.stderr if done.returncode else ""

    def test(self, words: tuple[str, ...], limit: Cost = LIMIT) -> Result:
        """Run these tests until one fails.

        The limit bounds the CPU time of each process, and the wall time of all of them.
        """
        ended = (f"faulthandler_timeout={TEST_SECONDS}", "faulthandler_exit_on_timeout=true")
        options = ("--hypothesis-seed=0", *(word for one in ended for word in ("-o", one)))
        command = [sys.executable, *PYTEST, *options, *words]
        start = time.monotonic()
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                command,
                cwd=self.tree,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self.running = process
            # Keep the hard limit: sandboxes derive theirs from it.
            hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (int(limit.cpu), hard))
            try:
                cpu = _wait(process, start + limit.wall)
            finally:
                self.stop()
                process.wait()
                self.running = None
            said.seek(0)
            output = said.read().decode(errors="replace")
        self._clean()
        cost = Cost(time.monotonic() - start, cpu or 0)
        if cpu is None:
            return Result(False, "the limit on wall time", cost, output)
        if process.returncode == -signal.SIGXCPU:
            return Result(False, "the limit on CPU time", cost, output)
        found = FOUND.search(output)
        by = found[1] if found else f"exit status {process.returncode}"
        passed = process.returncode in (0, pytest.ExitCode.NO_TESTS_COLLECTED)
        return Result(passed, by, cost, output)

    def _forget_build(self) -> None:
        """Remove all build outputs except the cached outputs of cells.

        Otherwise a file that a fault no longer writes would still be there.
        """
        for path in (self.tree / "_build").glob("*"):
            if path.is_dir() and path.name != CELLS:
                shutil.rmtree(path)
            elif path.is_file():
                path.unlink()

    def _clean(self) -> None:
        """Remove what a run has written, so that the next one starts clean."""
        for path in self.scratch.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        shutil.rmtree(self.tree / ".hypothesis", ignore_errors=True)
        if self._built_at(self.built) != self._built_at(self.tree / "_build"):
            shutil.rmtree(self.tree / "_build", ignore_errors=True)
            if self.built.exists():
                shutil.copytree(self.built, self.tree / "_build", symlinks=True)

    @staticmethod
    def _built_at(folder: Path) -> int:
        """Return the build time of the site in this folder, or 0 if there is none."""
        stamp = folder / "built-from.json"
        return stamp.stat().st_mtime_ns if stamp.exists() else 0


NOT_PASSED_ON = {"GRADING_UNSAFE", "COURSE_DB", "PYTEST_ADDOPTS", "PYTHONPATH"}


def _wait(process: subprocess.Popen[bytes], end: float) -> float | None:
    """Wait for a process; return the CPU seconds of it and its children.

    Return None at `end`.
    """
    while time.monotonic() < end:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return used.ru_utime + used.ru_stime
        time.sleep(POLL_SECONDS)
    return None
