"""Tables of system calls: which ones a sandbox may make, and which are refused.

They map a name to its number on x86_64 and on aarch64. The numbers are from the kernel's
asm/unistd_64.h and asm-generic/unistd.h. Calls in none of these tables are refused.
"""

import errno
from dataclasses import dataclass
from typing import Final

NONE: Final = -1  # the machine lacks this call


def _table(text: str) -> dict[str, tuple[int, int]]:
    rows = map(str.split, text.replace("\n", ";").split(";"))
    return {
        name: (int(x86_64), int(aarch64) if aarch64 != "-" else NONE)
        for name, x86_64, aarch64 in (row for row in rows if row)
    }


ALLOWED = _table("""
read 0 63; write 1 64; readv 19 65; writev 20 66; pread64 17 67; pwrite64 18 68; preadv 295 69;
pwritev 296 70; open 2 -; openat 257 56; creat 85 -; close 3 57; close_range 436 436;
lseek 8 62; dup 32 23; dup2 33 -; dup3 292 24; pipe 22 -; pipe2 293 59; fsync 74 82;
fdatasync 75 83; fallocate 285 47; truncate 76 45; ftruncate 77 46; sendfile 40 71;
copy_file_range 326 285
stat 4 -; lstat 6 -; fstat 5 80; newfstatat 262 79; statx 332 291; statfs 137 43;
fstatfs 138 44; access 21 -; faccessat 269 48; faccessat2 439 439; getdents 78 -;
getdents64 217 61; getcwd 79 17; chdir 80 49; fchdir 81 50; rename 82 -; renameat 264 38;
renameat2 316 276; mkdir 83 -; mkdirat 258 34; rmdir 84 -; link 86 -; linkat 265 37;
unlink 87 -; unlinkat 263 35; symlink 88 -; symlinkat 266 36; readlink 89 -; readlinkat 267 78;
mknod 133 -; mknodat 259 33; chmod 90 -; fchmod 91 52; fchmodat 268 53; chown 92 -;
fchown 93 55; lchown 94 -; fchownat 260 54; umask 95 166; utime 132 -; utimes 235 -;
futimesat 261 -; utimensat 280 88; getxattr 191 8; lgetxattr 192 9; fgetxattr 193 10;
listxattr 194 11; llistxattr 195 12; flistxattr 196 13
poll 7 -; ppoll 271 73; select 23 -; pselect6 270 72; epoll_create 213 -; epoll_create1 291 20;
epoll_ctl 233 21; epoll_wait 232 -; epoll_pwait 281 22; epoll_pwait2 441 441; eventfd 284 -;
eventfd2 290 19; signalfd 282 -; signalfd4 289 74
connect 42 203; accept 43 202; accept4 288 242; bind 49 200; listen 50 201; sendto 44 206;
recvfrom 45 207; sendmsg 46 211; recvmsg 47 212; sendmmsg 307 269; recvmmsg 299 243;
shutdown 48 210; getsockname 51 204; getpeername 52 205
mprotect 10 226; munmap 11 215; mremap 25 216; brk 12 214; msync 26 227; membarrier 324 283;
mbind 237 235; get_mempolicy 239 236
fork 57 -; vfork 58 -; execve 59 221; exit 60 93; exit_group 231 94; wait4 61 260;
waitid 247 95; kill 62 129; tkill 200 130; tgkill 234 131; pidfd_open 434 434;
pidfd_send_signal 424 424; set_tid_address 218 96; set_robust_list 273 99; futex 202 98;
rseq 334 293; sched_yield 24 124; arch_prctl 158 -
rt_sigaction 13 134; rt_sigprocmask 14 135; rt_sigreturn 15 139; rt_sigpending 127 136;
rt_sigtimedwait 128 137; rt_sigsuspend 130 133; sigaltstack 131 132; pause 34 -;
restart_syscall 219 128
nanosleep 35 101; clock_nanosleep 230 115; clock_gettime 228 113; clock_getres 229 114;
gettimeofday 96 169; time 201 -; alarm 37 -; getitimer 36 102; setitimer 38 103;
timer_create 222 107; timer_settime 223 110; timer_gettime 224 108; timer_getoverrun 225 109;
timer_delete 226 111; timerfd_create 283 85; timerfd_settime 286 86; timerfd_gettime 287 87
getpid 39 172; getppid 110 173; gettid 186 178; getuid 102 174; geteuid 107 175; getgid 104 176;
getegid 108 177; getresuid 118 148; getresgid 120 150; getgroups 115 158; getpgid 121 155;
getpgrp 111 -; getsid 124 156; setpgid 109 154; setsid 112 157; capget 125 90
getrlimit 97 163; setrlimit 160 164; getrusage 98 165; times 100 153;
uname 63 160; getcpu 309 168; getpriority 140 141; ioprio_get 252 31; getrandom 318 278;
sched_getaffinity 204 123; sched_getparam 143 121; sched_getscheduler 145 120;
sched_getattr 315 275; sched_get_priority_max 146 125; sched_get_priority_min 147 126;
sched_rr_get_interval 148 127
""")
# Refused like all unlisted calls, but reported by name, because calling them is suspicious:
# interfaces with a long record of bugs (bpf, io_uring, user namespaces), other processes' memory,
# and memory that no per-process limit counts.
DENIED = {
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # namespaces and mounts
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # the kernel itself
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "fanotify_init": (300, 262),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    # covert channels through files that several sandboxes see: locks, notifications of reads
    "flock": (73, 32),
    "inotify_add_watch": (254, 27),
    # covert channel: which pages of shared files are cached
    "mincore": (27, 232),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    # memory and messages that outlive a process or escape its limits
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
}
# Refused if they target init, process 1, and allowed otherwise: (numbers, value of argument 0 for
# which argument 1 is the process id; None if argument 0 is the process id).
NOT_ON_INIT = {
    "prlimit64": ((302, 261), None),
    "sched_setaffinity": ((203, 122), None),
    "sched_setattr": ((314, 274), None),
    "sched_setparam": ((142, 118), None),
    "sched_setscheduler": ((144, 119), None),
    "setpriority": ((141, 140), 0),  # PRIO_PROCESS
    "ioprio_set": ((251, 30), 1),  # IOPRIO_WHO_PROCESS
}


