# Keeps points: tries to become root: with setuid calls, setuid programs, and a user namespace.
import ctypes
import os
import subprocess

for call in (os.setuid, os.setgid, os.seteuid, os.setegid):
    try:
        call(0)
        print("REACHED", call.__name__)
    except OSError:
        pass
for command in (["su", "-c", "id"], ["mount"], ["passwd", "-d", "root"], ["unshare", "-Ur", "id"]):
    try:
        done = subprocess.run(command, capture_output=True, timeout=10, stdin=subprocess.DEVNULL)
        if b"uid=0" in done.stdout:
            print("REACHED", command)
    except (OSError, subprocess.TimeoutExpired):
        pass
libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000):
    if libc.unshare(flag) == 0:
        print("REACHED a namespace", hex(flag))
if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
    print("REACHED a mount")
if libc.chroot(b"/tmp") == 0:
    print("REACHED chroot")
if 0 in os.getresuid() or 0 in os.getresgid():
    print("REACHED root")
