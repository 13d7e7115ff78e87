# Keeps points: tries to raise its limits: memory, files, processes, priority, OOM score, cgroups.
import os
import resource
from pathlib import Path

NAMES = ("RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_CPU", "RLIMIT_CORE")
for name in NAMES:
    limit = getattr(resource, name)
    try:
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("REACHED", name)
    except (OSError, ValueError):
        pass
    if resource.getrlimit(limit)[1] == resource.RLIM_INFINITY:
        print("REACHED no limit:", name)
try:
    os.nice(-30)
    print("REACHED a higher priority")
except OSError:
    pass
for path, text in (("/proc/self/oom_score_adj", "-1000"), ("/proc/1/oom_score_adj", "1000")):
    try:
        Path(path).write_text(text)
        print("REACHED", path)
    except OSError:
        pass
for path in Path("/sys/fs/cgroup").glob("*"):
    try:
        path.open("ab").close()
        print("REACHED", path)
    except OSError:
        pass
