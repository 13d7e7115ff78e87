# Keeps points: takes memory outside processes: shared segments, memfds, message queues, requests.
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
io_setup = {"x86_64": 206}.get(os.uname().machine, 0)
if libc.syscall(io_setup, 60_000, ctypes.byref(ctypes.c_ulong(0))) == 0:
    print("REACHED most asynchronous requests that the machine has")
