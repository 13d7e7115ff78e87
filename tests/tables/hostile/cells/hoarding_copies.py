# Gets no points: exceeds the memory limit with the copies of its process, and not by itself.
import os

hoard = []
os.register_at_fork(after_in_child=lambda: hoard.append(b"x" * (3 << 29)))
