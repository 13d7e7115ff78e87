"""Isolated execution of learners' code, without privileges and within limits.

    with sandbox.open() as box:
        channel = box.channel()   # connects to the process that runs cells; see cell_channel.py
        ...
        # put sockets into box.folder on the host: the sandbox sees it as box.inside, read-only
    # at this point every process of the sandbox has ended

`require()` starts a sandbox as a trial, and raises Refused with a one-line reason if that fails.
`refuse_what_cannot_work()` raises it for reasons that are known without a trial. Setting
GRADING_UNSAFE=1 accepts the risk: then `open()` returns a box with the same interface, but without
isolation.
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