@dataclass(frozen=True)
class Guard:
    """A call that is allowed only with certain values of one argument.

    argument: its position, from 0. only: allowed values, if not empty. never: bits that must not be
    set. pretended: values for which the call does nothing and reports success. error: errno of a
    refusal. reported: whether a refusal is reported; False if libraries probe for support.
    """

    numbers: tuple[int, int]
    argument: int
    only: tuple[int, ...] = ()
    never: int = 0
    pretended: tuple[int, ...] = ()
    error: int = errno.EPERM
    reported: bool = True


AF_UNIX = 1
# CLONE_NEWTIME | NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET
NEW_NAMESPACES = 0x80 | 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x70000000
GUARDED = {
    "clone": Guard((56, 220), 0, never=NEW_NAMESPACES),
    # Only AF_UNIX: other families reach beyond a network namespace. EOPNOTSUPP says that the
    # system lacks the family.
    "socket": Guard((41, 198), 0, only=(AF_UNIX,), error=errno.EOPNOTSUPP),
    "socketpair": Guard((53, 199), 0, only=(AF_UNIX,), error=errno.EOPNOTSUPP),
    # Allowed: SO_REUSEADDR, TYPE, ERROR, BROADCAST, KEEPALIVE, OOBINLINE, LINGER, REUSEPORT,
    # PASSCRED, RCVTIMEO and SNDTIMEO, in this order. SO_SNDBUF is refused, because it would let a
    # socket hold more memory than is counted for it.
    "setsockopt": Guard((54, 208), 2, only=(2, 3, 4, 6, 9, 10, 13, 15, 16, 20, 21)),
    # Allowed: the options of setsockopt, and SO_PEERCRED, ACCEPTCONN, PROTOCOL, DOMAIN and the
    # buffer sizes. SO_COOKIE is refused: it reveals how many sockets the machine has opened.
    "getsockopt": Guard(
        (55, 209),
        2,
        only=(2, 3, 4, 6, 7, 8, 9, 10, 13, 15, 16, 17, 20, 21, 30, 38, 39),
        error=errno.ENOPROTOOPT,
        reported=False,
    ),
    # MAP_HUGETLB is refused, because huge pages of this kind count toward no process.
    "mmap": Guard((9, 222), 3, never=0x40000, error=errno.EINVAL),
    # Advice is refused if it hides memory from the count (COLD, PAGEOUT), or shares pages with
    # other sandboxes (MERGEABLE).
    "madvise": Guard(
        (28, 233),
        2,
        only=(0, 1, 2, 3, 4, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19, 22, 23),
        error=errno.EINVAL,
    ),
    # Allowed: F_DUPFD to F_SETFL, owners and signals, F_DUPFD_CLOEXEC, pipe sizes. Refused:
    # F_GETLK, leases and F_NOTIFY, which reveal other sandboxes' locks and reads. SQLite requires
    # locks (F_SETLK, F_SETLKW), so they pretend to succeed: real ones would take uncounted kernel
    # memory, and be a covert channel between sandboxes.
    "fcntl": Guard(
        (72, 25),
        1,
        only=(0, 1, 2, 3, 4, 8, 9, 10, 11, 15, 16, 1030, 1031, 1032),
        pretended=(6, 7),
        error=errno.EINVAL,
        reported=False,
    ),
    # Allowed: FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, and the two ioctls with which init receives and
    # answers refused calls. Terminal ioctls fail with ENOTTY, because there is no terminal.
    "ioctl": Guard(
        (16, 29),
        1,
        only=(0x541B, 0x5421, 0x5451, 0x5450, 0xC0502100, 0xC0182101),
        error=errno.ENOTTY,
        reported=False,
    ),
    # Allowed: thread names, death signals, dumpability, reading capabilities, timer slack,
    # subreapers, no_new_privs. PR_SET_VMA is refused: it can rename shared memory in
    # /proc/PID/maps.
    "prctl": Guard(
        (157, 167),
        0,
        only=(1, 2, 3, 4, 15, 16, 23, 29, 30, 36, 37, 38, 39),
        error=errno.EINVAL,
        reported=False,
    ),
}
# Refused without a report, because the C library tries them and has a fallback. The flags of clone3
# are in memory, which a filter can't read. sysinfo reveals the machine's number of processes. Calls
# with numbers above MAX_NUMBER are refused in the same way.
UNREPORTED = {"clone3": (435, 435), "sysinfo": (99, 179)}
# No-ops that report success, which is legal because these calls are only advice. Performed for
# real, they would change which pages of shared files are cached, which read times would reveal.
NO_OPS = {"readahead": (187, 213), "fadvise64": (221, 223)}
MAX_NUMBER = 450
FAMILIES = {2: "internet", 10: "internet", 16: "netlink", 17: "packet", 38: "alg", 40: "vsock"}
