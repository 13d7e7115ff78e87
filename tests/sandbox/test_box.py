"""Boxes: what they leave in the grader's process, and boxes without isolation."""

import contextlib
import signal
from pathlib import Path

import pytest

from grading import sandbox
from grading.sandbox import box as boxes


def open_files() -> dict[str, str]:
    """Return this process's open files: descriptor → what its /proc link points to."""
    found = {}
    for one in Path("/proc/self/fd").iterdir():
        try:
            found[one.name] = str(one.readlink())
        except FileNotFoundError:  # the listing's own descriptor
            continue
    return found


@pytest.mark.parametrize("times", [1, 2])
def test_a_closed_box_leaves_no_file_open(times: int) -> None:
    """Check open files right after the box is closed, before garbage collection.

    A grader of a large class would otherwise run out of descriptors.
    """
    with sandbox.open():
        pass  # starts the fork server, which keeps running
    before = open_files()
    box = sandbox.open()
    with box:
        assert len(open_files()) > len(before)
    for _ in range(times - 1):
        box.close()
    assert open_files() == before


def test_a_closed_box_without_isolation_leaves_no_process_folder_or_open_file() -> None:
    box = sandbox.open(unsafe=True)
    assert box.poll() is None
    box.signal(signal.SIGTERM)  # does not fail, although no process runs yet
    with box:
        before = open_files()
        channel = box.channel()
        process = box._process
        folders = [Path(folder.name) for folder in box._folders]
        assert box.folder in folders
        assert box.poll() is None
        assert all(folder.is_dir() for folder in folders)
    assert open_files() == before
    assert channel.connection.fileno() < 0
    assert process.returncode == -signal.SIGKILL
    assert not any(folder.exists() for folder in folders)
    assert not box._clock.is_alive()
    assert box.stopped == ""


@pytest.mark.parametrize("seconds", [0.01, -0.01])
def test_a_box_without_isolation_is_stopped_at_its_wall_clock_limit(seconds: float) -> None:
    """Test negative limits too: the time may already be over when a box starts."""
    limits = sandbox.SandboxLimits(wall_seconds=seconds)
    with sandbox.open(limits, unsafe=True) as box:
        assert box._clock.daemon, "a grader that ends must not wait for it"
        box._clock.join()
        assert box.stopped == "time"
    with sandbox.open(limits, unsafe=True) as box:
        box.channel()
        box._clock.join()
        assert (box.stopped, box._process.wait()) == ("time", -signal.SIGKILL)
        assert box.poll() == -signal.SIGKILL


@pytest.mark.parametrize("unsafe", [None, True, False])
@pytest.mark.parametrize("accepted", ["", "1"])
def test_a_box_lacks_isolation_only_if_an_argument_or_grading_unsafe_says_so(
    monkeypatch: pytest.MonkeyPatch, unsafe: bool | None, accepted: str
) -> None:
    monkeypatch.setenv("GRADING_UNSAFE", accepted)
    monkeypatch.setattr(boxes, "Box", lambda limits: ("isolated", limits))
    monkeypatch.setattr(boxes, "UnsafeBox", lambda limits: ("unsafe", limits))
    limits = sandbox.SandboxLimits(wall_seconds=7)
    kind = "unsafe" if (bool(accepted) if unsafe is None else unsafe) else "isolated"
    assert sandbox.open(limits, unsafe) == (kind, limits)


@pytest.mark.parametrize(("accepted", "tried"), [("", ["checked", "made"]), ("1", [])])
def test_require_tries_a_sandbox_unless_grading_unsafe_is_set(
    monkeypatch: pytest.MonkeyPatch, accepted: str, tried: list[str]
) -> None:
    found: list[str] = []

    def made(_: object) -> contextlib.nullcontext[None]:
        found.append("made")
        return contextlib.nullcontext()

    monkeypatch.setenv("GRADING_UNSAFE", accepted)
    monkeypatch.setattr(boxes, "refuse_what_cannot_work", lambda: found.append("checked"))
    monkeypatch.setattr(boxes, "Box", made)
    sandbox.require(config=None)
    assert found == tried
