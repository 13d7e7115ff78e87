"""System call numbers, independent of those in the sandbox's filter.

They are for both supported architectures.
"""

from pathlib import Path

# Copied from the kernel's headers, asm/unistd_64.h and asm-generic/unistd.h, not from the filter.
REFUSED = {
    name: {"x86_64": int(x86_64), "aarch64": int(aarch64)}
    for name, x86_64, aarch64 in map(
        str.split,
        """
shmget 29 194
shmat 30 196
semget 64 190
msgget 68 186
ptrace 101 117
flock 73 32
mincore 27 232
preadv2 327 286
pwritev2 328 287
inotify_add_watch 254 27
syslog 103 116
pivot_root 155 41
adjtimex 159 171
chroot 161 51
acct 163 89
settimeofday 164 170
mount 165 40
umount2 166 39
swapon 167 224
swapoff 168 225
reboot 169 142
init_module 175 105
delete_module 176 106
quotactl 179 60
clock_settime 227 112
mq_open 240 180
kexec_load 246 104
add_key 248 217
request_key 249 218
keyctl 250 219
unshare 272 97
perf_event_open 298 241
fanotify_init 300 262
name_to_handle_at 303 264
open_by_handle_at 304 265
clock_adjtime 305 266
setns 308 268
process_vm_readv 310 270
process_vm_writev 311 271
kcmp 312 272
finit_module 313 273
memfd_create 319 279
kexec_file_load 320 294
bpf 321 280
userfaultfd 323 282
io_uring_setup 425 425
io_uring_enter 426 426
io_uring_register 427 427
open_tree 428 428
move_mount 429 429
fsopen 430 430
fsconfig 431 431
fsmount 432 432
fspick 433 433
pidfd_getfd 438 438
mount_setattr 442 442
memfd_secret 447 447
""".strip().splitlines(),
    )
}
# Calls refused if they target process 1: (numbers, value of argument 0 for which argument 1 is a
# pid; None if argument 0 is the pid).
ABOUT_ANOTHER = {
    "prlimit64": ({"x86_64": 302, "aarch64": 261}, None),
    "sched_setaffinity": ({"x86_64": 203, "aarch64": 122}, None),
    "sched_setattr": ({"x86_64": 314, "aarch64": 274}, None),
    "sched_setparam": ({"x86_64": 142, "aarch64": 118}, None),
    "sched_setscheduler": ({"x86_64": 144, "aarch64": 119}, None),
    "setpriority": ({"x86_64": 141, "aarch64": 140}, 0),  # PRIO_PROCESS of linux/resource.h
    "ioprio_set": ({"x86_64": 251, "aarch64": 30}, 1),  # IOPRIO_WHO_PROCESS of linux/ioprio.h
}
FOLDER = Path(__file__).parent
# name → number on each architecture, None where the call doesn't exist. From the same headers.
ALLOWED = {
    name: dict(
        zip(("x86_64", "aarch64"), (None if n == "-" else int(n) for n in pair), strict=True)
    )
    for name, *pair in map(str.split, (FOLDER / "allowed_calls.txt").read_text().splitlines())
}
# Allowed with some arguments only: (numbers, index of the argument that decides).
BY_ARGUMENT = {
    "clone": ({"x86_64": 56, "aarch64": 220}, 0),
    "fcntl": ({"x86_64": 72, "aarch64": 25}, 1),
    "getsockopt": ({"x86_64": 55, "aarch64": 209}, 2),
    "ioctl": ({"x86_64": 16, "aarch64": 29}, 1),
    "madvise": ({"x86_64": 28, "aarch64": 233}, 2),
    "mmap": ({"x86_64": 9, "aarch64": 222}, 3),
    "prctl": ({"x86_64": 157, "aarch64": 167}, 0),
    "setsockopt": ({"x86_64": 54, "aarch64": 208}, 2),
    "socket": ({"x86_64": 41, "aarch64": 198}, 0),
    "socketpair": ({"x86_64": 53, "aarch64": 199}, 0),
}
# Report success and do nothing: hints about the page cache of files that all sandboxes share.
PRETENDED = {
    "readahead": {"x86_64": 187, "aarch64": 213},
    "fadvise64": {"x86_64": 221, "aarch64": 223},
}
# Refused but not reported, since libraries call these routinely.
SILENT = {
    "clone3": {"x86_64": 435, "aarch64": 435},
    "sysinfo": {"x86_64": 99, "aarch64": 179},
}
LAST = 450  # set_mempolicy_home_node, the last call in the tables
CLONE = {"x86_64": 56, "aarch64": 220}
CLONE3 = SILENT["clone3"]
SECCOMP = {"x86_64": 317, "aarch64": 277}
AUDIT = {"x86_64": 62 | 1 << 31 | 1 << 30, "aarch64": 183 | 1 << 31 | 1 << 30}  # ELF, LE, 64 bit
OTHERS = {"i386": 3 | 1 << 30, "arm": 40 | 1 << 30, "riscv64": 243 | 1 << 31 | 1 << 30}
NAMESPACES = {  # linux/sched.h
    "CLONE_NEWTIME": 0x00000080,
    "CLONE_NEWNS": 0x00020000,
    "CLONE_NEWCGROUP": 0x02000000,
    "CLONE_NEWUTS": 0x04000000,
    "CLONE_NEWIPC": 0x08000000,
    "CLONE_NEWUSER": 0x10000000,
    "CLONE_NEWPID": 0x20000000,
    "CLONE_NEWNET": 0x40000000,
}
THREAD = 0x003D0F00  # the flags with which the C library starts a thread
FORK = 0x01200011
MACHINES = ("x86_64", "aarch64")
