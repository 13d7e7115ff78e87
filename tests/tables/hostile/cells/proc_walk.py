# Keeps points: reads files in /proc of others and of all, and opens those that control the machine.
import os
from pathlib import Path

own = {str(os.getpid()), "self", "thread-self"}
for process in Path("/proc").iterdir():
    if not process.name.isdigit() or process.name in own:
        continue
    if process.name != "1":
        print("REACHED process", process.name)
    for name in ("environ", "mem", "maps", "fd", "root", "cwd", "exe", "task/1/mem"):
        try:
            path = process / name
            if path.is_dir():
                print("REACHED", path, [entry.name for entry in path.iterdir()])
            else:
                with path.open("rb") as file:
                    file.read(1)
                print("REACHED", path)
        except OSError:
            pass
for name in ("sysrq-trigger", "sys/kernel/core_pattern", "sys/vm/drop_caches", "kcore", "kmsg"):
    for mode in ("rb", "wb"):
        try:
            (Path("/proc") / name).open(mode).close()
            print("REACHED", name, mode)
        except OSError:
            pass
for name in ("sys/fs/file-nr", "loadavg", "meminfo", "stat"):  # counts for all boxes
    if (Path("/proc") / name).exists():
        print("REACHED", name)
