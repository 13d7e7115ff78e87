"""Where learners' code runs: isolated, without privileges, within limits.

    with sandbox.open() as box:
        manager = box.kernel_manager()   # for a NotebookClient or a kernel client
        ...
        # box.folder on the host is the read-only folder box.inside in there, for sockets
    # here every process that was started in the box is gone

`require()` says in one line why there can be no sandbox, before anything has been graded;
`refuse_what_cannot_work()` does it at once for what needs no trial. Whoever sets GRADING_UNSAFE=1
accepts the risk, and gets the same interface with nothing behind it.
"""

from .box import Box, SandboxLimits, Unsafe, accepted, open, require
from .fork_server import Refused, refuse_what_cannot_work

__all__ = [
    "Box",
    "Refused",
    "SandboxLimits",
    "Unsafe",
    "accepted",
    "open",
    "refuse_what_cannot_work",
    "require",
]
