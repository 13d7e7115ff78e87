# points: takes hold of another process's memory, and of the machine's doors.
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
ATTACH, SEIZE = 16, 0x4206
child = os.fork()
if child == 0:
    os.read(os.pipe()[0], 1)
for target in (1, os.getppid(), child):
    for request in (ATTACH, SEIZE):
        if libc.ptrace(request, target, None, None) == 0:
            print("REACHED ptrace", target)
buffer = ctypes.create_string_buffer(16)
words = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 16)
if libc.process_vm_readv(child, words, 1, words, 1, 0) > 0:
    print("REACHED memory of", child)
os.kill(child, 9)
os.waitpid(child, 0)
NUMBERS = {"bpf": (321, 280), "io_uring_setup": (425, 425), "userfaultfd": (323, 282)}
NUMBERS |= {"perf_event_open": (298, 241), "keyctl": (250, 219), "memfd_create": (319, 279)}
column = ["x86_64", "aarch64"].index(os.uname().machine)
for name, numbers in NUMBERS.items():
    if libc.syscall(numbers[column], b"x", 0, 0, 0, 0) != -1:
        print("REACHED", name)
