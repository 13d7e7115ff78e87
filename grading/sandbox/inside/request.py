"""The grader's request to the zygote for one sandbox with given limits."""

import json
from dataclasses import asdict, dataclass

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class SandboxLimits:
    """Resource limits of a sandbox, in bytes and seconds.

    Time is limited in CPU seconds. The wall-clock limit is only a backstop for code that sleeps,
    and generous, because load on the machine must not end a notebook that would finish when idle.
    """

    process_bytes: int = 3072 * MEGABYTE  # address space of each process
    memory_bytes: int = 2048 * MEGABYTE  # held by all processes together
    scratch_bytes: int = 64 * MEGABYTE  # each of /tmp, the home folder and /dev/shm
    file_bytes: int = 32 * MEGABYTE
    open_files: int = 256
    processes: int = 64  # threads count as processes
    pending_signals: int = 1024  # timers count as signals
    cpu_seconds: int = 300  # of each process
    wall_seconds: float = 1800


@dataclass(frozen=True)
class Request:
    """A request for one sandbox, sent over the zygote's socket with descriptors.

    box: name of its folder of sockets. user: user and group id of its processes, 0 to keep the
    zygote's. readable: host paths that are visible read-only. groups: how many of those
    descriptors, the last ones, are cgroup.procs files.
    """

    box: str
    user: int
    readable: tuple[str, ...]
    limits: SandboxLimits
    groups: int

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> "Request":
        fields = json.loads(text)
        fields["readable"] = tuple(fields["readable"])
        fields["limits"] = SandboxLimits(**fields["limits"])
        return cls(**fields)
