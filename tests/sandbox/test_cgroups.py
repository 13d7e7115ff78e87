"""Cgroups of sandboxes, tested with ordinary folders in place of cgroupfs.

If this machine lets root create cgroups, one more test uses a real one: see REAL.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandboxed import LIMITS, run_in

from grading import sandbox
from grading.sandbox import cgroups
from grading.sandbox import fork_server as fork_servers
from grading.sandbox.cgroups import PREFIX, Group, parent_folders

VERSION_2 = {"memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cgroup.procs"}
VERSION_1 = {"memory.limit_in_bytes", "tasks", "cgroup.procs"}
MOST = LIMITS.memory_bytes + 3 * LIMITS.scratch_bytes + (256 << 20)


@pytest.fixture
def kernel_files(monkeypatch: pytest.MonkeyPatch) -> dict[Path, set[str]]:
    """Imitate cgroupfs; return an empty table: folder → files of new subfolders."""
    known: dict[Path, set[str]] = {}
    make, remove = Path.mkdir, Path.rmdir

    def mkdir(path: Path, *rest: object, **more: object) -> None:
        make(path, *rest, **more)  # type: ignore[arg-type]
        for name in known.get(path.parent, ()):
            (path / name).touch()

    def rmdir(path: Path) -> None:
        for name in known.get(path.parent, ()):
            (path / name).unlink()
        remove(path)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", rmdir)
    return known


@pytest.fixture
def named(
    tmp_path: Path, kernel_files: dict[Path, set[str]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Set GRADING_CGROUP to a folder; close the fork server that the test starts."""
    kernel_files[tmp_path] = VERSION_2
    monkeypatch.setenv(cgroups.VARIABLE, str(tmp_path))
    monkeypatch.setattr(fork_servers, "_current", None)
    yield tmp_path
    server = fork_servers._current
    assert server is not None
    server.close()


def test_a_cgroup_gets_the_sandbox_limits_in_v2_and_v1(
    tmp_path: Path, kernel_files: dict[Path, set[str]]
) -> None:
    for name, files in (("two", VERSION_2), ("memory", VERSION_1), ("pids", {"pids.max"})):
        (tmp_path / name).mkdir()
        kernel_files[tmp_path / name] = files
    opened = list(Path("/proc/self/fd").iterdir())
    group = Group([tmp_path / name for name in ("two", "memory", "pids")], "7-1", LIMITS)
    assert list(Path("/proc/self/fd").iterdir()) == opened
    two, memory, pids = group.folders
    assert two.name == f"{PREFIX}7-1"
    texts = {path.name: path.read_text() for path in two.iterdir()}
    assert texts == {
        "memory.max": str(MOST),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": str(LIMITS.processes),
        "cgroup.procs": "",
    }
    assert (memory / "memory.limit_in_bytes").read_text() == str(MOST)
    assert (pids / "pids.max").read_text() == str(LIMITS.processes)
    files = group.open()
    assert len(files) == 2, "the third has no cgroup.procs"
    for file in files:
        os.close(file)
    group.remove()
    assert not [path for folder in group.folders for path in [folder] if path.exists()]


def test_notebook_joins_the_cgroup_and_init_does_not(named: Path) -> None:
    with sandbox.open(LIMITS) as box:
        assert run_in(box, "print(1)").texts == ["1\n"]
        (folder,) = named.iterdir()
        assert (folder / "cgroup.procs").read_text() == "0", (
            "the notebook must join, and nothing else"
        )
        opened = "import os\nprint([os.readlink(f'/proc/self/fd/{n}') for n in range(3, 9)\n"
        opened += "       if os.path.lexists(f'/proc/self/fd/{n}')])"
        assert "cgroup" not in run_in(box, opened).texts[0]
    assert list(named.iterdir()) == []


def test_an_out_of_memory_kill_is_reported(named: Path) -> None:
    for name, text, stopped in (
        ("memory.events", "low 0\nhigh 9\noom 1\noom_kill 1\n", "memory"),
        ("memory.events", "low 0\nhigh 9\noom 1\noom_kill 0\n", ""),
        ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", "memory"),
        ("memory.events", "nonsense\n\n", ""),
    ):
        with sandbox.open(LIMITS) as box:
            (folder,) = named.iterdir()
            (folder / name).write_text(text)
            assert run_in(box, "import os\nos._exit(1)").died
            assert box.stopped == stopped, text
            (folder / name).unlink()


def test_sandbox_works_if_no_cgroup_can_be_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = Group([tmp_path / "missing"], "1-1", LIMITS)
    assert (group.folders, group.open(), group.ran_out_of_memory()) == ([], [], False)
    group.remove()
    monkeypatch.setenv(cgroups.VARIABLE, str(tmp_path / "missing"))
    monkeypatch.setattr(fork_servers, "_current", None)
    with sandbox.open(LIMITS) as box:
        assert run_in(box, "print(1)").texts == ["1\n"]
    server = fork_servers._current
    assert server is not None
    server.close()


