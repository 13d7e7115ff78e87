# Keeps points: shows ten thousand errors, raised and forged.
import json

from ipykernel.kernelapp import IPKernelApp
from IPython import get_ipython

for _ in range(50):
    try:
        raise ValueError("x" * 10_000)
    except ValueError:
        get_ipython().showtraceback()
lines = IPKernelApp.instance().session
error = {"ename": "E", "evalue": "x" * 1_000, "traceback": ["y" * 1_000] * 3}
for _ in range(9_950):
    lines.connection.sendall(json.dumps([lines.number, "error", error]).encode() + b"\n")
