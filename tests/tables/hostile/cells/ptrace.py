# Keeps points: makes system calls that access other processes' memory or risky kernel interfaces.
import ctypes
import errno
import os
import signal

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
column = ["x86_64", "aarch64"].index(os.uname().machine)
child = os.fork()
if child == 0:
    os.read(os.pipe()[0], 1)
buffer = ctypes.create_string_buffer(b"/tmp", 256)
words = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 16)
zeros = ctypes.create_string_buffer(256)
handle = ctypes.create_string_buffer(b"\x80", 256)  # struct file_handle of 128 bytes
number = ctypes.byref(ctypes.c_int())
# struct perf_event_attr: a software clock of this process, excluding the kernel.
clock = ctypes.create_string_buffer(b"\1\0\0\0\x70", 112)
clock[40] = 0x60
ATTACH, SEIZE, NEW_USER, HERE, USER_KEYS, USER_MODE = 16, 0x4206, 0x10000000, -100, -4, 1
# Arguments with which each call could succeed for an ordinary user without a filter.
CALLS = [
    *(("ptrace", (101, 117), (how, who, 0, 0)) for how in (ATTACH, SEIZE) for who in (1, child)),
    ("ptrace", (101, 117), (ATTACH, os.getppid(), 0, 0)),
    ("process_vm_readv", (310, 270), (child, words, 1, words, 1, 0)),
    ("process_vm_writev", (311, 271), (child, words, 1, words, 1, 0)),
    ("kcmp", (312, 272), (os.getpid(), child, 1, 0, 0)),
    ("clone", (56, 220), (NEW_USER | signal.SIGCHLD, 0, 0, 0, 0)),
    ("unshare", (272, 97), (NEW_USER,)),
    ("name_to_handle_at", (303, 264), (HERE, buffer, handle, number, 0)),
    ("open_by_handle_at", (304, 265), (HERE, handle, 0)),
    ("bpf", (321, 280), (0, zeros, 72)),
    ("perf_event_open", (298, 241), (clock, 0, -1, -1, 0)),
    ("userfaultfd", (323, 282), (USER_MODE,)),
    ("io_uring_setup", (425, 425), (1, zeros)),
    ("add_key", (248, 217), (b"user", b"a key", b"x", 1, USER_KEYS)),
    ("keyctl", (250, 219), (0, USER_KEYS, 1)),
    ("memfd_create", (319, 279), (b"x", 0)),
    ("move_pages", (279, 239), (0, 0, 0, 0, 0, 0)),  # tells how many processes map a page
]
for name, numbers, arguments in CALLS:
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(numbers[column]), *arguments)
    if result == 0 and name == "clone":
        os._exit(0)
    if result != -1 or ctypes.get_errno() != errno.EPERM:
        print("REACHED", name, result, errno.errorcode.get(ctypes.get_errno()))
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
