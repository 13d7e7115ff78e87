# Gets no points: exceeds the memory limit with processes that no other of its user may look into.
import ctypes
import os
import time

HIDDEN = 4  # PR_SET_DUMPABLE, of prctl
for _ in range(12):
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(HIDDEN, 0, 0, 0, 0)
        hoard = b"x" * (400 << 20)
        time.sleep(600)
time.sleep(60)
print("REACHED 4.8 GB")
