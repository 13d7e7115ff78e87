"""Runs learners' code isolated, without privileges and within limits.

    with sandbox.open() as box:
        channel = box.channel()   # to the process that runs cells; see cell_channel.py
        ...
        # for sockets: box.folder on the host is the read-only folder box.inside in the sandbox
    # here every process that was started in the box has ended

`require()` starts one and raises Refused, one line that says why, if that is not possible;
`refuse_what_cannot_work()` raises it for what is known without a trial. Setting GRADING_UNSAFE=1
accepts the risk: then `open()` returns a box with the same interface and no isolation.
"""

from .box import Box, UnsafeBox, accepted, open, require
from .fork_server import Refused, refuse_what_cannot_work
from .inside.request import SandboxLimits

__all__ = [
    "Box",
    "Refused",
    "SandboxLimits",
    "UnsafeBox",
    "accepted",
    "open",
    "refuse_what_cannot_work",
    "require",
]
