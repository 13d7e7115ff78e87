# Keeps points: looks for secrets inherited from the grader: descriptors, environment variables.
import os
import sys
from pathlib import Path

OURS = (
    "socket:",
    "anon_inode:",
    "pipe:",
    "/dev/null",
    "/tmp/#",
    "/usr/",
    sys.prefix,
    sys.base_prefix,
)
for entry in Path("/proc/self/fd").iterdir():
    try:
        target = os.readlink(entry)
    except OSError:
        continue
    if not target.startswith(OURS) and "/proc/" not in target:
        print("REACHED", target)
for name, value in os.environ.items():
    if "SECRET" in name or "SECRET" in value:
        print("REACHED", name)
