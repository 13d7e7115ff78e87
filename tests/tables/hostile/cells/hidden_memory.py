# Keeps points: takes memory that counts for no process: segments, files, queues, shared memory.
import ctypes
import mmap
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
for name in ("nothing", "/dev/zero"):
    try:
        file = -1 if name == "nothing" else os.open(name, os.O_RDWR)
        shared = mmap.mmap(file, 1 << 20)
        shared.write(bytes(1 << 20))
        shared.madvise(mmap.MADV_DONTNEED)  # now out of sight, and still there
        print("REACHED shared memory of", name)
    except OSError:
        pass
