# Keeps points: opens and creates device nodes.
import os
import stat

HARMLESS = {"null", "zero", "full", "random", "urandom", "tty"}
for folder, folders, files in os.walk("/dev"):
    for name in files:
        path = os.path.join(folder, name)
        kind = os.stat(path, follow_symlinks=False).st_mode
        if (stat.S_ISBLK(kind) or stat.S_ISCHR(kind)) and name not in HARMLESS:
            print("REACHED", path)
for kind, number in ((stat.S_IFBLK, os.makedev(254, 0)), (stat.S_IFCHR, os.makedev(1, 1))):
    try:
        os.mknod("/tmp/device", kind | 0o600, number)
        print("REACHED mknod")
    except OSError:
        pass
try:
    os.openpty()
    print("REACHED a terminal")
except OSError:
    pass
