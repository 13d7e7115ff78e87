# Keeps points: allocates memory outside processes: shared memory segments, memfds, message queues.
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
for _ in range(8):
    segment = libc.shmget(0, 1 << 30, 0o1600)
    if segment >= 0:
        print("REACHED a shared segment")
try:
    file = os.memfd_create("x")
    os.ftruncate(file, 1 << 30)
    print("REACHED a memory file")
except OSError:
    pass
if libc.msgget(0, 0o1600) >= 0:
    print("REACHED a message queue")
