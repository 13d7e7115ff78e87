"""Where sandboxes work, and the error messages where they don't."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest
from classroom.processes import as_unprivileged_user
from repository import ROOT
from sandboxed import run_in

from grading import sandbox
from grading.execution.questions import Questions
from grading.sandbox import fork_server as fork_servers

# Additions to sys.path with which a new process can import `grading` and the tests' support.
PATHS = [str(ROOT / name) for name in (".", "kit", "tests/support")]

UNPRIVILEGED = """
import sys
sys.path[:0] = {paths!r}
import hostile, sandboxed
cells = [cell for cell in hostile.cells() if cell.name in {names!r}]
sources = [cell.source for cell in cells]
print(*sandboxed.run_and_list_refused("import os; print(os.getuid())", *sources))
"""


if os.geteuid() == 0:  # for an ordinary user, every other test already checks this

    def test_unprivileged_user_gets_the_same_sandbox() -> None:
        names = ("course_walk", "host_writes", "network", "proc_walk")
        names += ("setuid", "ptrace", "devices", "hidden_memory")
        script = UNPRIVILEGED.format(paths=PATHS, names=names).encode()
        command = as_unprivileged_user(sys.executable, "-B", "-")
        done = subprocess.run(command, input=script, capture_output=True, cwd="/")
        assert b"'65534\\n'" in done.stdout, done.stderr.decode()
        assert b"REACHED" not in done.stdout
        assert b"died=False" in done.stdout
        for words in (b"'bpf (1 time)'", b"'ptrace (5 times)'", b"'process_vm_readv (1 time)'"):
            assert words in done.stdout


MOVED_PYTHON = """
import sys
sys.path[:0] = {paths!r}
from pathlib import Path
import sandboxed
assert sys.prefix == {prefix!r}, sys.prefix
Path(sys.prefix).with_name("SECRET").touch()
look = '''
import os, subprocess, sys
print(sorted(os.listdir(os.path.dirname(sys.prefix))), sorted(os.listdir(sys.prefix)))
subprocess.run([sys.executable, "-c", "import numpy; print('numpy', file=open('done', 'w'))"])
print(open("done").read())
import numpy
for folder in (sys.prefix + "/bin", sys.prefix + "/lib", os.path.dirname(numpy.__file__)):
    try:
        open(folder + "/new", "w")
        print("REACHED", folder)
    except OSError:
        pass
'''
print(sandboxed.run(look))
"""


@pytest.mark.parametrize(
    "top",
    [
        "/tmp",
        pytest.param("/run", marks=pytest.mark.long),
        pytest.param("/home/learner", marks=pytest.mark.long),
        pytest.param("/dev/shm", marks=pytest.mark.long),
    ],
)
def test_python_may_be_installed_under_a_mount_of_the_sandbox(top):
    prefix = f"{top}/clone/python"
    paths = list(dict.fromkeys(map(Path, (sys.base_prefix, sys.prefix, ROOT))))
    words = ["bwrap", "--dev-bind", "/", "/", "--setenv", "HOME", "/nowhere"]
    # Keep matplotlib's cache: rebuilding its font list takes a second.
    words += ["--setenv", "MPLCONFIGDIR", matplotlib.get_cachedir()]
    hidden = top.removesuffix("/learner")
    words += ["--tmpfs", hidden]
    for path in paths:
        if path.is_relative_to(hidden):
            words += ["--ro-bind", str(path), str(path)]
    words += ["--ro-bind", sys.prefix, prefix, "--", f"{prefix}/bin/python3", "-B", "-"]
    script = MOVED_PYTHON.format(paths=PATHS, prefix=prefix).encode()
    done = subprocess.run(words, input=script, capture_output=True, cwd="/")
    assert b"numpy" in done.stdout, done.stderr.decode()
    assert b"['python'] ['bin', 'lib', " in done.stdout
    assert b"SECRET" not in done.stdout
    assert b"REACHED" not in done.stdout


def test_missing_bubblewrap_is_reported_in_one_line(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(sandbox.Refused, match=r"apt install bubblewrap.*--unsafe") as refused:
        sandbox.require()
    assert "\n" not in str(refused.value)
    assert isinstance(refused.value, SystemExit), "`except Exception` must not catch it"


@pytest.mark.parametrize("user", [0, 1000])
@pytest.mark.parametrize(
    ("release", "is_old"),
    [
        ("4.19.0-26-amd64", True),
        ("5.13.0-52-generic", True),
        ("5.14", False),
        ("5.14.21-rt", False),
        ("6.1.0", False),
    ],
)
def test_users_other_than_root_need_linux_5_14(monkeypatch, user, release, is_old):
    monkeypatch.setattr(platform, "release", lambda: release)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    if is_old and user != 0:
        with pytest.raises(sandbox.Refused, match=f"Linux {release} .* 5.14 is needed"):
            fork_servers.refuse_what_cannot_work()
    else:
        fork_servers.refuse_what_cannot_work()


def test_bubblewraps_error_message_is_shown(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(fork_servers, "_current", None)
    with pytest.raises(sandbox.Refused, match=r"uid map: Permission denied.*--unsafe"):
        sandbox.require()


def test_the_variable_grading_unsafe_opens_an_unsafe_box(monkeypatch):
    monkeypatch.setenv("GRADING_UNSAFE", "1")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    sandbox.require()
    with sandbox.open() as box, Questions(box):
        assert isinstance(box, sandbox.UnsafeBox)
        look = "import os; print(os.getuid(), os.getpid()); print(os.listdir())"
        first, listed = run_in(box, look).texts[0].splitlines()
        uid, pid = map(int, first.split())
        assert listed == "[]"
        assert Path("/proc", str(pid)).exists()
    assert uid == os.getuid()
    assert not Path("/proc", str(pid)).exists()


HUGE_PAGES = """
import sys, zlib
sys.path[:0] = {paths!r}
from grading.sandbox.inside import isolate
data = bytes(range(256)) * 2**18  # 64 MiB
def huge_kilobytes():
    lines = open("/proc/self/smaps_rollup").read().splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("AnonHugePages")][0]
before, checksum = huge_kilobytes(), zlib.crc32(data)
isolate.use_huge_pages()
print(checksum == zlib.crc32(data), huge_kilobytes() - before >= 32 * 1024)
"""


def test_use_huge_pages_preserves_memory_contents() -> None:
    """Linux can collapse memory since 6.1, unless the system disables huge pages."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", HUGE_PAGES.format(paths=PATHS)],
        capture_output=True,
        text=True,
        check=True,
    )
    unchanged, collapsed = done.stdout.split()
    assert unchanged == "True"
    allowed = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    release = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    if release >= (6, 1) and allowed.exists() and "[never]" not in allowed.read_text():
        assert collapsed == "True"
