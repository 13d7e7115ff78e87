"""What a box leaves in the grader's process."""

from pathlib import Path

import pytest

from grading import sandbox


def open_files() -> dict[str, str]:
    """Return descriptor → what it leads to, of this process."""
    found = {}
    for one in Path("/proc/self/fd").iterdir():
        try:
            found[one.name] = str(one.readlink())
        except FileNotFoundError:  # the listing's own descriptor
            continue
    return found


@pytest.mark.parametrize("times", [1, 2])
def test_a_closed_box_leaves_no_file_open(times: int) -> None:
    """Check open files right after the box is closed, before it is collected.

    A grader of a large class would otherwise run out of descriptors.
    """
    with sandbox.open():
        pass  # starts the server, which keeps running
    before = open_files()
    box = sandbox.open()
    with box:
        assert len(open_files()) > len(before)
    for _ in range(times - 1):
        box.close()
    assert open_files() == before
