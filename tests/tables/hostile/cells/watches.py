# Keeps points: watches files that all sandboxes see, to hear who else opens or reads them.
import ctypes
import fcntl
import mmap
import os
import resource
import signal

libc = ctypes.CDLL(None, use_errno=True)
SHARED = os.__file__
heard = []
signal.signal(signal.SIGIO, lambda *_: heard.append("a signal for a folder"))
folder = os.open(os.path.dirname(SHARED), os.O_RDONLY)
fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
watch = libc.inotify_init1(os.O_NONBLOCK)
if watch >= 0:
    libc.inotify_add_watch(watch, SHARED.encode(), 0xFFF)
file = os.open(SHARED, os.O_RDONLY)
os.read(file, 1_000_000)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
faults = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
with mmap.mmap(file, 0, prot=mmap.PROT_READ) as seen:
    bytes(seen)
if resource.getrusage(resource.RUSAGE_SELF).ru_majflt > faults:
    heard.append("that a file was dropped from memory")
if watch >= 0 and os.read(watch, 4096):
    heard.append("a watch")
try:
    os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)
    heard.append("what is in memory, by reading")
except OSError:
    pass
span, found = (ctypes.c_uint64 * 2)(0, 4096), (ctypes.c_uint64 * 5)()
if libc.syscall(451, file, span, found, 0) == 0:  # cachestat
    heard.append("what is in memory, by a count")
if libc.sysinfo((ctypes.c_uint64 * 64)()) == 0:
    heard.append("the load, and the memory of all")
for one in heard:
    print("REACHED", one)
os.close(file), os.close(folder)
