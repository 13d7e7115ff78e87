# Keeps points: looks in /proc for other processes, and for what Linux counts for all boxes.
import os

for folder, folders, files in os.walk("/proc"):
    for name in folders + files:
        print("REACHED", folder, name)
for name in ("self/smaps", "1/environ", "sysrq-trigger", "sys/kernel/core_pattern", "kcore"):
    for mode in ("rb", "wb"):
        try:
            open(f"/proc/{name}", mode).close()
            print("REACHED", name, mode)
        except OSError:
            pass
