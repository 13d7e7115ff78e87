# Keeps points: reads other processes' files in /proc, and opens files that control the machine.
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
            with (Path("/proc") / name).open(mode) as file:
                if mode == "wb" or "sys/" not in name:
                    print("REACHED", name, mode)
        except OSError:
            pass
