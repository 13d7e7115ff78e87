# Keeps points: sends as many descriptors as one user may have on the way, and never takes them.
import os
import socket

one, other = socket.socketpair()
try:
    while True:
        socket.send_fds(one, [b"x"], [os.open(os.devnull, os.O_RDONLY)] * 60)
except OSError:
    pass