def test_stale_cgroups_of_killed_graders_are_removed(tmp_path: Path) -> None:
    mine, gone = (tmp_path / f"{PREFIX}{pid}-1" for pid in (os.getpid(), 1 << 23))
    for folder in (mine, gone, tmp_path / "another"):
        folder.mkdir()
    cgroups.remove_stale([tmp_path])
    assert {path.name for path in tmp_path.iterdir()} == {mine.name, "another"}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a made-up cgroup v2 mount, with this process in /user/app/shell."""
    top = tmp_path / "cgroup"
    (top / "user" / "app" / "shell").mkdir(parents=True)
    for folder in (top, top / "user", top / "user" / "app", top / "user" / "app" / "shell"):
        (folder / "cgroup.procs").touch()
        (folder / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (top / "user" / "app" / "shell" / "cgroup.subtree_control").write_text("")
    proc = tmp_path / "proc" / "self"
    proc.mkdir(parents=True)
    (proc / "mountinfo").write_text(
        "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        f"31 24 0:27 / {top} rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
    )
    (proc / "cgroup").write_text("4:memory:/x\n0::/user/app/shell\n")
    monkeypatch.setattr(cgroups, "PROC", tmp_path / "proc")
    monkeypatch.delenv(cgroups.VARIABLE, raising=False)
    return top


def test_nearest_delegated_folder_is_used(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = tree.stat().st_uid or 1000
    for folder in (tree / "user", tree / "user" / "app"):
        os.chown(folder, user, -1) if os.geteuid() == 0 else None
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert parent_folders() == [tree / "user" / "app"]
    control = tree / "user" / "app" / "cgroup.subtree_control"
    control.write_text("pids\n")
    assert parent_folders() == [tree / "user"]
    control.unlink()
    assert parent_folders() == [tree / "user"]


@pytest.mark.parametrize("refused", [".", "cgroup.procs"])
def test_a_folder_is_skipped_if_it_or_its_cgroup_procs_is_not_writable(
    tree: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    monkeypatch.setattr(cgroups, "_marked", lambda folder, name: name == "trusted.delegate")
    app = tree / "user" / "app"
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != (app / refused, os.W_OK))
    assert parent_folders() == [tree / "user"]


def test_folders_above_the_mount_are_not_used(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree.parent / "cgroup.procs").touch()
    (tree.parent / "cgroup.subtree_control").write_text("memory pids\n")
    monkeypatch.setattr(cgroups, "_marked", lambda folder, _: folder == tree.parent)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert parent_folders() == []


@pytest.mark.parametrize(("value", "marked"), [(b"1", True), (b"0", False), (None, False)])
def test_a_folder_is_marked_as_delegated_if_its_xattr_is_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: bytes | None, marked: bool
) -> None:
    def read(path: Path, name: str) -> bytes:
        if value is None:
            raise OSError
        assert (path, name) == (tmp_path, "user.delegate")
        return value

    monkeypatch.setattr(os, "getxattr", read)
    assert cgroups._marked(tmp_path, "user.delegate") is marked


def test_root_uses_only_cgroups_marked_as_delegated(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked: set[Path] = set()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(
        cgroups, "_marked", lambda folder, name: folder in marked and name == "user.delegate"
    )
    assert parent_folders() == []
    marked.add(tree / "user" / "app")
    assert parent_folders() == [tree / "user" / "app"]


def test_parent_folders_come_from_grading_cgroup_if_proc_names_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "PROC", tmp_path)
    monkeypatch.delenv(cgroups.VARIABLE, raising=False)
    assert parent_folders() == []
    monkeypatch.setenv(cgroups.VARIABLE, "/one::/two:")
    assert parent_folders() == [Path("/one"), Path("/two")]


def _real() -> Path | None:
    """Return the root of the v1 pids hierarchy if this process may use it."""
    top = Path("/sys/fs/cgroup/pids")
    lines = Path("/proc/self/cgroup").read_text().splitlines() if top.exists() else []
    at_top = any(line.split(":", 1)[1] == "pids:/" for line in lines)
    return top if os.geteuid() == 0 and at_top and os.access(top, os.W_OK) else None


REAL = _real()


if REAL is not None:

    def test_real_cgroup_limits_and_counts_processes_and_is_removed(
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        assert REAL is not None
        monkeypatch.setenv(cgroups.VARIABLE, str(REAL))
        monkeypatch.setattr(fork_servers, "_current", None)
        with sandbox.open(LIMITS) as box:
            look = "print([line for line in open('/proc/self/cgroup') if 'pids' in line][0])"
            (text,) = run_in(box, look).texts
            (folder,) = REAL.glob(f"{PREFIX}{os.getpid()}-*")
            assert folder.name in text
            assert (folder / "pids.max").read_text().strip() == str(LIMITS.processes)
            assert (folder / "pids.current").read_text().strip() == "1"
        assert not folder.exists()
        server = fork_servers._current
        assert server is not None
        server.close()
